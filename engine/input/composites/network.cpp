// Composites of layers: dropout, normalisation with running statistics, padding, bags of
// embeddings.
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

// Circular padding: each end is padded with elements of the other.
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

// Without training: a leaky ReLU of the middle slope.
Expansion rrelu(Builder& b, const Call& call) {
  const Value x = operand_of(b, call, "self");
  const double lower = call.scalar("lower").real, upper = call.scalar("upper").real;
  if (!call.boolean("training")) return b(Op::leaky_relu, {x, (lower + upper) / 2});
  const Value noise = b(Op::zeros_like, {x});
  return b(Op::rrelu_with_noise, {x, noise, lower, upper, true});
}

// y[.., o] = sum over i, j of x[.., i] * w[o, i, j] * z[.., j], plus bias.
Expansion bilinear(Builder& b, const Call& call) {
  const Value x = operand_of(b, call, "input1"), z = operand_of(b, call, "input2");
  const Value w = operand_of(b, call, "weight");
  if (w.rank() != 3 || x.rank() < 1 || x.rank() != z.rank()) return Expansion::none();
  const std::int64_t rows = x.size(-1) == 0 ? 0 : x.count() / x.size(-1);
  const std::int64_t outs = w.size(0), ins = w.size(1), others = w.size(2);
  const Value weights = b(Op::reshape, {b(Op::permute, {w, {1, 0, 2}}), {ins, outs * others}});
  const Value pairs = b.mm(b(Op::reshape, {x, {rows, ins}}), weights);
  const Value each =
      b(Op::reshape, {pairs, {rows, outs, others}}) * b(Op::reshape, {z, {rows, 1, others}});
  Shape shape = x.shape();
  shape.back() = outs;
  const Value y = b(Op::reshape, {b(Op::sum_dim_IntList, {each, {2}}), shape});
  return call.given("bias") ? y + operand_of(b, call, "bias") : y;
}

// `padding`: an index whose rows don't count, or -1.
Expansion bag_of_embeddings(Builder& b, const Call& call, std::int64_t padding) {
  const Value all =
      b(Op::_embedding_bag,
        {operand_of(b, call, "weight"), operand_of(b, call, "indices"),
         operand_of(b, call, "offsets"), call.boolean("scale_grad_by_freq"), call.integer("mode"),
         call.boolean("sparse"), maybe_operand(b, call, "per_sample_weights"),
         call.boolean("include_last_offset"), padding});
  std::vector<Value> results;
  for (std::int64_t i = 0; i < 4; ++i) results.push_back(all[i]);
  return results;
}
Expansion embedding_bag(Builder& b, const Call& call) { return bag_of_embeddings(b, call, -1); }
Expansion padded_embedding_bag(Builder& b, const Call& call) {
  return bag_of_embeddings(b, call, call.given("padding_idx") ? call.integer("padding_idx") : -1);
}

// The bag of each index is the number of offsets up to its position, less one. PyTorch leaves the
// list of bags empty where forward needs none.
Expansion embedding_bag_backward(Builder& b, const Call& call) {
  if (call.boolean("sparse")) return Expansion::none();
  const Value indices = operand_of(b, call, "indices"), offsets = operand_of(b, call, "offsets");
  Value bags = operand_of(b, call, "offset2bag");
  if (bags.count() == 0 && indices.count() != 0) {
    const Value positions =
        b(Op::arange, {indices.count()},
          {{"dtype", offsets.dtype()},
           {"device",
            offsets.type().device.empty() ? Argument(None{}) : Argument(offsets.type().device)}});
    bags = b(Op::bucketize_Tensor, {positions, offsets}, {{"right", true}}) - 1;
  }
  return b(Op::_embedding_bag_dense_backward,
           {operand_of(b, call, "grad"), indices, bags, operand_of(b, call, "bag_size"),
            operand_of(b, call, "maximum_indices"), call.integer("num_weights"),
            call.boolean("scale_grad_by_freq"), call.integer("mode"),
            maybe_operand(b, call, "per_sample_weights"), call.integer("padding_idx")});
}

constexpr std::string_view kStatistics = "running_mean running_var";

}  // namespace

std::vector<CompositeRow> network_composites() {
  return {
      {"aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
       "training=False, Generator? generator=None) -> Tensor",
       rrelu},
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
      {"aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
       bilinear},
      {"aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
       "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
       "bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
       embedding_bag},
      {"aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
       "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
       "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
       padded_embedding_bag},
      {"aten::_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor "
       "offset2bag, Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool "
       "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, int "
       "padding_idx=-1) -> Tensor",
       embedding_bag_backward},
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
