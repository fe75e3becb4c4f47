// Replaces attention whose scores nested graphs change by its parts: products and a softmax, which
// can be fused and compiled.
//
//   %f = external torch.ops.higher_order.flex_attention(%q, %k, %v, "score", …, "mask"], 0.25)
//   %o = getitem(%f, 0)   =>   %s = mul(bmm(%q, %kt), 0.25), changed by "score", -inf by "mask"
//                              %o = bmm(_safe_softmax(%s, -1), %v)
//
// Needs nothing. Establishes: no call is flex_attention or its backward, where the graph has the
// nested graphs, and these are pointwise on numbers, read buffers at indices and add to their
// gradients. Not bit-exact: sums of products are in another order. Scores are computed in f32, of
// 16-bit operands too, as PyTorch's definition has it; all scores are in memory at once.
#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "engine/ir/builder.h"
#include "engine/ir/call.h"
#include "engine/ir/flex_attention.h"
#include "engine/ir/laid_out.h"
#include "engine/ir/printer.h"
#include "engine/ir/rebuild.h"
#include "engine/passes/flex_expansion.h"
#include "engine/passes/pass.h"
#include "engine/passes/scalar_region.h"

namespace recut {
namespace {

constexpr double kLogOf2 = 0.693147180559945309417;

// The nested graphs of a call, in the dtype of its scores.
struct FlexGraphs {
  Graph score, mask, joint;
};

Result<FlexGraphs> flex_graphs(const Graph& graph, const FlexAttention& flex) {
  FlexGraphs graphs;
  const DType scores = flex_score_dtype(graph.type(flex.query).dtype);
  const auto read = [&](const std::string& name, const std::vector<std::size_t>& score_inputs,
                        std::size_t numbers, Graph& to) -> std::optional<Diagnostic> {
    auto made = flex_scalar_graph(*graph.region(name), score_inputs, scores);
    if (!made) return made.diagnostics().front();
    if (const auto why = why_not_elementwise(*made, numbers)) return error(*why);
    to = std::move(*made);
    return std::nullopt;
  };
  auto fault = read(flex.score, {0}, 5, graphs.score);
  if (!fault) fault = read(flex.mask, {}, 4, graphs.mask);
  if (!fault && flex.backward) fault = read(flex.joint, {0, 5}, 6, graphs.joint);
  if (fault) return *fault;
  return graphs;
}

// Writes the operators of one call. Scores have the dimensions batch, head, query and key.
class FlexWriter {
 public:
  FlexWriter(Builder& b, const FlexAttention& flex, const FlexGraphs& graphs)
      : b_(b),
        flex_(flex),
        graphs_(graphs),
        q_(b.value(flex.query)),
        k_(of_queries(b.value(flex.key))),
        v_(of_queries(b.value(flex.value))),
        dtype_(flex_score_dtype(q_.dtype())),
        all_{q_.size(0), q_.size(1), q_.size(2), k_.size(2)} {
    for (std::size_t i = 0; i < all_.size(); ++i) places_.push_back({place(i), true});
  }

  std::vector<Value> forward() {
    write_scores();
    const Value most = b_(Op::amax, {changed_, {-1}});
    const Value none = b_(Op::eq_Scalar, {most, kHidden});
    const Value log_sum = b_.where(none, number(kHidden), b_(Op::logsumexp, {changed_, {-1}}));
    const Value shares = b_(Op::_safe_softmax, {changed_, -1});
    return {product(b_.convert(shares, q_.dtype()), v_), log_sum / kLogOf2, most / kLogOf2};
  }

