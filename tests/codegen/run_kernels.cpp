#include "tests/codegen/run_kernels.h"

#include <fmt/core.h>

#include <functional>
#include <map>

#include "engine/codegen/loop/interpreter.h"
#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/loop/verifier.h"
#include "engine/codegen/lower/address.h"
#include "engine/eval/inputs.h"
#include "engine/partition/execution.h"

namespace recut::test {
namespace {

using loop::Made;

// Storages by what they are of.
class Memory {
 public:
  Memory(const Graph& graph, const Inputs& inputs) : graph_(graph) {
    for (const auto& [id, tensor] : inputs)
      storages_[{id, 0}] = tensor_from_bytes(graph.type(id), bytes_of(tensor)).storage;
  }

  std::span<std::byte> of(const Made& made) {
    auto& storage = storages_[made];
    if (storage == nullptr)
      storage =
          std::make_shared<Storage>(byte_size(graph_[made.node].outputs[made.output]), nullptr);
    return {storage->data(), static_cast<std::size_t>(storage->size())};
  }

  // A value as a tensor; a copy where its layouts don't go together.
  Tensor value(NodeId id) {
    const auto address = loop::address_of(graph_, id);
    if (!address) return Tensor();
    of(address->made);
    const Layout& own = address->layouts.front();
    Tensor tensor{graph_[address->made.node].outputs[address->made.output].dtype, own.shape,
                  own.strides, own.offset, storages_[address->made]};
    for (std::size_t l = 1; l < address->layouts.size(); ++l) {
      const Layout& next = address->layouts[l];
      const Tensor copy =
          tensor_from_bytes(make_type(tensor.dtype, tensor.shape), bytes_of(tensor));
      tensor = {tensor.dtype, next.shape, next.strides, next.offset, copy.storage};
    }
    return tensor;
  }

 private:
  const Graph& graph_;
  std::map<Made, std::shared_ptr<Storage>> storages_;
};

std::string check_kernel(const loop::Kernel& kernel) {
  if (const Diagnostics faults = loop::verify(kernel); !faults.empty())
    return format(faults) + loop::print(kernel);
  const std::string text = loop::print(kernel);
  const auto again = loop::parse_kernels(text, "kernel");
  if (!again) return format(again.diagnostics()) + text;
  if (loop::print(again->front()) != text) return "parse then print is another text:\n" + text;
  return "";
}

}  // namespace

std::vector<std::vector<NodeId>> kernels_of(const Graph& graph, const FusionGroups& groups) {
  const std::vector<bool> needed = needed_nodes(graph, goals_of(graph));
  const auto members = [&](NodeId id) {
    if (groups.group(id) == FusionGroups::kAlone) return std::vector<NodeId>{id};
    const auto all = groups.members(groups.group(id));
    return std::vector<NodeId>(all.begin(), all.end());
  };
  // Depth first, each kernel after those that make what it reads; views are none.
  std::vector<std::vector<NodeId>> kernels;
  std::vector<bool> done(graph.order().size(), false);
  const std::function<void(NodeId)> visit = [&](NodeId goal) {
    const NodeId id = maker_of(graph, goal);
    if (done[graph.position(id)] || graph.op(id).is(kInput)) return;
    const std::vector<NodeId> calls = members(id);
    for (const NodeId call : calls) done[graph.position(call)] = true;
    for (const NodeId call : calls)
      for (const NodeId operand : graph[call].operands) visit(operand);
    kernels.push_back(calls);
  };
  for (const NodeId id : graph.order())
    if (needed[graph.position(id)]) visit(id);
  return kernels;
}

KernelRun run_kernels(const Graph& graph, const Inputs& inputs, const KernelRunOptions& options) {
  KernelRun result;
  const StorageModel storages(graph, StorageModel::Sizes::values);
  Memory memory(graph, inputs);
  for (const auto& calls : kernels_of(graph, options.groups)) {
    const auto lowered = loop::lower(graph, storages, options.groups, calls, options.lower);
    if (!lowered) {
      result.problem = lowered.diagnostics().front().message;
      result.refused = true;
      return result;
    }
    result.problem = check_kernel(lowered->kernel);
    if (!result.problem.empty()) return result;
    result.texts.push_back(loop::print(lowered->kernel));
    std::vector<std::span<std::byte>> spans;
    for (const loop::BufferSource& source : lowered->sources)
      spans.push_back(memory.of({source.node, source.output}));
    const auto done = loop::run(lowered->kernel, spans, {options.seed, options.parallel_backwards});
    if (!done) {
      result.problem = format(done.diagnostics()) + result.texts.back();
      return result;
    }
  }
  for (const auto* ids : {&graph.results, &graph.gradients})
    for (const NodeId id : *ids) result.outputs.push_back(id.valid() ? memory.value(id) : Tensor());
  return result;
}

}  // namespace recut::test
