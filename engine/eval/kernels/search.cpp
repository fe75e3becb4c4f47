// Binary search in sorted sequences (searchsorted, bucketize), and membership (isin).
#include <algorithm>

#include "engine/eval/kernel.h"
#include "engine/eval/kernels/elementwise.h"

namespace recut {
namespace {

using namespace elementwise;

// The insertion index of x into sorted values: before its equals, or (right) after them. Written
// with the comparisons negated, so that NaN goes to the end.
template <class At>
std::int64_t position_in(std::int64_t size, At at, double x, bool right) {
  std::int64_t begin = 0;
  std::int64_t end = size;
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    const bool before = right ? !(at(middle) > x) : !(at(middle) >= x);
    if (before)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// `sequence` holds one sorted line for all, or one for each line of `self`; `order` sorts it, where
// it is not sorted itself.
Result<Done> search(KernelContext& c, std::string_view sequence, bool right,
                    const Integers* order) {
  const Reals sorted = c.reals(sequence);
  const Reals self = c.reals("self");
  const std::int64_t length = sorted.shape.back();
  const bool shared = sorted.rank() == 1;
  const std::int64_t per_line = shared || self.rank() == 0 ? 1 : self.shape.back();
  Integers out(self.shape);
  for (std::int64_t i = 0; i < self.count(); ++i) {
    const std::int64_t first = shared ? 0 : i / per_line * length;
    const auto at = [&](std::int64_t k) {
      return sorted[first + (order ? (*order)[first + k] : k)];
    };
    out[i] = position_in(length, at, self[i], right);
  }
  c.write(out);
  return Done{};
}

Result<Done> bucketize(KernelContext& c) {
  return search(c, "boundaries", c.call.boolean("right"), nullptr);
}

Result<Done> searchsorted(KernelContext& c) {
  const bool right = c.call.boolean("right") || c.call.text("side") == "right";
  if (!c.call.is_tensor("sorter")) return search(c, "sorted_sequence", right, nullptr);
  const Integers order = c.integers("sorter");
  const TensorType& sequence = c.call.tensor("sorted_sequence");
  const std::int64_t length = sequence.shape.back();
  const auto good = [&](std::int64_t i) { return i >= 0 && i < length; };
  if (order.shape != sequence.shape || !std::all_of(order.data.begin(), order.data.end(), good))
    return error("sorter has to hold positions in the sorted sequence, one for each element");
  return search(c, "sorted_sequence", right, &order);
}

Result<Done> isin(KernelContext& c) {
  const bool number = c.call.op().parameter("element").has_value();
  const bool one_test = c.call.op().parameter("test_element").has_value();
  const Reals elements = c.reals(number ? "element" : "elements");
  Reals tests = c.reals(one_test ? "test_element" : "test_elements");
  std::sort(tests.data.begin(), tests.data.end(), [](double a, double b) {
    return a < b || (b != b && a == a);  // NaN last: it is equal to nothing
  });
  const bool invert = c.call.boolean("invert");
  const auto member = [&](double x) {
    const std::int64_t at = position_in(
        tests.count(), [&](std::int64_t k) { return tests[k]; }, x, false);
    return (at < tests.count() && tests[at] == x) != invert;
  };
  c.write(map<std::int64_t>(member, elements));
  return Done{};
}

}  // namespace

void add_search_kernels(KernelTable& table) {
  for (const Op op : {Op::searchsorted_Tensor, Op::searchsorted_Scalar})
    table.add(op, searchsorted);
  for (const Op op : {Op::bucketize_Tensor, Op::bucketize_Scalar}) table.add(op, bucketize);
  for (const Op op : {Op::isin_Tensor_Tensor, Op::isin_Tensor_Scalar, Op::isin_Scalar_Tensor})
    table.add(op, isin);
}

}  // namespace recut
