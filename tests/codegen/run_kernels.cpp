#include "tests/codegen/run_kernels.h"

#include <fmt/core.h>

#include <functional>
#include <map>

#include "engine/codegen/cuda/attention.h"
#include "engine/codegen/llvm/emit.h"
#include "engine/codegen/loop/interpreter.h"
#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/printer.h"
#include "engine/codegen/loop/verifier.h"
#include "engine/codegen/lower/view_map.h"
#include "engine/eval/inputs.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/ir/aliases.h"
#include "engine/ir/data_flow.h"
#include "engine/runtime/program.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/codegen/machine_code.h"
#include "tests/codegen/wasm_code.h"

namespace recut::test {
namespace {

using loop::ValueRef;

// Storages by the value that owns them.
class Memory {
 public:
  Memory(const Graph& graph, const Inputs& inputs) : graph_(graph) {
    for (const auto& [id, tensor] : inputs)
      storages_[{id, 0}] = as_kernels_read(graph.type(id), tensor).storage;
  }

  std::span<std::byte> of(const ValueRef& ref) {
    auto& storage = storages_[ref];
    if (storage == nullptr)
      storage = std::make_shared<Storage>(byte_size(graph_[ref.node].outputs[ref.output]), nullptr);
    return {storage->data(), static_cast<std::size_t>(storage->size())};
  }

  // A value as a tensor; a copy where its layouts do not merge.
  Tensor value(NodeId id) {
    const auto view_map = loop::view_map_of(graph_, id);
    if (!view_map) return Tensor();
    of(view_map->base);
    const Layout& own = view_map->layouts.front();
    Tensor tensor{graph_[view_map->base.node].outputs[view_map->base.output].dtype, own.shape,
                  own.strides, own.offset, storages_[view_map->base]};
    for (std::size_t l = 1; l < view_map->layouts.size(); ++l) {
      const Layout& next = view_map->layouts[l];
      const Tensor copy =
          tensor_from_bytes(make_type(tensor.dtype, tensor.shape), bytes_of(tensor));
      tensor = {tensor.dtype, next.shape, next.strides, next.offset, copy.storage};
    }
    return tensor;
  }

 private:
  const Graph& graph_;
  std::map<ValueRef, std::shared_ptr<Storage>> storages_;
};

std::string check_kernel_run_kernels(const loop::Kernel& kernel) {
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
  const std::vector<bool> needed = live_nodes(graph);
  const auto calls_with = [&](NodeId id) {
    if (groups.group(id) == FusionGroups::kAlone) return std::vector<NodeId>{id};
    const auto all = groups.calls(groups.group(id));
    return std::vector<NodeId>(all.begin(), all.end());
  };
  // Depth first: each kernel after its producers; views have no kernel.
  std::vector<std::vector<NodeId>> kernels;
  std::vector<bool> done(graph.order().size(), false);
  const std::function<void(NodeId)> visit = [&](NodeId goal) {
    const NodeId id = defining_node(graph, goal);
    if (done[graph.position(id)] || graph.op(id).is(kInput)) return;
    const std::vector<NodeId> calls = calls_with(id);
    for (const NodeId call : calls)
      if (!groups.inlines(id, call)) done[graph.position(call)] = true;
    for (const NodeId call : calls)
      for (const NodeId operand : graph[call].operands)
        if (!groups.inlines(id, defining_node(graph, operand))) visit(operand);
    kernels.push_back(calls);
  };
  for (const NodeId id : graph.order())
    if (needed[graph.position(id)] && !groups.vanishes(defining_node(graph, id))) visit(id);
  return kernels;
}

std::vector<loop::Kernel> lowered_kernels(const Graph& graph, const loop::LowerOptions& options) {
  const StorageModel storages(graph);
  const FusionGroups groups = fuse_pointwise(graph, storages);
  std::vector<loop::Kernel> kernels;
  const auto add = [&](std::vector<NodeId> calls) {
    if (auto lowered = loop::lower(graph, storages, groups, calls, options))
      kernels.push_back(std::move(lowered->kernel));
  };
  for (std::int32_t g = 0; g < groups.size(); ++g)
    add({groups.calls(g).begin(), groups.calls(g).end()});
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput) && groups.group(id) == FusionGroups::kAlone) add({id});
  return kernels;
}

