// One call that several implementations can do: it offers the algorithms of all of them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "native/cuda/device_call.h"

namespace recut::cuda {

class AlternativeCalls : public DeviceCall {
 public:
  // `calls` has at least one; the one thought best comes first.
  explicit AlternativeCalls(std::vector<std::unique_ptr<DeviceCall>> calls)
      : calls_(std::move(calls)) {
    for (const auto& call : calls_)
      for (std::size_t algorithm = 0; algorithm < call->algorithm_count(); ++algorithm)
        algorithms_.push_back({call.get(), algorithm});
  }

  std::size_t algorithm_count() const override { return algorithms_.size(); }
  std::int64_t workspace_bytes(std::size_t algorithm) const override {
    return algorithms_[algorithm].call->workspace_bytes(algorithms_[algorithm].index);
  }
  bool is_nondeterministic(std::size_t algorithm) const override {
    return algorithms_[algorithm].call->is_nondeterministic(algorithms_[algorithm].index);
  }
  Result<Done> run(std::size_t algorithm, std::span<const driver::Address> buffers,
                   driver::Address workspace) const override {
    return algorithms_[algorithm].call->run(algorithms_[algorithm].index, buffers, workspace);
  }

 private:
  struct CallAlgorithm {
    const DeviceCall* call;
    std::size_t index;
  };
  std::vector<std::unique_ptr<DeviceCall>> calls_;
  std::vector<CallAlgorithm> algorithms_;
};

}  // namespace recut::cuda
