// A program in words, for people and golden files. Every line is a comment of the loop form and of
// LLVM IR, so that it stands above the kernels' own text.
#pragma once

#include <cstdint>
#include <string>

#include "engine/runtime/program.h"

namespace recut {

// Launches in order, then outputs, a line each. A place is "@" and bytes into the arena, or "%" and
// an input's name.
//   ; launch 4: kernel 2 (%w1, @0, @512) makes %mm, %relu
//   ; result %loss: @768
std::string launches_text(const Graph& graph, const Program& program);

// Which of the program's kernels in loop form, or of its library's, it is: "kernel 2 of 11,
// launches 4, 9".
std::string kernel_title(const Program& program, std::uint32_t kernel, bool library = false);

}  // namespace recut
