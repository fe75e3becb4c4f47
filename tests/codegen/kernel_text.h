// Kernels from their text, and programs of the system that read what is emitted of them.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/verifier.h"

namespace recut {

// The test fails where the text has a mistake or the verifier finds one.
inline std::vector<loop::Kernel> kernels_of(const std::string& text) {
  auto kernels = loop::parse_kernels(text, "k.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  for (const loop::Kernel& kernel : *kernels)
    if (const Diagnostics faults = loop::verify(kernel); !faults.empty()) FAIL(format(faults));
  return *kernels;
}

// True if a shell command exits with 0; its output goes to standard error.
inline bool runs(const std::string& command) {
  return std::system((command + " >&2").c_str()) == 0;
}

}  // namespace recut
