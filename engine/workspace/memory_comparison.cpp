// Aligns the blocks of a measured step with the storages of a plan, and accounts for the bytes of
// both peaks.
//
//   1  The step of the trace whose sizes are most like those of the plan is taken.
//   2  Both sides are sequences of allocations. Sizes align them (size_alignment.h); where the
//      graph knows lines of the program, or a compiled graph's frames name nodes, these help.
//   3  An aligned allocation stands at its storage's step. Events between two of them are spread
//      evenly: so the measured curve gets the plan's axis.
//   4  A measured block has the module of its storage. At the two peaks each block counts for one
//      cause, so that the causes add up to the difference exactly.
//
// Of the blocks from before the step only the ones it frees have a part in it.
#include "engine/workspace/memory_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "engine/ir/storage_model.h"
#include "engine/partition/baseline.h"
#include "engine/support/text.h"
#include "engine/workspace/measured_memory.h"
#include "engine/workspace/size_alignment.h"

namespace recut {
namespace {

constexpr std::size_t kMaxLoneBlocks = 200;
constexpr std::size_t kNotAligned = SIZE_MAX;

// Numbers for texts, from 1.
class TextNumbers {
 public:
  std::uint32_t of(const std::string& text) {
    return text.empty()
               ? 0
               : numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size() + 1))
                     .first->second;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

// Bytes of the sizes that both sequences have.
std::int64_t common_bytes(std::map<std::int64_t, std::int64_t> sizes,
                          const MemorySnapshot& snapshot, std::size_t device,
                          const MeasuredStep& step) {
  std::int64_t common = 0;
  for (std::size_t i = step.first; i < step.end; ++i) {
    const SnapshotEvent& event = snapshot.traces[device][i];
    if (event.action != SnapshotAction::alloc) continue;
    const auto found = sizes.find(rounded_to_unit(event.bytes));
    if (found == sizes.end() || found->second == 0) continue;
    --found->second;
    common += found->first;
  }
  return common;
}

class MemoryComparer {
 public:
  MemoryComparer(const MemorySnapshot& snapshot, const MeasuredMemory& memory,
                 const PlannedMemory& planned, const MeasuredStep& step)
      : snapshot_(snapshot),
        memory_(memory),
        events_(snapshot.traces[memory.device]),
        planned_(planned),
        instances_(planned.replay.instances),
        step_(step) {}

  void fill(MemoryComparison& to) {
    collect_blocks();
    align();
    place_events();
    figures(to);
    curves(to);
    account(to);
    alive_tables(to);
    lone_blocks(to);
  }

 private:
  void collect_blocks() {
    for (std::size_t b = 0; b < memory_.blocks.size(); ++b) {
      const MeasuredBlock& block = memory_.blocks[b];
      const bool of_step =
          block.birth != kBeforeTrace && block.birth >= step_.first && block.birth < step_.end;
      if (of_step && block.bytes > 0) blocks_.push_back(b);
    }
    for (std::size_t i = 0; i < instances_.size(); ++i)
      if (instances_[i].bytes > 0) births_.push_back(i);
    peak_event_ = step_.first;
    for (std::size_t i = step_.first; i < step_.end; ++i)
      if (memory_.allocated[i] > memory_.allocated[peak_event_]) peak_event_ = i;
  }

  const MeasuredBlock& block(std::size_t k) const { return memory_.blocks[blocks_[k]]; }
  const StorageInstance& instance(std::size_t k) const { return instances_[births_[k]]; }

  void align() {
    std::vector<SizedItem> measured, planned;
    TextNumbers lines, frames;
    std::unordered_map<std::uint32_t, SizedItem> of_stack;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const SnapshotStack stack = block(k).stack;
      const auto [at, fresh] = of_stack.try_emplace(stack.index);
      if (fresh)
        at->second = {0, lines.of(line_of(snapshot_, stack)), node_of(stack),
                      frames.of(innermost_of(stack))};
      measured.push_back(at->second);
      measured.back().bytes = block(k).bytes;
      measured.back().at_peak = at_measured_peak(k);
    }
    for (std::size_t k = 0; k < births_.size(); ++k) {
      const NodeId owner = instance(k).owner;
      const std::string& source = planned_.graph.origin(owner).source;
      planned.push_back({instance(k).bytes, lines.of(source.substr(0, source.find(' '))),
                         owner.index + 1, static_cast<std::uint32_t>(planned_.graph[owner].op) + 1,
                         at_planned_peak(k)});
    }
    partner_of_block_.assign(blocks_.size(), kNotAligned);
    partner_of_birth_.assign(births_.size(), kNotAligned);
    for (const auto& [a, b] : align_sizes(measured, planned)) {
      partner_of_block_[a] = b;
      partner_of_birth_[b] = a;
    }
  }

