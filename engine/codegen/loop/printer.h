// The loop form as text. One line a statement; names are the kernel's own, and a name that is taken
// already, or none, is replaced by a number.
//
//   kernel "softmax" {
//     note "%softmax"
//     buffer %x : f32[32] read
//     ...
//   }
//
// Statements:
//   %v : f32 = constant 1.5           %v : i64 = index 8*%i + div(%j, 4)
//   %v : f32 = load %x[%i]            %v : f32 = load %x[%i] where %c
//   %v : f32 = add %a, %b             %v : f32 = narrow bf16 %a       %v : i64 = check %a in 0..50
//   store %x[%i], %v                  store add %x[%i], %v
//   %s : f32 = accumulator add from %zero lanes 8
//   update %s, %v                     %t : f32 = read %s
//   for %i in 0..64 lanes 8 { ... }   parallel %i in 0..64 { ... }    if %c { ... }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::loop {

// The kernel's text; parse_kernels of it gives a kernel that prints the same.
std::string print(const Kernel& kernel);

// The same line by line, each with what it is from.
struct PrintedLine {
  std::string text;              // without its end
  std::uint32_t note = kNoNote;  // of the kernel's; a note's own line is from itself
  BufferId buffer;               // that it declares; else invalid
};
std::vector<PrintedLine> print_lines(const Kernel& kernel);

// An index with the kernel's names.
std::string format(const Index& index, const Kernel& kernel);

}  // namespace recut::loop
