#include "engine/codegen/loop/stages.h"

#include <algorithm>
#include <utility>

namespace recut::loop {
namespace {

constexpr std::int64_t kLanesOfInstruction = 8;  // more take several instructions on most cores

// True if the definition gives the same value anywhere in the kernel, so that stages can repeat it.
bool is_rematerializable(const Kernel& kernel, const Define& define) {
  if (std::holds_alternative<ReadAccumulator>(define.expression)) return false;
  const auto* load = std::get_if<Load>(&define.expression);
  return load == nullptr || kernel[load->buffer].access == Access::read;
}

// True if the top level has only loops, stores and rematerializable definitions. Then each loop is
// a stage, and so are the stores between two loops.
bool splits_into_stages(const Kernel& kernel) {
  for (const Statement& statement : kernel.body) {
    const auto* define = std::get_if<Define>(&statement.value);
    const bool works = std::holds_alternative<Loop>(statement.value) ||
                       std::holds_alternative<Store>(statement.value);
    if (!works && (define == nullptr || !is_rematerializable(kernel, *define))) return false;
  }
  return true;
}

// Several threads may not combine into one place at once.
bool combines_in_memory(const Block& block) {
  for (const Statement& statement : block) {
    const auto* store = std::get_if<Store>(&statement.value);
    if (store != nullptr && store->combine) return true;
    const auto* loop = std::get_if<Loop>(&statement.value);
    if (loop != nullptr && combines_in_memory(loop->body)) return true;
    const auto* branch = std::get_if<If>(&statement.value);
    if (branch != nullptr && combines_in_memory(branch->body)) return true;
  }
  return false;
}

double work_of(const Kernel& kernel, const Block& block);

double work_of(const Kernel& kernel, const Loop& loop) {
  const std::int64_t width = std::clamp<std::int64_t>(loop.lanes, 1, kLanesOfInstruction);
  const auto rounds =
      static_cast<double>(kernel[loop.variable].extent) / static_cast<double>(width);
  return rounds * work_of(kernel, loop.body);
}

double work_of(const Kernel& kernel, const Block& block) {
  double work = 0;
  for (const Statement& statement : block) {
    if (const auto* loop = std::get_if<Loop>(&statement.value))
      work += work_of(kernel, *loop);
    else if (const auto* branch = std::get_if<If>(&statement.value))
      work += 1 + work_of(kernel, branch->body);
    else
      work += 1;
  }
  return work;
}

}  // namespace

std::vector<StageCode> stages_of(const Kernel& kernel) {
  if (!splits_into_stages(kernel)) return {{kernel.body, nullptr, kUnknownLocation}};
  std::vector<StageCode> stages;
  Block shared, straight_line;
  const auto end_straight_line = [&] {
    if (!straight_line.empty())
      stages.push_back({std::exchange(straight_line, {}), nullptr, kUnknownLocation});
  };
  for (const Statement& statement : kernel.body) {
    if (const auto* loop = std::get_if<Loop>(&statement.value)) {
      end_straight_line();
      stages.push_back({shared, loop, statement.location});
      continue;
    }
    const bool defines = std::holds_alternative<Define>(statement.value);
    if (!defines && straight_line.empty()) straight_line = shared;
    if (!straight_line.empty()) straight_line.push_back(statement);
    if (defines) shared.push_back(statement);
  }
  end_straight_line();
  return stages;
}

Stage stage_of(const Kernel& kernel, const StageCode& code) {
  if (code.loop == nullptr) return {};
  return {"", kernel[code.loop->variable].extent, code.loop->lanes,
          code.loop->parallel && !combines_in_memory(code.loop->body), work_of(kernel, *code.loop)};
}

bool is_vectorizable(const Block& body) {
  for (const Statement& statement : body) {
    if (std::holds_alternative<If>(statement.value)) return false;
    const auto* store = std::get_if<Store>(&statement.value);
    if (store != nullptr && store->combine) return false;
    const auto* inner = std::get_if<Loop>(&statement.value);
    if (inner != nullptr && (inner->lanes > 1 || !is_vectorizable(inner->body))) return false;
  }
  return true;
}

}  // namespace recut::loop
