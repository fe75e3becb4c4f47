// The forms in which calls are passed to cuBLASLt and cuDNN, as plain numbers.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "native/cuda/convolution_form.h"
#include "native/cuda/library_calls.h"
#include "native/cuda/matrix_forms.h"

namespace recut::cuda {
namespace {

using library::Convolution;
using library::MatrixProduct;
using library::Operand;

Operand operand(std::size_t buffer, Shape shape, Strides strides, std::int64_t offset = 0) {
  return {buffer, {std::move(shape), std::move(strides), offset}};
}

// cuBLASLt's computation by its manual, with a bias in each row of d, or with c.
void multiply(const ProductForm& form, std::vector<std::vector<double>>& buffers) {
  const auto at = [&](const MatrixForm& m, std::int64_t batch, std::int64_t row,
                      std::int64_t column) -> double& {
    if (m.transposed) std::swap(row, column);
    REQUIRE(row < m.rows);
    REQUIRE(column < m.columns);
    const std::int64_t place =
        m.offset / item_bytes(form.dtype) + batch * m.batch_stride + row + column * m.leading;
    return buffers[m.buffer].at(static_cast<std::size_t>(place));
  };
  const std::int64_t inner = form.a.transposed ? form.a.rows : form.a.columns;
  for (const MatrixForm* m : {&form.a, &form.b, &form.d}) CHECK(m->leading >= m->rows);
  if (form.c) CHECK(form.c->leading >= form.c->rows);
  for (std::int64_t batch = 0; batch < form.batch; ++batch)
    for (std::int64_t row = 0; row < form.d.rows; ++row)
      for (std::int64_t column = 0; column < form.d.columns; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum += at(form.a, batch, row, k) * at(form.b, batch, k, column);
        sum *= form.alpha;
        if (form.bias)
          sum += buffers[form.bias->buffer].at(
              static_cast<std::size_t>(form.bias->offset / item_bytes(form.dtype) + row));
        if (form.c) sum += form.beta * at(*form.c, batch, row, column);
        if (form.relu) sum = std::max(sum, 0.0);
        at(form.d, batch, row, column) = sum;
      }
}

double& element(const Operand& o, std::vector<std::vector<double>>& buffers, std::int64_t batch,
                std::int64_t i, std::int64_t j) {
  const Strides& strides = o.layout.strides;
  const bool batched = strides.size() == 3;
  const std::int64_t place = o.layout.offset + (batched ? batch * strides[0] : 0) +
                             i * strides[batched ? 1 : 0] + j * strides[batched ? 2 : 1];
  return buffers[o.buffer].at(static_cast<std::size_t>(place));
}

// Runs the product as cuBLASLt would, and checks every element of out.
void check(const MatrixProduct& product) {
  std::vector<std::vector<double>> buffers(4, std::vector<double>(512));
  double number = 0;
  for (std::vector<double>& buffer : buffers)
    for (double& value : buffer) value = number += 0.25;
  const auto form = form_of(product);
  REQUIRE(form.has_value());
  multiply(*form, buffers);
  const Shape& out = product.out.layout.shape;
  const std::size_t last = out.size() - 1;
  const std::int64_t inner = product.left.layout.shape[last];
  for (std::int64_t batch = 0; batch < (last == 2 ? out[0] : 1); ++batch)
    for (std::int64_t i = 0; i < out[last - 1]; ++i)
      for (std::int64_t j = 0; j < out[last]; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum += element(product.left, buffers, batch, i, k) *
                 element(product.right, buffers, batch, k, j);
        sum *= product.alpha;
        if (product.bias)
          sum += buffers[product.bias->buffer].at(
              static_cast<std::size_t>(product.bias->layout.offset + j));
        if (product.addend) sum += product.beta * element(*product.addend, buffers, batch, i, j);
        if (product.relu) sum = std::max(sum, 0.0);
        INFO(batch << " " << i << " " << j);
        CHECK(element(product.out, buffers, batch, i, j) == sum);
      }
}

TEST_CASE("cuda: matrix products of all layouts are column-major ones", "[native][cuda]") {
  const std::vector<std::vector<Strides>> layouts = {{{5, 1}, {1, 3}},   // left [3, 5]
                                                     {{4, 1}, {1, 5}},   // right [5, 4]
                                                     {{4, 1}, {1, 3}}};  // out [3, 4]
  for (const Strides& left : layouts[0])
    for (const Strides& right : layouts[1])
      for (const Strides& out : layouts[2])
        check({operand(0, {3, 5}, left), operand(1, {5, 4}, right), operand(2, {3, 4}, out), {}});
  // Rows that stand apart, and an offset.
  check({operand(0, {3, 5}, {9, 1}, 7),
         operand(1, {5, 4}, {1, 11}, 2),
         operand(2, {3, 4}, {6, 1}, 3),
         {}});
}

TEST_CASE("cuda: batches, single rows and single columns", "[native][cuda]") {
  check({operand(0, {2, 3, 5}, {15, 5, 1}),
         operand(1, {2, 5, 4}, {20, 1, 5}),
         operand(2, {2, 3, 4}, {12, 4, 1}),
         {}});
  check({operand(0, {2, 3, 5}, {5, 10, 1}),
         operand(1, {2, 5, 4}, {4, 8, 1}),
         operand(2, {2, 3, 4}, {12, 1, 3}),
         {}});
  for (const std::int64_t rows : {1, 3})
    for (const std::int64_t columns : {1, 4})
      for (const std::int64_t inner : {1, 5}) {
        check({operand(0, {rows, inner}, {inner, 1}),
               operand(1, {inner, columns}, {columns, 1}),
               operand(2, {rows, columns}, {columns, 1}),
               {}});
        check({operand(0, {rows, inner}, {1, rows}), operand(1, {inner, columns}, {1, inner}),
               operand(2, {rows, columns}, {columns, 1}), operand(3, {columns}, {1}, 5)});
      }
}

TEST_CASE("cuda: a bias is added where out runs along its rows", "[native][cuda]") {
  const MatrixProduct product{operand(0, {3, 5}, {5, 1}), operand(1, {5, 4}, {4, 1}),
                              operand(2, {3, 4}, {4, 1}), operand(3, {4}, {1}, 2)};
  check(product);
  MatrixProduct relu = product;
  relu.alpha = -1;
  relu.relu = true;
  check(relu);
  MatrixProduct along_columns = product;
  along_columns.out = operand(2, {3, 4}, {1, 3});
  CHECK_FALSE(form_of(along_columns).has_value());
}

TEST_CASE("cuda: a matrix is added where it runs as out does", "[native][cuda]") {
  MatrixProduct product{operand(0, {2, 3, 5}, {15, 5, 1}),
                        operand(1, {2, 5, 4}, {20, 4, 1}),
                        operand(2, {2, 3, 4}, {12, 4, 1}),
                        {},
                        operand(3, {2, 3, 4}, {24, 7, 1}, 3),
                        0.5,
                        -2};
  check(product);
  product.addend->layout.strides = {12, 1, 3};
  CHECK_FALSE(form_of(product).has_value());
  product.out.layout.strides = {12, 1, 3};
  check(product);
  product.addend->layout.strides = {12, 4, 1};
  CHECK_FALSE(form_of(product).has_value());
  // Single rows and columns are contiguous in either order.
  for (const std::int64_t rows : {1, 3})
    for (const std::int64_t columns : {1, 4})
      check({operand(0, {rows, 5}, {5, 1}),
             operand(1, {5, columns}, {columns, 1}),
             operand(2, {rows, columns}, {columns, 1}),
             {},
             operand(3, {rows, columns}, {columns, 1}, 1)});
}

TEST_CASE("cuda: offsets of numbers of 16 bits are half as far", "[native][cuda]") {
  MatrixProduct product{operand(0, {3, 5}, {9, 1}, 7), operand(1, {5, 4}, {1, 11}, 2),
                        operand(2, {3, 4}, {6, 1}, 4), operand(3, {4}, {1}, 5)};
  product.dtype = DType::bf16;
  check(product);
  const auto form = form_of(product);
  REQUIRE(form.has_value());
  CHECK(form->dtype == DType::bf16);
  CHECK(form->b.offset == 14);
  CHECK(form->b.alignment() == 2);
  CHECK(form->d.alignment() == 8);
  CHECK(form->bias->offset == 10);
}

TEST_CASE("cuda: a matrix is aligned as far as its offset leaves it", "[native][cuda]") {
  for (const auto& [offset, alignment] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 64}, {16, 64}, {4, 16}, {3, 4}}) {
    const auto form = form_of({operand(0, {3, 5}, {5, 1}, offset),
                               operand(1, {5, 4}, {4, 1}),
                               operand(2, {3, 4}, {4, 1}),
                               {}});
    REQUIRE(form.has_value());
    CHECK(form->b.alignment() == alignment);
  }
}

