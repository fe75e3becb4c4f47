// Loads and stores of dtypes, which widen and narrow, for scalars and vectors.
#pragma once

#include "engine/codegen/wasm/writer.h"

namespace recut::wasm {

// The address of an element: a base, and an offset in bytes.
struct Address {
  Local base = 0;
  std::uint64_t offset = 0;
};

// One element as its value type.
Code load_number(Writer& writer, DType dtype, const Address& at);
// The same for f32 and f64, broadcast to all lanes of a vector by the load instruction.
Code load_spread(Writer& writer, DType dtype, const Address& at);
// Neighbouring elements: 4 or 8.
Code load_lanes(Writer& writer, DType dtype, const Address& at, std::int64_t lanes);

void store_number(Writer& writer, DType dtype, const Address& at, const Code& value);
void store_lanes(Writer& writer, DType dtype, const Address& at, const Code& value,
                 std::int64_t lanes);

// The value after a store as that dtype and a load (narrow).
Code narrow_code(Writer& writer, const Code& value, DType dtype);

}  // namespace recut::wasm
