// From a schedule to a program. Each scheduled kernel becomes a library call, where the target
// takes it, or a lowered loop kernel. Lowering is cached by the structure of the calls
// (lower/structural_key.h), and kernels with equal text are stored once, so the layers of a network
// share their code. The address of a buffer is the offset of the instance that is live while the
// kernel runs: a value may have several instances, one for each time that it is computed.
#include "engine/runtime/program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "engine/codegen/loop/printer.h"
#include "engine/codegen/lower/lower.h"
#include "engine/codegen/lower/structural_key.h"
#include "engine/codegen/lower/view_map.h"
#include "engine/fusion/kernel_model.h"
#include "engine/ir/aliases.h"
#include "engine/ir/call.h"
#include "engine/ir/collective.h"
#include "engine/support/check.h"

namespace recut {
namespace {

class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, const StorageModel& storages, const FusionGroups& groups,
                 const Schedule& schedule, const ProgramOptions& options)
      : graph_(graph),
        storages_(storages),
        groups_(groups),
        schedule_(schedule),
        options_(options),
        instances_(storages.size()) {
    for (std::uint32_t b = 0; b < schedule.buffers.size(); ++b)
      instances_[schedule.buffers[b].storage.index].push_back(b);
  }

  Result<Program> run() {
    for (const Buffer& buffer : schedule_.buffers)
      program_.arena_bytes = std::max(program_.arena_bytes, buffer.offset + buffer.bytes);
    Diagnostics faults;
    for (std::uint32_t k = 0; k < schedule_.kernels.size(); ++k) {
      add_waits(k);
      if (!schedule_.kernels[k].launches) continue;
      if (starts_collective(k))
        add_start(k, faults);
      else
        add_launch(k, faults);
    }
    for (const NodeId id : graph_.results) add_output(id, false, faults);
    for (const NodeId id : graph_.gradients) add_output(id, true, faults);
    if (!faults.empty()) return without_repeats(std::move(faults));
    return std::move(program_);
  }

 private:
  // Names an operator once, at its first call.
  static Diagnostics without_repeats(Diagnostics faults) {
    Diagnostics unique;
    for (Diagnostic& fault : faults) {
      const auto same = [&](const Diagnostic& other) { return other.message == fault.message; };
      if (std::none_of(unique.begin(), unique.end(), same)) unique.push_back(std::move(fault));
    }
    return unique;
  }

  void add_launch(std::uint32_t k, Diagnostics& faults) {
    const std::vector<NodeId>& calls = schedule_.kernels[k].calls;
    if (options_.library) {
      auto called =
          library_kernel_of(graph_, storages_, schedule_.kernels[k], options_.library_takes);
      if (called) {
        Launch launch = launch_of(k);
        for (const loop::BufferSource& source : called->sources)
          launch.buffers.push_back(buffer_address(source.node, source.output, k));
        launch.library = true;
        launch.free = free_span(schedule_, k);
        launch.kernel = intern(std::move(*called));
        return program_.launches.push_back(std::move(launch));
      }
    }
    const loop::StructuralKey structure =
        loop::structural_key_of(graph_, storages_, groups_, calls);
    auto known = lowered_.find(structure.key);
    if (known == lowered_.end()) {
      auto lowered = loop::lower(graph_, storages_, groups_, calls, options_.lower);
      if (!lowered) {
        for (const Diagnostic& fault : lowered.diagnostics()) faults.push_back(fault);
        return;
      }
      known = lowered_.emplace(structure.key, intern_lowered(std::move(*lowered), structure)).first;
    }
    Launch launch = launch_of(k);
    for (const auto& source : known->second.sources)
      launch.buffers.push_back(buffer_address(structure.nodes[source.first], source.second, k));
    launch.kernel = known->second.kernel;
    program_.launches.push_back(std::move(launch));
  }

  bool starts_collective(std::uint32_t k) const {
    const NodeId id = schedule_.kernels[k].calls.front();
    const Call::TypesOf types_of = [this](NodeId node) { return graph_.pool().types_of(node); };
    return options_.collectives && graph_.op(id).is(kCollective) &&
           needs_other_ranks(Call(graph_.op(id), graph_[id].arguments, types_of));
  }

  void add_start(std::uint32_t k, Diagnostics& faults) {
    CollectiveStep step = collective_step(schedule_.kernels[k].calls.front(), k);
    for (const Argument& argument : graph_[step.node].arguments)
      for_each_node(argument, [&](NodeId id) {
        const auto view_map = loop::view_map_of(graph_, id);
        if (!view_map)
          return void(faults.insert(faults.end(), view_map.diagnostics().begin(),
                                    view_map.diagnostics().end()));
        const auto [node, output] = view_map->base;
        step.inputs.push_back(
            {id, graph_.type(id), buffer_address(node, output, k), view_map->layouts});
      });
    const std::vector<TensorType>& types = graph_[step.node].outputs;
    step.outputs.resize(types.size());
    for (const StorageId storage : storages_.owned(step.node)) {
      const std::size_t output = storages_[storage].output;
      step.outputs[output] = {
          step.node, laid_out(types[output]), buffer_address(step.node, output, k), {}};
    }
    started_[step.node] = program_.collectives.size();
    program_.collectives.push_back(std::move(step));
  }

