#include "native/cuda/cudnn.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "native/cuda/convolution_form.h"
#include "native/cuda/shared_library.h"

// A convolution by cuDNN's convolution interface (not its graphs). prepare() describes tensors,
// filter and windows once, and asks cudnnGetConvolution…Algorithm_v7 for candidates in the form's
// direction (forward, backward data, backward filter). A candidate stays if it fits the workspace
// and its math is no coarser than the precision allows. The bias is a second call: cudnnAddTensor
// forward, cudnnConvolutionBackwardBias for its gradient. Cost: one heuristic query per layer;
// LibraryCalls times the candidates.

namespace recut::cuda {

using namespace cudnn;  // NOLINT: names of its header, in this file alone

namespace {

constexpr const char* kCudnnFile = "libcudnn.so.9";

Result<Done> find_functions_cudnn(const SharedLibrary& library, Functions& functions) {
#define RECUT_FUNCTION(name, ...) \
  if (auto done = library.find(#name, functions.name); !done) return done;
#include "native/cuda/cudnn_functions.def"
#undef RECUT_FUNCTION
  return Done{};
}

Type type_of(DType dtype) {
  if (dtype == DType::f16) return kF16;
  return dtype == DType::bf16 ? kBf16 : kF32;
}

Math math_of(const ConvolutionForm& form, Precision precision) {
  if (form.dtype != DType::f32) return kTensorMath;
  return keeps_f32(form, precision) ? kFmaMath : kDefaultMath;
}

// The address of an operand.
void* address_of(const TensorForm& form, std::span<const driver::Address> buffers) {
  return reinterpret_cast<void*>(  // NOLINT: the GPU's addresses are pointers to cuDNN
      buffers[form.buffer] + static_cast<driver::Address>(form.offset));
}

}  // namespace

class ConvolutionCall : public DeviceCall {
 public:
  ConvolutionCall(std::shared_ptr<const Cudnn> library, ConvolutionForm form)
      : library_(std::move(library)), form_(std::move(form)) {}

  ~ConvolutionCall() override {
    const Functions& f = library_->functions();
    for (const Tensor tensor : {x_, y_, bias_})
      if (tensor != nullptr) f.cudnnDestroyTensorDescriptor(tensor);
    if (w_ != nullptr) f.cudnnDestroyFilterDescriptor(w_);
    if (windows_ != nullptr) f.cudnnDestroyConvolutionDescriptor(windows_);
  }

  Result<Done> prepare(Precision precision, std::int64_t max_workspace) {
    math_ = math_of(form_, precision);
    describe();
    if (status_ == kSuccess) find_candidates(max_workspace);
    if (status_ != kSuccess) return refused();
    if (candidates_.empty()) return error("cuDNN has no algorithm for a convolution");
    return Done{};
  }

  std::size_t algorithm_count() const override { return candidates_.size(); }
  std::int64_t workspace_bytes(std::size_t algorithm) const override {
    return static_cast<std::int64_t>(candidates_[algorithm].workspace_bytes);
  }

  bool is_nondeterministic(std::size_t algorithm) const override {
    return candidates_[algorithm].deterministic == 0;
  }

  Result<Done> run(std::size_t algorithm, std::span<const driver::Address> buffers,
                   driver::Address workspace) const override {
    const Functions& f = library_->functions();
    status_ = f.cudnnSetConvolutionMathType(windows_, candidates_[algorithm].math);
    if (status_ == kSuccess) convolve(candidates_[algorithm], buffers, workspace);
    if (status_ == kSuccess && form_.bias) treat_bias(buffers);
    if (status_ != kSuccess) return refused();
    return Done{};
  }

 private:
  Diagnostic refused() const {
    return error(fmt::format("cuDNN refuses a convolution: {}",
                             library_->functions().cudnnGetErrorString(status_)));
  }
  void take(Status status) const {
    if (status_ == kSuccess) status_ = status;
  }

  void describe() {
    const Functions& f = library_->functions();
    x_ = tensor(form_.x);
    y_ = tensor(form_.y);
    if (form_.bias) bias_ = tensor(*form_.bias);
    take(f.cudnnCreateFilterDescriptor(&w_));
    take(f.cudnnCreateConvolutionDescriptor(&windows_));
    if (status_ != kSuccess) return;
    take(f.cudnnSetFilterNdDescriptor(
        w_, type_of(form_.dtype), form_.channels_last ? kChannelsLast : kChannelsFirst,
        static_cast<int>(form_.w.shape.size()), form_.w.shape.data()));
    take(f.cudnnSetConvolutionNdDescriptor(windows_, static_cast<int>(form_.padding.size()),
                                           form_.padding.data(), form_.stride.data(),
                                           form_.dilation.data(), kCrossCorrelation, kF32));
    take(f.cudnnSetConvolutionGroupCount(windows_, form_.groups));
    take(f.cudnnSetConvolutionMathType(windows_, math_));
  }

  Tensor tensor(const TensorForm& form) {
    const Functions& f = library_->functions();
    Tensor tensor = nullptr;
    take(f.cudnnCreateTensorDescriptor(&tensor));
    if (status_ != kSuccess) return tensor;
    take(f.cudnnSetTensorNdDescriptor(tensor, type_of(form_.dtype),
                                      static_cast<int>(form.shape.size()), form.shape.data(),
                                      form.strides.data()));
    return tensor;
  }

  void find_candidates(std::int64_t max_workspace) {
    const Functions& f = library_->functions();
    constexpr int kRequested = static_cast<int>(kMaxAlgorithms);
    std::vector<Candidate> found(kMaxAlgorithms);
    int count = 0;
    const cudnn::Handle handle = library_->handle();
    switch (form_.direction) {
      case ConvolutionForm::Direction::forward:
        take(f.cudnnGetConvolutionForwardAlgorithm_v7(handle, x_, w_, windows_, y_, kRequested,
                                                      &count, found.data()));
        break;
      case ConvolutionForm::Direction::backward_data:
        take(f.cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, w_, y_, windows_, x_, kRequested,
                                                           &count, found.data()));
        break;
      case ConvolutionForm::Direction::backward_filter:
        take(f.cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, x_, y_, windows_, w_,
                                                             kRequested, &count, found.data()));
        break;
    }
    found.resize(static_cast<std::size_t>(count));
    for (Candidate& candidate : found) {
      if (!may_take(candidate.math)) continue;
      if (math_ == kFmaMath) candidate.math = kFmaMath;
      if (candidate.status == kSuccess &&
          candidate.workspace_bytes <= static_cast<std::size_t>(max_workspace))
        candidates_.push_back(candidate);
    }
  }

