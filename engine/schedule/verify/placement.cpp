// Offsets. A sweep over kernels keeps the live buffers ordered by offset; a new one is compared
// with its two neighbours only, which finds every overlap as long as none came before: O(n log n)
// instead of all pairs. Buffers that reuse an operand's memory replace it in that order, after the
// conditions for in-place reuse have been checked on their own.
#include "engine/schedule/verify/placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace recut::verify {
namespace {

bool runs_in(const ScheduledKernel& kernel, NodeId call) {
  return std::find(kernel.calls.begin(), kernel.calls.end(), call) != kernel.calls.end();
}

bool exists(const StorageModel& storages, const Schedule& schedule, std::size_t b) {
  const Buffer& buffer = schedule.buffers[b];
  return buffer.storage.index < storages.size() && buffer.first_kernel <= buffer.last_kernel &&
         buffer.last_kernel < schedule.kernels.size() &&
         (!buffer.in_place_of || *buffer.in_place_of < schedule.buffers.size());
}

std::int64_t aligned_bytes(const Schedule& schedule, const Buffer& buffer) {
  const std::int64_t rest = buffer.bytes % schedule.alignment;
  return buffer.bytes + (rest == 0 ? 0 : schedule.alignment - rest);
}

void check_buffer(const StorageModel& storages, const Schedule& schedule, std::size_t b,
                  Faults& faults) {
  const Buffer& buffer = schedule.buffers[b];
  const StorageModel::Storage& storage = storages[buffer.storage];
  const auto say = [&](const char* what) {
    faults.add(fmt::format("buffer {} of '{}' {}", b, faults.name(storage.owner), what));
  };
  if (buffer.owner != storage.owner) say("has another owner than its storage");
  if (buffer.bytes != storage.bytes) say("has another size than its storage");
  if (buffer.workspace != (storage.output == StorageModel::kWorkspace))
    say("is wrong about whether it is a workspace");
  if (!runs_in(schedule.kernels[buffer.first_kernel], storage.owner))
    say("starts in a kernel that doesn't make it");
  if (buffer.workspace && buffer.first_kernel != buffer.last_kernel)
    say("is a workspace and outlives its kernel");
}

// A sweep over kernels with the live buffers, ordered by offset.
class OverlapCheck {
 public:
  OverlapCheck(const Schedule& schedule, Faults& faults)
      : schedule_(schedule),
        faults_(faults),
        starting_(schedule.kernels.size()),
        ending_(schedule.kernels.size()) {
    for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
      if (schedule.buffers[b].bytes == 0) continue;
      starting_[schedule.buffers[b].first_kernel].push_back(b);
      ending_[schedule.buffers[b].last_kernel].push_back(b);
    }
  }

  // The maximum of live bytes; in-place reuse isn't counted twice.
  std::int64_t run() {
    std::int64_t live = 0, max = 0;
    for (std::size_t k = 0; k < starting_.size(); ++k) {
      for (const std::size_t b : starting_[k]) {
        if (const auto& before = schedule_.buffers[b].in_place_of; before && erase(*before))
          live -= aligned_bytes(schedule_, schedule_.buffers[*before]);
        insert(b);
        live += aligned_bytes(schedule_, schedule_.buffers[b]);
      }
      max = std::max(max, live);
      for (const std::size_t b : ending_[k])
        if (erase(b)) live -= aligned_bytes(schedule_, schedule_.buffers[b]);
    }
    return max;
  }

 private:
  using OffsetEntry = std::pair<std::int64_t, std::size_t>;

  void insert(std::size_t b) {
    const Buffer& buffer = schedule_.buffers[b];
    const auto [at, unused] = alive_.insert({buffer.offset, b});
    if (at != alive_.begin()) compare(*std::prev(at), *at);
    if (std::next(at) != alive_.end()) compare(*at, *std::next(at));
  }

  bool erase(std::size_t b) { return alive_.erase({schedule_.buffers[b].offset, b}) == 1; }

  void compare(const OffsetEntry& low, const OffsetEntry& high) {
    const Buffer& below = schedule_.buffers[low.second];
    if (below.offset + aligned_bytes(schedule_, below) <= high.first) return;
    faults_.add(fmt::format("buffer {} of '{}' and buffer {} of '{}' are alive at once and overlap",
                            low.second, faults_.name(below.owner), high.second,
                            faults_.name(schedule_.buffers[high.second].owner)));
  }

  const Schedule& schedule_;
  Faults& faults_;
  std::vector<std::vector<std::size_t>> starting_, ending_;  // by kernel
  std::set<OffsetEntry> alive_;
};

