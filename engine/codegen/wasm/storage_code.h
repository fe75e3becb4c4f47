// How dtypes stand in memory: what loads widen and stores narrow, of numbers and of lanes.
#pragma once

#include "engine/codegen/wasm/writer.h"

namespace recut::wasm {

// Where an element stands: an address, and bytes beyond it.
struct Address {
  Local base = 0;
  std::uint64_t offset = 0;
};

// One element as its value type.
Code load_number(Writer& writer, DType dtype, const Address& at);
// The same for a value that meets lanes: of f32 or f64, in all lanes of a vector at once.
Code load_spread(Writer& writer, DType dtype, const Address& at);
// Neighbouring elements: 4 or 8.
Code load_lanes(Writer& writer, DType dtype, const Address& at, std::int64_t lanes);

void store_number(Writer& writer, DType dtype, const Address& at, const Code& value);
void store_lanes(Writer& writer, DType dtype, const Address& at, const Code& value,
                 std::int64_t lanes);

// As it comes back from memory as that dtype (narrow).
Code narrow_code(Writer& writer, const Code& value, DType dtype);

}  // namespace recut::wasm
