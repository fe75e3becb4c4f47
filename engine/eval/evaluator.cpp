// The reference interpreter (evaluator.h): runs kernels step by step, frees each value after its
// last use, and measures the peak. It checks every view against its storage and every allocation
// against the limit, since graphs come from files. A view that must copy keeps its base alive, so
// that the measured peak equals the planner's model.
#include "engine/eval/evaluator.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "engine/eval/region_evaluator.h"
#include "engine/eval/steps.h"
#include "engine/ir/collective.h"
#include "engine/ir/layout.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/support/hash.h"
#include "engine/support/text.h"
#include "engine/support/units.h"

namespace recut {
namespace {

// Bounds check of a view: true if every element lies within the storage.
bool within_storage(const Tensor& tensor) {
  if (tensor.storage == nullptr) return false;
  const std::int64_t capacity = tensor.storage->size() / item_bytes(tensor.dtype);
  return layout::is_within({tensor.shape, tensor.strides, tensor.offset, false}, capacity);
}

bool has_type(const Tensor& tensor, const TensorType& type) {
  return tensor.dtype == type.dtype && tensor.shape == type.shape &&
         tensor.strides.size() == type.shape.size();
}

// Bytes of a copy in the numbers that kernels compute on. An empty dimension counts as 1: kernels
// iterate over the others.
std::int64_t working_bytes(const TensorType& type) {
  std::int64_t bytes = !type.exists() ? 0 : is_complex(type.dtype) ? 16 : 8;
  for (const std::int64_t size : type.shape) bytes *= std::max<std::int64_t>(size, 1);
  return bytes;
}

// The value of one run of a node.
struct EvaluatedValue {
  std::vector<Tensor> outputs;
  std::size_t step = 0;
  // A view that had to copy keeps its base's storages, so that measured memory equals the storage
  // model's.
  std::vector<std::shared_ptr<Storage>> base;
};

class Evaluator {
 public:
  // With `ranks`, the values of collectives come from outside.
  Evaluator(const Graph& graph, const EvaluationSteps& steps, const EvaluateOptions& options,
            bool ranks = false)
      : graph_(graph),
        steps_(steps),
        options_(options),
        ranks_(ranks),
        kernels_(options.kernels != nullptr ? *options.kernels : kernel_table()),
        values_(graph.order().size()),
        types_of_([&graph](NodeId id) { return graph.pool().types_of(id); }),
        values_of_([this](NodeId id) { return std::span<const Tensor>(value(id).outputs); }) {}

  Result<Evaluation> run(const Inputs& inputs) {
    if (auto ready = begin(inputs); !ready) return ready.diagnostics();
    while (!done())
      if (auto ran = advance(); !ran) return ran.diagnostics();
    return finish();
  }

  Result<Done> begin(const Inputs& inputs) {
    if (auto ready = check_kernels(); !ready) return ready;
    return take_inputs(inputs);
  }

  bool done() const { return next_ == steps_.steps.size(); }
  NodeId next() const { return steps_.steps[next_].node; }
  bool awaits_ranks() const { return ranks_ && !done() && lacks_ranks(next()); }
  const EvaluatedValue& value(NodeId id) const { return values_[graph_.position(id)]; }

  // Runs the next step, or takes its outputs as they were `given`.
  Result<Done> advance(std::optional<std::span<const Tensor>> given = std::nullopt) {
    const std::size_t t = next_;
    if (t == steps_.boundary) collect(graph_.results);
    if (options_.progress && !options_.progress(t, steps_.steps.size()))
      return error("the evaluation was ended");
    if (auto ran = run_step(t, given); !ran) return ran;
    ++next_;
    return Done{};
  }

  Evaluation finish() {
    if (steps_.boundary == steps_.steps.size()) collect(graph_.results);
    collect(graph_.gradients);
    evaluation_.peak_bytes = meter_->peak_bytes;
    return std::move(evaluation_);
  }

 private:
  Diagnostic about(NodeId id, std::string_view message) const {
    return node_diagnostic(graph_, id, message);
  }

  Call call_of(NodeId id) const { return {graph_.op(id), graph_[id].arguments, types_of_}; }
  bool lacks_ranks(NodeId id) const {
    return graph_.op(id).is(kCollective) && needs_other_ranks(call_of(id));
  }

  // The first dtype of a call of which `chosen` holds.
  DType dtype_of(NodeId id, bool (*chosen)(DType)) const {
    return first_dtype(graph_[id].arguments, graph_[id].outputs, types_of_, chosen);
  }
  bool supports(NodeId id) const {
    const Op op = graph_[id].op;
    return dtype_of(id, is_complex) == DType::none ? kernels_.supports(op)
                                                   : kernels_.supports_complex(op);
  }

