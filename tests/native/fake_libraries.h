// cuBLASLt and cuDNN by their manuals, in plain loops over this process' memory;
// cuda_libraries_test.cpp compiles it as both libraries. The first algorithm of a product is
// refused when it is tried, the last needs no workspace, and some algorithms of a convolution may
// not be taken. Numbers of 16 bits are summed in f64 and rounded once.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "native/cuda/cublas_lt_api.h"
#include "native/cuda/cudnn_api.h"
#include "tests/native/fake_graphs.h"
#include "tests/native/fake_numbers.h"

namespace recut::cuda::cublas_lt {

struct HandleOfCublas {};
struct PreferenceOfCublas {
  std::uint64_t max_workspace = 0;
};
struct ProductOfCublas {
  MatmulTranspose transpose_a = kNoTranspose, transpose_b = kNoTranspose;
  Epilogue epilogue = kPlain;
  Compute compute = kComputeF32;
  std::int32_t bias_type = -1;
  const void* bias = nullptr;
};
struct MatrixOfCublas {
  Scalar type = kRealF32;
  std::int64_t rows = 0, columns = 0, leading = 0;
  std::int32_t batch = 1;
  std::int64_t batch_stride = 0;
  std::int64_t place(std::int64_t b, std::int64_t row, std::int64_t column) const {
    return b * batch_stride + row + column * leading;
  }
  Stored stored() const {
    return type == kRealF32 ? Stored::f32 : type == kRealF16 ? Stored::f16 : Stored::bf16;
  }
  double operator()(const void* from, std::int64_t b, std::int64_t row, std::int64_t column) const {
    return load(stored(), from, place(b, row, column));
  }
};
constexpr auto kRefused = static_cast<Status>(15);

inline bool all_alike(Matrix a, Matrix b, Matrix c, Matrix d) {
  return a->type == b->type && b->type == c->type && c->type == d->type && c->rows == d->rows &&
         c->columns == d->columns && c->batch == d->batch;
}

extern "C" {
Status cublasLtCreate(Handle* handle) {
  *handle = new HandleOfCublas();
  return kSuccess;
}
Status cublasLtDestroy(Handle handle) {
  delete handle;
  return kSuccess;
}
std::size_t cublasLtGetVersion() { return 1; }
Status cublasLtMatmulDescCreate(Product* product, Compute compute, Scalar scale) {
  *product = new ProductOfCublas();
  (*product)->compute = compute;
  return scale == kRealF32 ? kSuccess : kRefused;
}
Status cublasLtMatmulDescDestroy(Product product) {
  delete product;
  return kSuccess;
}
Status cublasLtMatmulDescSetAttribute(Product product, ProductAttribute which, const void* value,
                                      std::size_t bytes) {
  if (bytes != (which == kBiasPointer ? 8 : 4)) return kRefused;
  void* const to = which == kTransposeA   ? static_cast<void*>(&product->transpose_a)
                   : which == kTransposeB ? static_cast<void*>(&product->transpose_b)
                   : which == kEpilogue   ? static_cast<void*>(&product->epilogue)
                   : which == kBiasType   ? static_cast<void*>(&product->bias_type)
                                          : static_cast<void*>(&product->bias);
  std::memcpy(to, value, bytes);
  return kSuccess;
}
Status cublasLtMatrixLayoutCreate(Matrix* matrix, Scalar type, std::uint64_t rows,
                                  std::uint64_t columns, std::int64_t leading) {
  *matrix = new MatrixOfCublas{type, static_cast<std::int64_t>(rows),
                               static_cast<std::int64_t>(columns), leading};
  return leading >= (*matrix)->rows ? kSuccess : kRefused;
}
Status cublasLtMatrixLayoutDestroy(Matrix matrix) {
  delete matrix;
  return kSuccess;
}
Status cublasLtMatrixLayoutSetAttribute(Matrix matrix, MatrixAttribute which, const void* value,
                                        std::size_t bytes) {
  if (bytes != (which == kBatchCount ? 4 : 8)) return kRefused;
  std::memcpy(which == kBatchCount ? static_cast<void*>(&matrix->batch)
                                   : static_cast<void*>(&matrix->batch_stride),
              value, bytes);
  return kSuccess;
}
Status cublasLtMatmulPreferenceCreate(Preference* preference) {
  *preference = new PreferenceOfCublas();
  return kSuccess;
}
Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  delete preference;
  return kSuccess;
}
Status cublasLtMatmulPreferenceSetAttribute(Preference preference, PreferenceAttribute which,
                                            const void* value, std::size_t bytes) {
  if (which == kMaxWorkspaceBytes) std::memcpy(&preference->max_workspace, value, bytes);
  return bytes == (which == kMaxWorkspaceBytes ? 8 : 4) ? kSuccess : kRefused;
}
Status cublasLtMatmulAlgoGetHeuristic(Handle, Product product, Matrix a, Matrix b, Matrix c,
                                      Matrix d, Preference preference, int, Candidate* found,
                                      int* count) {
  if (!all_alike(a, b, c, d)) return kRefused;
  if (product->compute != kComputeF32 && d->type != kRealF32) return kRefused;
  if ((product->epilogue & kWithBias) != 0 && product->bias_type != d->type) return kRefused;
  *count = 0;
  for (const auto& [algorithm, bytes] : {std::pair(0, 512), std::pair(1, 1024), std::pair(2, 0)})
    if (static_cast<std::uint64_t>(bytes) <= preference->max_workspace)
      found[(*count)++] = {{{static_cast<std::uint64_t>(algorithm)}},
                           static_cast<std::size_t>(bytes),
                           kSuccess,
                           1,
                           {}};
  return kSuccess;
}
Status cublasLtMatmul(Handle, Product product, const void* alpha, const void* a, Matrix a_form,
                      const void* b, Matrix b_form, const void* beta, const void* c, Matrix c_form,
                      void* d, Matrix d_form, const Algorithm* algorithm, void* workspace,
                      std::size_t workspace_bytes, driver::StreamHandle) {
  if (algorithm->data[0] == 0 || !all_alike(a_form, b_form, c_form, d_form)) return kRefused;
  std::memset(workspace, 0xff, workspace_bytes);
  const bool transposed_a = product->transpose_a == kTranspose,
             transposed_b = product->transpose_b == kTranspose;
  const std::int64_t inner = transposed_a ? a_form->rows : a_form->columns;
  const int bits = product->compute == kComputeF32    ? kAllBits
                   : product->compute == kComputeTf32 ? kBitsOfTf32
                                                      : kBitsOfBf16;
  const double by = *static_cast<const float*>(alpha), by_c = *static_cast<const float*>(beta);
  for (std::int64_t n = 0; n < d_form->batch; ++n)
    for (std::int64_t i = 0; i < d_form->rows; ++i)
      for (std::int64_t j = 0; j < d_form->columns; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum += rounded(transposed_a ? (*a_form)(a, n, k, i) : (*a_form)(a, n, i, k), bits) *
                 rounded(transposed_b ? (*b_form)(b, n, j, k) : (*b_form)(b, n, k, j), bits);
        sum *= by;
        if (by_c != 0) sum += by_c * (*c_form)(c, n, i, j);
        if ((product->epilogue & kWithBias) != 0) sum += load(d_form->stored(), product->bias, i);
        if ((product->epilogue & kRelu) != 0 && sum < 0) sum = 0;
        store(d_form->stored(), d, d_form->place(n, i, j), sum);
      }
  return kSuccess;
}
}

}  // namespace recut::cuda::cublas_lt

