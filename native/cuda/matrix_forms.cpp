#include "native/cuda/matrix_forms.h"

#include <algorithm>
#include <numeric>

#include "engine/ir/dtype.h"

namespace recut::cuda {
namespace {

constexpr std::int64_t kBufferAlignment = 64;

std::int64_t bytes_before(const library::Operand& operand) {
  return operand.layout.offset * item_bytes(DType::f32);
}

// The matrix whose rows are counted by dimension `row` and its columns by `column`, as it stands.
MatrixForm straight(const library::Operand& operand, std::size_t row, std::size_t column) {
  const Layout& layout = operand.layout;
  MatrixForm form;
  form.buffer = operand.buffer;
  form.offset = bytes_before(operand);
  form.rows = layout.shape[row];
  form.columns = layout.shape[column];
  form.leading = form.columns == 1 ? form.rows : std::max(layout.strides[column], form.rows);
  if (layout.shape.size() == 3) form.batch_stride = layout.strides[0];
  return form;
}

// The same, turned where it doesn't run along its rows' numbers.
MatrixForm matrix(const library::Operand& operand, std::size_t row, std::size_t column) {
  const Layout& layout = operand.layout;
  const auto runs_along = [&](std::size_t d) {
    return layout.shape[d] > 1 && layout.strides[d] == 1;
  };
  const bool turned = !runs_along(row) && (runs_along(column) || layout.shape[row] > 1);
  if (!turned) return straight(operand, row, column);
  MatrixForm form = straight(operand, column, row);
  form.turned = true;
  return form;
}

}  // namespace

std::int64_t MatrixForm::alignment() const { return std::gcd(kBufferAlignment, offset); }

std::optional<ProductForm> form_of(const library::MatrixProduct& product) {
  const Layout& out = product.out.layout;
  const std::size_t last = out.shape.size() - 1, before = last - 1;
  ProductForm form;
  form.batch = last == 2 ? out.shape[0] : 1;
  if (out.shape[last] == 1 || out.strides[last] == 1) {
    form.a = matrix(product.right, last, before);
    form.b = matrix(product.left, last, before);
    form.d = straight(product.out, last, before);
    if (product.bias) form.bias = {product.bias->buffer, bytes_before(*product.bias)};
    return form;
  }
  if (product.bias) return std::nullopt;
  form.a = matrix(product.left, before, last);
  form.b = matrix(product.right, before, last);
  form.d = straight(product.out, before, last);
  return form;
}

}  // namespace recut::cuda
