#include "native/cuda/matrix_forms.h"

#include <algorithm>
#include <numeric>

namespace recut::cuda {
namespace {

bool runs_along(const Layout& layout, std::size_t d) {
  return layout.shape[d] == 1 || layout.strides[d] == 1;
}

// Describes a product's operands as column-major matrices.
class MatrixFormsFormer {
 public:
  explicit MatrixFormsFormer(const library::MatrixProduct& product) : product_(product) {}

  std::optional<ProductForm> run() const {
    const Layout& out = product_.out.layout;
    const std::size_t last = out.shape.size() - 1, before = last - 1;
    const bool along_rows = runs_along(out, last);
    if (product_.bias && !along_rows) return std::nullopt;
    const std::size_t row = along_rows ? last : before, column = along_rows ? before : last;
    if (product_.addend && !runs_along(product_.addend->layout, row)) return std::nullopt;
    ProductForm form;
    form.batch = last == 2 ? out.shape[0] : 1;
    form.a = matrix(along_rows ? product_.right : product_.left, row, column);
    form.b = matrix(along_rows ? product_.left : product_.right, row, column);
    form.d = straight(product_.out, row, column);
    if (product_.bias) form.bias = {product_.bias->buffer, bytes_before(*product_.bias)};
    if (product_.addend) form.c = straight(*product_.addend, row, column);
    form.alpha = product_.alpha;
    form.beta = product_.beta;
    form.relu = product_.relu;
    form.dtype = product_.dtype;
    return form;
  }

 private:
  std::int64_t bytes_before(const library::Operand& operand) const {
    return operand.layout.offset * item_bytes(product_.dtype);
  }

  // The matrix with rows along dimension `row` and columns along `column`, as it lies in memory.
  MatrixForm straight(const library::Operand& operand, std::size_t row, std::size_t column) const {
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

  // The same, transposed where its rows aren't contiguous.
  MatrixForm matrix(const library::Operand& operand, std::size_t row, std::size_t column) const {
    const Layout& layout = operand.layout;
    const auto steps_by_one = [&](std::size_t d) {
      return layout.shape[d] > 1 && layout.strides[d] == 1;
    };
    const bool transposed = !steps_by_one(row) && (steps_by_one(column) || layout.shape[row] > 1);
    if (!transposed) return straight(operand, row, column);
    MatrixForm form = straight(operand, column, row);
    form.transposed = true;
    return form;
  }

  const library::MatrixProduct& product_;
};

}  // namespace

std::int64_t MatrixForm::alignment() const { return std::gcd(kBufferAlignment, offset); }

std::optional<ProductForm> form_of(const library::MatrixProduct& product) {
  return MatrixFormsFormer(product).run();
}

}  // namespace recut::cuda
