#include "engine/schedule/in_place.h"

#include <algorithm>

namespace recut {
namespace {

class Reuse {
 public:
  Reuse(const Graph& graph, const StorageModel& storages, Schedule& schedule)
      : graph_(graph), storages_(storages), schedule_(schedule), ending_(schedule.kernels.size()) {
    for (std::uint32_t b = 0; b < schedule.buffers.size(); ++b)
      ending_[schedule.buffers[b].last_kernel].push_back(b);
  }

  void run() {
    std::vector<bool> reused(schedule_.buffers.size(), false);
    for (Buffer& buffer : schedule_.buffers) {
      if (buffer.workspace || !is_one_loop(schedule_.kernels[buffer.first_kernel])) continue;
      for (const std::uint32_t operand : ending_[buffer.first_kernel]) {
        if (reused[operand] || !is_reusable(schedule_.buffers[operand], buffer)) continue;
        reused[operand] = true;
        buffer.in_place_of = operand;
        break;
      }
    }
  }

 private:
  bool is_one_loop(const ScheduledKernel& kernel) const {
    const TensorType& type = graph_.type(kernel.calls.front());
    return is_dense(type) &&
           std::all_of(kernel.calls.begin(), kernel.calls.end(), [&](NodeId call) {
             return graph_.op(call).is(kPointwise) && !graph_.op(call).is(kRandom | kReduction) &&
                    graph_[call].outputs.size() == 1 && has_same_layout(graph_.type(call), type);
           });
  }

  static bool has_same_layout(const TensorType& a, const TensorType& b) {
    return a.shape == b.shape && a.strides == b.strides && a.device == b.device;
  }

  bool is_reusable(const Buffer& operand, const Buffer& buffer) const {
    const bool temporary = operand.kind == InstanceClass::forward_temporary ||
                           operand.kind == InstanceClass::recomputed ||
                           operand.kind == InstanceClass::backward_temporary;
    return temporary && !operand.workspace && operand.first_kernel < buffer.first_kernel &&
           storages_[operand.storage].output == 0 &&
           has_same_layout(graph_.type(operand.owner), graph_.type(buffer.owner)) &&
           byte_size(graph_.type(operand.owner)) == byte_size(graph_.type(buffer.owner)) &&
           read_without_view(operand, schedule_.kernels[buffer.first_kernel]);
  }

  // Conservative: it doesn't distinguish the instances of a storage.
  bool read_without_view(const Buffer& operand, const ScheduledKernel& kernel) const {
    bool read = false;
    for (const NodeId call : kernel.calls)
      for (const NodeId value : graph_[call].operands) {
        const auto behind = storages_.storages_of(value);
        if (std::find(behind.begin(), behind.end(), operand.storage) == behind.end()) continue;
        if (value != operand.owner) return false;
        read = true;
      }
    return read;
  }

  const Graph& graph_;
  const StorageModel& storages_;
  Schedule& schedule_;
  std::vector<std::vector<std::uint32_t>> ending_;  // by kernel: the buffers that die in it
};

}  // namespace

void reuse_in_place(const Graph& graph, const StorageModel& storages, Schedule& schedule) {
  Reuse(graph, storages, schedule).run();
}

}  // namespace recut
