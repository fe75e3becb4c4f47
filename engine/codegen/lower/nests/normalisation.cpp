// Layer, RMS, group and batch norm, forward and backward. They differ in two groupings: elements
// that share a mean, and elements that share a weight.
#include "engine/codegen/lower/nest.h"
#include "engine/codegen/lower/nests/safe_scale.h"

namespace recut::loop {
namespace {

// The input as a space of dimensions that share statistics or weights as a whole: the channels of a
// group norm are two of them.
struct NormalizationAxes {
  Shape shape;
  std::vector<bool> measured;  // reduced to one mean
  std::vector<bool> weighted;  // along which weights differ
  bool grouped = false;        // dimensions 1 and 2 are the input's channels

  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) n *= measured[d] ? shape[d] : 1;
    return n;
  }
  // The index into the input.
  Indices input(const Indices& at) const {
    if (!grouped) return at;
    Indices out{at[0], shape[2] * at[1] + at[2]};
    out.insert(out.end(), at.begin() + 3, at.end());
    return out;
  }
  // The index into weight and bias.
  Indices weight(const Indices& at) const {
    if (grouped) return {shape[2] * at[1] + at[2]};
    Indices out;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (weighted[d]) out.push_back(at[d]);
    return out;
  }
  // The row-major offset among the statistics.
  Index statistic(const Indices& at) const {
    Index number;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (!measured[d]) number = shape[d] * number + at[d];
    return number;
  }
  ReductionSpace over(const std::vector<bool>& reduced) const {
    return {shape, reduced, contiguous_strides(shape)};
  }
  std::vector<bool> unweighted() const {
    std::vector<bool> out = weighted;
    out.flip();
    return out;
  }
};

// Layer norm: rows of the last dimensions.
NormalizationAxes by_rows(const Nest& nest) {
  const Shape& in = nest.shape_of("input");
  const std::size_t inner = nest.call.integers("normalized_shape").size();
  NormalizationAxes s{in, std::vector<bool>(in.size(), false), {}, false};
  for (std::size_t d = in.size() - inner; d < in.size(); ++d) s.measured[d] = true;
  s.weighted = s.measured;
  return s;
}

NormalizationAxes by_groups(const Nest& nest, std::int64_t groups) {
  const Shape& in = nest.shape_of("input");
  NormalizationAxes s{
      {in[0], groups, in[1] / groups}, {false, false, true}, {false, true, true}, true};
  s.shape.insert(s.shape.end(), in.begin() + 2, in.end());
  s.measured.resize(s.shape.size(), true);
  s.weighted.resize(s.shape.size(), false);
  return s;
}

NormalizationAxes by_channels(const Nest& nest) {
  const Shape& in = nest.shape_of("input");
  NormalizationAxes s{in, std::vector<bool>(in.size(), true), std::vector<bool>(in.size(), false),
                      false};
  s.measured[1] = false;
  s.weighted[1] = true;
  return s;
}

// An element of a statistics tensor by row-major offset.
Indices by_number(const Nest& nest, const Shape& shape, const Index& number) {
  return delinearize(number, shape, nest.lowering.builder());
}

DType computing(const Nest& nest) { return nest.computing(nest.dtype_of("input")); }

struct Statistics {
  ScalarExpr mean, rstd;
};

// y = (x - mean) rstd w + b, over the dimensions that share statistics.
void write_normalised(const Nest& nest, const NormalizationAxes& s, Reducer& reducer,
                      const Statistics& m, bool centred) {
  const DType type = m.rstd.type();
  reducer.for_each([&](const Indices& at) {
    const ScalarExpr x = nest.real("input", s.input(at)).to(type);
    ScalarExpr y = (centred ? x - m.mean : x) * m.rstd;
    if (nest.has("weight")) y = y * nest.real("weight", s.weight(at)).to(type);
    if (nest.has("bias")) y = y + nest.real("bias", s.weight(at)).to(type);
    nest.lowering.write(nest.output(), s.input(at), y);
  });
}

