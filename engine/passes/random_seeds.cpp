// Makes random draws functions of a seed, in Inductor's form, so that planners may run them again.
//
//   %u = rand([5, 16], draw=0)             %seeds = prims.inductor_seeds(1, "cpu", draw=0)
//   %m = gt.Scalar(%u, 0.3)         =>     %seed = prims.inductor_lookup_seed(%seeds, 0)
//                                          %u = prims.inductor_random([5, 16], %seed, "rand")
//                                          %m = gt.Scalar(%u, 0.3)
//
// Runs after randperm_indices, whose pattern it would hide. Establishes: every draw of rand, randn,
// randint, randperm, bernoulli, native_dropout, uniform, normal, exponential, geometric, cauchy and
// log_normal reads one item of a tensor of seeds, one such tensor a device. Draws of poisson,
// multinomial and rrelu stay. A result keeps its type and its distribution, but has other numbers than
// before.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/ir/builder.h"
#include "engine/ir/call.h"
#include "engine/ir/dimension_order.h"
#include "engine/ir/operator_map.h"
#include "engine/passes/rewrite_nodes.h"

namespace recut::passes {
namespace {

constexpr std::string_view kRule = "seeded draw";

// Significant digits of a dtype: a uniform number of these is exact in it and below 1.
int significant_digits(DType dtype) {
  if (dtype == DType::f16) return 11;
  if (dtype == DType::bf16) return 8;
  return dtype == DType::f64 ? 53 : 24;
}

// One draw on its way to its seeded form. `type` is that of the value to make, `name` its name.
struct SeededDraw {
  Builder& b;
  const Call& call;
  TensorType type;
  std::string name;
  Value seed;

  // The last call, which has the draw's name if it gives the draw's type.
  Value last(DType given, std::string_view op, const Positional& positional,
             const Keywords& keywords = {}) const {
    if (given != type.dtype || !is_contiguous(type)) return b(op, positional, keywords);
    return b.as(name)(op, positional, keywords);
  }

  Value numbers(const std::string& mode) const {
    return b("prims.inductor_random", {type.shape, seed, mode});
  }
  Value integers(std::int64_t low, std::int64_t high) const {
    return b("prims.inductor_randint", {low, high, type.shape, seed});
  }

  // Uniform in [0, 1), exact in a real dtype.
  Value uniform(DType dtype) const {
    if (dtype == DType::f32) return numbers("rand");
    return leading_digits(dtype) * std::ldexp(1.0, -significant_digits(dtype));
  }
  Value leading_digits(DType dtype) const {
    return b.convert(integers(0, std::int64_t{1} << significant_digits(dtype)), dtype);
  }

  // Mean 0 and variance 1, in f64 if the result is.
  Value normal() const {
    return b.convert(numbers("randn"), type.dtype == DType::f64 ? DType::f64 : DType::f32);
  }
  // -log of a uniform number in (0, 1]: exponential of rate 1.
  Value exponential() const { return -b.log(1.0 - uniform(DType::f64)); }

  // A parameter that is a tensor or a number.
  CallArgument operand(std::string_view parameter) const {
    if (call.is_tensor(parameter)) return b.value(call.node(parameter));
    return call.real(parameter);
  }
  Value last_sum(const Value& x, const CallArgument& y) const {
    return last(x.dtype(), "add.Tensor", {x, y});
  }
  Value last_product(const Value& x, const CallArgument& y) const {
    return last(x.dtype(), "mul.Tensor", {x, y});
  }

