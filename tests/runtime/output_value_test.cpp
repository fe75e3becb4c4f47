// Outputs leave a step in the strides of their types.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "engine/eval/kernel.h"
#include "engine/runtime/program.h"

namespace recut {
namespace {

std::vector<float> memory_of(const Tensor& tensor) {
  std::vector<float> numbers(static_cast<std::size_t>(tensor.count()));
  std::memcpy(numbers.data(), tensor.storage->data(), numbers.size() * sizeof(float));
  return numbers;
}

TEST_CASE("outputs: dense strides are kept, others come row by row", "[runtime]") {
  const std::array<float, 6> storage = {0, 1, 2, 3, 4, 5};
  const auto* const bytes = reinterpret_cast<const std::byte*>(storage.data());
  ProgramOutput output;
  output.type = TensorType{DType::f32, {2, 3}, {1, 2}, {}};
  output.layouts = {Layout{{2, 3}, {3, 1}, 0}};
  const Tensor columns = output_value(output, bytes);
  CHECK(columns.strides == Strides{1, 2});
  CHECK(memory_of(columns) == std::vector<float>{0, 3, 1, 4, 2, 5});

  output.type.strides = {0, 1};
  output.layouts = {Layout{{2, 3}, {0, 1}, 2}};
  const Tensor repeated = output_value(output, bytes);
  CHECK(repeated.strides == Strides{3, 1});
  CHECK(memory_of(repeated) == std::vector<float>{2, 3, 4, 2, 3, 4});
}

}  // namespace
}  // namespace recut