void write_statistic(const Nest& nest, const NormalizationAxes& s, const Reducer& reducer,
                     std::size_t output, const ScalarExpr& value) {
  if (!nest.is_requested(output)) return;
  const Indices at = by_number(nest, nest.type(output).shape, s.statistic(reducer.at()));
  nest.lowering.write(nest.output(output), at, value);
}

struct Moments {
  ScalarExpr mean, variance;  // the variance in f64, whose range holds it

  Statistics statistics(double eps) const {
    return {mean, (1.0 / sqrt(variance + eps)).to(mean.type())};
  }
};

// Two passes: the mean and the mean magnitude, then the squares about the mean.
Moments measure(const Nest& nest, const NormalizationAxes& s, Reducer& reducer) {
  const DType type = computing(nest);
  const ScalarExpr zero = nest.lowering.constant(type, 0);
  const auto count = static_cast<double>(s.count());
  const bool scales = SafeScale::applies_to(type);
  const auto x = [&](const Indices& at) { return nest.real("input", s.input(at)); };
  std::vector<Accumulation> first{{"total", Combine::add, zero, x}};
  if (scales)
    first.push_back(
        {"magnitude", Combine::add, zero, [&](const Indices& at) { return abs(x(at)); }});
  const std::vector<ScalarExpr> found = reducer.reduce(first);
  const ScalarExpr mean = found[0] / count;
  const SafeScale magnitude = SafeScale::of(found.back() / count);
  const ScalarExpr squares = reducer.reduce({"squares", Combine::add, zero, [&](const Indices& at) {
                                               const ScalarExpr off = x(at) - mean;
                                               const ScalarExpr near =
                                                   scales ? off * magnitude.factor : off;
                                               return near * near;
                                             }});
  const ScalarExpr variance = (squares / count).to(DType::f64);
  if (!scales) return {mean, variance};
  const ScalarExpr inverse = magnitude.inverse.to(DType::f64);
  return {mean, variance * inverse * inverse};
}

void normalise(const Nest& nest, const NormalizationAxes& s) {
  const double eps = nest.call.real("eps");
  for_each_ordered_reduction(nest.lowering, s.over(s.measured), [&](Reducer& reducer) {
    const Moments m = measure(nest, s, reducer);
    const Statistics own = m.statistics(eps);
    write_statistic(nest, s, reducer, 1, own.mean);
    write_statistic(nest, s, reducer, 2, own.rstd);
    if (nest.is_requested(0)) write_normalised(nest, s, reducer, own, true);
  });
}

void layer_norm(const Nest& nest) { normalise(nest, by_rows(nest)); }

void group_norm(const Nest& nest) {
  const bool native = nest.call.op().parameter("group").has_value();
  normalise(nest, by_groups(nest, nest.call.integer(native ? "group" : "num_groups")));
}

void rms_norm(const Nest& nest) {
  const NormalizationAxes s = by_rows(nest);
  const DType type = computing(nest);
  const double default_eps = nest.dtype_of("input") == DType::f64 ? 0x1p-52 : 0x1p-23;
  const double eps = nest.call.given("eps") ? nest.call.real("eps") : default_eps;
  for_each_ordered_reduction(nest.lowering, s.over(s.measured), [&](Reducer& reducer) {
    const ScalarExpr squares = reducer.reduce(
        {"squares", Combine::add, nest.lowering.constant(DType::f64, 0), [&](const Indices& at) {
           const ScalarExpr x = nest.real("input", s.input(at)).to(DType::f64);
           return x * x;
         }});
    const ScalarExpr rstd = (1.0 / sqrt(squares / static_cast<double>(s.count()) + eps)).to(type);
    write_statistic(nest, s, reducer, 1, rstd);
    write_normalised(nest, s, reducer, {rstd, rstd}, false);
  });
}

// Gradients of y = (x - mean) rstd w + b. With xhat the normalised x and g = dy w:
//   dx = rstd (g - mean(g) - xhat mean(g xhat)),  dw = sum(dy xhat),  db = sum(dy)
// Where the statistics are constants, dx = rstd g; without a mean (RMS norm), mean(g) falls away.
struct NormalisationBackward {
  const Nest& nest;
  NormalizationAxes s;
  std::function<Statistics(const Indices&)> statistics;  // by index
  bool constant_statistics = false;
  bool centred = true;

