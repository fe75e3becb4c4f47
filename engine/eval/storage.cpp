#include "engine/eval/storage.h"

namespace recut {

Storage::Storage(std::int64_t bytes, std::shared_ptr<MemoryMeter> meter)
    : bytes_(static_cast<std::size_t>(bytes)), meter_(std::move(meter)) {
  if (meter_) meter_->allocate(bytes);
}

Storage::~Storage() {
  if (meter_) meter_->release(size());
}

}  // namespace recut