// The reason why a buffer may not reuse another; null if it may.
const char* in_place_fault(const Graph& graph, const StorageModel& storages,
                           const Schedule& schedule, const Buffer& buffer) {
  const Buffer& old = schedule.buffers[*buffer.in_place_of];
  if (old.last_kernel != buffer.first_kernel || old.first_kernel >= buffer.first_kernel)
    return "which doesn't end in that kernel";
  if (old.offset != buffer.offset) return "which lies elsewhere";
  if (old.kind == InstanceClass::result || old.kind == InstanceClass::gradient ||
      old.kind == InstanceClass::saved || old.workspace || buffer.workspace)
    return "which is to be kept";
  const TensorType& written = graph.type(buffer.owner);
  const auto has_same_layout = [&](NodeId id) {
    const TensorType& type = graph.type(id);
    return type.shape == written.shape && type.strides == written.strides && is_dense(type);
  };
  if (!has_same_layout(old.owner) || byte_size(graph.type(old.owner)) != byte_size(written) ||
      graph[old.owner].outputs.size() != 1 || graph[buffer.owner].outputs.size() != 1)
    return "whose elements lie otherwise";
  for (const NodeId call : schedule.kernels[buffer.first_kernel].calls) {
    if (!graph.op(call).is(kPointwise) || graph.op(call).is(kReduction | kRandom) ||
        !has_same_layout(call))
      return "in a kernel that is no loop over those elements";
    for (const NodeId operand : graph[call].operands)
      for (const StorageId behind : storages.storages_of(operand))
        if (behind == old.storage && operand != old.owner) return "which is read through a view";
  }
  return nullptr;
}

void check_in_place(const Graph& graph, const StorageModel& storages, const Schedule& schedule,
                    Faults& faults) {
  std::map<std::uint32_t, std::size_t> reusers;
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
    const Buffer& buffer = schedule.buffers[b];
    if (!buffer.in_place_of) continue;
    const char* why = in_place_fault(graph, storages, schedule, buffer);
    if (!reusers.emplace(*buffer.in_place_of, b).second) why = "which has given it to another";
    if (why != nullptr)
      faults.add(fmt::format("buffer {} of '{}' takes the place of buffer {}, {}", b,
                             faults.name(buffer.owner), *buffer.in_place_of, why));
  }
}

}  // namespace

bool check_buffers(const Graph& graph, const StorageModel& storages, const Schedule& schedule,
                   Faults& faults) {
  bool all_exist = true;
  std::set<std::pair<StorageId, std::uint32_t>> made;
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
    const Buffer& buffer = schedule.buffers[b];
    if (!exists(storages, schedule, b)) {
      faults.add(fmt::format("buffer {} names kernels, a storage or a buffer that don't exist", b));
      all_exist = false;
      continue;
    }
    check_buffer(storages, schedule, b, faults);
    if (!made.emplace(buffer.storage, buffer.first_kernel).second)
      faults.add(fmt::format("buffer {} is the second of '{}' in kernel {}", b,
                             faults.name(buffer.owner), buffer.first_kernel));
  }
  for (std::uint32_t k = 0; all_exist && k < schedule.kernels.size(); ++k)
    for (const NodeId call : schedule.kernels[k].calls)
      if (const auto workspace = storages.workspace(call);
          workspace && !made.count({*workspace, k}))
        faults.add(fmt::format("the workspace of '{}' has no buffer in kernel {}",
                               graph.node_name(call), k));
  return all_exist;
}

void check_placement(const Graph& graph, const StorageModel& storages, const Schedule& schedule,
                     Faults& faults) {
  std::int64_t highest = 0;
  for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
    const Buffer& buffer = schedule.buffers[b];
    const std::int64_t end = buffer.offset + aligned_bytes(schedule, buffer);
    highest = std::max(highest, end);
    if (buffer.offset < 0 || buffer.offset % schedule.alignment != 0)
      faults.add(fmt::format("buffer {} of '{}' starts at {}, which is no multiple of {}", b,
                             faults.name(buffer.owner), buffer.offset, schedule.alignment));
    if (end > schedule.arena_bytes)
      faults.add(fmt::format("buffer {} of '{}' ends at {}, beyond the arena's {}", b,
                             faults.name(buffer.owner), end, schedule.arena_bytes));
  }
  if (highest < schedule.arena_bytes)
    faults.add(fmt::format("the arena of {} has nothing above {}", schedule.arena_bytes, highest));
  check_in_place(graph, storages, schedule, faults);
  const std::int64_t max = OverlapCheck(schedule, faults).run();
  if (max != schedule.lower_bound_bytes)
    faults.add(fmt::format("{} bytes are alive at once, not {}", max, schedule.lower_bound_bytes));
}

}  // namespace recut::verify
