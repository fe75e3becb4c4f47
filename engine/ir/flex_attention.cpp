// The form of flex_attention's calls, and their nested graphs in the dtype of the scores.
#include "engine/ir/flex_attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "engine/ir/call.h"
#include "engine/ir/copy.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::string_view kFlexTargets[] = {
#define RECUT_FLEX_CALL(identifier, target) target,
#include "engine/ir/operators/flex_calls.def"
#undef RECUT_FLEX_CALL
};
enum class FlexCall : std::uint8_t {
#define RECUT_FLEX_CALL(identifier, target) identifier,
#include "engine/ir/operators/flex_calls.def"
#undef RECUT_FLEX_CALL
};

bool is_flex_call(const Operator& op, FlexCall call) {
  return is_external(op.op) && op.target == kFlexTargets[static_cast<std::size_t>(call)];
}

// Takes arguments one after another; not `sound` once one has another kind.
struct FlexArguments {
  const std::vector<Argument>& arguments;
  std::size_t at = 0;
  bool sound = true;

  const Argument& next() { return arguments[at++]; }
  NodeId node() {
    const auto* id = next().get<NodeId>();
    sound = sound && id != nullptr;
    return id == nullptr ? NodeId() : *id;
  }
  NodeId node_or_none() { return arguments[at].none() ? (++at, NodeId()) : node(); }
  std::string text(const Argument& argument) {
    const auto* text = argument.get<std::string>();
    sound = sound && text != nullptr;
    return text == nullptr ? "" : *text;
  }
  std::string last_text() {
    const auto* list = next().get<ArgumentList>();
    sound = sound && list != nullptr && !list->empty();
    return sound ? text(list->back()) : "";
  }
  double number() {
    const auto scalar = Scalar::from(next());
    sound = sound && scalar.has_value();
    return scalar ? scalar->real : 0;
  }
  std::vector<NodeId> nodes() {
    std::vector<NodeId> found;
    const auto* list = next().get<ArgumentList>();
    sound = sound && list != nullptr;
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto* id = (*list)[i].get<NodeId>();
      sound = sound && id != nullptr;
      if (id != nullptr) found.push_back(*id);
    }
    return found;
  }
};

std::string text_of_type(const TensorType& type) {
  return fmt::format("{}{}", short_name(type.dtype), format_shape(type.shape));
}

// Compares a call with its nested graphs; the first difference is the message.
class FlexCheck {
 public:
  FlexCheck(const Graph& graph, NodeId id)
      : graph_(graph), node_(graph[id]), flex_(*flex_attention(graph[id])) {}

  std::optional<std::string> run() {
    check_operands();
    check_region(flex_.score, 5, flex_.score_buffers, 1);
    check_region(flex_.mask, 4, flex_.mask_buffers, 1);
    if (flex_.backward)
      check_region(flex_.joint, 6, flex_.score_buffers, 5 + flex_.score_buffers.size());
    if (message_.empty()) check_outputs();
    return message_.empty() ? std::nullopt : std::optional(message_);
  }

 private:
  void report(std::string message) {
    if (message_.empty()) message_ = std::move(message);
  }

  void check_operands() {
    for (const NodeId operand : node_.operands)
      if (graph_[operand].outputs.size() != 1)
        return report(fmt::format("operand {} is a list, expected a tensor",
                                  quote(graph_.node_name(operand))));
    const Shape &q = graph_.type(flex_.query).shape, &k = graph_.type(flex_.key).shape,
                &v = graph_.type(flex_.value).shape;
    const bool four = q.size() == 4 && k.size() == 4 && v.size() == 4;
    const bool fits = four && k[0] == v[0] && (q[0] == k[0] || k[0] == 1) && k[1] == v[1] &&
                      k[1] > 0 && q[1] % k[1] == 0 && k[2] == v[2] && q[3] == k[3];
    if (!fits)
      report(fmt::format("query, key and value are {}, {} and {}, which don't fit", format_shape(q),
                         format_shape(k), format_shape(v)));
    rows_ = fits ? Shape{q[0], q[1], q[2]} : Shape();
    result_ = fits ? Shape{q[0], q[1], q[2], v[3]} : Shape();
    for (const NodeId id : {flex_.out, flex_.out_gradient})
      if (fits && id.valid() && graph_.type(id).shape != result_)
        report(fmt::format("operand {} is {}, expected the shape {}", quote(graph_.node_name(id)),
                           text_of_type(graph_.type(id)), format_shape(result_)));
    for (const NodeId id : {flex_.logsumexp, flex_.logsumexp_gradient})
      if (fits && id.valid() && graph_.type(id).shape != rows_)
        report(fmt::format("operand {} is {}, expected the shape {}", quote(graph_.node_name(id)),
                           text_of_type(graph_.type(id)), format_shape(rows_)));
  }

