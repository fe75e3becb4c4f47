// A program as text, for users and golden files. Each line is a comment in the loop form and in
// LLVM IR, so that it can precede the kernels' text.
#pragma once

#include <cstdint>
#include <string>

#include "engine/runtime/program.h"

namespace recut {

// Launches in order, then outputs, a line each. An address is "@" and an offset in the arena, or
// "%" and an input's name.
//   ; 42 launches of 11 kernels, an arena of 6144 bytes, program 0123456789abcdef
//   ; launch 4: kernel 2 (%w1, @0, @512) makes %mm, %relu
//   ; result %loss: @768
std::string launches_text(const Graph& graph, const Program& program);

// A hash of a program's execution, as 16 hexadecimal digits: its launches in order, their kernels'
// text, and the addresses of buffers and outputs. Names and the order of the list of kernels don't
// matter, so all executors of a step report the same digest.
std::string program_digest(const Program& program);

// A title for a loop or library kernel: "kernel 2 of 11, launches 4, 9".
std::string kernel_title(const Program& program, std::uint32_t kernel, bool library = false);

}  // namespace recut