  // The waits of a kernel come before its launch, as the views that they are. One that waits for no
  // collective of several ranks is such a view alone.
  void add_waits(std::uint32_t k) {
    for (const NodeId call : schedule_.kernels[k].calls) {
      if (!graph_.op(call).is(kWait)) continue;
      const auto started = started_.find(defining_node(graph_, call));
      if (started == started_.end()) continue;
      CollectiveStep step = collective_step(call, k);
      step.started = started->second;
      program_.collectives.push_back(std::move(step));
    }
  }

  CollectiveStep collective_step(NodeId node, std::uint32_t k) const {
    CollectiveStep step;
    step.node = node;
    step.before = program_.launches.size();
    step.scheduled = k;
    return step;
  }

  // The kernel of a structure, and for each buffer the position of its node and the number of its
  // output.
  struct Lowered {
    std::uint32_t kernel = 0;
    std::vector<std::pair<std::size_t, std::size_t>> sources;
  };

  Lowered intern_lowered(loop::LoweredKernel made, const loop::StructuralKey& structure) {
    Lowered lowered;
    for (const loop::BufferSource& source : made.sources) {
      const auto node = std::find(structure.nodes.begin(), structure.nodes.end(), source.node);
      RECUT_CHECK(node != structure.nodes.end(), "a structure speaks of all that a kernel reads");
      lowered.sources.emplace_back(node - structure.nodes.begin(), source.output);
    }
    lowered.kernel = intern(std::move(made.kernel));
    return lowered;
  }

  Launch launch_of(std::uint32_t k) const {
    Launch launch;
    launch.scheduled = k;
    launch.calls = schedule_.kernels[k].calls;
    return launch;
  }

  // Kernels that differ only in names are the same.
  std::uint32_t intern(loop::Kernel kernel) {
    const std::string text = print(strip_names(kernel));
    return intern(std::move(kernel), text, program_.kernels);
  }

  std::uint32_t intern(library::Kernel kernel) {
    const std::string text = print(strip_names(kernel));
    return intern(std::move(kernel), text, program_.library);
  }

  template <class Kernel>
  std::uint32_t intern(Kernel kernel, const std::string& text, std::vector<Kernel>& kernels) {
    const auto [at, added] = numbers_.emplace(text, static_cast<std::uint32_t>(kernels.size()));
    if (added) kernels.push_back(std::move(kernel));
    return at->second;
  }

  BufferAddress buffer_address(NodeId node, std::size_t output, std::uint32_t k) {
    if (graph_.op(node).is(kInput)) return {input_number(node), 0};
    for (const StorageId storage : storages_.owned(node)) {
      if (storages_[storage].output != output) continue;
      for (const std::uint32_t b : instances_[storage.index]) {
        const Buffer& buffer = schedule_.buffers[b];
        if (buffer.first_kernel <= k && k <= buffer.last_kernel)
          return {std::nullopt, buffer.offset};
      }
      RECUT_CHECK(false, "a verified schedule has what a kernel reads and writes");
    }
    return {};  // no elements
  }

  std::uint32_t input_number(NodeId node) {
    const auto [at, added] =
        inputs_.emplace(node, static_cast<std::uint32_t>(program_.inputs.size()));
    if (added) program_.inputs.push_back(node);
    return at->second;
  }

  void add_output(NodeId id, bool gradient, Diagnostics& faults) {
    ProgramOutput output;
    if (id.valid()) {
      auto view_map = loop::view_map_of(graph_, id);
      if (!view_map) {
        faults.insert(faults.end(), view_map.diagnostics().begin(), view_map.diagnostics().end());
        return;
      }
      output.node = id;
      output.type = graph_.type(id);
      output.layouts = std::move(view_map->layouts);
      output.address = final_address(view_map->base, gradient);
    }
    program_.outputs.push_back(std::move(output));
  }

  // The instance that lives to the end: the first one for a result, the last one for a gradient.
  BufferAddress final_address(const loop::ValueRef& made, bool gradient) {
    if (graph_.op(made.node).is(kInput)) return buffer_address(made.node, made.output, 0);
    BufferAddress found;
    for (const StorageId storage : storages_.owned(made.node)) {
      if (storages_[storage].output != made.output) continue;
      for (const std::uint32_t b : instances_[storage.index]) {
        const Buffer& buffer = schedule_.buffers[b];
        if (buffer.last_kernel + 1 < schedule_.kernels.size()) continue;
        found.offset = buffer.offset;
        if (!gradient) break;
      }
    }
    return found;
  }

