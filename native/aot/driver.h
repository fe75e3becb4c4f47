// A step as LLVM IR that needs no Recut: its kernels, tables of its launches, and the functions of
// its C interface (header.h), which walk those tables.
#pragma once

#include <string>

#include "engine/runtime/program.h"
#include "engine/schedule/schedule.h"
#include "native/aot/interface.h"

namespace recut::aot {

// `schedule`: the schedule that the program was made from.
std::string step_text(const Program& program, const Schedule& schedule, const Interface& interface);

}  // namespace recut::aot
