// Programs: the input of every executor. A schedule's kernels, in loop form or as library calls,
// with an address for each of their buffers, and the addresses of the outputs. Independent of the
// target.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/codegen/library/library_call.h"
#include "engine/codegen/loop/kernel.h"
#include "engine/eval/evaluator.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/fusion/kernel_model.h"
#include "engine/ir/graph.h"
#include "engine/ir/layout.h"
#include "engine/ir/storage_model.h"
#include "engine/schedule/free_span.h"
#include "engine/schedule/schedule.h"
#include "engine/support/result.h"

namespace recut {

// The address of a buffer: a byte offset in the arena, or in an input of the program. (XLA: a slice
// of a BufferAllocation.)
struct BufferAddress {
  std::optional<std::uint32_t> input;  // in Program::inputs
  std::int64_t offset = 0;
};

// One launch of a kernel.
struct Launch {
  std::uint32_t kernel = 0;  // in Program::kernels, or in Program::library
  bool library = false;
  std::uint32_t scheduled = 0;         // in the schedule
  std::vector<NodeId> calls;           // the calls that it computes, with the views between them
  std::vector<BufferAddress> buffers;  // in the kernel's order
  ArenaSpan free;           // for library calls: free bytes of the arena for its workspace
  double predicted_us = 0;  // the plan's prediction
};

// A result or gradient: the address of its storage, and the views on it, outermost last. A later
// view indexes the elements of the earlier one in row-major order.
struct ProgramOutput {
  NodeId node;  // invalid: no gradient
  TensorType type;
  BufferAddress address;
  std::vector<Layout> layouts;
};

// The start of a collective, or the wait that ends it. Other ranks take part, so that an executor
// hands both to a communicator (communicator.h). From its start to its wait the inputs stay, and
// the outputs belong to it.
struct CollectiveStep {
  NodeId node;                         // the collective's call; of a wait: the wait's
  std::size_t before = 0;              // it runs before this launch, and after all earlier ones
  std::uint32_t scheduled = 0;         // in the schedule
  std::optional<std::size_t> started;  // of a wait: the start, in Program::collectives
  std::vector<ProgramOutput> inputs;   // of a start: its tensors, as outputs are described
  std::vector<ProgramOutput> outputs;  // of a start; without a node where nothing reads it
  double predicted_us = 0;             // of a start: the plan's prediction
};

struct Program {
  std::vector<loop::Kernel> kernels;     // without duplicates: the layers of a network share theirs
  std::vector<library::Kernel> library;  // likewise
  std::vector<Launch> launches;          // in order
  std::vector<CollectiveStep> collectives;  // in order, between the launches
  std::vector<ProgramOutput> outputs;       // results, then gradients
  std::vector<NodeId> inputs;               // read by launches and outputs, in order of first use
  std::int64_t arena_bytes = 0;             // the end of the last buffer; the schedule rounds it up
  // The plan's budget for the arena and the libraries' scratch; 0: none.
  std::int64_t budget_bytes = 0;

  const std::string& name_of(const Launch& launch) const;
  const std::vector<loop::Buffer>& buffers_of(const Launch& launch) const;
};

struct ProgramOptions {
  bool library = false;                                          // use library calls where possible
  library::SupportsKernel library_takes = library::is_portable;  // which calls the library supports
  loop::LowerOptions lower = {};
  bool collectives = false;  // the executor has a communicator; else those of several ranks fail
};

// The program of a schedule of `graph`. Fails if operators have no lowering; the diagnostics name
// all of them.
Result<Program> make_program(const Graph& graph, const KernelModel& kernels,
                             const Schedule& schedule, const ProgramOptions& options = {});

// Sets the predicted time of each launch from the replay of the schedule's plan.
void predict(Program& program, const Schedule& schedule, const Replay& replay);

// The library call that replaces a kernel's loops; nothing if there is none.
std::optional<library::Kernel> library_kernel_of(
    const Graph& graph, const StorageModel& storages, const ScheduledKernel& kernel,
    const library::SupportsKernel& takes = library::is_portable);

// The type with its strides in memory: row-major if the recorded ones aren't dense.
TensorType laid_out(const TensorType& type);

// An input's value in the layout that kernels read.
Tensor as_kernels_read(const TensorType& type, const Tensor& value);

// An output's value in its type's layout, from the memory of its storage.
Tensor output_value(const ProgramOutput& output, const std::byte* storage);

}  // namespace recut