  // A contiguous value in the layout of `type`, if each byte there belongs to one element.
  Value laid_out(const Value& x) const {
    if (is_contiguous(type) || x.type().strides == type.strides) return x;
    const DimensionOrder order = storage_order(type);
    const Value moved =
        b("clone", {b.permute(x, order)}, {{"memory_format", std::string("contiguous_format")}});
    return b.permute(moved, inverse_order(order));
  }
};

// The value of a draw, or of both outputs of native_dropout.
struct Drawn {
  Value value, mask;
};

using Seed = Drawn (*)(const SeededDraw&);

Drawn seed_uniform(const SeededDraw& d) {
  const DType dtype = d.type.dtype;
  if (dtype != DType::f32)
    return {d.last_product(d.leading_digits(dtype), std::ldexp(1.0, -significant_digits(dtype))),
            {}};
  return {d.last(DType::f32, "prims.inductor_random", {d.type.shape, d.seed, "rand"}), {}};
}

Drawn seed_normal(const SeededDraw& d) {
  return {d.last(DType::f32, "prims.inductor_random", {d.type.shape, d.seed, "randn"}), {}};
}

std::int64_t low_of(const Call& call) {
  return call.op().parameter("low") ? call.integer("low") : 0;
}

Drawn seed_integers(const SeededDraw& d) {
  return {d.last(DType::i64, "prims.inductor_randint",
                 {low_of(d.call), d.call.integer("high"), d.type.shape, d.seed}),
          {}};
}

Drawn seed_permutation(const SeededDraw& d) {
  const Value keys = d.integers(0, std::int64_t{1} << 62);
  return {d.last(DType::i64, "argsort.stable", {keys}, {{"stable", true}}), {}};
}

Drawn seed_bernoulli(const SeededDraw& d) {
  const Value u = d.numbers("rand");
  if (d.call.op().parameter("p")) return {d.b("lt.Scalar", {u, d.call.real("p")}), {}};
  return {d.b("lt.Tensor", {u, d.b.value(d.call.node("self"))}), {}};
}

Drawn seed_uniform_between(const SeededDraw& d) {
  const double from = d.call.real("from");
  return {d.last_sum(d.uniform(d.type.dtype) * (d.call.real("to") - from), from), {}};
}

Drawn seed_normal_about(const SeededDraw& d) {
  const Value spread = d.b("mul.Tensor", {d.normal(), d.operand("std")});
  return {d.last_sum(spread, d.operand("mean")), {}};
}

Drawn seed_exponential(const SeededDraw& d) { return {d.exponential() / d.call.real("lambd"), {}}; }

Drawn seed_geometric(const SeededDraw& d) {
  const Value trials = d.b("ceil", {d.exponential() / -std::log1p(-d.call.real("p"))});
  return {d.b("clamp_min", {trials, 1.0}), {}};
}

Drawn seed_cauchy(const SeededDraw& d) {
  const Value angle = (d.uniform(DType::f64) - 0.5) * 3.14159265358979323846;
  return {d.last_sum(d.b("tan", {angle}) * d.call.real("sigma"), d.call.real("median")), {}};
}

Drawn seed_log_normal(const SeededDraw& d) {
  const Value exponent = d.normal() * d.call.real("std") + d.call.real("mean");
  return {d.last(exponent.dtype(), "exp", {exponent}), {}};
}

// PyTorch's decomposition. A dropout outside training, or of nothing, draws no numbers.
Drawn seed_dropout(const SeededDraw& d) {
  const double p = d.call.real("p");
  const Value x = d.b.value(d.call.node("input"));
  const Value mask = d.laid_out(d.b("gt.Scalar", {d.numbers("rand"), p}));
  return {d.last_product(mask * x, 1 / (1 - p)), mask};
}

OperatorMap<Seed> seeds_by_operator() {
  OperatorMap<Seed> all;
  for (const Op op : {Op::rand, Op::rand_like}) all.set(op, seed_uniform);
  for (const Op op : {Op::randn, Op::randn_like}) all.set(op, seed_normal);
  for (const Op op : {Op::randint, Op::randint_low, Op::randint_like, Op::randint_like_low_dtype})
    all.set(op, seed_integers);
  all.set(Op::randperm, seed_permutation);
  for (const Op op : {Op::bernoulli, Op::bernoulli_p}) all.set(op, seed_bernoulli);
  all.set(Op::uniform, seed_uniform_between);
  for (const Op op : {Op::normal_functional, Op::normal_Tensor_float, Op::normal_float_Tensor,
                      Op::normal_Tensor_Tensor, Op::normal_float_float})
    all.set(op, seed_normal_about);
  all.set(Op::exponential, seed_exponential);
  all.set(Op::geometric, seed_geometric);
  all.set(Op::cauchy, seed_cauchy);
  all.set(Op::log_normal, seed_log_normal);
  all.set(Op::native_dropout, seed_dropout);
  return all;
}

// True if the arguments are in the range of the distribution. A faulty draw stays, so that running
// it reports the fault.
bool in_range(const Call& call) {
  const Operator& op = call.op();
  if (op.op == Op::native_dropout)
    return (!call.given("train") || call.boolean("train")) && call.real("p") > 0 &&
           call.real("p") < 1;
  if (op.op == Op::geometric) return call.real("p") > 0 && call.real("p") < 1;
  if (op.parameter("p")) return call.real("p") >= 0 && call.real("p") <= 1;
  return !op.parameter("high") || low_of(call) < call.integer("high");
}

class RandomSeeds {
 public:
  explicit RandomSeeds(const Graph& from) : from_(from), rules_(seeds_by_operator()) {
    for (const NodeId id : from.order())
      if (is_seeded(id)) ++devices_[device_of(id)].draws;
  }

