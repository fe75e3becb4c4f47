#include "native/cuda/cublas_lt.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "native/cuda/matrix_forms.h"
#include "native/cuda/shared_library.h"

// A matrix product as one cublasLtMatmul. prepare() describes the operands once and asks cuBLASLt's
// heuristic (cublasLtMatmulAlgoGetHeuristic) for candidates within the workspace's bounds; if all
// need more than the smallest launch has, it asks again with that smaller bound. Each candidate is
// one algorithm of the DeviceCall, tuned by LibraryCalls. Split-k sums in 16 bits are refused,
// since they lose digits. The bias pointer comes with each run; the heuristic gets one of the same
// alignment.

namespace recut::cuda {

using namespace cublas_lt;  // NOLINT: names of its header, in this file alone

namespace {

Result<Done> find_functions_cublas_lt(const SharedLibrary& library, Functions& functions) {
#define RECUT_FUNCTION(name, ...) \
  if (auto done = library.find(#name, functions.name); !done) return done;
#include "native/cuda/cublas_lt_functions.def"
#undef RECUT_FUNCTION
  return Done{};
}

Compute compute_of(DType dtype, Precision precision) {
  if (dtype != DType::f32 || precision == Precision::f32) return kComputeF32;
  return precision == Precision::tf32 ? kComputeTf32 : kComputeBf16;
}

Scalar scalar_of(DType dtype) {
  if (dtype == DType::f16) return kRealF16;
  return dtype == DType::bf16 ? kRealBf16 : kRealF32;
}

// The address of an operand.
template <class Form>
void* address_of(const Form& form, std::span<const driver::Address> buffers) {
  return reinterpret_cast<void*>(  // NOLINT: the GPU's addresses are pointers to cuBLASLt
      buffers[form.buffer] + static_cast<driver::Address>(form.offset));
}

}  // namespace

class ProductCall : public DeviceCall {
 public:
  ProductCall(std::shared_ptr<const CublasLt> library, ProductForm form, const Stream& stream)
      : library_(std::move(library)), form_(form), stream_(stream.handle()) {}

  ~ProductCall() override {
    const Functions& f = library_->functions_;
    for (const Matrix matrix : {a_, b_, c_, d_})
      if (matrix != nullptr) f.cublasLtMatrixLayoutDestroy(matrix);
    if (product_ != nullptr) f.cublasLtMatmulDescDestroy(product_);
  }

  // Prepares the call; true if cuBLASLt took the description and has an algorithm.
  bool prepare(Precision precision, const WorkspaceBounds& workspace) {
    describe(precision);
    if (sound_) find_candidates(workspace.max_bytes);
    const auto fits_minimum = [&](const Candidate& candidate) {
      return static_cast<std::int64_t>(candidate.workspace_bytes) <= workspace.min_bytes;
    };
    if (sound_ && std::none_of(candidates_.begin(), candidates_.end(), fits_minimum))
      find_candidates(workspace.min_bytes);
    return sound_ && !candidates_.empty();
  }

  std::size_t algorithm_count() const override { return candidates_.size(); }
  std::int64_t workspace_bytes(std::size_t algorithm) const override {
    return static_cast<std::int64_t>(candidates_[algorithm].workspace_bytes);
  }

  Result<Done> run(std::size_t algorithm, std::span<const driver::Address> buffers,
                   driver::Address workspace) const override {
    const Functions& f = library_->functions_;
    const auto alpha = static_cast<float>(form_.alpha);
    const auto beta = static_cast<float>(form_.c ? form_.beta : 0);
    Status status = kSuccess;
    if (form_.bias) {
      void* bias = address_of(*form_.bias, buffers);
      status = f.cublasLtMatmulDescSetAttribute(product_, kBiasPointer, &bias, sizeof bias);
    }
    void* out = address_of(form_.d, buffers);
    const void* added = form_.c ? address_of(*form_.c, buffers) : out;
    if (status == kSuccess)
      status = f.cublasLtMatmul(library_->handle_, product_, &alpha, address_of(form_.a, buffers),
                                a_, address_of(form_.b, buffers), b_, &beta, added,
                                layout_of_added(), out, d_, &candidates_[algorithm].algorithm,
                                reinterpret_cast<void*>(workspace),  // NOLINT
                                candidates_[algorithm].workspace_bytes, stream_);
    if (status == kSuccess) return Done{};
    return error(
        fmt::format("cuBLASLt refuses a matrix product (status {})", static_cast<int>(status)));
  }

 private:
  void take(Status status) { sound_ = sound_ && status == kSuccess; }
  template <class Value>
  void set(ProductAttribute which, Value value) {
    take(
        library_->functions_.cublasLtMatmulDescSetAttribute(product_, which, &value, sizeof value));
  }

  void describe(Precision precision) {
    const Functions& f = library_->functions_;
    take(f.cublasLtMatmulDescCreate(&product_, compute_of(form_.dtype, precision), kRealF32));
    if (!sound_) return;
    set(kTransposeA, form_.a.transposed ? kTranspose : kNoTranspose);
    set(kTransposeB, form_.b.transposed ? kTranspose : kNoTranspose);
    set(kEpilogue, epilogue());
    if (form_.bias) describe(*form_.bias);
    a_ = matrix(form_.a);
    b_ = matrix(form_.b);
    if (form_.c) c_ = matrix(*form_.c);
    d_ = matrix(form_.d);
  }

  Epilogue epilogue() const {
    if (form_.relu) return form_.bias ? kReluWithBias : kRelu;
    return form_.bias ? kWithBias : kPlain;
  }

  // The real address comes with each run. The heuristic needs one of the same alignment.
  void describe(const BiasForm& bias) {
    const std::int64_t like = kBufferAlignment + bias.offset % kBufferAlignment;
    set(kBiasPointer, static_cast<std::uint64_t>(like));
    set(kBiasType, static_cast<std::int32_t>(scalar_of(form_.dtype)));
  }

  // cuBLASLt reads nothing there where nothing is added.
  Matrix layout_of_added() const { return form_.c ? c_ : d_; }

  Matrix matrix(const MatrixForm& form) {
    const Functions& f = library_->functions_;
    Matrix matrix = nullptr;
    take(f.cublasLtMatrixLayoutCreate(&matrix, scalar_of(form_.dtype),
                                      static_cast<std::uint64_t>(form.rows),
                                      static_cast<std::uint64_t>(form.columns), form.leading));
    if (!sound_ || form_.batch == 1) return matrix;
    const auto count = static_cast<std::int32_t>(form_.batch);
    take(f.cublasLtMatrixLayoutSetAttribute(matrix, kBatchCount, &count, sizeof count));
    take(f.cublasLtMatrixLayoutSetAttribute(matrix, kBatchStride, &form.batch_stride,
                                            sizeof form.batch_stride));
    return matrix;
  }

  void find_candidates(std::int64_t max_workspace) {
    const Functions& f = library_->functions_;
    Preference preference = nullptr;
    take(f.cublasLtMatmulPreferenceCreate(&preference));
    if (!sound_) return;
    const auto prefer = [&](PreferenceAttribute which, auto value) {
      take(f.cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value));
    };
    prefer(kMaxWorkspaceBytes, static_cast<std::uint64_t>(max_workspace));
    if (form_.dtype != DType::f32) prefer(kPartialSums, kAsComputed);  // 16 bits lose digits
    const auto align = [&](PreferenceAttribute which, const MatrixForm& form) {
      prefer(which, static_cast<std::uint32_t>(form.alignment()));
    };
    align(kAlignmentA, form_.a);
    align(kAlignmentB, form_.b);
    align(kAlignmentC, form_.c.value_or(form_.d));
    align(kAlignmentD, form_.d);
    std::vector<Candidate> found(kMaxAlgorithms);
    int count = 0;
    const Status status = f.cublasLtMatmulAlgoGetHeuristic(
        library_->handle_, product_, a_, b_, layout_of_added(), d_, preference,
        static_cast<int>(kMaxAlgorithms), found.data(), &count);
    f.cublasLtMatmulPreferenceDestroy(preference);
    if (status != kSuccess) return;
    found.resize(static_cast<std::size_t>(count));
    for (const Candidate& candidate : found)
      if (candidate.status == kSuccess) candidates_.push_back(candidate);
  }

  std::shared_ptr<const CublasLt> library_;
  const ProductForm form_;
  const driver::StreamHandle stream_;
  Product product_ = nullptr;
  Matrix a_ = nullptr, b_ = nullptr, c_ = nullptr, d_ = nullptr;
  std::vector<Candidate> candidates_;
  bool sound_ = true;
};

Result<std::shared_ptr<const CublasLt>> CublasLt::load(const Gpu& gpu) {
  const std::vector<std::string> names = versioned_names("libcublasLt.so", gpu.driver_major());
  const auto library = SharedLibrary::open("cuBLASLt", names, library_folders());
  if (!library) return library.diagnostics();
  std::shared_ptr<CublasLt> cublas(new CublasLt());
  if (auto done = find_functions_cublas_lt(*library, cublas->functions_); !done)
    return done.diagnostics();
  const Status status = cublas->functions_.cublasLtCreate(&cublas->handle_);
  if (status != kSuccess)
    return error(fmt::format("cuBLASLt doesn't start (status {})", static_cast<int>(status)));
  return std::shared_ptr<const CublasLt>(std::move(cublas));
}

CublasLt::~CublasLt() {
  if (handle_ != nullptr) functions_.cublasLtDestroy(handle_);
}

Result<std::unique_ptr<DeviceCall>> CublasLt::call(std::shared_ptr<const CublasLt> library,
                                                   const library::MatrixProduct& product,
                                                   const Stream& stream, Precision precision,
                                                   const WorkspaceBounds& workspace) {
  auto form = form_of(product);
  if (!form) return error("cuBLASLt adds nothing to a matrix product in the other storage order");
  auto call = std::make_unique<ProductCall>(std::move(library), *form, stream);
  if (!call->prepare(precision, workspace))
    return error("cuBLASLt has no algorithm for a matrix product");
  return std::unique_ptr<DeviceCall>(std::move(call));
}

}  // namespace recut::cuda
