// Scalar operators as instructions and calls, exactly as loop/scalar_operators.def means them, of
// numbers and of lanes: arithmetic_code.h's, narrowing, and what the C library computes.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/wasm/writer.h"

namespace recut::wasm {

// What the instructions of one function call on outside of it.
struct Host {
  // The number of a function of the C library, by its name.
  std::function<std::uint64_t(std::string_view name, const Signature& signature)> function;
  bool relaxed = false;  // has relaxed multiply-adds
};

// An operator's result, of type `result`, of operands that are numbers or lanes of one width, of
// what loop::expand leaves. Divisors of integers are not 0 (the caller sees to that).
Code scalar_code(Writer& writer, const Host& host, const loop::Apply& apply, DType result,
                 std::span<const Code> operands);

// a op b of one type.
Code combine_code(Writer& writer, const Host& host, loop::Combine how, const Code& a,
                  const Code& b);

// a * b + c of one type: of reals by a relaxed multiply-add where the host has it.
Code multiply_add_code(Writer& writer, const Host& host, const Code& a, const Code& b,
                       const Code& c);

}  // namespace recut::wasm
