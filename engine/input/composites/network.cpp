// Composites of layers: dropout, normalisation with running statistics, padding.
#include "engine/input/composite_operators.h"

#include <algorithm>
#include <array>

namespace recut {
namespace {

Value operand_of(Builder& b, const Call& call, std::string_view parameter) {
  return b.value(call.node(parameter));
}

// None stays None.
CallArgument maybe_operand(Builder& b, const Call& call, std::string_view parameter) {
  if (!call.given(parameter)) return None{};
  return operand_of(b, call, parameter);
}

Expansion dropout(Builder& b, const Call& call) {
  const Value x = operand_of(b, call, "input");
  if (!call.boolean("train") || call.real("p") == 0) return x;
  return b(Op::native_dropout, {x, call.real("p"), true})[0];
}

// Whole channels at once.
Expansion feature_dropout(Builder& b, const Call& call) {
  const Value x = operand_of(b, call, "input");
  if (!call.boolean("train") || call.real("p") == 0) return x;
  Shape channels(x.shape().size(), 1);
  for (std::size_t d = 0; d < std::min<std::size_t>(channels.size(), 2); ++d)
    channels[d] = x.shape()[d];
  const Value ones = b.full(channels, 1.0, x.dtype(), x.type().device);
  return x * b(Op::native_dropout, {ones, call.real("p"), true})[0];
}

Expansion alpha_dropout(Builder& b, const Call& call) {
  if (call.boolean("train") && call.real("p") != 0) return Expansion::none();
  return operand_of(b, call, "input");
}

// In training form the running statistics are written. Without training the table has it.
Expansion batch_norm(Builder& b, const Call& call) {
  const bool statistics = call.given("running_mean") && call.given("running_var");
  if (!call.boolean("training") || !statistics) return Expansion::none();
  const Value all =
      b(Op::_native_batch_norm_legit_functional,
        {operand_of(b, call, "input"), maybe_operand(b, call, "weight"),
         maybe_operand(b, call, "bias"), operand_of(b, call, "running_mean"),
         operand_of(b, call, "running_var"), true, call.real("momentum"), call.real("eps")});
  std::vector<Value> results;
  const std::size_t count = call.op().outputs;
  for (std::size_t i = 0; i < count; ++i) results.push_back(all[static_cast<std::int64_t>(i)]);
  Expansion made(results);
  made.writes = {{"running_mean", all[3]}, {"running_var", all[4]}};
  return made;
}

// Normalises each channel of each sample: a batch normalisation of one sample with all channels.
Expansion instance_norm(Builder& b, const Call& call) {
  const Value x = operand_of(b, call, "input");
  if (!call.boolean("use_input_stats") || call.given("running_mean") || x.rank() < 3)
    return Expansion::none();
  Shape one = x.shape();
  one[1] *= one[0];
  one[0] = 1;
  const Value normal = b(Op::_native_batch_norm_legit_no_stats,
                         {b.view(x, one), None{}, None{}, true, 0.0, call.real("eps")})[0];
  Value y = b.view(normal, x.shape());
  Shape channel(x.shape().size(), 1);
  channel[1] = x.shape()[1];
  if (call.given("weight")) y = y * b.view(operand_of(b, call, "weight"), channel);
  if (call.given("bias")) y = y + b.view(operand_of(b, call, "bias"), channel);
  return y;
}

// A ring: what leaves at one end comes in at the other.
Value padded_around(Builder& b, Value x, const std::vector<std::int64_t>& pad) {
  for (std::size_t i = 0; i + 1 < pad.size() && x.valid(); i += 2) {
    const std::int64_t dim = x.rank() - 1 - static_cast<std::int64_t>(i / 2);
    const std::int64_t length = x.size(dim), before = pad[i], after = pad[i + 1];
    if (before < 0 || after < 0 || before > length || after > length)
      return b.fail("pad: a ring can't be padded by more than its length");
    std::vector<Value> parts{x};
    if (before > 0)
      parts.insert(parts.begin(), b(Op::slice_Tensor, {x, dim, length - before, length}));
    if (after > 0) parts.push_back(b(Op::slice_Tensor, {x, dim, 0, after}));
    if (parts.size() > 1) x = b(Op::cat, {parts, dim});
  }
  return x;
}

Expansion pad(Builder& b, const Call& call) {
  constexpr std::array<Op, 3> kReflect = {Op::reflection_pad1d, Op::reflection_pad2d,
                                          Op::reflection_pad3d};
  constexpr std::array<Op, 3> kReplicate = {Op::replication_pad1d, Op::replication_pad2d,
                                            Op::replication_pad3d};
  const Value x = operand_of(b, call, "self");
  const std::vector<std::int64_t> by = call.integers("pad");
  const std::string_view mode = call.text("mode");
  if (mode == "constant")
    return b(Op::constant_pad_nd, {x, by, call.given("value") ? call.real("value") : 0.0});
  if (mode == "circular") return padded_around(b, x, by);
  const std::size_t dims = by.size() / 2;
  if (dims < 1 || dims > 3 || (mode != "reflect" && mode != "replicate")) return Expansion::none();
  return b((mode == "reflect" ? kReflect : kReplicate)[dims - 1], {x, by});
}

// Padding by its name: "valid" is none, "same" keeps the size, with the odd element at the end.
Expansion padded_convolution(Builder& b, const Call& call, Op op) {
  Value x = operand_of(b, call, "input");
  const Value weight = operand_of(b, call, "weight");
  const std::size_t dims = weight.shape().size() < 2 ? 0 : weight.shape().size() - 2;
  std::vector<std::int64_t> dilation = call.integers("dilation"), stride = call.integers("stride");
  for (std::vector<std::int64_t>* steps : {&dilation, &stride})
    if (steps->size() == 1) steps->resize(std::max<std::size_t>(dims, 1), steps->front());
  std::vector<std::int64_t> padding(dims, 0), more(2 * dims, 0);
  const std::string_view how = call.text("padding");
  if ((how != "same" && how != "valid") || dilation.size() != dims) return Expansion::none();
  bool uneven = false;
  for (std::size_t d = 0; d < dims && how == "same"; ++d) {
    const std::int64_t whole = dilation[d] * (weight.shape()[d + 2] - 1);
    padding[d] = whole / 2;
    more[2 * (dims - 1 - d) + 1] = whole % 2;
    uneven = uneven || whole % 2 != 0;
  }
  if (uneven) x = b(Op::constant_pad_nd, {x, more, 0.0});
  return b(op, {x, weight, maybe_operand(b, call, "bias"), stride, padding, dilation,
                call.integer("groups")});
}
Expansion conv1d_padding(Builder& b, const Call& call) {
  return padded_convolution(b, call, Op::conv1d);
}
Expansion conv2d_padding(Builder& b, const Call& call) {
  return padded_convolution(b, call, Op::conv2d);
}
Expansion conv3d_padding(Builder& b, const Call& call) {
  return padded_convolution(b, call, Op::conv3d);
}

// v / |v| * g, the norm over all dimensions but one.
Expansion weight_norm(Builder& b, const Call& call) {
  const Value v = operand_of(b, call, "v"), g = operand_of(b, call, "g");
  std::vector<std::int64_t> others;
  for (std::int64_t d = 0; d < v.rank(); ++d)
    if (d != call.integer("dim") && d != call.integer("dim") + v.rank()) others.push_back(d);
  return v * (g / b(Op::linalg_vector_norm, {v, 2.0, others, true}));
}

constexpr std::string_view kStatistics = "running_mean running_var";

}  // namespace

std::vector<CompositeRow> network_composites() {
  return {
      {"aten::dropout(Tensor input, float p, bool train) -> Tensor", dropout},
      {"aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", feature_dropout},
      {"aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", alpha_dropout},
      {"aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", alpha_dropout},
      {"aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
       "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
       batch_norm, kStatistics, "training"},
      {"aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
       "Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
       batch_norm, kStatistics, "training"},
      {"aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor "
       "running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, "
       "Tensor, Tensor)",
       batch_norm, kStatistics, "training"},
      {"aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
       "Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) "
       "-> Tensor",
       instance_norm},
      {"aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", weight_norm},
      {"aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
       pad},
      {"aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, "
       "str padding=\"valid\", SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
       conv1d_padding},
      {"aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, "
       "str padding=\"valid\", SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
       conv2d_padding},
      {"aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, "
       "str padding=\"valid\", SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
       conv3d_padding},
  };
}

}  // namespace recut
