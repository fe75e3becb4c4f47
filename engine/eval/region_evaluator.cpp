// Conditions and loops by their definition: a run of a region is an evaluation of its graph. Only
// the branch that is taken runs.
//
// The memory of a region isn't measured: the planner counts it as the call's workspace, which
// measured peaks leave out.
#include "engine/eval/region_evaluator.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/eval/flex_evaluator.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/flex_attention.h"
#include "engine/ir/region_call.h"
#include "engine/support/text.h"

namespace recut {
namespace {

using Tensors = std::vector<Tensor>;

bool has_numbers(const ArgumentList& values) {
  return std::any_of(values.begin(), values.end(), [](const Argument& value) {
    return value.get<NodeId>() == nullptr && !value.none();
  });
}

// Element `index` along the first dimension, in the same storage.
Tensor slice_of(const Tensor& tensor, std::int64_t index) {
  Tensor slice = tensor;
  slice.offset += index * tensor.strides.front();
  slice.shape.erase(slice.shape.begin());
  slice.strides.erase(slice.strides.begin());
  return slice;
}

// The tensor with the recorded layout at the begin of its storage: as_strided reads that.
Tensor with_layout(const Tensor& tensor, const TensorType& type) {
  if (tensor.strides == type.strides && tensor.offset == 0) return tensor;
  Tensor copy = allocate(type, nullptr);
  copy_tensor(tensor, copy);
  return copy;
}

bool holds(const Tensor& predicate) {
  return is_floating(predicate.dtype) ? unpack<double>(predicate).data.front() != 0
                                      : unpack<std::int64_t>(predicate).data.front() != 0;
}

class RegionRun {
 public:
  RegionRun(const Graph& graph, NodeId id, const KernelContext::ValuesOf& values_of,
            const EvaluateOptions& options, std::span<Tensor> outputs)
      : graph_(graph),
        call_(*region_call(graph[id])),
        values_of_(values_of),
        options_(options),
        outputs_(outputs),
        whole_(tensors(call_.whole)) {}

  Result<Done> run() {
    switch (call_.kind) {
      case RegionCallKind::branches:
        return run_branch();
      case RegionCallKind::while_loop:
      case RegionCallKind::while_stack:
        return run_while();
      case RegionCallKind::scan:
        return run_scan();
      case RegionCallKind::prefix_scan:
        return run_prefix_scan();
      case RegionCallKind::once:
        return run_once();
    }
    return Done{};
  }

 private:
  Tensors tensors(const ArgumentList& values) const {
    Tensors found;
    for (const NodeId id : operands_among(values)) found.push_back(values_of_(id).front());
    return found;
  }

  // The results of one run of a region on `inputs` and the whole operands.
  Result<Tensors> run_region(std::size_t index, Tensors inputs) {
    const std::string& name = call_.regions[index];
    const Graph& region = *graph_.region(name);
    inputs.insert(inputs.end(), whole_.begin(), whole_.end());
    Inputs given;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const NodeId input = region.inputs()[i];
      given[input] = with_layout(inputs[i], region.type(input));
    }
    EvaluateOptions options = options_;
    options.runs.back().run = runs_++;
    auto evaluation = evaluate(region, given, options);
    if (!evaluation)
      return error(fmt::format("nested graph {}: {}", quote(name),
                               evaluation.diagnostics().front().message));
    for (std::size_t i = 0; i < evaluation->outputs.size(); ++i)
      if (!evaluation->outputs[i].exists())
        return error(
            fmt::format("nested graph {}: result {} is a number or none, and Recut "
                        "computes with results that are tensors",
                        quote(name), i));
    return std::move(evaluation->outputs);
  }

  // Unused outputs may have no type.
  void give(std::size_t output, const Tensor& value) {
    if (outputs_[output].exists()) copy_tensor(value, outputs_[output]);
  }
  void give_slice(std::size_t output, std::int64_t index, const Tensor& value) {
    if (!outputs_[output].exists()) return;
    Tensor slice = slice_of(outputs_[output], index);
    copy_tensor(value, slice);
  }

  Result<Done> run_branch() {
    const auto* number = call_.predicate.get<bool>();
    if (number == nullptr) {
      const Tensor& predicate = values_of_(*call_.predicate.get<NodeId>()).front();
      if (predicate.count() != 1)
        return error(fmt::format("its predicate has the shape {}, expected one element",
                                 format_shape(predicate.shape)));
      taken_ = holds(predicate) ? 0 : 1;
    } else {
      taken_ = *number ? 0 : 1;
    }
    auto results = run_region(taken_, {});
    if (!results) return results.diagnostics();
    for (std::size_t i = 0; i < results->size(); ++i) give(i, (*results)[i]);
    return Done{};
  }

  Result<Done> run_once() {
    auto results = run_region(0, {});
    if (!results) return results.diagnostics();
    for (std::size_t i = 0; i < results->size(); ++i) give(i, (*results)[i]);
    return Done{};
  }

