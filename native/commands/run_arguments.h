// What recut run is asked for, and who does it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/tensor.h"
#include "native/cache/store.h"
#include "native/commands/command.h"
#include "native/commands/plan_arguments.h"
#include "native/console.h"
#include "native/cuda/card.h"

namespace recut::native {

struct RunCommand {
  GraphArguments graph;
  PlanArguments plan;
  std::string target = "cpu";
  std::vector<std::string> tensors;
  std::string out_tensors;  // where the outputs are written; "": nowhere
  std::uint64_t seed = 0;
  int threads = 0;  // 0: as many as there are
  int steps = 10;
  std::string precision = "f32";  // of a card's libraries
  std::string workspace;          // the most that these may take; "": the usual
  bool nondeterministic = false;  // of these, ways that give other bits each time, too
  bool no_library = false;
  bool check = false;
  bool no_cache = false;
  bool json = false;
};

// All give the exit code.
int run_on_cpu(RunCommand command, const Console& console);
int run_on_cuda(const RunCommand& command, const Console& console);
// The same of a card that is open.
int run_on_card(const RunCommand& command, const Console& console, cuda::SharedCard card);

// Writes a step's outputs as out.<position>, where that is asked for.
Result<Done> write_outputs(const RunCommand& command, std::span<const Tensor> outputs);

// The cache that the environment names; what is wrong with it is said and costs time alone.
std::optional<cache::Store> usual_store(const RunCommand& command, const Console& console);

}  // namespace recut::native
