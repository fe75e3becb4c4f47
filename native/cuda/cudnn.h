// Convolutions by cuDNN.
#pragma once

#include <memory>

#include "engine/codegen/library/library_call.h"
#include "native/cuda/cublas_lt.h"
#include "native/cuda/cudnn_api.h"
#include "native/cuda/device_call.h"
#include "native/cuda/stream.h"

namespace recut::cuda {

// A cuDNN handle, bound to one stream.
class Cudnn {
 public:
  // Fails where version 9 isn't found.
  static Result<std::shared_ptr<const Cudnn>> load(const Stream& stream);

  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;
  ~Cudnn();

  // Prepares the convolution with the algorithms within `max_workspace` bytes. Fails where cuDNN
  // has none.
  static Result<std::unique_ptr<DeviceCall>> call(std::shared_ptr<const Cudnn> library,
                                                  const library::Convolution& convolution,
                                                  Precision precision, std::int64_t max_workspace);

  std::size_t version() const { return functions_.cudnnGetVersion(); }
  const cudnn::Functions& functions() const { return functions_; }
  cudnn::Handle handle() const { return handle_; }

 private:
  Cudnn() = default;

  cudnn::Functions functions_;
  cudnn::Handle handle_ = nullptr;
};

}  // namespace recut::cuda