  // Gradients of query, key, value and the buffers of "score".
  std::vector<Value> backward() {
    write_scores();
    const Value d_out = b_.value(flex_.out_gradient);
    const Value log_sum = b_.value(flex_.logsumexp) * kLogOf2;
    const Value none = b_(Op::unsqueeze, {b_(Op::eq_Scalar, {log_sum, kHidden}), -1});
    const Value exponents = b_.exp(changed_ - b_(Op::unsqueeze, {log_sum, -1}));
    const Value shares = b_.where(none, number(0), exponents);
    const Value d_shares = product(d_out, turned(v_));
    Value change = d_shares - b_.sum(b_.value(flex_.out) * d_out, {-1}, true);
    if (flex_.logsumexp_gradient.valid())
      change = change + b_(Op::unsqueeze, {b_.value(flex_.logsumexp_gradient) / kLogOf2, -1});
    const Value d_changed = b_.convert(shares * change, dtype_);
    const auto gradients = apply(graphs_.joint, d_changed);
    const Value d_plain = b_.convert(of_all(gradients.front()) * flex_.scale, q_.dtype());
    const Value d_scores = b_.where(seen_, d_plain, b_.full({}, 0, q_.dtype(), q_.type().device));
    const Value d_v = product(turned(b_.convert(shares, q_.dtype())), d_out);
    std::vector<Value> all{product(d_scores, k_), of_keys(product(turned(d_scores), q_)),
                           of_keys(d_v)};
    for (std::size_t i = 0; i < flex_.score_buffers.size(); ++i)
      all.push_back(of_buffer(gradients[5 + i], b_.value(flex_.score_buffers[i])));
    return all;
  }

 private:
  static constexpr double kHidden = -std::numeric_limits<double>::infinity();

  Value number(double value) { return b_.full({}, value, dtype_, q_.type().device); }

  // Keys and values for each head and batch of queries.
  Value of_queries(const Value& x) {
    const std::int64_t batches = b_.value(flex_.query).size(0),
                       heads = b_.value(flex_.query).size(1);
    const std::int64_t own = x.size(1), length = x.size(2), width = x.size(3);
    Value wide = x;
    if (own != heads) {
      const Value grouped =
          b_.expand(b_(Op::unsqueeze, {x, 2}), {x.size(0), own, heads / own, length, width});
      wide = b_(Op::reshape, {grouped, {x.size(0), heads, length, width}});
    }
    return x.size(0) == batches ? wide : b_.expand(wide, {batches, heads, length, width});
  }

  // The transpose of it: sums over the heads and batches that share a key.
  Value of_keys(const Value& x) {
    const Value& key = b_.value(flex_.key);
    const std::int64_t own = key.size(1);
    Value sum = x;
    if (own != x.size(1))
      sum = b_.sum(b_.view(x, {x.size(0), own, x.size(1) / own, x.size(2), x.size(3)}), {2});
    return key.size(0) == x.size(0) ? sum : b_.sum(sum, {0}, true);
  }

  Value turned(const Value& x) { return b_.transpose(x, -2, -1); }

  Value product(const Value& a, const Value& b) {
    const std::int64_t batches = a.size(0) * a.size(1);
    const Value left = b_(Op::reshape, {a, {batches, a.size(2), a.size(3)}});
    const Value right = b_(Op::reshape, {b, {batches, b.size(2), b.size(3)}});
    return b_.view(b_(Op::bmm, {left, right}), {a.size(0), a.size(1), a.size(2), b.size(3)});
  }

  // The indices along one dimension of the scores.
  Value place(std::size_t dimension) {
    Shape shape(4, 1);
    shape[dimension] = all_[dimension];
    return b_.view(b_(Op::arange, {all_[dimension]}, {{"dtype", DType::i32}, {"device", device()}}),
                   shape);
  }
  Argument device() const {
    const std::string& name = q_.type().device;
    return name.empty() ? Argument(None{}) : Argument(name);
  }

  std::vector<ElementValue> apply(const Graph& region, const Value& d_changed = {}) {
    const bool mask = &region == &graphs_.mask;
    std::vector<ElementValue> inputs;
    if (!mask) inputs.push_back({plain_, true});
    inputs.insert(inputs.end(), places_.begin(), places_.end());
    if (d_changed.valid()) inputs.push_back({d_changed, true});
    for (const NodeId id : mask ? flex_.mask_buffers : flex_.score_buffers)
      inputs.push_back({b_.value(id), false});
    return apply_elementwise(b_, region, inputs, all_);
  }

  Value of_all(const ElementValue& x) {
    return x.value.shape() == all_ ? x.value : b_.expand(x.value, all_);
  }

  void write_scores() {
    plain_ = b_.convert(product(q_, turned(k_)), dtype_) * flex_.scale;
    const Value changed = apply(graphs_.score).front().value;
    seen_ = b_.convert(apply(graphs_.mask).front().value, DType::boolean);
    changed_ = b_.where(seen_, b_.convert(changed, dtype_), number(kHidden));
    changed_ = of_all({changed_, true});
  }