  const Graph& graph_;
  const StorageModel& storages_;
  const FusionGroups& groups_;
  const Schedule& schedule_;
  const ProgramOptions& options_;
  std::vector<std::vector<std::uint32_t>> instances_;  // by storage: buffers
  std::map<NodeId, std::uint32_t> inputs_;
  std::map<std::string, std::uint32_t> numbers_;  // of kernels, by their text
  std::map<std::string, Lowered> lowered_;        // by their structure
  std::map<NodeId, std::size_t> started_;         // collectives: the step of the last start
  Program program_;
};

// The offset in the storage of an element of the outermost view, in elements.
std::int64_t storage_offset(const std::vector<Layout>& layouts, std::vector<std::int64_t> at) {
  std::int64_t element = 0;
  for (std::size_t i = layouts.size(); i-- > 0;) {
    const Layout& layout = layouts[i];
    element = layout.offset;
    for (std::size_t d = 0; d < at.size(); ++d) element += layout.strides[d] * at[d];
    if (i == 0) break;
    at.assign(layouts[i - 1].shape.size(), 0);
    for (std::size_t d = at.size(); d-- > 0; element /= layouts[i - 1].shape[d])
      at[d] = element % layouts[i - 1].shape[d];
  }
  return element;
}

}  // namespace

const std::string& Program::name_of(const Launch& launch) const {
  return launch.library ? library[launch.kernel].name : kernels[launch.kernel].name;
}

const std::vector<loop::Buffer>& Program::buffers_of(const Launch& launch) const {
  return launch.library ? library[launch.kernel].buffers : kernels[launch.kernel].buffers;
}

Result<Program> make_program(const Graph& graph, const KernelModel& kernels,
                             const Schedule& schedule, const ProgramOptions& options) {
  return ProgramBuilder(graph, kernels.storages, kernels.groups, schedule, options).run();
}

void predict(Program& program, const Schedule& schedule, const Replay& replay) {
  const auto micros_of = [&](std::uint32_t scheduled) {
    const ScheduledKernel& kernel = schedule.kernels[scheduled];
    double micros = 0;
    for (std::size_t i = 0; i < kernel.calls.size(); ++i)
      micros += replay.steps[kernel.first_step + i].micros;
    return micros;
  };
  for (Launch& launch : program.launches) launch.predicted_us = micros_of(launch.scheduled);
  for (CollectiveStep& step : program.collectives)
    if (!step.started) step.predicted_us = micros_of(step.scheduled);
}

std::optional<library::Kernel> library_kernel_of(const Graph& graph, const StorageModel& storages,
                                                 const ScheduledKernel& kernel,
                                                 const library::SupportsKernel& takes) {
  if (kernel.calls.size() != 1) return std::nullopt;
  auto called = library::library_kernel(graph, storages, kernel.calls.front());
  return called && takes(*called) ? std::move(called) : std::nullopt;
}

TensorType laid_out(const TensorType& type) {
  if (is_dense(type)) return type;
  return make_type(type.dtype, type.shape, type.device);
}

Tensor as_kernels_read(const TensorType& type, const Tensor& value) {
  Tensor read = allocate(type, nullptr);
  const auto bytes = static_cast<std::size_t>(read.count() * item_bytes(type.dtype));
  if (value.dtype == type.dtype && value.strides == read.strides && bytes > 0)
    std::memcpy(read.storage->data(), value.storage->data() + value.offset * item_bytes(type.dtype),
                bytes);
  else if (is_complex(type.dtype))
    pack(unpack<Complex>(value), read);
  else if (is_floating(type.dtype))
    pack(unpack<double>(value), read);
  else
    pack(unpack<std::int64_t>(value), read);
  return read;
}

Tensor output_value(const ProgramOutput& output, const std::byte* storage) {
  Tensor value = allocate(output.type, nullptr);
  const auto item = item_bytes(output.type.dtype);
  std::vector<std::int64_t> at(output.type.shape.size(), 0);
  for (std::int64_t i = 0; i < value.count(); ++i) {
    std::int64_t to = 0;
    for (std::size_t d = 0; d < at.size(); ++d) to += value.strides[d] * at[d];
    std::memcpy(value.storage->data() + to * item,
                storage + storage_offset(output.layouts, at) * item,
                static_cast<std::size_t>(item));
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < output.type.shape[d]) break;
      at[d] = 0;
    }
  }
  return value;
}

}  // namespace recut
