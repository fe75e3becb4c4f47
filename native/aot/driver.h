// A step as LLVM IR that needs no Recut: its kernels, tables of its launches, and the functions of
// its C interface (header.h), which walk those tables.
#pragma once

#include <string>

#include "engine/runtime/program.h"
#include "engine/schedule/schedule.h"
#include "native/aot/interface.h"

namespace recut::aot {

// `schedule`: the schedule that the program was made from. `weights_file`: the path of a file whose
// bytes become a part of the object code, where the interface's weights are inside.
std::string step_text(const Program& program, const Schedule& schedule, const Interface& interface,
                      const std::string& weights_file = "");

}  // namespace recut::aot
