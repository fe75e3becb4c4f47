// Convolutions by cuDNN.
#pragma once

#include <memory>

#include "engine/codegen/library/library_call.h"
#include "native/cuda/cublas_lt.h"
#include "native/cuda/cudnn_api.h"
#include "native/cuda/device_call.h"
#include "native/cuda/stream.h"

namespace recut::cuda {

// One stream's.
class Cudnn {
 public:
  // Fails where version 9 isn't found.
  static Result<std::shared_ptr<const Cudnn>> load(const Stream& stream);

  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;
  ~Cudnn();

  // Of the algorithms that always give the same bits, where one of these is within the least
  // workspace. Fails where cuDNN has no way to do it.
  static Result<std::unique_ptr<DeviceCall>> call(std::shared_ptr<const Cudnn> library,
                                                  const library::Convolution& convolution,
                                                  Precision precision,
                                                  const WorkspaceBounds& workspace);

  std::size_t version() const { return functions_.cudnnGetVersion(); }

 private:
  friend class ConvolutionCall;
  Cudnn() = default;

  cudnn::Functions functions_;
  cudnn::Handle handle_ = nullptr;
};

}  // namespace recut::cuda
