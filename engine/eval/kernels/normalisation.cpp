// Normalisation. Layer, group and batch norm differ in which elements share statistics and which
// share a weight; the arithmetic is one.
#include <cmath>

#include "engine/eval/kernel.h"

namespace recut {
namespace {

// Maps element i, in row-major order, to its statistics and its weight.
struct Sharing {
  std::int64_t statistics = 0;  // how many
  std::int64_t weights = 0;
  // statistic = i / outer % count, or for batch norm the channel
  std::int64_t statistic_step = 1;
  bool statistics_by_channel = false;
  std::int64_t weight_step = 1;

  std::int64_t statistic_of(std::int64_t i) const {
    return statistics_by_channel ? weight_of(i) : i / statistic_step;
  }
  std::int64_t weight_of(std::int64_t i) const { return i / weight_step % weights; }
};

// Layer and RMS norm: rows of the last dimensions.
Sharing by_rows(const Call& call, const Shape& in) {
  const Shape inner = call.integers("normalized_shape");
  Sharing s;
  s.weights = element_count(inner);
  s.statistic_step = s.weights;
  s.statistics =
      element_count(Shape(in.begin(), in.end() - static_cast<std::ptrdiff_t>(inner.size())));
  return s;
}

std::int64_t spatial_size_of(const Shape& in) {
  return element_count(Shape(in.begin() + 2, in.end()));
}

Sharing by_groups(const Shape& in, std::int64_t groups) {
  Sharing s;
  s.weights = in[1];
  s.weight_step = spatial_size_of(in);
  s.statistic_step = in[1] / groups * s.weight_step;
  s.statistics = in[0] * groups;
  return s;
}

Sharing by_channels(const Shape& in) {
  Sharing s;
  s.weights = s.statistics = in[1];
  s.weight_step = spatial_size_of(in);
  s.statistics_by_channel = true;
  return s;
}

struct Statistics {
  Reals mean, variance;
  double count = 0;  // elements that share each of them
};

Statistics measure(const Reals& x, const Sharing& s) {
  Statistics m{Reals(Shape{s.statistics}), Reals(Shape{s.statistics}), 0};
  m.count = s.statistics == 0 ? 0 : static_cast<double>(x.count() / s.statistics);
  for (std::int64_t i = 0; i < x.count(); ++i) m.mean[s.statistic_of(i)] += x[i];
  for (double& v : m.mean.data) v /= m.count;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const double d = x[i] - m.mean[s.statistic_of(i)];
    m.variance[s.statistic_of(i)] += d * d;
  }
  for (double& v : m.variance.data) v /= m.count;
  return m;
}

Reals reciprocal_deviation(const Reals& variance, double eps) {
  Reals out(variance.shape);
  for (std::int64_t i = 0; i < out.count(); ++i) out[i] = 1 / std::sqrt(variance[i] + eps);
  return out;
}

Reals optional_reals_normalisation(const KernelContext& c, std::string_view parameter) {
  if (!c.call.op().parameter(parameter) || !c.call.is_tensor(parameter)) return {};
  return c.reals(parameter);
}

// (x - mean) * rstd * weight + bias; an absent mean counts as 0.
Reals normalised(const KernelContext& c, const Reals& x, const Sharing& s, const Reals& mean,
                 const Reals& rstd) {
  const Reals weight = optional_reals_normalisation(c, "weight");
  const Reals bias = optional_reals_normalisation(c, "bias");
  Reals out(x.shape);
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t k = s.statistic_of(i);
    double y = (x[i] - (mean.data.empty() ? 0.0 : mean[k])) * rstd[k];
    if (!weight.data.empty()) y *= weight[s.weight_of(i)];
    if (!bias.data.empty()) y += bias[s.weight_of(i)];
    out[i] = y;
  }
  return out;
}

void write_as(KernelContext& c, Reals values, std::size_t index) {
  values.shape = c.output_types[index].shape;
  c.write(values, index);
}

// Layer norm and group norm, native or not.
Result<Done> normalise(KernelContext& c, const Reals& x, const Sharing& s, double eps) {
  const Statistics m = measure(x, s);
  const Reals rstd = reciprocal_deviation(m.variance, eps);
  c.write(normalised(c, x, s, m.mean, rstd), 0);
  if (c.outputs.size() == 1) return Done{};
  write_as(c, m.mean, 1);
  write_as(c, rstd, 2);
  return Done{};
}

Result<Done> layer_norm(KernelContext& c) {
  const Reals x = c.reals("input");
  return normalise(c, x, by_rows(c.call, x.shape), c.call.real("eps"));
}

Result<Done> group_norm(KernelContext& c) {
  const Reals x = c.reals("input");
  const bool native = c.call.op().parameter("group").has_value();
  const std::int64_t groups = c.call.integer(native ? "group" : "num_groups");
  return normalise(c, x, by_groups(x.shape, groups), c.call.real("eps"));
}

// Gradients of y = (x - mean) rstd w + b. With xhat the normalised x and g = dy w:
//   dx = rstd (g - mean(g) - xhat mean(g xhat)),  dw = sum(dy xhat),  db = sum(dy)
// Where the statistics are constants, dx = rstd g; without a mean (RMS norm), mean(g) falls away.
struct Backward {
  bool constant_statistics = false;
  bool with_mean = true;

