// Softmax and its logarithm along one dimension.
#include <cmath>

#include "engine/eval/kernel.h"

namespace recut {
namespace {

// One line of elements along a dimension.
struct Line {
  std::int64_t first, step, count;
};

// Calls visit(line) for every line along `dim`; a number is a line of one.
template <class Visit>
void for_each_line(const Shape& shape, std::int64_t dim, Visit&& visit) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto d = static_cast<std::size_t>(wrap_dimension(dim, rank).value());
  const std::int64_t count = rank == 0 ? 1 : shape[d];
  const std::int64_t step = rank == 0 ? 1 : contiguous_strides(shape)[d];
  const std::int64_t lines = count == 0 ? 0 : element_count(shape) / count;
  for (std::int64_t i = 0; i < lines; ++i)
    visit(Line{i / step * step * count + i % step, step, count});
}

// The largest element, and the sum of exponentials of the differences to it.
struct Sum {
  double largest = -INFINITY;
  double total = 0;

  Sum(const Reals& x, const Line& line) {
    for (std::int64_t k = 0; k < line.count; ++k) {
      const double value = x[line.first + k * line.step];
      if (value > largest || std::isnan(value)) largest = value;
    }
    for (std::int64_t k = 0; k < line.count; ++k)
      total += std::exp(x[line.first + k * line.step] - largest);
  }
};

enum class SoftmaxForm { plain, logarithm, safe };

// The `dtype` of softmax.int converts first, so the softmax is of rounded values.
Reals converted(const KernelContext& c) {
  Reals x = c.reals("self");
  const DType dtype = c.output_types[0].dtype;
  if (c.call.op().parameter("dtype"))
    for (double& v : x.data) v = round_to(dtype, v);
  return x;
}

template <SoftmaxForm form>
Result<Done> softmax(KernelContext& c) {
  const Reals x = converted(c);
  Reals out(x.shape);
  for_each_line(x.shape, c.call.integer("dim"), [&](const Line& line) {
    const Sum sum(x, line);
    const bool empty = form == SoftmaxForm::safe && sum.largest == -INFINITY;
    for (std::int64_t k = 0; k < line.count && !empty; ++k) {
      const std::int64_t at = line.first + k * line.step;
      const double shifted = x[at] - sum.largest;
      out[at] = form == SoftmaxForm::logarithm ? shifted - std::log(sum.total)
                                               : std::exp(shifted) / sum.total;
    }
  });
  c.write(out);
  return Done{};
}

template <bool logarithm>
Result<Done> softmax_backward(KernelContext& c) {
  const Reals grad = c.reals("grad_output");
  const Reals output = c.reals("output");
  Reals out(output.shape);
  for_each_line(output.shape, c.call.integer("dim"), [&](const Line& line) {
    double sum = 0;
    for (std::int64_t k = 0; k < line.count; ++k) {
      const std::int64_t at = line.first + k * line.step;
      sum += logarithm ? grad[at] : grad[at] * output[at];
    }
    for (std::int64_t k = 0; k < line.count; ++k) {
      const std::int64_t at = line.first + k * line.step;
      out[at] = logarithm ? grad[at] - std::exp(output[at]) * sum : (grad[at] - sum) * output[at];
    }
  });
  c.write(out);
  return Done{};
}

}  // namespace

void add_softmax_kernels(KernelTable& t) {
  t.add(Op::_softmax, softmax<SoftmaxForm::plain>);
  t.add(Op::softmax_int, softmax<SoftmaxForm::plain>);
  t.add(Op::_log_softmax, softmax<SoftmaxForm::logarithm>);
  t.add(Op::log_softmax_int, softmax<SoftmaxForm::logarithm>);
  t.add(Op::_safe_softmax, softmax<SoftmaxForm::safe>);
  t.add(Op::_softmax_backward_data, softmax_backward<false>);
  t.add(Op::_log_softmax_backward_data, softmax_backward<true>);
}

}  // namespace recut
