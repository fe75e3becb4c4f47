// Options of the commands that write shared libraries.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace recut::native {

inline constexpr const char* kDefaultLinker = "ld";

inline void add_linker(CLI::App& command, std::string& linker) {
  command.add_option("--linker", linker, "Linker of the library (default: ld)")
      ->type_name("PROGRAM");
}

}  // namespace recut::native