  // Without a trip, the carried values themselves are stacked, as PyTorch does.
  Result<Done> run_while() {
    const bool stacks = call_.kind == RegionCallKind::while_stack;
    Tensors carried = tensors(call_.carried);
    std::vector<Tensors> stacked;
    for (std::int64_t trip = 0;; ++trip) {
      const auto condition = run_region(0, carried);
      if (!condition) return condition.diagnostics();
      if (!holds(condition->front())) break;
      if (trip == options_.max_trips) return too_many_trips();
      auto next = run_region(1, std::move(carried));
      if (!next) return next.diagnostics();
      carried = std::move(*next);
      if (stacks) stacked.push_back(carried);
    }
    if (stacks && stacked.empty()) stacked.push_back(carried);
    if (stacks) return give_stacked(stacked);
    for (std::size_t i = 0; i < carried.size(); ++i) give(i, carried[i]);
    return Done{};
  }

  Result<Done> give_stacked(const std::vector<Tensors>& trips) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].exists()) continue;
      const std::int64_t length = outputs_[i].shape.empty() ? 0 : outputs_[i].shape.front();
      if (length != static_cast<std::int64_t>(trips.size()))
        return error(fmt::format("its loop stacks {} values, and output {} has a length of {}",
                                 trips.size(), i, length));
      for (std::size_t trip = 0; trip < trips.size(); ++trip)
        give_slice(i, static_cast<std::int64_t>(trip), trips[trip][i]);
    }
    return Done{};
  }

  Result<Done> run_scan() {
    const std::int64_t trips = *trips_of(graph_, call_);
    if (trips > options_.max_trips) return too_many_trips();
    Tensors carried = tensors(call_.carried);
    const Tensors sliced = tensors(call_.sliced);
    const std::size_t count = carried.size();
    for (std::int64_t trip = 0; trip < trips; ++trip) {
      Tensors inputs = carried;
      for (const Tensor& tensor : sliced) inputs.push_back(slice_of(tensor, trip));
      auto results = run_region(0, std::move(inputs));
      if (!results) return results.diagnostics();
      for (std::size_t i = count; i < results->size(); ++i) give_slice(i, trip, (*results)[i]);
      results->resize(count);
      carried = std::move(*results);
    }
    for (std::size_t i = 0; i < count; ++i) give(i, carried[i]);
    return Done{};
  }

  Result<Done> run_prefix_scan() {
    const std::int64_t trips = *trips_of(graph_, call_);
    if (trips > options_.max_trips) return too_many_trips();
    const Tensors sliced = tensors(call_.sliced);
    Tensors sum;
    for (std::int64_t trip = 0; trip < trips; ++trip) {
      Tensors inputs = sum;
      for (const Tensor& tensor : sliced) inputs.push_back(slice_of(tensor, trip));
      if (trip == 0) {
        sum = std::move(inputs);
      } else {
        auto results = run_region(0, std::move(inputs));
        if (!results) return results.diagnostics();
        sum = std::move(*results);
      }
      for (std::size_t i = 0; i < sum.size(); ++i) give_slice(i, trip, sum[i]);
    }
    return Done{};
  }

  Diagnostic too_many_trips() const {
    return error(fmt::format("its loop runs more than {} trips, the most that Recut evaluates",
                             options_.max_trips));
  }

  const Graph& graph_;
  const RegionCall call_;
  const KernelContext::ValuesOf& values_of_;
  const EvaluateOptions& options_;
  std::span<Tensor> outputs_;
  const Tensors whole_;
  std::size_t taken_ = 0;  // branch
  std::int64_t runs_ = 0;
};

}  // namespace

std::optional<std::string> why_no_region_values(const Graph& graph, NodeId id) {
  if (has_flex_regions(graph, id)) return std::nullopt;
  const auto call = region_call(graph[id]);
  if (!call)
    return fmt::format("node {} uses it{}", quote(graph.node_name(id)),
                       expansion_tip(graph[id].op));
  for (const std::string& name : call->regions)
    if (graph.region(name) == nullptr)
      return fmt::format("node {} uses it, and the file lacks its nested graph {}",
                         quote(graph.node_name(id)), quote(name));
  if (has_numbers(call->carried) || has_numbers(call->sliced))
    return fmt::format("node {} has a number among the values of its loop, expected tensors",
                       quote(graph.node_name(id)));
  const bool scans =
      call->kind == RegionCallKind::scan || call->kind == RegionCallKind::prefix_scan;
  if (scans && !trips_of(graph, *call))
    return fmt::format("node {} has no tensor to read slices of", quote(graph.node_name(id)));
  return std::nullopt;
}

Result<Done> run_regions(const Graph& graph, NodeId id, const KernelContext::ValuesOf& values_of,
                         const EvaluateOptions& options, std::span<Tensor> outputs) {
  const std::vector<std::string> faults = check_regions(graph, id);
  if (!faults.empty()) return error(faults.front());
  if (!region_call(graph[id])) return run_flex_attention(graph, id, values_of, options, outputs);
  return RegionRun(graph, id, values_of, options, outputs).run();
}

}  // namespace recut
