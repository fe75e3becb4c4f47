// Matrix products by cuBLASLt.
#pragma once

#include <memory>

#include "engine/codegen/library/library_call.h"
#include "native/cuda/cublas_lt_api.h"
#include "native/cuda/device_call.h"
#include "native/cuda/precision.h"
#include "native/cuda/stream.h"

namespace recut::cuda {

// Options that all calls of one program share.
struct CallOptions {
  Precision precision = Precision::f32;
  std::int64_t max_workspace_bytes = kDefaultWorkspaceBytes;
  bool allows_nondeterminism = false;  // nondeterministic algorithms are as good as others
};

class CublasLt {
 public:
  // Fails where no version is found that works with the GPU's driver.
  static Result<std::shared_ptr<const CublasLt>> load(const Gpu& gpu);

  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  ~CublasLt();

  // Prepares the product on that stream. Fails where cuBLASLt has no algorithm for it.
  static Result<std::unique_ptr<DeviceCall>> call(std::shared_ptr<const CublasLt> library,
                                                  const library::MatrixProduct& product,
                                                  const Stream& stream, Precision precision,
                                                  const WorkspaceBounds& workspace);

  std::size_t version() const { return functions_.cublasLtGetVersion(); }

 private:
  friend class ProductCall;
  CublasLt() = default;

  cublas_lt::Functions functions_;
  cublas_lt::Handle handle_ = nullptr;
};

}  // namespace recut::cuda