  Result<Done> check_kernels() const {
    std::set<std::string_view> seen;
    Diagnostics missing;
    for (const EvaluationStep& step : steps_.steps) {
      const Operator& op = graph_.op(step.node);
      const DType dtype = dtype_of(step.node, [](DType d) { return !has_values(d); });
      if (dtype != DType::none && seen.insert(short_name(dtype)).second)
        missing.push_back(
            error(fmt::format("Recut doesn't compute with {} yet: node {} has it",
                              short_name(dtype), quote(graph_.node_name(step.node)))));
      if (ranks_ && lacks_ranks(step.node)) continue;
      if (supports(step.node) && !lacks_ranks(step.node)) {
        if (auto sound = check_types(step.node); !sound)
          missing.push_back(about(step.node, sound.diagnostics().front().message));
        continue;
      }
      const auto lacks =
          is_external(op.op) ? why_no_region_values(graph_, step.node) : std::nullopt;
      if (is_external(op.op) && !lacks) continue;
      if (kernels_.supports(op.op) && !lacks_ranks(step.node)) {
        const DType complex = dtype_of(step.node, is_complex);
        if (seen.insert(op.target).second)
          missing.push_back(about(step.node, fmt::format("operator '{}' can't be evaluated in {} "
                                                         "yet",
                                                         op.name, short_name(complex))));
        continue;
      }
      if (!seen.insert(op.name).second) continue;
      if (op.is(kCollective)) {
        missing.push_back(about(step.node, why_no_values(call_of(step.node))));
        continue;
      }
      missing.push_back(error(fmt::format(
          "operator '{}' can't be evaluated yet: {}", op.name,
          lacks.value_or(fmt::format("node {} uses it", quote(graph_.node_name(step.node)))))));
    }
    if (missing.empty()) return Done{};
    return missing;
  }

  // Readers take the types of calls with dtypes that have no arithmetic as a file records them.
  // Kernels trust types, so these have to be the shape rule's.
  Result<Done> check_types(NodeId id) const {
    const Node& node = graph_[id];
    const DType dtype = dtype_of(id, [](DType d) { return !has_arithmetic(d); });
    if (dtype == DType::none || graph_.op(id).is(kDataDependent)) return Done{};
    const auto inferred = infer_types(graph_.op(id), node.arguments, types_of_);
    if (!inferred) return inferred.diagnostics();
    if (inferred->size() != node.outputs.size())
      return error(
          fmt::format("it has {} outputs, expected {}", node.outputs.size(), inferred->size()));
    for (std::size_t i = 0; i < inferred->size(); ++i) {
      const TensorType& recorded = node.outputs[i];
      const TensorType& expected = (*inferred)[i];
      if (recorded.exists() &&
          (recorded.dtype != expected.dtype || recorded.shape != expected.shape))
        return error(fmt::format("it is recorded as {}{}, expected {}{}",
                                 short_name(recorded.dtype), format_shape(recorded.shape),
                                 short_name(expected.dtype), format_shape(expected.shape)));
    }
    return Done{};
  }

  Result<Done> take_inputs(const Inputs& inputs) {
    Diagnostics wrong;
    for (const NodeId id : graph_.order()) {
      if (!graph_.op(id).is(kInput)) continue;
      const TensorType& type = graph_.type(id);
      const auto given = inputs.find(id);
      if (given == inputs.end())
        wrong.push_back(about(id, fmt::format("has no value, expected {}", format(type))));
      else if (!has_type(given->second, type) || !within_storage(given->second))
        wrong.push_back(
            about(id, fmt::format("was given {}{}, expected {}", short_name(given->second.dtype),
                                  format_shape(given->second.shape), format(type))));
      else
        values_[graph_.position(id)].outputs = {given->second};
    }
    if (wrong.empty()) return Done{};
    return wrong;
  }

  // Results are taken where forward ends, before backward computes any of them again.
  void collect(const std::vector<NodeId>& ids) {
    for (const NodeId id : ids)
      evaluation_.outputs.push_back(id.valid() ? value(id).outputs.front() : Tensor());
  }

  Result<Done> run_step(std::size_t t, std::optional<std::span<const Tensor>> given) {
    const EvaluationStep& step = steps_.steps[t];
    EvaluatedValue result;
    result.step = t;
    const Node& node = graph_[step.node];
    const Operator& op = operator_of(node.op);
    const Call call(op, node.arguments, types_of_);
    const auto done = given                               ? copy_given(step.node, *given, result)
                      : node.op == Op::getitem            ? take_item(call, result)
                      : is_external(node.op)              ? run_external(step.node, t, result)
                      : kernels_.view(node.op) != nullptr ? run_view(step.node, call, result)
                      : options_.runs.empty() || !draws_anew(op)
                          ? run_kernel(step.node, call, result)
                          : run_draw(step.node, result);
    if (!done) return about(step.node, done.diagnostics().front().message);
    values_[graph_.position(step.node)] = std::move(result);
    for (const ValueRun& dead : step.last_uses) {
      EvaluatedValue& value = values_[graph_.position(dead.node)];
      if (value.step == dead.step) value = EvaluatedValue();
    }
    return Done{};
  }