Convolution convolution(Convolution::Direction direction, bool transposed) {
  Convolution c;
  c.direction = direction;
  c.transposed = transposed;
  c.groups = 2;
  c.stride = {2, 1};
  c.padding = {1, 0};
  c.dilation = {1, 2};
  c.input = operand(0, {2, 4, 9, 8}, {288, 72, 8, 1});
  c.weight = transposed ? operand(1, {4, 3, 3, 3}, {27, 9, 3, 1}, 4)
                        : operand(1, {6, 2, 3, 3}, {18, 9, 3, 1}, 4);
  c.output = operand(2, {2, 6, 5, 4}, {120, 20, 4, 1});
  return c;
}

TEST_CASE("cuda: a transposed convolution is a data gradient", "[native][cuda]") {
  using Direction = Convolution::Direction;
  using Done = ConvolutionForm::Direction;
  const std::vector<std::tuple<Direction, bool, Done>> directions = {
      {Direction::forward, false, Done::forward},
      {Direction::input_gradient, false, Done::backward_data},
      {Direction::weight_gradient, false, Done::backward_filter},
      {Direction::forward, true, Done::backward_data},
      {Direction::input_gradient, true, Done::forward},
      {Direction::weight_gradient, true, Done::backward_filter}};
  for (const auto& [direction, transposed, done] : directions) {
    Convolution c = convolution(direction, transposed);
    if (direction != Direction::input_gradient) c.bias = operand(3, {6}, {1}, 2);
    const auto form = form_of(c);
    REQUIRE(form.ok());
    CHECK(form->direction == done);
    CHECK(form->x.buffer == (transposed ? 2 : 0));
    CHECK(form->y.buffer == (transposed ? 0 : 2));
    CHECK(form->w.buffer == 1);
    CHECK(form->w.offset == 16);
    CHECK(form->w.shape[0] == form->y.shape[1]);
    CHECK(form->w.shape[1] * form->groups == form->x.shape[1]);
    CHECK_FALSE(form->channels_last);
    REQUIRE(form->bias.has_value() == (direction != Direction::input_gradient));
    if (!form->bias) continue;
    CHECK(form->biased().buffer == 2);
    CHECK(form->bias->shape == std::vector<int>{1, 6, 1, 1});
    CHECK(form->bias->offset == 8);
    CHECK(form->bias_is_gradient == (direction == Direction::weight_gradient));
  }
}

