// A program in words, for people and golden files. Every line is a comment of the loop form and of
// LLVM IR, so that it stands above the kernels' own text.
#pragma once

#include <cstdint>
#include <string>

#include "engine/runtime/program.h"

namespace recut {

// Launches in order, then outputs, a line each. A place is "@" and bytes into the arena, or "%" and
// an input's name.
//   ; 42 launches of 11 kernels, an arena of 6144 bytes, program 0123456789abcdef
//   ; launch 4: kernel 2 (%w1, @0, @512) makes %mm, %relu
//   ; result %loss: @768
std::string launches_text(const Graph& graph, const Program& program);

// 16 digits of hexadecimal, of all that a target compiles and runs of a program: its launches in
// order, what their kernels compute, where their buffers and the outputs stand. Names and the order
// in which kernels are listed have no part in it, so that all who run a step say the same.
std::string program_digest(const Program& program);

// Which of the program's kernels in loop form, or of its library's, it is: "kernel 2 of 11,
// launches 4, 9".
std::string kernel_title(const Program& program, std::uint32_t kernel, bool library = false);

}  // namespace recut
