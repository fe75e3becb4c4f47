// A WebAssembly module as data: an imported memory, imported functions, and exported functions. It
// can be encoded as bytes for engines, and printed as text for users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/codegen/wasm/instruction.h"

namespace recut::wasm {

struct Signature {
  std::vector<Type> parameters, results;
  friend bool operator==(const Signature& a, const Signature& b) {
    return a.parameters == b.parameters && a.results == b.results;
  }
};

struct ImportedFunction {
  std::string name;
  Signature signature;
};

struct Function {
  std::string name;  // that it is exported by
  Signature signature;
  std::vector<Type> locals;  // behind the parameters
  std::vector<Instruction> body;
  std::vector<std::string> locations;  // of its kernel, for the text
  std::vector<std::string> remarks;    // lines above it in the text
};

// Pages of 64 KiB in the reach of 32-bit addresses.
inline constexpr std::uint32_t kMaxPages = 65536;

// Everything is imported from "recut": the memory is "memory".
struct ModuleContents {
  bool shared = false;  // the memory is one that threads share
  std::vector<ImportedFunction> imports;
  std::vector<Function> functions;
};

// The binary form.
std::string encode(const ModuleContents& contents);

// The text form, line by line: an instruction each.
struct Line {
  std::string text;  // without its end
  std::uint32_t location = loop::kUnknownLocation;
};
std::vector<Line> print(const ModuleContents& contents);

}  // namespace recut::wasm