  void check_region(const std::string& name, std::size_t scalars,
                    const std::vector<NodeId>& buffers, std::size_t results) {
    const Graph* region = graph_.region(name);
    if (region == nullptr || !message_.empty()) return;
    const std::string subject = "nested graph " + quote(name);
    const auto inputs = region->inputs();
    if (inputs.size() != scalars + buffers.size() || region->results.size() != results)
      return report(fmt::format("{} has {} inputs and {} results, expected {} and {}", subject,
                                inputs.size(), region->results.size(), scalars + buffers.size(),
                                results));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorType& type = region->type(inputs[i]);
      const bool fits = i < scalars ? type.shape.empty()
                                    : type.shape == graph_.type(buffers[i - scalars]).shape &&
                                          type.dtype == graph_.type(buffers[i - scalars]).dtype;
      if (!fits)
        report(fmt::format(
            "input {} of {} is {}, expected {}", quote(region->node_name(inputs[i])), subject,
            text_of_type(type),
            i < scalars ? "one number" : text_of_type(graph_.type(buffers[i - scalars]))));
    }
    for (std::size_t i = 5; i < results; ++i)
      if (const NodeId id = region->results[i];
          id.valid() && region->type(id).shape != graph_.type(buffers[i - 5]).shape)
        report(fmt::format("result {} of {} is {}, and the buffer is {}", i, subject,
                           text_of_type(region->type(id)),
                           text_of_type(graph_.type(buffers[i - 5]))));
    const NodeId first = region->results.front();
    if (!first.valid() || !region->type(first).shape.empty())
      report(fmt::format("the first result of {} is {}, expected one number", subject,
                         first.valid() ? text_of_type(region->type(first)) : "none"));
  }

  void check_output(std::size_t index, const Shape& shape) {
    const auto& outputs = node_.outputs;
    if (index < outputs.size() && outputs[index].exists() && outputs[index].shape != shape)
      report(fmt::format("output {} is {}, expected the shape {}", index,
                         text_of_type(outputs[index]), format_shape(shape)));
  }

  void check_outputs() {
    if (!flex_.backward) {
      check_output(0, result_);
      check_output(1, rows_);
      check_output(2, rows_);
      if (node_.outputs.size() > 3) report("it has more than 3 outputs");
      return;
    }
    std::size_t index = 0;
    for (const NodeId id : {flex_.query, flex_.key, flex_.value})
      check_output(index++, graph_.type(id).shape);
    for (const NodeId id : flex_.score_buffers) check_output(index++, graph_.type(id).shape);
    if (node_.outputs.size() > index)
      report(fmt::format("it has {} outputs, expected at most {}", node_.outputs.size(), index));
  }

  const Graph& graph_;
  const Node& node_;
  const FlexAttention flex_;
  Shape rows_, result_;
  std::string message_;
};

// Copies a nested graph with another dtype of scores.
class FlexRegionCopy {
 public:
  FlexRegionCopy(const Graph& from, DType scores) : from_(from), scores_(scores) {
    to_.name = from.name;
    to_.device = from.device;
  }