  Result<Done> copy_given(NodeId id, std::span<const Tensor> given, EvaluatedValue& result) {
    const auto& types = graph_[id].outputs;
    if (given.size() != types.size())
      return error(fmt::format("it has {} outputs, expected {}", given.size(), types.size()));
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i].exists() && !has_type(given[i], types[i]))
        return error(fmt::format("its value is {}{}, and the graph has {}",
                                 short_name(given[i].dtype), format_shape(given[i].shape),
                                 format(types[i])));
      result.outputs.push_back(types[i].exists() ? given[i] : Tensor());
    }
    return copy_outputs(id, result);
  }

  Result<Done> take_item(const Call& call, EvaluatedValue& result) const {
    const EvaluatedValue& source = value(call.node("self"));
    result.outputs = {source.outputs[static_cast<std::size_t>(call.integer("index"))]};
    result.base = source.base;
    return Done{};
  }

  Result<Done> run_view(NodeId id, const Call& call, EvaluatedValue& result) {
    const EvaluatedValue& source = value(graph_[id].operands.front());
    const Tensor& self = source.outputs.front();
    const auto& types = graph_[id].outputs;
    const ViewKernel kernel = kernels_.view(call.op().op);
    for (std::size_t i = 0; i < types.size(); ++i) {
      auto view = kernel(call, self, types[i], i);
      if (!view) return view.diagnostics();
      if (!has_type(*view, types[i]) || !within_storage(*view))
        return error(fmt::format("this view of {}{} reaches outside its storage",
                                 short_name(self.dtype), format_shape(self.shape)));
      result.outputs.push_back(std::move(*view));
    }
    if (!call.op().is(kView)) return copy_outputs(id, result);
    keep_base(source, result);
    return Done{};
  }

  static void keep_base(const EvaluatedValue& source, EvaluatedValue& result) {
    result.base = source.base;
    for (const Tensor& tensor : source.outputs)
      if (tensor.storage) result.base.push_back(tensor.storage);
  }

  // Copies the outputs of operators like view_copy into storages of their own.
  Result<Done> copy_outputs(NodeId id, EvaluatedValue& result) {
    if (auto fits = check_memory(id, graph_[id].outputs); !fits) return fits;
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      Tensor& tensor = result.outputs[i];
      if (!tensor.exists()) continue;
      Tensor copy = allocate(graph_[id].outputs[i], meter_);
      copy_tensor(tensor, copy);
      tensor = std::move(copy);
    }
    return Done{};
  }

  // Steps of a region are steps of its call, and its memory is bounded by the rest.
  Result<Done> run_external(NodeId id, std::size_t t, EvaluatedValue& result) {
    const Node& node = graph_[id];
    if (auto fits = check_memory(id, node.outputs); !fits) return fits;
    for (const TensorType& type : node.outputs)
      result.outputs.push_back(type.exists() ? allocate(type, meter_) : Tensor());
    EvaluateOptions options = options_;
    options.max_bytes -= meter_->live_bytes;
    options.runs.push_back({draw_of(node), 0});
    if (options_.progress)
      options.progress = [this, t](std::size_t, std::size_t) {
        return options_.progress(t, steps_.steps.size());
      };
    return run_regions(graph_, id, values_of_, options, result.outputs);
  }

  // A random draw in a region: each run of that has numbers of its own.
  Result<Done> run_draw(NodeId id, EvaluatedValue& result) {
    const Operator& op = graph_.op(id);
    std::vector<Argument> arguments = graph_[id].arguments;
    const Call call(op, graph_[id].arguments, types_of_);
    std::int64_t draw = call.integer("draw");
    for (std::size_t i = options_.runs.size(); i-- > 0;) draw = draw_of_run(options_.runs[i], draw);
    arguments[*op.parameter("draw")] = draw;
    return run_kernel(id, Call(op, arguments, types_of_), result);
  }

  Result<Done> run_kernel(NodeId id, const Call& call, EvaluatedValue& result) {
    const auto types = whole_types(id, call);
    if (!types) return types.diagnostics();
    if (auto fits = check_memory(id, *types); !fits) return fits;
    const bool view = call.op().is(kView);
    for (const TensorType& type : graph_[id].outputs)
      result.outputs.push_back(type.exists() ? allocate(type, view ? nullptr : meter_) : Tensor());
    if (view) keep_base(value(graph_[id].operands.front()), result);
    KernelContext context(call, *types, result.outputs, values_of_, options_.seed);
    if (options_.rounding) context.round_randomly(*options_.rounding, id.index);
    const bool complex = dtype_of(id, is_complex) != DType::none;
    return (complex ? kernels_.complex_kernel(call.op().op)
                    : kernels_.kernel(call.op().op))(context);
  }

  // The recorded types, with inferred types for absent outputs. The first output must be recorded
  // if its shape is data-dependent.
  Result<std::vector<TensorType>> whole_types(NodeId id, const Call& call) const {
    std::vector<TensorType> types = graph_[id].outputs;
    const auto absent = [](const TensorType& type) { return !type.exists(); };
    if (std::none_of(types.begin(), types.end(), absent)) return types;
    const auto inferred = infer_types(call.op(), graph_[id].arguments, types_of_);
    if (!inferred && absent(types.front())) return inferred;
    for (std::size_t i = 0; inferred && i < std::min(types.size(), inferred->size()); ++i)
      if (absent(types[i])) types[i] = (*inferred)[i];
    return types;
  }

  // Checks operands too: a broadcast view of a few bytes can have any number of elements.
  Result<Done> check_memory(NodeId id, const std::vector<TensorType>& outputs) const {
    std::int64_t bytes = meter_->live_bytes;
    for (const TensorType& type : outputs) {
      bytes += byte_size(type);
      if (working_bytes(type) > options_.max_bytes || bytes > options_.max_bytes)
        return error(fmt::format("its value {} would take more memory than the {} allowed",
                                 format(type), format_bytes(options_.max_bytes)));
    }
    for (const NodeId operand : graph_[id].operands)
      for (const TensorType& type : graph_[operand].outputs)
        if (working_bytes(type) > options_.max_bytes)
          return error(fmt::format("its operand {} would take more memory than the {} allowed",
                                   quote(graph_.node_name(operand)),
                                   format_bytes(options_.max_bytes)));
    return Done{};
  }

  const Graph& graph_;
  const EvaluationSteps& steps_;
  const EvaluateOptions& options_;
  const bool ranks_;
  const KernelTable& kernels_;
  std::shared_ptr<MemoryMeter> meter_ = std::make_shared<MemoryMeter>();
  std::vector<EvaluatedValue> values_;  // by position
  Call::TypesOf types_of_;
  KernelContext::ValuesOf values_of_;
  std::size_t next_ = 0;  // step
  Evaluation evaluation_;
};

}  // namespace