  // The innermost line of Python, PyTorch's own ones too; those of C++ are the same for all.
  std::string innermost_of(SnapshotStack stack) const {
    for (const SnapshotFrame& frame : snapshot_.frames(stack))
      if (snapshot_.text(frame.file).ends_with(".py"))
        return fmt::format("{}:{}", snapshot_.text(frame.file), frame.line);
    return "";
  }

  // The node of the graph that a compiled graph's frames name.
  std::uint32_t node_of(SnapshotStack stack) const {
    for (const SnapshotFrame& frame : snapshot_.frames(stack)) {
      if (!frame.fx_node.valid()) continue;
      const NodeId id = planned_.graph.find(snapshot_.text(frame.fx_node));
      if (id.valid()) return id.index + 1;
    }
    return 0;
  }

  // The plan's axis for each event of the step.
  void place_events() {
    const auto steps = static_cast<double>(planned_.replay.steps.size());
    positions_.assign(step_.end - step_.first, 0);
    std::size_t from = 0;
    double at = 0;
    const auto spread = [&](std::size_t to, double until) {
      for (std::size_t i = from; i < to; ++i)
        positions_[i] = at + (until - at) * static_cast<double>(i - from) /
                                 static_cast<double>(std::max<std::size_t>(1, to - from));
      from = to;
      at = until;
    };
    for (std::size_t k = 0; k < blocks_.size(); ++k)
      if (partner_of_block_[k] != kNotAligned)
        spread(block(k).birth - step_.first,
               static_cast<double>(instance(partner_of_block_[k]).birth));
    spread(positions_.size(), steps);
  }

  bool at_measured_peak(std::size_t k) const { return block(k).alive_after(peak_event_); }
  bool at_planned_peak(std::size_t k) const {
    const auto peak = planned_.replay.peak_step;
    return peak && instance(k).birth <= *peak && instance(k).last_use >= *peak;
  }

  void figures(MemoryComparison& to) const {
    const Replay& replay = planned_.replay;
    to.events = static_cast<std::int64_t>(step_.end - step_.first);
    to.step_name = step_.name;
    to.start_bytes = step_.start_bytes;
    to.measured_peak = memory_.allocated[peak_event_];
    to.planned_peak = replay.peak_bytes;
    to.program_peak = planned_.program_peak_bytes;
    to.measured_peak_event = peak_event_;
    to.measured_peak_step = positions_[peak_event_ - step_.first];
    to.reserved_bytes = memory_.reserved[peak_event_];
    if (replay.peak_step) {
      to.planned_peak_step = *replay.peak_step;
      to.planned_peak_at = planned_.graph.node_name(replay.steps[*replay.peak_step].node);
    }
    for (const PlanStep& step : replay.steps)
      if (step.phase == Phase::forward) ++to.forward_steps;
    for (std::size_t k = 0; k < blocks_.size() && block(k).birth <= peak_event_; ++k)
      if (partner_of_block_[k] != kNotAligned)
        to.measured_peak_at = planned_.graph.node_name(instance(partner_of_block_[k]).owner);
    to.measured_blocks = static_cast<std::int64_t>(blocks_.size());
    to.planned_blocks = static_cast<std::int64_t>(births_.size());
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      to.measured_block_bytes += block(k).bytes;
      if (partner_of_block_[k] == kNotAligned) continue;
      ++to.aligned_blocks;
      to.aligned_bytes += block(k).bytes;
    }
  }

  void curves(MemoryComparison& to) const {
    for (const PlanStep& step : planned_.replay.steps) to.planned.push_back(step.live_bytes);
    for (std::size_t i = step_.first; i < step_.end; ++i)
      if (i == step_.first || memory_.allocated[i] != memory_.allocated[i - 1])
        to.measured.push_back(
            {positions_[i - step_.first], memory_.allocated[i] - step_.start_bytes});
  }