  // Rejects math coarser than was requested: cuDNN may also name f32 algorithms in 16 bits on
  // tensor cores.
  bool may_take(Math named) const {
    if (named == kConvertingMath) return false;
    return math_ != kFmaMath || named != kTensorMath;
  }

  void convolve(const Candidate& candidate, std::span<const driver::Address> buffers,
                driver::Address workspace) const {
    const Functions& f = library_->functions();
    const float one = 1, zero = 0;
    void *x = address_of(form_.x, buffers), *w = address_of(form_.w, buffers),
         *y = address_of(form_.y, buffers);
    void* space = reinterpret_cast<void*>(workspace);  // NOLINT
    const cudnn::Handle handle = library_->handle();
    switch (form_.direction) {
      case ConvolutionForm::Direction::forward:
        return take(f.cudnnConvolutionForward(handle, &one, x_, x, w_, w, windows_,
                                              candidate.algorithm, space, candidate.workspace_bytes,
                                              &zero, y_, y));
      case ConvolutionForm::Direction::backward_data:
        return take(f.cudnnConvolutionBackwardData(handle, &one, w_, w, y_, y, windows_,
                                                   candidate.algorithm, space,
                                                   candidate.workspace_bytes, &zero, x_, x));
      case ConvolutionForm::Direction::backward_filter:
        return take(f.cudnnConvolutionBackwardFilter(handle, &one, x_, x, y_, y, windows_,
                                                     candidate.algorithm, space,
                                                     candidate.workspace_bytes, &zero, w_, w));
    }
  }

  void treat_bias(std::span<const driver::Address> buffers) const {
    const Functions& f = library_->functions();
    const float one = 1, zero = 0;
    const Tensor biased = form_.biased_is_x ? x_ : y_;
    void *values = address_of(form_.biased(), buffers), *bias = address_of(*form_.bias, buffers);
    const cudnn::Handle handle = library_->handle();
    take(form_.bias_is_gradient
             ? f.cudnnConvolutionBackwardBias(handle, &one, biased, values, &zero, bias_, bias)
             : f.cudnnAddTensor(handle, &one, bias_, bias, &one, biased, values));
  }

  std::shared_ptr<const Cudnn> library_;
  const ConvolutionForm form_;
  Math math_ = kFmaMath;
  Tensor x_ = nullptr, y_ = nullptr, bias_ = nullptr;
  Filter w_ = nullptr;
  Windows windows_ = nullptr;
  std::vector<Candidate> candidates_;
  mutable Status status_ = kSuccess;  // of the last run, or of the description
};

Result<std::shared_ptr<const Cudnn>> Cudnn::load(const Stream& stream) {
  const std::vector<std::string> names = {kCudnnFile};
  const auto library = SharedLibrary::open("cuDNN", names, library_folders());
  if (!library) return library.diagnostics();
  std::shared_ptr<Cudnn> loaded(new Cudnn());
  const Functions& f = loaded->functions_;
  if (auto done = find_functions_cudnn(*library, loaded->functions_); !done)
    return done.diagnostics();
  Status status = f.cudnnCreate(&loaded->handle_);
  if (status == kSuccess) status = f.cudnnSetStream(loaded->handle_, stream.handle());
  if (status != kSuccess)
    return error(fmt::format("cuDNN doesn't start: {}", f.cudnnGetErrorString(status)));
  return std::shared_ptr<const Cudnn>(std::move(loaded));
}

Cudnn::~Cudnn() {
  if (handle_ != nullptr) functions_.cudnnDestroy(handle_);
}

Result<std::unique_ptr<DeviceCall>> Cudnn::call(std::shared_ptr<const Cudnn> library,
                                                const library::Convolution& convolution,
                                                Precision precision, std::int64_t max_workspace) {
  auto form = form_of(convolution);
  if (!form) return form.diagnostics();
  auto call = std::make_unique<ConvolutionCall>(std::move(library), std::move(*form));
  if (auto done = call->prepare(precision, max_workspace); !done) return done.diagnostics();
  return std::unique_ptr<DeviceCall>(std::move(call));
}

}  // namespace recut::cuda