  PassResult run() {
    return rewrite_nodes(from_, [&](Graph& to, NodeId old, const std::vector<Argument>& arguments) {
      return replacement(to, old, arguments);
    });
  }

 private:
  struct Seeds {
    std::int64_t draws = 0, next = 0;
    NodeId node;
  };

  bool is_seeded(NodeId id) const {
    const Node& node = from_[id];
    if (is_external(node.op) || rules_[node.op] == nullptr) return false;
    const Call::TypesOf types = [&](NodeId operand) { return from_.pool().types_of(operand); };
    return is_real(node) && in_range(Call(operator_of(node.op), node.arguments, types));
  }

  // Complex draws have two numbers an element.
  static bool is_real(const Node& node) {
    return has_arithmetic(node.type().dtype) && !is_complex(node.type().dtype) &&
           is_dense(node.type());
  }

  std::string device_of(NodeId id) const {
    const std::string& named = from_.type(id).device;
    return named.empty() ? from_.device : named;
  }

  std::optional<Rewrite> replacement(Graph& to, NodeId old,
                                     const std::vector<Argument>& arguments) {
    if (from_[old].op == Op::getitem) return part(to, old);
    if (!is_seeded(old)) return std::nullopt;
    Builder b(to);
    const Origin& origin = from_.origin(old);
    const auto scope = b.scope({origin.module, origin.seq_nr, {}, origin.source});
    const Call::TypesOf types = [&](NodeId id) { return to.pool().types_of(id); };
    const Call call(from_.op(old), arguments, types);
    const SeededDraw draw{b, call, from_.type(old), origin.name, seed(b, old)};
    const Drawn drawn = rules_[from_[old].op](draw);
    const Value value = finished(draw, drawn.value);
    RECUT_CHECK(value.valid() && !b.diagnostic(), "a seeded draw has a draw's own arguments");
    if (to.node_name(value.id()) != origin.name) to.add_alias(origin.name, value.id());
    if (drawn.mask.valid()) outputs_[old] = {value.id(), drawn.mask.id()};
    return Rewrite{kRule, value.id()};
  }

  static Value finished(const SeededDraw& draw, const Value& value) {
    const TensorType& type = draw.type;
    if (value.dtype() == type.dtype) return draw.laid_out(value);
    return draw.laid_out(draw.last(type.dtype, "prims.convert_element_type", {value, type.dtype}));
  }

  // The next seed of the draw's device.
  Value seed(Builder& b, NodeId old) {
    const std::string device = device_of(old);
    Seeds& seeds = devices_[device];
    if (!seeds.node.valid())
      seeds.node =
          b.as("seeds")("prims.inductor_seeds", {seeds.draws, device}, {{"draw", draw_of(old)}})
              .id();
    return b.as("seed")("prims.inductor_lookup_seed", {b.value(seeds.node), seeds.next++});
  }

  // The number of a draw that goes away.
  std::int64_t draw_of(NodeId old) const {
    const Operator& op = from_.op(old);
    const Call::TypesOf types = [&](NodeId id) { return from_.pool().types_of(id); };
    return Call(op, from_[old].arguments, types).integer("draw");
  }

  // An output of native_dropout, which keeps its name beside the new one.
  std::optional<Rewrite> part(Graph& to, NodeId old) const {
    const Node& node = from_[old];
    const auto it = outputs_.find(*node.arguments[0].get<NodeId>());
    if (it == outputs_.end()) return std::nullopt;
    const auto output = static_cast<std::size_t>(*node.arguments[1].get<std::int64_t>());
    to.add_alias(from_.node_name(old), it->second[output]);
    return Rewrite{kRule, it->second[output]};
  }

  const Graph& from_;
  OperatorMap<Seed> rules_;
  std::map<std::string, Seeds> devices_;
  std::map<NodeId, std::array<NodeId, 2>> outputs_;
};

}  // namespace

PassResult random_seeds(const Graph& graph) { return RandomSeeds(graph).run(); }

}  // namespace recut::passes