TEST_CASE("cuda: strides, and a plane of one dimension as one of two", "[native][cuda]") {
  const auto form = form_of(convolution(Convolution::Direction::forward, false));
  REQUIRE(form.ok());
  CHECK(form->x.strides == std::vector<int>{288, 72, 8, 1});
  CHECK(form->stride == std::vector<int>{2, 1});
  CHECK(form->padding == std::vector<int>{1, 0});
  CHECK(form->dilation == std::vector<int>{1, 2});
  Convolution c;
  c.stride = {2};
  c.padding = {3};
  c.dilation = {1};
  c.input = operand(0, {2, 4, 9}, {36, 9, 1});
  c.weight = operand(1, {6, 4, 3}, {12, 3, 1});
  c.output = operand(2, {2, 6, 7}, {42, 7, 1});
  const auto line = form_of(c);
  REQUIRE(line.ok());
  CHECK(line->x.shape == std::vector<int>{2, 4, 1, 9});
  CHECK(line->x.strides == std::vector<int>{36, 9, 9, 1});
  CHECK(line->w.shape == std::vector<int>{6, 4, 1, 3});
  CHECK(line->padding == std::vector<int>{0, 3});
  CHECK(line->stride == std::vector<int>{1, 2});
  CHECK(line->dilation == std::vector<int>{1, 1});
}

TEST_CASE("cuda: what the libraries don't take is left to loops", "[native][cuda]") {
  library::Kernel kernel;
  kernel.calls = {convolution(Convolution::Direction::input_gradient, false),
                  convolution(Convolution::Direction::weight_gradient, false)};
  CHECK(library_takes(Precision::f32)(kernel));
  std::get<Convolution>(kernel.calls[1]).weight.layout.strides = {36, 9, 3, 1};
  CHECK_FALSE(library_takes(Precision::f32)(kernel));
  kernel.calls = {MatrixProduct{
      operand(0, {3, 5}, {5, 1}), operand(1, {5, 4}, {4, 1}), operand(2, {3, 4}, {1, 3}), {}}};
  CHECK(library_takes(Precision::f32)(kernel));
  std::get<MatrixProduct>(kernel.calls[0]).bias = operand(3, {4}, {1});
  CHECK_FALSE(library_takes(Precision::f32)(kernel));
}

