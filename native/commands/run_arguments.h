// The request of recut run, and the functions that serve it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/tensor.h"
#include "native/cache/store.h"
#include "native/commands/command.h"
#include "native/commands/debug_output.h"
#include "native/commands/plan_arguments.h"
#include "native/console.h"
#include "native/cuda/gpu.h"

namespace recut::native {

struct RunCommand {
  GraphArguments graph;
  PlanArguments plan = PlanArguments::of_step();
  MeshArguments mesh;           // with axes, all ranks run
  std::string ranks = "local";  // the executor of these
  std::string target = "cpu";
  std::vector<std::string> tensors;
  std::string out_tensors;  // file for the outputs; "": none
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per core
  int steps = 10;
  std::string precision = "f32";  // of a GPU's libraries
  std::string workspace;          // the most that these may take; "": the default
  bool nondeterministic = false;  // also use nondeterministic algorithms of these
  bool no_library = false;
  bool check = false;
  bool no_cache = false;
  bool json = false;
  DebugOutput debug;
};

// All return the exit code.
int run_on_cpu(RunCommand command, const Console& console);
int run_on_cuda(const RunCommand& command, const Console& console);
// All ranks of command.mesh.
int run_on_ranks(RunCommand command, const Console& console);
// The same on an open GPU.
int run_on_gpu(const RunCommand& command, const Console& console, cuda::SharedGpu gpu);

// The profile that prices a plan for the processor, and the plan's request.
std::string profile_on_cpu(const RunCommand& command);
SchedulingRequest scheduling_on_cpu(const RunCommand& command);

// Writes a step's outputs as out.<position>, if requested.
Result<Done> write_outputs(const RunCommand& command, const Graph& graph,
                           std::span<const Tensor> outputs);

// Leaves the debug bundle of a failed check. `device`: the profile that priced the plan; `more`: the
// rerun's words for the device.
void leave_debug(const RunCommand& command, const Document& document,
                 const PlanningRequest& planning, const std::string& device,
                 const std::vector<std::string>& more, std::span<const NamedTensor> given,
                 const std::string& finding, const Console& console);

// The cache that the environment names. A fault is reported and costs time alone.
std::optional<cache::Store> default_store(const RunCommand& command, const Console& console);

}  // namespace recut::native
