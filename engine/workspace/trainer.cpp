#include "engine/workspace/trainer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "engine/runtime/measurement.h"
#include "engine/support/check.h"
#include "engine/workspace/training.h"

namespace recut {
namespace {

Tensor initial_input(const Graph& graph, NodeId id, std::uint64_t seed) {
  const InputKind kind = graph.input_kind(id);
  if (kind == InputKind::parameter) return initial_value(graph, id, seed);
  Tensor value = allocate(graph.type(id), nullptr);
  if (kind == InputKind::tangent) pack(Reals(value.shape, 1), value);
  return value;
}

// The initial values of inputs and constants, laid out as kernels read them.
Result<Inputs> initial_inputs(const Graph& graph, const TrainingInit& start) {
  auto inputs = inputs_from(graph, start.tensors, start.seed);
  if (!inputs) return inputs;
  for (auto& [id, value] : *inputs) {
    const std::string name = "in." + graph.node_name(id);
    const bool given = std::any_of(start.tensors.begin(), start.tensors.end(),
                                   [&](const NamedTensor& tensor) { return tensor.name == name; });
    if (!given && graph.is_input(id)) value = initial_input(graph, id, start.seed);
    value = as_kernels_read(graph.type(id), value);
  }
  return inputs;
}

}  // namespace

Result<TrainingState> TrainingState::begin(const Graph& step, std::size_t loss,
                                           const TrainingInit& start) {
  auto inputs = initial_inputs(step, start);
  if (!inputs) return inputs.diagnostics();
  return TrainingState(step, loss, start, std::move(*inputs));
}

TrainingState::TrainingState(const Graph& step, std::size_t loss, const TrainingInit& start,
                             Inputs inputs)
    : step_(&step),
      loss_(loss),
      seed_(start.seed),
      batches_(start.batches),
      inputs_(std::move(inputs)),
      data_(step, start.seed) {}

std::vector<Tensor> TrainingState::inputs_of(const Program& program) const {
  std::vector<Tensor> read;
  for (const NodeId id : program.inputs) read.push_back(inputs_.at(id));
  return read;
}

void TrainingState::load_batch() {
  for (const DataInput& input : data_.inputs())
    data_.write(input, steps_ % batches_, inputs_.at(input.id));
}

void Trainer::Carry::copy() {
  const auto item = static_cast<std::size_t>(item_bytes(to.dtype));
  std::byte* const begin = to.storage->data();
  if (layout.strides == to.strides && layout.offset == 0) {
    std::memmove(begin, from, static_cast<std::size_t>(to.storage->size()));
    return;
  }
  for (std::int64_t i = 0; i < to.count(); ++i) {
    std::int64_t source = layout.offset, target = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      source += layout.strides[d] * at[d];
      target += to.strides[d] * at[d];
    }
    std::memcpy(begin + static_cast<std::size_t>(target) * item,
                from + static_cast<std::size_t>(source) * item, item);
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == to.shape[d];) at[d] = 0;
  }
}

Trainer::Trainer(TrainingState& state, StepRun& run) : state_(state), run_(run) {
  const Graph& graph = state.step();
  std::size_t output = graph.results.size();
  for (const NodeId id : graph.inputs()) {
    if (graph.input_kind(id) == InputKind::tangent) continue;
    const ProgramOutput& next = run.program().outputs[output];
    if (next.node.valid())
      carries_.push_back(carry(next, run.output_storage(output), state.input(id)));
    ++output;
  }
}

Trainer::Carry Trainer::carry(const ProgramOutput& output, const std::byte* from, Tensor to) const {
  RECUT_CHECK(from != nullptr, "a training's run has its outputs in this program's memory");
  RECUT_CHECK(output.layouts.size() == 1, "what a step updates is a value, no view of a view");
  RECUT_CHECK(output.type.dtype == to.dtype, "an input and its new value have one type");
  std::vector<std::int64_t> at(to.shape.size(), 0);
  return {output.layouts.front(), from, std::move(to), std::move(at)};
}

Result<std::int64_t> Trainer::measure_peak() {
  load_batch();
  return touched_bytes(run_, state_.step_seed());
}

Result<double> Trainer::step() {
  if (auto done = run_.run(state_.step_seed()); !done) return done.diagnostics();
  for (Carry& carry : carries_) carry.copy();
  ++state_.steps_;
  return unpack<double>(run_.output(state_.loss()))[0];
}

}  // namespace recut