  void run(KernelContext& c, const Reals& grad, const Reals& x, const Sharing& s, const Reals& mean,
           const Reals& rstd) const {
    const Reals weight = optional_reals_normalisation(c, "weight");
    Reals sum(Shape{s.statistics});
    Reals projection(Shape{s.statistics});
    Reals grad_weight(Shape{s.weights});
    Reals grad_bias(Shape{s.weights});
    const auto scaled = [&](std::int64_t i) {
      return weight.data.empty() ? grad[i] : grad[i] * weight[s.weight_of(i)];
    };
    const auto xhat = [&](std::int64_t i) {
      const std::int64_t k = s.statistic_of(i);
      return (x[i] - (mean.data.empty() ? 0.0 : mean[k])) * rstd[k];
    };
    for (std::int64_t i = 0; i < x.count(); ++i) {
      sum[s.statistic_of(i)] += scaled(i);
      projection[s.statistic_of(i)] += scaled(i) * xhat(i);
      grad_weight[s.weight_of(i)] += grad[i] * xhat(i);
      grad_bias[s.weight_of(i)] += grad[i];
    }
    Reals grad_input(x.shape);
    const double count = s.statistics == 0 ? 0 : static_cast<double>(x.count() / s.statistics);
    for (std::int64_t i = 0; i < x.count(); ++i) {
      const std::int64_t k = s.statistic_of(i);
      double g = scaled(i);
      if (!constant_statistics) {
        if (with_mean) g -= sum[k] / count;
        g -= xhat(i) * projection[k] / count;
      }
      grad_input[i] = g * rstd[k];
    }
    c.write(grad_input, 0);
    write_as(c, grad_weight, 1);
    if (c.outputs.size() > 2) write_as(c, grad_bias, 2);
  }
};

Result<Done> layer_norm_backward(KernelContext& c) {
  const Reals x = c.reals("input");
  Backward().run(c, c.reals("grad_out"), x, by_rows(c.call, x.shape), c.reals("mean"),
                 c.reals("rstd"));
  return Done{};
}

Result<Done> group_norm_backward(KernelContext& c) {
  const Reals x = c.reals("input");
  Backward().run(c, c.reals("grad_out"), x, by_groups(x.shape, c.call.integer("group")),
                 c.reals("mean"), c.reals("rstd"));
  return Done{};
}

Result<Done> rms_norm(KernelContext& c) {
  const Reals x = c.reals("input");
  const Sharing s = by_rows(c.call, x.shape);
  const DType dtype = c.call.tensor("input").dtype;
  const double default_eps = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
  const double eps = c.call.given("eps") ? c.call.real("eps") : default_eps;
  Reals squares(Shape{s.statistics});
  for (std::int64_t i = 0; i < x.count(); ++i) squares[s.statistic_of(i)] += x[i] * x[i];
  for (double& v : squares.data) v /= static_cast<double>(s.weights);
  const Reals rstd = reciprocal_deviation(squares, eps);
  c.write(normalised(c, x, s, Reals(), rstd), 0);
  if (c.outputs.size() > 1) write_as(c, rstd, 1);
  return Done{};
}

Result<Done> rms_norm_backward(KernelContext& c) {
  const Reals x = c.reals("input");
  Backward{.with_mean = false}.run(c, c.reals("grad_out"), x, by_rows(c.call, x.shape), Reals(),
                                   c.reals("rstd"));
  return Done{};
}

// Running statistics after a step: the variance that they follow is the unbiased one.
void write_running(KernelContext& c, const Statistics& m, bool training) {
  const double momentum = c.call.real("momentum");
  Reals mean = c.reals("running_mean");
  Reals variance = c.reals("running_var");
  for (std::int64_t i = 0; training && i < mean.count(); ++i) {
    mean[i] += momentum * (m.mean[i] - mean[i]);
    variance[i] += momentum * (m.variance[i] * m.count / (m.count - 1) - variance[i]);
  }
  c.write(mean, 3);
  c.write(variance, 4);
}

Result<Done> batch_norm(KernelContext& c) {
  const Reals x = c.reals("input");
  const Sharing s = by_channels(x.shape);
  const bool training = c.call.op().parameter("training") && c.call.boolean("training");
  const Statistics m =
      training ? measure(x, s) : Statistics{c.reals("running_mean"), c.reals("running_var"), 0};
  const Reals rstd = reciprocal_deviation(m.variance, c.call.real("eps"));
  c.write(normalised(c, x, s, m.mean, rstd), 0);
  if (training && c.outputs.size() > 1) {
    c.write(m.mean, 1);
    c.write(rstd, 2);
  }
  if (c.outputs.size() == 5) write_running(c, m, training);
  return Done{};
}

Result<Done> batch_norm_backward(KernelContext& c) {
  const Reals x = c.reals("input");
  const bool train = c.call.boolean("train");
  const Reals mean = c.reals(train ? "save_mean" : "running_mean");
  const Reals rstd = train ? c.reals("save_invstd")
                           : reciprocal_deviation(c.reals("running_var"), c.call.real("eps"));
  Backward{.constant_statistics = !train}.run(c, c.reals("grad_out"), x, by_channels(x.shape), mean,
                                              rstd);
  return Done{};
}

}  // namespace

void add_normalisation_kernels(KernelTable& t) {
  t.add(Op::native_layer_norm, layer_norm);
  t.add(Op::layer_norm, layer_norm);
  t.add(Op::native_layer_norm_backward, layer_norm_backward);
  t.add(Op::native_group_norm, group_norm);
  t.add(Op::group_norm, group_norm);
  t.add(Op::native_group_norm_backward, group_norm_backward);
  t.add(Op::rms_norm, rms_norm);
  t.add(Op::_fused_rms_norm, rms_norm);
  t.add(Op::_fused_rms_norm_backward, rms_norm_backward);
  for (const Op op :
       {Op::native_batch_norm, Op::_native_batch_norm_legit, Op::_native_batch_norm_legit_no_stats,
        Op::_native_batch_norm_legit_no_training, Op::_native_batch_norm_legit_functional,
        Op::batch_norm})
    t.add(op, batch_norm);
  t.add(Op::native_batch_norm_backward, batch_norm_backward);
}

}  // namespace recut
