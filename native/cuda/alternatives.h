// One call that several implementations can do: it offers the algorithms of all of them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "native/cuda/device_call.h"

namespace recut::cuda {

class Alternatives : public DeviceCall {
 public:
  // `calls` has at least one; the one thought best comes first.
  explicit Alternatives(std::vector<std::unique_ptr<DeviceCall>> calls) : calls_(std::move(calls)) {
    for (const auto& call : calls_)
      for (std::size_t way = 0; way < call->ways(); ++way) ways_.push_back({call.get(), way});
  }

  std::size_t ways() const override { return ways_.size(); }
  std::int64_t workspace_bytes(std::size_t way) const override {
    return ways_[way].call->workspace_bytes(ways_[way].number);
  }
  bool varies(std::size_t way) const override { return ways_[way].call->varies(ways_[way].number); }
  Result<Done> run(std::size_t way, std::span<const driver::Address> buffers,
                   driver::Address workspace) const override {
    return ways_[way].call->run(ways_[way].number, buffers, workspace);
  }

 private:
  struct Way {
    const DeviceCall* call;
    std::size_t number;
  };
  std::vector<std::unique_ptr<DeviceCall>> calls_;
  std::vector<Way> ways_;
};

}  // namespace recut::cuda
