// Runs graphs by their loop kernels, for tests of lowerings against the interpreter of graphs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/codegen/cuda/emit.h"
#include "engine/codegen/lower/lower.h"
#include "engine/eval/evaluator.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/graph.h"

namespace recut::test {

enum class Executor : std::uint8_t { interpreter, machine_code, web_assembly, cuda };

struct KernelRunOptions {
  Executor executor = Executor::interpreter;
  loop::LowerOptions lower;
  std::uint64_t seed = 0;
  bool parallel_backwards = false;
  FusionGroups groups;  // every call by itself unless they say otherwise
  // Of CUDA: attention by functions of its own, which multiply f32 so; else by loops.
  std::optional<cuda::MatmulPrecision> attention;
};

struct KernelRun {
  std::vector<Tensor> outputs;  // as evaluate() gives them
  std::string problem;          // why there are none; "" where there are
  bool refused = false;         // the problem is an operator that doesn't lower
  std::vector<std::string> texts;
  int attentions = 0;  // calls that were no loops
};

// Every kernel is verified, and printed and parsed to the same text.
KernelRun run_kernels(const Graph& graph, const Inputs& inputs, const KernelRunOptions& options);

// The kernels of a graph in the order in which they can run: groups at their last call.
std::vector<std::vector<NodeId>> kernels_of(const Graph& graph, const FusionGroups& groups);

// Every kernel of a graph that lowers, with pointwise calls fused.
std::vector<loop::Kernel> lowered_kernels(const Graph& graph,
                                          const loop::LowerOptions& options = {});

}  // namespace recut::test
