// Programs: what an executor runs. A schedule's kernels, in loop form or as a library's calls, each
// with where its buffers stand, and where the outputs are found afterwards. The same for every
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

// Where a buffer's memory begins: so many bytes into the arena, or at an input of the program.
struct Place {
  std::optional<std::uint32_t> input;  // in Program::inputs
  std::int64_t offset = 0;
};

// One launch of a kernel.
struct Launch {
  std::uint32_t kernel = 0;  // in Program::kernels, or in Program::library
  bool library = false;
  std::uint32_t scheduled = 0;  // in the schedule
  std::vector<NodeId> calls;    // that it computes, views between them included
  std::vector<Place> buffers;   // in the kernel's order
  ArenaSpan free;               // of a library's call: what it may write to beside its buffers
  double predicted_us = 0;      // by the plan (predict)
};

// A result or gradient: the storage that it is a view of, and the views, outermost last. Where
// there are several, the later one counts in row-major order what the earlier one shows.
struct ProgramOutput {
  NodeId node;  // invalid: no gradient
  TensorType type;
  Place place;
  std::vector<Layout> layouts;
};

struct Program {
  std::vector<loop::Kernel> kernels;     // each once: layers of a network share theirs
  std::vector<library::Kernel> library;  // so are these
  std::vector<Launch> launches;          // in order
  std::vector<ProgramOutput> outputs;    // results, then gradients
  std::vector<NodeId> inputs;            // that launches and outputs read, by first use
  std::int64_t arena_bytes = 0;          // the end of the last buffer; the schedule rounds it up
  // Of the plan, for the arena with the scratch of libraries beside it; 0: none was given.
  std::int64_t budget_bytes = 0;

  const std::string& name_of(const Launch& launch) const;
  const std::vector<loop::Buffer>& buffers_of(const Launch& launch) const;
};

struct ProgramOptions {
  bool library = false;  // library calls wherever they fit; else loops alone
  library::Takes library_takes = library::is_common;  // which of them the target's library takes
  loop::LowerOptions lower = {};
};

// The program of a schedule of `graph`. Fails where an operator has no loops (all of them are
// named).
Result<Program> make_program(const Graph& graph, const KernelModel& kernels,
                             const Schedule& schedule, const ProgramOptions& options = {});

// Writes to each launch what the replay of its schedule's plan has it take.
void predict(Program& program, const Schedule& schedule, const Replay& replay);

// The call that a program with a library makes in place of a kernel's loops; nothing where it runs
// the loops.
std::optional<library::Kernel> library_kernel_of(const Graph& graph, const StorageModel& storages,
                                                 const ScheduledKernel& kernel,
                                                 const library::Takes& takes = library::is_common);

// An input's value as kernels read it: laid out as its type says where that is dense, else row by
// row.
Tensor as_kernels_read(const TensorType& type, const Tensor& value);

// An output's value, row by row, from the memory that its storage stands in.
Tensor output_value(const ProgramOutput& output, const std::byte* storage);

}  // namespace recut