Result<Evaluation> evaluate(const Graph& graph, const Inputs& inputs,
                            const EvaluateOptions& options) {
  const EvaluationSteps steps = build_steps(graph);
  return Evaluator(graph, steps, options).run(inputs);
}

Result<Evaluation> evaluate(const Graph& graph, const Plan& plan, const Inputs& inputs,
                            const EvaluateOptions& options) {
  const auto steps = build_steps(graph, plan);
  if (!steps) return steps.diagnostics();
  return Evaluator(graph, *steps, options).run(inputs);
}

struct StepEvaluator::Impl {
  Impl(const Graph& graph, const EvaluateOptions& chosen)
      : options(chosen), steps(build_steps(graph)), evaluator(graph, steps, options, true) {}

  EvaluateOptions options;
  EvaluationSteps steps;
  Evaluator evaluator;
};

StepEvaluator::StepEvaluator(const Graph& graph, const EvaluateOptions& options)
    : impl_(std::make_unique<Impl>(graph, options)) {}
StepEvaluator::~StepEvaluator() = default;
StepEvaluator::StepEvaluator(StepEvaluator&&) noexcept = default;
StepEvaluator& StepEvaluator::operator=(StepEvaluator&&) noexcept = default;

Result<Done> StepEvaluator::begin(const Inputs& inputs) { return impl_->evaluator.begin(inputs); }
bool StepEvaluator::done() const { return impl_->evaluator.done(); }
NodeId StepEvaluator::next() const { return impl_->evaluator.next(); }
bool StepEvaluator::awaits_ranks() const { return impl_->evaluator.awaits_ranks(); }
std::span<const Tensor> StepEvaluator::value(NodeId id) const {
  return impl_->evaluator.value(id).outputs;
}
Result<Done> StepEvaluator::run() { return impl_->evaluator.advance(); }
Result<Done> StepEvaluator::give(std::span<const Tensor> outputs) {
  return impl_->evaluator.advance(outputs);
}
Evaluation StepEvaluator::finish() { return impl_->evaluator.finish(); }

}  // namespace recut