TEST_CASE("cuda: convolutions of 16 bits, and products of what is added", "[native][cuda]") {
  Convolution c = convolution(Convolution::Direction::forward, false);
  c.bias = operand(3, {6}, {1}, 2);
  c.dtype = DType::f16;
  const auto form = form_of(c);
  REQUIRE(form.ok());
  CHECK(form->dtype == DType::f16);
  CHECK(form->w.offset == 8);
  CHECK(form->bias->offset == 4);
  library::Kernel kernel;
  kernel.calls = {c};
  CHECK(library_takes(Precision::f32)(kernel));
  CHECK_FALSE(library::is_portable(kernel));
  c = convolution(Convolution::Direction::weight_gradient, false);
  c.bias = operand(3, {6}, {1});
  for (const auto& [dtype, taken] :
       {std::pair(DType::f32, true), std::pair(DType::f16, true), std::pair(DType::bf16, false)}) {
    c.dtype = dtype;
    kernel.calls = {c};
    CHECK(library_takes(Precision::f32)(kernel) == taken);
  }
  kernel.calls = {convolution(Convolution::Direction::forward, false)};
  CHECK(library::is_portable(kernel));
  MatrixProduct product{operand(0, {3, 5}, {5, 1}), operand(1, {5, 4}, {4, 1}),
                        operand(2, {3, 4}, {4, 1}), operand(3, {4}, {1})};
  kernel.calls = {product};
  CHECK(library::is_portable(kernel));
  product.bias.reset();
  product.addend = operand(3, {3, 4}, {4, 1});
  kernel.calls = {product};
  CHECK(library_takes(Precision::f32)(kernel));
  CHECK_FALSE(library::is_portable(kernel));
  std::get<MatrixProduct>(kernel.calls[0]).addend->layout.strides = {1, 3};
  CHECK_FALSE(library_takes(Precision::f32)(kernel));
}

TEST_CASE("cuda: weights are dense, channels first or last", "[native][cuda]") {
  Convolution c = convolution(Convolution::Direction::forward, false);
  c.weight.layout.strides = {18, 1, 6, 2};
  CHECK_FALSE(form_of(c).ok());
  c.input.layout.strides = {288, 1, 32, 4};
  c.output.layout.strides = {120, 1, 24, 6};
  const auto last = form_of(c);
  REQUIRE(last.ok());
  CHECK(last->channels_last);
  c.weight.layout.strides = {36, 9, 3, 1};
  CHECK_FALSE(form_of(c).ok());
  // Only tensor cores go back through those.
  library::Kernel kernel;
  kernel.calls = {c};
  std::get<Convolution>(kernel.calls[0]).weight.layout.strides = {18, 1, 6, 2};
  CHECK(library_takes(Precision::tf32)(kernel));
  CHECK_FALSE(library_takes(Precision::f32)(kernel));
  std::get<Convolution>(kernel.calls[0]).dtype = DType::bf16;
  CHECK(library_takes(Precision::f32)(kernel));
  // A kernel of one element stands alike in both: what it is beside decides.
  Convolution point = c;
  point.stride = {1, 1};
  point.padding = {0, 0};
  point.weight.layout = {{6, 2, 1, 1}, {2, 1, 1, 1}, 0};
  point.output.layout = {{2, 6, 9, 8}, {432, 1, 48, 6}, 0};
  const auto beside_last = form_of(point);
  REQUIRE(beside_last.ok());
  CHECK(beside_last->channels_last);
  point.input.layout.strides = {288, 72, 8, 1};
  point.output.layout.strides = {432, 72, 8, 1};
  const auto beside_first = form_of(point);
  REQUIRE(beside_first.ok());
  CHECK_FALSE(beside_first->channels_last);
  c.weight.layout.strides = {18, 9, 3, 1};
  c.input.layout.shape[0] = std::int64_t{1} << 31;
  const auto large = form_of(c);
  REQUIRE_FALSE(large.ok());
  CHECK(large.diagnostics().front().message.find("too large") != std::string::npos);
}

}  // namespace
}  // namespace recut::cuda