  void account(MemoryComparison& to) const {
    const auto add = [&](MemoryCause cause, std::int64_t bytes) {
      to.causes[static_cast<std::size_t>(cause)] += bytes;
    };
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      if (!at_measured_peak(k)) continue;
      const std::size_t partner = partner_of_block_[k];
      if (partner == kNotAligned)
        add(MemoryCause::only_measured, block(k).bytes);
      else if (!at_planned_peak(partner))
        add(MemoryCause::measured_longer, block(k).bytes);
      else
        add(MemoryCause::other_sizes, block(k).bytes - instance(partner).bytes);
    }
    for (std::size_t k = 0; k < births_.size(); ++k) {
      if (!at_planned_peak(k)) continue;
      const std::size_t partner = partner_of_birth_[k];
      if (partner == kNotAligned)
        add(MemoryCause::only_planned, -instance(k).bytes);
      else if (!at_measured_peak(partner))
        add(MemoryCause::planned_longer, -instance(k).bytes);
    }
    for (const MeasuredBlock& one : memory_.blocks) {
      const bool earlier = one.birth == kBeforeTrace || one.birth < step_.first;
      if (earlier && one.freed >= step_.first && one.freed <= peak_event_)
        add(MemoryCause::earlier_freed, -one.bytes);
    }
  }

  std::string module_of(std::size_t k) const {
    return std::string(short_module(planned_.graph.origin(instance(k).owner).module));
  }

  void alive_tables(MemoryComparison& to) const {
    std::map<std::string, ComparedModule> modules;
    std::map<std::string, BytesOf> lines;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      if (!at_measured_peak(k)) continue;
      const MeasuredBlock& one = block(k);
      const bool aligned = partner_of_block_[k] != kNotAligned;
      modules[aligned ? module_of(partner_of_block_[k]) : "(only measured)"].measured += one.bytes;
      BytesOf& line = lines[label_of(one)];
      line.bytes += one.bytes;
      ++line.blocks;
      to.rounding_bytes += rounded_to_unit(one.bytes) - one.bytes;
    }
    for (std::size_t k = 0; k < births_.size(); ++k)
      if (at_planned_peak(k)) modules[module_of(k)].planned += instance(k).bytes;
    for (auto& [module, row] : modules) {
      row.module = module.empty() ? "(no module)" : module;
      to.modules.push_back(row);
    }
    std::stable_sort(to.modules.begin(), to.modules.end(), [](const auto& a, const auto& b) {
      const auto key = [](const ComparedModule& m) {
        return std::pair(std::abs(m.measured - m.planned), m.measured + m.planned);
      };
      return key(a) > key(b);
    });
    to.lines = largest_first(std::move(lines));
    to.streams = streams(to.awaiting_bytes);
  }

  // The label of a block: "forward net.py:12", in a compiled region with its number.
  std::string label_of(const MeasuredBlock& one) const {
    std::string label = place_of(snapshot_, one.stack);
    if (label.empty()) label = "(no frames, as in backward)";
    if (one.context.valid()) label += fmt::format(" in compiled {}", snapshot_.text(one.context));
    return label;
  }

  static std::vector<BytesOf> largest_first(std::map<std::string, BytesOf> named) {
    std::vector<BytesOf> rows;
    for (auto& [name, row] : named) {
      row.name = name;
      rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const BytesOf& a, const BytesOf& b) { return a.bytes > b.bytes; });
    return rows;
  }

  std::vector<BytesOf> streams(std::int64_t& awaiting) const {
    std::map<std::string, BytesOf> named;
    for (const MeasuredBlock& one : memory_.blocks) {
      if (!one.alive_after(peak_event_)) continue;
      BytesOf& row = named[fmt::format("{:#x}", one.stream)];
      row.bytes += one.bytes;
      ++row.blocks;
      if (one.free_requested <= peak_event_) awaiting += one.bytes;
    }
    return largest_first(std::move(named));
  }

  void lone_blocks(MemoryComparison& to) const {
    std::string module;
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const std::size_t partner = partner_of_block_[k];
      if (partner != kNotAligned) module = module_of(partner);
      if (partner == kNotAligned)
        to.only_measured.push_back({place_of(snapshot_, block(k).stack), module, block(k).bytes,
                                    block(k).birth, at_measured_peak(k)});
    }
    for (std::size_t k = 0; k < births_.size(); ++k)
      if (partner_of_birth_[k] == kNotAligned)
        to.only_planned.push_back({fmt::format("{}{}", instance(k).workspace ? "workspace of " : "",
                                               planned_.graph.node_name(instance(k).owner)),
                                   module_of(k), instance(k).bytes, instance(k).birth,
                                   at_planned_peak(k)});
    for (auto* blocks : {&to.only_measured, &to.only_planned}) {
      std::stable_sort(blocks->begin(), blocks->end(), [](const auto& a, const auto& b) {
        return std::pair(a.at_peak, a.bytes) > std::pair(b.at_peak, b.bytes);
      });
      if (blocks->size() > kMaxLoneBlocks) blocks->resize(kMaxLoneBlocks);
    }
  }

  const MemorySnapshot& snapshot_;
  const MeasuredMemory& memory_;
  const std::vector<SnapshotEvent>& events_;
  const PlannedMemory& planned_;
  const std::vector<StorageInstance>& instances_;
  const MeasuredStep& step_;
  std::vector<std::size_t> blocks_;  // of the step, in order of birth
  std::vector<std::size_t> births_;  // of instances that take bytes
  std::vector<std::size_t> partner_of_block_, partner_of_birth_;
  std::vector<double> positions_;  // by event of the step
  std::size_t peak_event_ = 0;
};

