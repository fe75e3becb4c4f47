#include "native/cpu/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>

#include "engine/eval/inputs.h"
#include "engine/runtime/measurement.h"
#include "engine/workspace/training.h"
#include "engine/workspace/training_data.h"
#include "native/cpu/step.h"

namespace recut::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

// Copies an output of the step over an input of the same shape.
class Carry {
 public:
  Carry(const ProgramOutput& output, const std::byte* from, Tensor to)
      : layout_(output.layouts.front()), from_(from), to_(std::move(to)), at_(to_.shape.size(), 0) {
    RECUT_CHECK(output.layouts.size() == 1, "what a step updates is a value, no view of a view");
    RECUT_CHECK(output.type.dtype == to_.dtype, "an input and its new value have one type");
  }

  void copy() {
    const auto item = static_cast<std::size_t>(item_bytes(to_.dtype));
    std::byte* const to = to_.storage->data();
    if (layout_.strides == to_.strides && layout_.offset == 0) {
      std::memmove(to, from_, static_cast<std::size_t>(to_.storage->size()));
      return;
    }
    for (std::int64_t i = 0; i < to_.count(); ++i) {
      std::int64_t source = layout_.offset, target = 0;
      for (std::size_t d = 0; d < at_.size(); ++d) {
        source += layout_.strides[d] * at_[d];
        target += to_.strides[d] * at_[d];
      }
      std::memcpy(to + static_cast<std::size_t>(target) * item,
                  from_ + static_cast<std::size_t>(source) * item, item);
      for (std::size_t d = at_.size(); d-- > 0 && ++at_[d] == to_.shape[d];) at_[d] = 0;
    }
  }

 private:
  Layout layout_;
  const std::byte* from_;
  Tensor to_;
  std::vector<std::int64_t> at_;  // all zeros between copies
};

Tensor first_value(const Graph& graph, NodeId id, std::uint64_t seed) {
  const InputKind kind = graph.input_kind(id);
  if (kind == InputKind::parameter) return initial_value(graph, id, seed);
  Tensor value = allocate(graph.type(id), nullptr);
  if (kind == InputKind::tangent) pack(Reals(value.shape, 1), value);
  return value;
}

// What inputs and constants have before the first step, laid out as kernels read them.
Result<Inputs> first_values(const Graph& graph, const TrainingRequest& request) {
  auto inputs = inputs_from(graph, request.tensors, request.seed);
  if (!inputs) return inputs;
  for (auto& [id, value] : *inputs) {
    const std::string name = "in." + graph.node_name(id);
    const bool given = std::any_of(request.tensors.begin(), request.tensors.end(),
                                   [&](const NamedTensor& tensor) { return tensor.name == name; });
    if (!given && graph.is_input(id)) value = first_value(graph, id, request.seed);
    value = as_kernels_read(graph.type(id), value);
  }
  return inputs;
}

class Trainer {
 public:
  // `inputs`: those that the run reads are its own.
  Trainer(const Graph& graph, const Step& step, const TrainingRequest& request, Inputs inputs,
          Run& run)
      : graph_(graph),
        request_(request),
        inputs_(std::move(inputs)),
        data_(graph, request.seed),
        run_(run),
        loss_(step.program().outputs[request.loss]) {
    std::size_t output = graph.results.size();
    for (const NodeId id : graph.inputs()) {
      if (graph.input_kind(id) == InputKind::tangent) continue;
      const ProgramOutput& next = step.program().outputs[output];
      if (next.node.valid())
        carries_.emplace_back(next, run_.output_storage(output), inputs_.at(id));
      ++output;
    }
  }

  Result<Done> train(Training& training) {
    write_batch(0);
    const auto touched = touched_bytes(run_, request_.seed);
    if (!touched) return touched.diagnostics();
    training.measured_peak_bytes = *touched;
    std::vector<double> times;
    for (int i = 0; i < request_.steps; ++i) {
      write_batch(i % request_.batches);
      const Clock::time_point began = Clock::now();
      if (auto done = run_.run(request_.seed + static_cast<std::uint64_t>(i)); !done) return done;
      for (Carry& carry : carries_) carry.copy();
      times.push_back(ms_since(began));
      training.losses.push_back(loss());
      request_.progress(i, training.losses.back());
      if (!std::isfinite(training.losses.back())) break;
    }
    std::sort(times.begin(), times.end());
    training.step_ms_min = times.front();
    training.step_ms_median = times[times.size() / 2];
    report(training);
    return Done{};
  }

 private:
  void write_batch(std::int64_t batch) {
    for (const DataInput& input : data_.inputs()) data_.write(input, batch, inputs_.at(input.id));
  }

  double loss() const {
    return unpack<double>(output_value(loss_, run_.output_storage(request_.loss)))[0];
  }

  void report(Training& training) const {
    const std::vector<NodeId> carried = carried_inputs(graph_);
    for (const NodeId id : graph_.inputs()) {
      const InputKind kind = graph_.input_kind(id);
      const bool kept = std::find(carried.begin(), carried.end(), id) != carried.end();
      const bool parameter = kind == InputKind::parameter;
      (parameter ? training.parameter_bytes
       : kept    ? training.carried_bytes
                 : training.data_bytes) += byte_size(graph_.type(id));
      if (parameter || kept) training.trained.emplace_back(graph_.node_name(id), inputs_.at(id));
    }
  }

  const Graph& graph_;
  const TrainingRequest& request_;
  Inputs inputs_;
  TrainingData data_;
  Run& run_;
  const ProgramOutput& loss_;
  std::vector<Carry> carries_;
};

}  // namespace

Result<Training> train(const Document& document, const ScheduledPlan& scheduled,
                       const TrainingRequest& request) {
  const Graph& graph = document.graph();
  auto inputs = first_values(graph, request);
  if (!inputs) return inputs.diagnostics();
  Training training;
  const Clock::time_point began = Clock::now();
  const StorageModel storages(graph);
  const FusionGroups groups = scheduled.planned.costs.groups(graph, storages);
  auto program = make_program(graph, storages, groups, scheduled.schedule, {.library = true});
  if (!program) return program.diagnostics();
  const auto step = Step::compile(std::move(*program));
  if (!step) return step.diagnostics();
  std::vector<Tensor> read;
  for (const NodeId id : step->program().inputs) read.push_back(inputs->at(id));
  auto run = Run::prepare(*step, std::move(read), request.threads);
  if (!run) return run.diagnostics();
  training.compile_ms = ms_since(began);
  training.planned_peak_bytes = step->program().arena_bytes;
  training.scratch_bytes = run->scratch_bytes();
  Trainer trainer(graph, *step, request, std::move(*inputs), *run);
  if (auto done = trainer.train(training); !done) return done.diagnostics();
  return training;
}

}  // namespace recut::cpu