namespace {

// Kernels in order, each with the storages that it reads and writes.
struct RunKernelsLowered {
  std::vector<loop::Kernel> kernels;
  std::vector<std::vector<std::span<std::byte>>> memory;
  // Attention by functions of its own, each before the loop kernel of that number.
  std::vector<library::Kernel> library;
  std::vector<std::vector<std::span<std::byte>>> library_memory;
  std::vector<std::size_t> before;
};

// True for attention that has CUDA functions of its own.
bool emit_attention(const Graph& graph, const StorageModel& storages,
                    const std::vector<NodeId>& calls, Memory& memory, RunKernelsLowered& lowered) {
  if (calls.size() != 1) return false;
  auto called = library::library_kernel(graph, storages, calls.front());
  if (!called || !cuda::supports_attention(*called)) return false;
  lowered.library_memory.emplace_back();
  for (const loop::BufferSource& source : called->sources)
    lowered.library_memory.back().push_back(memory.of({source.node, source.output}));
  lowered.library.push_back(std::move(*called));
  lowered.before.push_back(lowered.kernels.size());
  return true;
}

// Returns why the kernels cannot run; "" where they can.
std::string lower_all(const Graph& graph, const KernelRunOptions& options, Memory& memory,
                      RunKernelsLowered& lowered, KernelRun& result) {
  const StorageModel storages(graph, StorageModel::Sizes::values);
  for (const auto& calls : kernels_of(graph, options.groups)) {
    if (options.attention && emit_attention(graph, storages, calls, memory, lowered)) continue;
    auto one = loop::lower(graph, storages, options.groups, calls, options.lower);
    result.refused = !one.ok();
    if (!one) return one.diagnostics().front().message;
    if (std::string wrong = check_kernel_run_kernels(one->kernel); !wrong.empty()) return wrong;
    result.texts.push_back(loop::print(one->kernel));
    lowered.kernels.push_back(std::move(one->kernel));
    lowered.memory.emplace_back();
    for (const loop::BufferSource& source : one->sources)
      lowered.memory.back().push_back(memory.of({source.node, source.output}));
  }
  return "";
}

std::string interpret(const RunKernelsLowered& lowered, const KernelRunOptions& options) {
  for (std::size_t k = 0; k < lowered.kernels.size(); ++k) {
    const auto done = loop::run(lowered.kernels[k], lowered.memory[k],
                                {options.seed, options.parallel_backwards});
    if (!done) return format(done.diagnostics()) + loop::print(lowered.kernels[k]);
  }
  return "";
}

std::string run_code(const RunKernelsLowered& lowered, const KernelRunOptions& options) {
  const llvm_ir::Module module = llvm_ir::emit(lowered.kernels);
  const auto jit = cpu::Jit::compile(module.text);
  if (!jit) return format(jit.diagnostics()) + module.text;
  for (std::size_t k = 0; k < lowered.kernels.size(); ++k) {
    std::vector<void*> buffers;
    for (const auto& span : lowered.memory[k]) buffers.push_back(span.data());
    if (const std::int64_t fault = run_stages(*jit, module.kernels[k], buffers, options.seed))
      return module.faults[static_cast<std::size_t>(fault - 1)];
  }
  return "";
}

std::string run_in_node(const RunKernelsLowered& lowered, const KernelRunOptions& options) {
  const wasm::Module module = wasm::emit(lowered.kernels, {has_relaxed_node()});
  for (std::size_t k = 0; k < lowered.kernels.size(); ++k) {
    const auto fault = run_wasm(module, k, lowered.memory[k], options.seed);
    if (!fault) return format(fault.diagnostics());
    if (*fault != 0) return module.faults[static_cast<std::size_t>(*fault - 1)];
  }
  return "";
}

std::string run_cuda(const RunKernelsLowered& lowered, const KernelRunOptions& options) {
  cuda::Options how;
  how.matmul_precision = options.attention.value_or(cuda::MatmulPrecision::f32);
  const auto compiled = CudaOnCpu::compile(cuda::emit(lowered.kernels, lowered.library, how));
  if (!compiled) return format(compiled.diagnostics());
  std::size_t done = 0;
  const auto attend_before = [&](std::size_t kernel) {
    for (; done < lowered.library.size() && lowered.before[done] == kernel; ++done) {
      std::vector<void*> buffers;
      for (const auto& span : lowered.library_memory[done]) buffers.push_back(span.data());
      std::vector<char> workspace(
          static_cast<std::size_t>(cuda::attention_workspace_bytes(lowered.library[done])));
      compiled->run_library(done, buffers, workspace.data());
    }
  };
  for (std::size_t k = 0; k < lowered.kernels.size(); ++k) {
    attend_before(k);
    std::vector<void*> buffers;
    for (const auto& span : lowered.memory[k]) buffers.push_back(span.data());
    if (const std::int64_t fault = compiled->run(k, buffers, options.seed))
      return compiled->module().faults[static_cast<std::size_t>(fault - 1)];
  }
  attend_before(lowered.kernels.size());
  return "";
}

std::string run(const RunKernelsLowered& lowered, const KernelRunOptions& options) {
  switch (options.executor) {
    case Executor::interpreter:
      return interpret(lowered, options);
    case Executor::machine_code:
      return run_code(lowered, options);
    case Executor::web_assembly:
      return run_in_node(lowered, options);
    case Executor::cuda:
      return run_cuda(lowered, options);
  }
  return "";
}

}  // namespace

KernelRun run_kernels(const Graph& graph, const Inputs& inputs, const KernelRunOptions& options) {
  KernelRun result;
  Memory memory(graph, inputs);
  RunKernelsLowered lowered;
  result.problem = lower_all(graph, options, memory, lowered, result);
  if (result.problem.empty()) result.problem = run(lowered, options);
  if (!result.problem.empty()) return result;
  result.attentions = static_cast<int>(lowered.library.size());
  for (const auto* ids : {&graph.results, &graph.gradients})
    for (const NodeId id : *ids) result.outputs.push_back(id.valid() ? memory.value(id) : Tensor());
  return result;
}

}  // namespace recut::test