// The step that was asked for, else the one most like the plan; of equals the last.
Result<std::size_t> chosen_step(const MemorySnapshot& snapshot, const MeasuredMemory& memory,
                                const PlannedMemory& planned, std::optional<std::size_t> requested,
                                std::string_view file_name) {
  if (requested && *requested >= 1 && *requested <= memory.steps.size()) return *requested - 1;
  if (requested) {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(memory.steps.size(), 10); ++i)
      names += fmt::format("\n  {}  {}", i + 1, printable(memory.steps[i].name));
    return Diagnostic{fmt::format("the trace has no step {}, expected one from 1 to {}:{}",
                                  *requested, memory.steps.size(), names),
                      std::string(file_name)};
  }
  std::map<std::int64_t, std::int64_t> sizes;
  for (const StorageInstance& one : planned.replay.instances)
    if (one.bytes > 0) ++sizes[rounded_to_unit(one.bytes)];
  std::size_t best = 0;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < memory.steps.size(); ++i) {
    const std::int64_t common = common_bytes(sizes, snapshot, memory.device, memory.steps[i]);
    if (common < most) continue;
    most = common;
    best = i;
  }
  return best;
}

Result<std::vector<MeasuredDevice>> devices_of(const MemorySnapshot& snapshot) {
  std::vector<MeasuredDevice> devices;
  for (std::size_t d = 0; d < snapshot.traces.size(); ++d) {
    const auto memory = measure_snapshot(snapshot, d, "");
    if (!memory) continue;
    devices.push_back(
        {d, static_cast<std::int64_t>(memory->allocated.size()), memory->start_bytes,
         memory->peak_bytes,
         std::max(memory->start_reserved,
                  *std::max_element(memory->reserved.begin(), memory->reserved.end()))});
  }
  return devices;
}

}  // namespace

PlannedMemory planned_memory(const Document& document, const Planned& planned) {
  const PlanReport& report = planned.report;
  return {document.graph(),
          planned.replay,
          report.model,
          report.graph_key,
          fmt::format("strategy {}, budget {}", report.strategy, report.budget),
          report.baseline_peak_bytes};
}

Result<Replay> replay_file_program(const Document& document) {
  if (const auto total = check_total_bytes(document.reference_graph()); !total)
    return total.diagnostics();
  return replay_program(document.reference_graph());
}

PlannedMemory program_memory(const Document& document, const Replay& program) {
  const GraphFile& file = document.file;
  return {document.reference_graph(),
          program,
          file.model.empty() ? document.graph().name : file.model,
          file.key,
          "program order, nothing recomputed",
          program.peak_bytes};
}

Result<MemoryComparison> compare_memory(const MemorySnapshot& snapshot, std::string_view file_name,
                                        const PlannedMemory& planned,
                                        const MemoryComparisonRequest& request) {
  const auto device =
      request.device ? Result<std::size_t>(*request.device) : busiest_device(snapshot, file_name);
  if (!device) return device.diagnostics();
  const auto memory = measure_snapshot(snapshot, *device, file_name);
  if (!memory) return memory.diagnostics();
  const auto step = chosen_step(snapshot, *memory, planned, request.step, file_name);
  if (!step) return step.diagnostics();

  MemoryComparison comparison;
  comparison.model = planned.model;
  comparison.graph_key = planned.graph_key;
  comparison.order = planned.order;
  comparison.snapshot = file_name;
  comparison.device = *device;
  comparison.devices = *devices_of(snapshot);
  comparison.step = *step + 1;
  comparison.steps = memory->steps.size();
  comparison.notes = snapshot.notes;
  comparison.notes.insert(comparison.notes.end(), memory->notes.begin(), memory->notes.end());
  MemoryComparer(snapshot, *memory, planned, memory->steps[*step]).fill(comparison);
  if (2 * comparison.aligned_bytes < comparison.measured_block_bytes)
    comparison.notes.push_back(
        "less than half of the step's bytes are like a planned block: is this the plan's model, "
        "with its batch?");
  return comparison;
}

}  // namespace recut