  DType type() const { return computing(nest); }
  ScalarExpr grad(const Indices& at) const { return nest.real("grad_out", s.input(at)).to(type()); }
  ScalarExpr scaled(const Indices& at) const {
    const ScalarExpr g = grad(at);
    return nest.has("weight") ? g * nest.real("weight", s.weight(at)).to(type()) : g;
  }
  ScalarExpr xhat(const Indices& at, const Statistics& m) const {
    const ScalarExpr x = nest.real("input", s.input(at));
    return (centred ? x - m.mean : x) * m.rstd;
  }

  void run() const {
    if (nest.is_requested(0)) write_input_gradient();
    if (nest.is_requested(1) || nest.is_requested(2)) write_weight_gradients();
  }

  void write_input_gradient() const {
    const auto count = static_cast<double>(s.count());
    const ScalarExpr zero = nest.lowering.constant(type(), 0);
    for_each_ordered_reduction(nest.lowering, s.over(s.measured), [&](Reducer& reducer) {
      const Statistics m = statistics(reducer.at());
      std::vector<ScalarExpr> sums;
      if (!constant_statistics)
        sums = reducer.reduce(
            {{"sum", Combine::add, zero, [&](const Indices& at) { return scaled(at); }},
             {"projection", Combine::add, zero, [&](const Indices& at) {
                const ScalarExpr g = scaled(at);
                return g * xhat(at, m);
              }}});
      reducer.for_each([&](const Indices& at) {
        ScalarExpr g = scaled(at);
        if (!constant_statistics && centred) g = g - sums[0] / count;
        if (!constant_statistics) g = g - xhat(at, m) * sums[1] / count;
        nest.lowering.write(nest.output(0), s.input(at), g * m.rstd);
      });
    });
  }

  void write_weight_gradients() const {
    const ScalarExpr zero = nest.lowering.constant(type(), 0);
    for_each_ordered_reduction(nest.lowering, s.over(s.unweighted()), [&](Reducer& reducer) {
      std::vector<Accumulation> reductions;
      if (nest.is_requested(1))
        reductions.push_back({"weight", Combine::add, zero, [&](const Indices& at) {
                                const ScalarExpr g = grad(at);
                                return g * xhat(at, statistics(at));
                              }});
      if (nest.is_requested(2))
        reductions.push_back(
            {"bias", Combine::add, zero, [&](const Indices& at) { return grad(at); }});
      const std::vector<ScalarExpr> sums = reducer.reduce(reductions);
      std::size_t n = 0;
      for (const std::size_t output : {1, 2})
        if (nest.is_requested(output))
          nest.lowering.write(nest.output(output), s.weight(reducer.at()), sums[n++]);
    });
  }
};

// Statistics from operands, by row.
std::function<Statistics(const Indices&)> given_statistics(const Nest& nest,
                                                           const NormalizationAxes& s,
                                                           std::string_view mean,
                                                           std::string_view rstd) {
  const DType type = computing(nest);
  return [&nest, s, mean, rstd, type](const Indices& at) {
    const auto read = [&](std::string_view name) {
      return nest.real(name, by_number(nest, nest.shape_of(name), s.statistic(at))).to(type);
    };
    const ScalarExpr deviation = read(rstd);
    return Statistics{mean.empty() ? deviation : read(mean), deviation};
  };
}

void layer_norm_backward(const Nest& nest) {
  const NormalizationAxes s = by_rows(nest);
  NormalisationBackward{nest, s, given_statistics(nest, s, "mean", "rstd")}.run();
}

void group_norm_backward(const Nest& nest) {
  const NormalizationAxes s = by_groups(nest, nest.call.integer("group"));
  NormalisationBackward{nest, s, given_statistics(nest, s, "mean", "rstd")}.run();
}

void rms_norm_backward(const Nest& nest) {
  const NormalizationAxes s = by_rows(nest);
  NormalisationBackward{nest, s, given_statistics(nest, s, "", "rstd"), false, false}.run();
}