  Result<Graph> run(const std::vector<std::size_t>& score_inputs) {
    for (std::size_t i = 0; i < from_.inputs().size(); ++i) {
      const NodeId id = from_.inputs()[i];
      TensorType type = from_.type(id);
      if (std::find(score_inputs.begin(), score_inputs.end(), i) != score_inputs.end())
        type.dtype = scores_;
      images_[id] = to_.add_input(from_.input_kind(id), type, from_.origin(id));
    }
    for (const NodeId id : from_.order()) {
      if (from_.is_input(id)) continue;
      auto image = copy(id);
      if (!image)
        return error(fmt::format("nested graph {}: node {}: {}", quote(from_.name),
                                 quote(from_.node_name(id)), image.diagnostics().front().message));
      images_[id] = *image;
    }
    for (const NodeId id : from_.results)
      to_.results.push_back(id.valid() ? images_.at(id) : NodeId());
    return std::move(to_);
  }

 private:
  Result<NodeId> copy(NodeId id) {
    const Operator& op = from_.op(id);
    const auto arguments =
        arguments_with(from_[id], [&](NodeId operand) { return images_.at(operand); });
    if (is_zeros_and_scatter(op)) return scatter(id, arguments);
    if (is_external(op.op)) return error("it calls an operator that Recut doesn't know");
    if (op.is(kInput)) return error("a constant of its own has no value");
    if (op.is(kRandom | kImpure)) return error("it draws random numbers");
    return to_.make(op.op, arguments, from_.origin(id));
  }

  Result<NodeId> scatter(NodeId id, const std::vector<Argument>& arguments) {
    const auto* values = arguments.size() < 3 ? nullptr : arguments[2].get<NodeId>();
    if (values == nullptr) return error("expected a shape, indices and values");
    const auto zeros = to_.make(Op::full, {arguments[0], 0, to_.type(*values).dtype});
    if (!zeros) return zeros;
    return to_.make(Op::index_put, {*zeros, arguments[1], *values, true}, from_.origin(id));
  }

  const Graph& from_;
  const DType scores_;
  Graph to_;
  std::map<NodeId, NodeId> images_;
};

}  // namespace

std::optional<FlexAttention> flex_attention(const Node& node) {
  const Operator& op = operator_of(node.op);
  FlexAttention flex;
  flex.backward = is_flex_call(op, FlexCall::backward);
  if (!flex.backward && !is_flex_call(op, FlexCall::forward)) return std::nullopt;
  // The last argument is the draw.
  if (!op.returns_list || node.arguments.size() != (flex.backward ? 15u : 10u)) return std::nullopt;
  FlexArguments arguments{node.arguments};
  flex.query = arguments.node();
  flex.key = arguments.node();
  flex.value = arguments.node();
  if (flex.backward) {
    flex.out = arguments.node();
    flex.logsumexp = arguments.node();
    flex.out_gradient = arguments.node();
    flex.logsumexp_gradient = arguments.node_or_none();
  }
  flex.score = arguments.text(arguments.next());
  if (flex.backward) flex.joint = arguments.text(arguments.next());
  flex.mask = arguments.last_text();
  flex.scale = arguments.number();
  arguments.next();  // options of the kernel
  flex.score_buffers = arguments.nodes();
  flex.mask_buffers = arguments.nodes();
  return arguments.sound ? std::optional(std::move(flex)) : std::nullopt;
}

bool has_flex_regions(const Graph& graph, NodeId id) {
  const auto flex = flex_attention(graph[id]);
  return flex && graph.region(flex->score) != nullptr && graph.region(flex->mask) != nullptr &&
         (!flex->backward || graph.region(flex->joint) != nullptr);
}

std::optional<std::string> check_flex_attention(const Graph& graph, NodeId id) {
  return flex_attention(graph[id]) ? FlexCheck(graph, id).run() : std::nullopt;
}

bool is_zeros_and_scatter(const Operator& op) {
  return is_flex_call(op, FlexCall::zeros_and_scatter);
}

Result<Graph> flex_scalar_graph(const Graph& region, const std::vector<std::size_t>& score_inputs,
                                DType scores) {
  return FlexRegionCopy(region, scores).run(score_inputs);
}

DType flex_score_dtype(DType query) { return query == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace recut