namespace recut::cuda::cudnn {

struct HandleOfCudnn {};
struct TensorOfCudnn {
  Type type = kF32;
  std::vector<int> shape, strides;
  std::int64_t place(int a, int b, int c, int d) const {
    return std::int64_t{a} * strides[0] + std::int64_t{b} * strides[1] +
           std::int64_t{c} * strides[2] + std::int64_t{d} * strides[3];
  }
  Stored stored() const {
    return type == kF32 ? Stored::f32 : type == kF16 ? Stored::f16 : Stored::bf16;
  }
  double operator()(const void* from, std::int64_t place) const {
    return load(stored(), from, place);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (int a = 0; a < shape[0]; ++a)
      for (int b = 0; b < shape[1]; ++b)
        for (int c = 0; c < shape[2]; ++c)
          for (int d = 0; d < shape[3]; ++d) visit(place(a, b, c, d), b);
  }
};
struct FilterOfCudnn : TensorOfCudnn {};
struct WindowsOfCudnn {
  std::vector<int> padding, stride, dilation;
  int groups = 1;
  Math math = kDefaultMath;
  Type computed_in = kF32;
};
constexpr auto kRefused = static_cast<Status>(3000);

// Calls visit(x, w, y) with the offsets of all factors.
template <class Visit>
void for_each_product(const TensorOfCudnn& x, const FilterOfCudnn& w, const TensorOfCudnn& y,
                      const WindowsOfCudnn& windows, Visit visit) {
  const int in_group = w.shape[1], out_group = w.shape[0] / windows.groups;
  for (int n = 0; n < y.shape[0]; ++n)
    for (int k = 0; k < y.shape[1]; ++k)
      for (int c = 0; c < in_group; ++c)
        for (int i = 0; i < y.shape[2]; ++i)
          for (int j = 0; j < y.shape[3]; ++j)
            for (int p = 0; p < w.shape[2]; ++p)
              for (int q = 0; q < w.shape[3]; ++q) {
                const int row =
                    i * windows.stride[0] - windows.padding[0] + p * windows.dilation[0];
                const int at = j * windows.stride[1] - windows.padding[1] + q * windows.dilation[1];
                if (row < 0 || row >= x.shape[2] || at < 0 || at >= x.shape[3]) continue;
                visit(x.place(n, k / out_group * in_group + c, row, at), w.place(k, c, p, q),
                      y.place(n, k, i, j));
              }
}

// Sums for each element of a tensor, stored in the end.
class Sums {
 public:
  explicit Sums(const TensorOfCudnn& form) : form_(form) {
    std::int64_t end = 0;
    form.for_each([&](std::int64_t place, int) { end = place < end ? end : place + 1; });
    sums_.resize(static_cast<std::size_t>(end));
  }
  double& operator[](std::int64_t place) { return sums_[static_cast<std::size_t>(place)]; }
  void store_in(void* to) {
    form_.for_each(
        [&](std::int64_t place, int) { store(form_.stored(), to, place, (*this)[place]); });
  }