  Value of_buffer(const ElementValue& gradient, const Value& buffer) {
    if (!gradient.value.valid())
      return b_.full(buffer.shape(), 0, buffer.dtype(), buffer.type().device);
    const Value whole = gradient.differs ? b_.sum(of_all(gradient)) : gradient.value;
    return b_.convert(whole, buffer.dtype());
  }

  Builder& b_;
  const FlexAttention& flex_;
  const FlexGraphs& graphs_;
  const Value q_, k_, v_;
  const DType dtype_;  // of scores
  const Shape all_;    // the shape of scores
  std::vector<ElementValue> places_;
  Value plain_, changed_, seen_;
};

class FlexExpander {
 public:
  explicit FlexExpander(const Graph& from) : from_(from) {}

  PassResult run() {
    Graph to =
        rebuild(from_, [&](Graph& graph, NodeId old, const std::vector<Argument>& arguments) {
          return place(graph, old, arguments);
        });
    if (changes_.empty()) return {from_, false, {}};
    return {std::move(to), true, std::move(changes_)};
  }

  const std::map<NodeId, std::string>& reasons() const { return reasons_; }

 private:
  // Outputs are known where a getitem reads them.
  NodeId place(Graph& to, NodeId old, const std::vector<Argument>& arguments) {
    const Node& node = from_[old];
    const auto source =
        node.op == Op::getitem ? outputs_.find(node.operands.front()) : outputs_.end();
    if (source != outputs_.end()) {
      const Call::TypesOf types_of = [this](NodeId id) { return from_.pool().types_of(id); };
      const Call call(operator_of(node.op), node.arguments, types_of);
      return output(to, old, source->second[static_cast<std::size_t>(call.integer("index"))]);
    }
    if (!has_flex_regions(from_, old)) return keep_node(from_, to, old, arguments);
    auto expanded = expand(to, old, arguments);
    if (!expanded) {
      reasons_.emplace(old, expanded.diagnostics().front().message);
      return keep_node(from_, to, old, arguments);
    }
    outputs_.emplace(old, std::move(*expanded));
    changes_.push_back(
        {"attention", old, {}, print_node(from_, old) + "  =>  products and a softmax"});
    return NodeId();
  }

  Result<std::vector<NodeId>> expand(Graph& to, NodeId old,
                                     const std::vector<Argument>& arguments) {
    if (const auto why = check_flex_attention(from_, old)) return error(*why);
    for (const TensorType& type : from_[old].outputs)
      if (type.exists() && !is_dense(type))
        return error(fmt::format("it gives {}, whose elements overlap or have gaps", format(type)));
    const FlexAttention flex =
        *flex_attention(Node{from_[old].op, arguments, from_[old].outputs, {}});
    if (to.type(flex.key).shape[2] == 0) return error("it has no keys");
    const auto graphs = flex_graphs(from_, *flex_attention(from_[old]));
    if (!graphs) return graphs.diagnostics();
    Graph whole = to;  // which it stays if a call doesn't fit
    Builder b(whole);
    const Origin& origin = from_.origin(old);
    const auto scope = b.scope(
        {std::string(origin.module), origin.seq_nr, origin.name, std::string(origin.source)});
    FlexWriter writer(b, flex, *graphs);
    const std::vector<Value> values = flex.backward ? writer.backward() : writer.forward();
    if (b.diagnostic()) return *b.diagnostic();
    std::vector<NodeId> outputs;
    for (const Value& value : values) outputs.push_back(value.id());
    to = std::move(whole);
    return outputs;
  }

  NodeId output(Graph& to, NodeId old, NodeId value) {
    const TensorType& type = from_.type(old);
    Builder b(to);
    return laid_out(to, b.convert(b.value(value), type.dtype).id(), type);
  }

  const Graph& from_;
  std::map<NodeId, std::vector<NodeId>> outputs_;  // of expanded calls
  std::map<NodeId, std::string> reasons_;
  std::vector<Change> changes_;
};

}  // namespace

namespace passes {

PassResult expand_flex_attention(const Graph& graph) { return FlexExpander(graph).run(); }

}  // namespace passes

std::map<NodeId, std::string> unexpanded_attention(const Graph& graph) {
  FlexExpander expander(graph);
  expander.run();
  return expander.reasons();
}

}  // namespace recut
