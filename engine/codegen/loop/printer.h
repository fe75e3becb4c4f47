// The loop form as text, one line a statement, with unique names (names.h).
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

// The kernel's text. Parsing it gives a kernel that prints the same.
std::string print(const Kernel& kernel);

// The same line by line, each with its source location.
struct PrintedLine {
  std::string text;  // without its end
  std::uint32_t location =
      kUnknownLocation;  // in the kernel; a location's own line refers to itself
  BufferId buffer;       // the buffer that it declares, or invalid
};
std::vector<PrintedLine> print_lines(const Kernel& kernel);

// An index with the kernel's names.
std::string format(const Index& index, const Kernel& kernel);

}  // namespace recut::loop