 private:
  const TensorOfCudnn& form_;
  std::vector<double> sums_;
};

// Offers nothing for groups of dilated kernels, where `gradient`.
inline Status offer(const WindowsOfCudnn& windows, bool gradient, int* count, Candidate* found) {
  *count = gradient && windows.groups > 1 && windows.dilation.back() > 1 ? 0 : 3;
  if (*count == 0) return kSuccess;
  found[0] = {0, kSuccess, 1, 64, 0, windows.math, {}};     // other bits each time
  found[1] = {1, kSuccess, 1, 64, 1, kConvertingMath, {}};  // in 16 bits
  found[2] = {2, kSuccess, 1, 4096, 1, windows.math, {}};
  return kSuccess;
}
// Takes f32 tensors in f32 without tensor cores or as tf32, and other tensors with them.
inline bool takes(const TensorOfCudnn& x, const TensorOfCudnn& w, const TensorOfCudnn& y,
                  const WindowsOfCudnn& windows, Algorithm algorithm, std::size_t bytes) {
  const bool in_f32 = windows.math == kFmaMath || windows.math == kDefaultMath;
  return x.type == w.type && w.type == y.type && windows.computed_in == kF32 && algorithm == 2 &&
         (x.type == kF32 ? in_f32 : windows.math == kTensorMath) && bytes == 4096;
}
// A factor, rounded as the convolution's math does.
inline double factor(const WindowsOfCudnn& windows, double value) {
  return rounded(value, windows.math == kDefaultMath ? kBitsOfTf32 : kAllBits);
}

extern "C" {
const char* cudnnGetErrorString(Status) { return "FAKE"; }
std::size_t cudnnGetVersion() { return 90000; }
Status cudnnCreate(Handle* handle) {
  *handle = new HandleOfCudnn();
  return kSuccess;
}
Status cudnnDestroy(Handle handle) {
  delete handle;
  return kSuccess;
}
Status cudnnSetStream(Handle, driver::StreamHandle) { return kSuccess; }
Status cudnnCreateTensorDescriptor(Tensor* tensor) {
  *tensor = new TensorOfCudnn();
  return kSuccess;
}
Status cudnnDestroyTensorDescriptor(Tensor tensor) {
  delete tensor;
  return kSuccess;
}
Status cudnnSetTensorNdDescriptor(Tensor tensor, Type type, int rank, const int* shape,
                                  const int* strides) {
  tensor->type = type;
  tensor->shape.assign(shape, shape + rank);
  tensor->strides.assign(strides, strides + rank);
  return rank == 4 ? kSuccess : kRefused;
}
Status cudnnCreateFilterDescriptor(Filter* filter) {
  *filter = new FilterOfCudnn();
  return kSuccess;
}
Status cudnnDestroyFilterDescriptor(Filter filter) {
  delete filter;
  return kSuccess;
}
Status cudnnSetFilterNdDescriptor(Filter filter, Type type, Format format, int rank, const int* s) {
  filter->type = type;
  filter->shape.assign(s, s + rank);
  if (format == kChannelsFirst)
    filter->strides = {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1};
  else
    filter->strides = {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]};
  return rank == 4 ? kSuccess : kRefused;
}
Status cudnnCreateConvolutionDescriptor(Windows* windows) {
  *windows = new WindowsOfCudnn();
  return kSuccess;
}
Status cudnnDestroyConvolutionDescriptor(Windows windows) {
  delete windows;
  return kSuccess;
}
Status cudnnSetConvolutionNdDescriptor(Windows windows, int dimensions, const int* padding,
                                       const int* stride, const int* dilation, Mode, Type) {
  windows->padding.assign(padding, padding + dimensions);
  windows->stride.assign(stride, stride + dimensions);
  windows->dilation.assign(dilation, dilation + dimensions);
  return dimensions == 2 ? kSuccess : kRefused;
}
Status cudnnSetConvolutionGroupCount(Windows windows, int groups) {
  windows->groups = groups;
  return kSuccess;
}
Status cudnnSetConvolutionMathType(Windows windows, Math math) {
  windows->math = math;
  return kSuccess;
}
Status cudnnGetConvolutionForwardAlgorithm_v7(Handle, Tensor, Filter, Windows windows, Tensor, int,
                                              int* count, Candidate* found) {
  return offer(*windows, false, count, found);
}
Status cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle, Filter, Tensor, Windows windows, Tensor,
                                                   int, int* count, Candidate* found) {
  return offer(*windows, true, count, found);
}
Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle, Tensor, Tensor, Windows windows,
                                                     Filter, int, int* count, Candidate* found) {
  return offer(*windows, true, count, found);
}
Status cudnnConvolutionForward(Handle, const void*, Tensor x_form, const void* x, Filter w_form,
                               const void* w, Windows windows, Algorithm algorithm, void*,
                               std::size_t bytes, const void*, Tensor y_form, void* y) {
  if (!takes(*x_form, *w_form, *y_form, *windows, algorithm, bytes)) return kRefused;
  Sums to(*y_form);
  for_each_product(*x_form, *w_form, *y_form, *windows, [&](auto a, auto b, auto c) {
    to[c] += factor(*windows, (*x_form)(x, a)) * factor(*windows, (*w_form)(w, b));
  });
  to.store_in(y);
  return kSuccess;
}
Status cudnnConvolutionBackwardData(Handle, const void*, Filter w_form, const void* w,
                                    Tensor y_form, const void* y, Windows windows,
                                    Algorithm algorithm, void*, std::size_t bytes, const void*,
                                    Tensor x_form, void* x) {
  if (!takes(*x_form, *w_form, *y_form, *windows, algorithm, bytes)) return kRefused;
  Sums to(*x_form);
  for_each_product(*x_form, *w_form, *y_form, *windows, [&](auto a, auto b, auto c) {
    to[a] += factor(*windows, (*w_form)(w, b)) * factor(*windows, (*y_form)(y, c));
  });
  to.store_in(x);
  return kSuccess;
}
Status cudnnConvolutionBackwardFilter(Handle, const void*, Tensor x_form, const void* x,
                                      Tensor y_form, const void* y, Windows windows,
                                      Algorithm algorithm, void*, std::size_t bytes, const void*,
                                      Filter w_form, void* w) {
  if (!takes(*x_form, *w_form, *y_form, *windows, algorithm, bytes)) return kRefused;
  Sums to(*w_form);
  for_each_product(*x_form, *w_form, *y_form, *windows, [&](auto a, auto b, auto c) {
    to[b] += factor(*windows, (*x_form)(x, a)) * factor(*windows, (*y_form)(y, c));
  });
  to.store_in(w);
  return kSuccess;
}
Status cudnnConvolutionBackwardBias(Handle, const void*, Tensor y_form, const void* y, const void*,
                                    Tensor bias_form, void* bias) {
  if (bias_form->type != y_form->type || bias_form->type == kBf16) return kRefused;
  Sums to(*bias_form);
  y_form->for_each([&](std::int64_t place, int channel) {
    to[bias_form->place(0, channel, 0, 0)] += (*y_form)(y, place);
  });
  to.store_in(bias);
  return kSuccess;
}
Status cudnnAddTensor(Handle, const void*, Tensor bias_form, const void* bias, const void*,
                      Tensor y_form, void* y) {
  if (bias_form->type != y_form->type) return kRefused;
  y_form->for_each([&](std::int64_t place, int channel) {
    const double added = (*bias_form)(bias, bias_form->place(0, channel, 0, 0));
    store(y_form->stored(), y, place, (*y_form)(y, place) + added);
  });
  return kSuccess;
}
}

}  // namespace recut::cuda::cudnn