// Batch norm
// -------------------------------------------------------------------------------------

// The mean and the reciprocal deviation from running statistics.
std::function<Statistics(const Indices&)> running_statistics(const Nest& nest) {
  return [&nest](const Indices& at) {
    const DType type = computing(nest);
    const ScalarExpr mean = nest.real("running_mean", {at[1]}).to(type);
    const ScalarExpr variance = nest.real("running_var", {at[1]}).to(type);
    return Statistics{mean, 1.0 / sqrt(variance + nest.call.real("eps"))};
  };
}

// Updated running statistics; they follow the unbiased variance.
void write_running(const Nest& nest, const NormalizationAxes& s, Reducer& reducer,
                   const Moments& m) {
  const double momentum = nest.call.real("momentum");
  const auto count = static_cast<double>(s.count());
  const auto follow = [&](std::string_view name, std::size_t output, const ScalarExpr& target) {
    if (!nest.is_requested(output)) return;
    const ScalarExpr old = nest.real(name, {reducer.at()[1]}).to(target.type());
    nest.lowering.write(nest.output(output), {reducer.at()[1]},
                        (old + momentum * (target - old)).to(computing(nest)));
  };
  follow("running_mean", 3, m.mean);
  follow("running_var", 4, m.variance * count / (count - 1));
}

void train_batch_norm(const Nest& nest) {
  const NormalizationAxes s = by_channels(nest);
  const double eps = nest.call.real("eps");
  for_each_ordered_reduction(nest.lowering, s.over(s.measured), [&](Reducer& reducer) {
    const Moments m = measure(nest, s, reducer);
    const Statistics own = m.statistics(eps);
    write_statistic(nest, s, reducer, 1, own.mean);
    write_statistic(nest, s, reducer, 2, own.rstd);
    write_running(nest, s, reducer, m);
    if (nest.is_requested(0)) write_normalised(nest, s, reducer, own, true);
  });
}

void batch_norm(const Nest& nest) {
  if (nest.call.op().parameter("training") && nest.call.boolean("training"))
    return train_batch_norm(nest);
  const NormalizationAxes s = by_channels(nest);
  const auto statistics = running_statistics(nest);
  for_each_ordered_reduction(nest.lowering, s.over(s.measured), [&](Reducer& reducer) {
    write_normalised(nest, s, reducer, statistics(reducer.at()), true);
    const Indices channel{reducer.at()[1]};
    for (const std::size_t output : {3, 4})
      if (nest.is_requested(output))
        nest.lowering.write(nest.output(output), channel,
                            nest.raw(output == 3 ? "running_mean" : "running_var", channel));
  });
}

void batch_norm_backward(const Nest& nest) {
  const NormalizationAxes s = by_channels(nest);
  const bool train = nest.call.boolean("train");
  NormalisationBackward{
      nest, s,
      train ? given_statistics(nest, s, "save_mean", "save_invstd") : running_statistics(nest),
      !train}
      .run();
}

}  // namespace

void add_normalisation_nests(NestTable& table) {
  for (const Op op : {Op::native_layer_norm, Op::layer_norm}) table.push_back({op, layer_norm});
  for (const Op op : {Op::native_group_norm, Op::group_norm}) table.push_back({op, group_norm});
  for (const Op op : {Op::rms_norm, Op::_fused_rms_norm}) table.push_back({op, rms_norm});
  table.push_back({Op::native_layer_norm_backward, layer_norm_backward});
  table.push_back({Op::native_group_norm_backward, group_norm_backward});
  table.push_back({Op::_fused_rms_norm_backward, rms_norm_backward});
  for (const Op op :
       {Op::native_batch_norm, Op::_native_batch_norm_legit, Op::_native_batch_norm_legit_no_stats,
        Op::_native_batch_norm_legit_no_training, Op::_native_batch_norm_legit_functional,
        Op::batch_norm})
    table.push_back({op, batch_norm});
  table.push_back({Op::native_batch_norm_backward, batch_norm_backward});
}

}  // namespace recut::loop
