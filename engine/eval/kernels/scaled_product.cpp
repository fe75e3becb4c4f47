// Products of matrices whose elements have scales beside them, and products of groups of rows.
#include <fmt/core.h>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/gemm.h"

namespace recut {
namespace {

using elementwise::broadcast_to;

// (self * scale_a) @ (mat2 * scale_b): a scale is one number, one a row of self, or one a column of
// mat2.
Result<Done> scaled_mm(KernelContext& c) {
  const Shape& shape = c.output_types[0].shape;
  Reals out = matmul(c.reals("self"), c.reals("mat2"));
  const auto scale_of = [&](std::string_view parameter) {
    Reals scale = c.reals(parameter);
    if (scale.count() == 1) scale.shape = {};
    return broadcast_to(std::move(scale), shape);
  };
  const Reals a = scale_of("scale_a"), b = scale_of("scale_b");
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] *= a[i] * b[i];
  if (c.call.is_tensor("bias")) {
    const Reals bias = broadcast_to(c.reals("bias"), shape);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] += bias[i];
  }
  if (c.call.is_tensor("scale_result") && is_float8(c.output_types[0].dtype)) {
    const double scale = c.reals("scale_result")[0];
    for (double& x : out.data) x *= scale;
  }
  c.write(out);
  return Done{};
}

// A group's part of the rows of self, of the columns of mat2, or of the inner dimension of both.
struct Group {
  std::int64_t index, begin, end;
};

Result<std::vector<Group>> groups_of(const KernelContext& c, std::int64_t size) {
  std::vector<Group> groups;
  std::int64_t begin = 0;
  for (const std::int64_t end : c.integers("offs").data) {
    if (end < begin || end > size)
      return error(fmt::format("{}: group {} ends at {}, expected {} to {}", c.call.op().name,
                               groups.size(), end, begin, size));
    groups.push_back({static_cast<std::int64_t>(groups.size()), begin, end});
    begin = end;
  }
  return groups;
}

// Elements behind the last group are 0.
Result<Done> grouped_mm(KernelContext& c) {
  const Reals a = c.reals("self"), b = c.reals("mat2");
  if (!c.call.is_tensor("offs")) {
    c.write(matmul(a, b));
    return Done{};
  }
  const std::int64_t n = a.shape[a.shape.size() - 2], k = a.shape.back(), m = b.shape.back();
  const bool by_rows = b.rank() == 3, by_columns = a.rank() == 3;
  const auto groups = groups_of(c, by_rows ? n : by_columns ? m : k);
  if (!groups) return groups.diagnostics();
  Reals out(c.output_types[0].shape);
  for (const Group& g : *groups) {
    const std::int64_t size = g.end - g.begin;
    if (by_rows)
      multiply_add(size, k, m, {a.data.data() + g.begin * k, k},
                   {b.data.data() + g.index * k * m, m}, out.data.data() + g.begin * m, m);
    else if (by_columns)
      multiply_add(n, k, size, {a.data.data() + g.index * n * k, k}, {b.data.data() + g.begin, m},
                   out.data.data() + g.begin, m);
    else
      multiply_add(n, size, m, {a.data.data() + g.begin, k}, {b.data.data() + g.begin * m, m},
                   out.data.data() + g.index * n * m, m);
  }
  c.write(out);
  return Done{};
}

}  // namespace

void add_scaled_product_kernels(KernelTable& table) {
  table.add(Op::_scaled_mm, scaled_mm);
  table.add(Op::_grouped_mm, grouped_mm);
}

}  // namespace recut
