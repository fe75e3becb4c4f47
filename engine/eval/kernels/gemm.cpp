// Matrix products in double (gemm.h): two rows by a packed panel of eight columns in registers.
// Each element sums over k in order, whatever the blocking, so that results are reproducible; a
// library would choose its own order.
#include "engine/eval/kernels/gemm.h"

#include <algorithm>

#include "engine/eval/kernels/elementwise.h"

namespace recut {
namespace {

// Columns that the inner loop holds in registers, and the depth of a packed block: a block of
// kPanel * kDepth numbers stays in the first-level cache.
constexpr std::int64_t kPanel = 8;
constexpr std::int64_t kDepth = 256;

// c[2, kPanel] += a[2, depth] · panel[depth, kPanel].
void two_rows(std::int64_t depth, const double* a0, const double* a1, const double* panel,
              double* c0, double* c1) {
  double sum0[kPanel];
  double sum1[kPanel];
  std::copy(c0, c0 + kPanel, sum0);
  std::copy(c1, c1 + kPanel, sum1);
  for (std::int64_t k = 0; k < depth; ++k) {
    const double x0 = a0[k];
    const double x1 = a1[k];
    for (std::int64_t j = 0; j < kPanel; ++j) sum0[j] += x0 * panel[k * kPanel + j];
    for (std::int64_t j = 0; j < kPanel; ++j) sum1[j] += x1 * panel[k * kPanel + j];
  }
  std::copy(sum0, sum0 + kPanel, c0);
  std::copy(sum1, sum1 + kPanel, c1);
}

// The same for one row and any number of columns up to a panel's.
void one_row(std::int64_t depth, const double* a, const double* panel, double* c,
             std::int64_t columns) {
  double sum[kPanel] = {};
  std::copy(c, c + columns, sum);
  for (std::int64_t k = 0; k < depth; ++k) {
    const double x = a[k];
    for (std::int64_t j = 0; j < kPanel; ++j) sum[j] += x * panel[k * kPanel + j];
  }
  std::copy(sum, sum + columns, c);
}

// Columns [begin, begin + columns) of rows [0, depth) of b, side by side and filled up with zeros.
void pack(std::int64_t depth, MatrixView b, std::int64_t begin, std::int64_t columns,
          double* panel) {
  for (std::int64_t k = 0; k < depth; ++k)
    for (std::int64_t j = 0; j < kPanel; ++j)
      panel[k * kPanel + j] = j < columns ? b.data[k * b.step + begin + j] : 0.0;
}

}  // namespace

void multiply_add(std::int64_t n, std::int64_t k, std::int64_t m, MatrixView a, MatrixView b,
                  double* c, std::int64_t c_step) {
  double panel[kPanel * kDepth];
  for (std::int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const std::int64_t depth = std::min(kDepth, k - k0);
    for (std::int64_t j0 = 0; j0 < m; j0 += kPanel) {
      const std::int64_t columns = std::min(kPanel, m - j0);
      pack(depth, {b.data + k0 * b.step, b.step}, j0, columns, panel);
      std::int64_t i = 0;
      if (columns == kPanel)
        for (; i + 1 < n; i += 2)
          two_rows(depth, a.data + i * a.step + k0, a.data + (i + 1) * a.step + k0, panel,
                   c + i * c_step + j0, c + (i + 1) * c_step + j0);
      for (; i < n; ++i)
        one_row(depth, a.data + i * a.step + k0, panel, c + i * c_step + j0, columns);
    }
  }
}

void transpose(std::int64_t rows, std::int64_t columns, const double* from, double* to) {
  constexpr std::int64_t kTile = 32;  // both sides of a tile stay in the cache
  for (std::int64_t i0 = 0; i0 < rows; i0 += kTile)
    for (std::int64_t j0 = 0; j0 < columns; j0 += kTile)
      for (std::int64_t i = i0; i < std::min(i0 + kTile, rows); ++i)
        for (std::int64_t j = j0; j < std::min(j0 + kTile, columns); ++j)
          to[j * rows + i] = from[i * columns + j];
}

namespace {

void multiply(std::int64_t n, std::int64_t k, std::int64_t m, const double* a, const double* b,
              double* c) {
  multiply_add(n, k, m, {a, k}, {b, m}, c, m);
}

// Integers wrap as PyTorch's do: unsigned, where overflow is defined.
void multiply(std::int64_t n, std::int64_t k, std::int64_t m, const std::int64_t* a,
              const std::int64_t* b, std::int64_t* c) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < m; ++j)
        c[i * m + j] = static_cast<std::int64_t>(static_cast<std::uint64_t>(c[i * m + j]) +
                                                 static_cast<std::uint64_t>(a[i * k + l]) *
                                                     static_cast<std::uint64_t>(b[l * m + j]));
}

void multiply(std::int64_t n, std::int64_t k, std::int64_t m, const Complex* a, const Complex* b,
              Complex* c) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < m; ++j)
        c[i * m + j] += elementwise::times(a[i * k + l], b[l * m + j]);
}

Shape without_last_two(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

}  // namespace

std::int64_t broadcast_index(std::int64_t index, const Shape& all, const Shape& own) {
  std::int64_t at = 0;
  std::int64_t step = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t d = all.size() - 1 - i;
    const std::int64_t coordinate = index % all[d];
    index /= all[d];
    if (i >= own.size()) continue;
    const std::int64_t extent = own[own.size() - 1 - i];
    if (extent != 1) at += coordinate * step;
    step *= extent;
  }
  return at;
}

template <class T>
Dense<T> matmul(const Dense<T>& a, const Dense<T>& b) {
  const Shape left = a.rank() == 1 ? Shape{1, a.shape[0]} : a.shape;
  const Shape right = b.rank() == 1 ? Shape{b.shape[0], 1} : b.shape;
  const Shape batch = broadcast(without_last_two(left), without_last_two(right)).value();
  const std::int64_t n = left[left.size() - 2];
  const std::int64_t k = left.back();
  const std::int64_t m = right.back();
  Shape shape = batch;
  if (a.rank() > 1) shape.push_back(n);
  if (b.rank() > 1) shape.push_back(m);
  Dense<T> out(std::move(shape));
  const std::int64_t batches = n * m > 0 ? element_count(batch) : 0;
  for (std::int64_t i = 0; i < batches; ++i)
    multiply(n, k, m, a.data.data() + broadcast_index(i, batch, without_last_two(left)) * n * k,
             b.data.data() + broadcast_index(i, batch, without_last_two(right)) * k * m,
             out.data.data() + i * n * m);
  return out;
}

template <class T>
Dense<T> transposed(const Dense<T>& a) {
  Dense<T> out(a.shape);
  const std::size_t rank = a.shape.size();
  std::swap(out.shape[rank - 2], out.shape[rank - 1]);
  const std::int64_t rows = a.shape[rank - 2];
  const std::int64_t columns = a.shape[rank - 1];
  const std::int64_t size = rows * columns;
  for (std::int64_t base = 0; base < a.count(); base += size)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        out[base + j * rows + i] = a[base + i * columns + j];
  return out;
}

template Reals matmul(const Reals&, const Reals&);
template Integers matmul(const Integers&, const Integers&);
template Complexes matmul(const Complexes&, const Complexes&);
template Reals transposed(const Reals&);
template Integers transposed(const Integers&);
template Complexes transposed(const Complexes&);

}  // namespace recut
