// Our own declarations of CUDA's libraries beside NVIDIA's: numbers, layouts and functions. All of
// it is checked while this file is compiled, where the headers are (tests/CMakeLists.txt).
#include <catch2/catch_test_macros.hpp>

#include "native/cuda/cublas_lt_api.h"
#include "native/cuda/cudnn_api.h"
#include "native/cuda/driver_api.h"
#include "native/cuda/nvrtc.h"

#if defined(RECUT_CUDA_HEADERS)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cublasLt.h>
#include <cuda.h>
#include <cudnn.h>
#include <nvrtc.h>

namespace recut::cuda {
namespace {

enum class Passed { pointer, real, number };

template <class T>
constexpr Passed passed() {
  if (std::is_pointer_v<T>) return Passed::pointer;
  return std::is_floating_point_v<T> ? Passed::real : Passed::number;
}

template <class Ours, class Theirs>
constexpr bool same_abi() {
  if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>)
    return std::is_void_v<Ours> && std::is_void_v<Theirs>;
  else
    return sizeof(Ours) == sizeof(Theirs) &&  // NOLINT: of pointers, too
           passed<Ours>() == passed<Theirs>();
}

// Whether two functions have one ABI: parameters of the same kinds and sizes.
template <class Ours, class Theirs>
struct Alike : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct Alike<R(A...), S(B...)>
    : std::bool_constant<same_abi<R, S>() && (same_abi<A, B>() && ...)> {
};

static_assert(Alike<int(char*, double), unsigned(void*, double)>::value);
static_assert(!Alike<int(char*, double), int(char*, long)>::value);
static_assert(!Alike<int(char*, int), int(char*, long)>::value);
static_assert(!Alike<int(char*), int(char*, int)>::value);

}  // namespace

namespace driver {
#define RECUT_FUNCTION(name, ...) static_assert(Alike<__VA_ARGS__, decltype(::name)>::value);
#include "native/cuda/driver_functions.def"
#undef RECUT_FUNCTION

static_assert(kSuccess == int{CUDA_SUCCESS});
static_assert(kOutOfMemory == int{CUDA_ERROR_OUT_OF_MEMORY});
static_assert(kNoDevice == int{CUDA_ERROR_NO_DEVICE});
static_assert(kMultiprocessorCount == int{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT});
static_assert(kL2Bytes == int{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE});
static_assert(kComputeMajor == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR});
static_assert(kComputeMinor == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR});
static_assert(kCaptureRelaxed == int{CU_STREAM_CAPTURE_MODE_RELAXED});
static_assert(kKernelNode == int{CU_GRAPH_NODE_TYPE_KERNEL});
static_assert(kMaxDynamicSharedBytes == int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});
static_assert(kNonBlockingStream == unsigned{CU_STREAM_NON_BLOCKING});
static_assert(kDefaultEvent == unsigned{CU_EVENT_DEFAULT});

static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
static_assert(offsetof(KernelNode, grid_x) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, gridDimX));
static_assert(offsetof(KernelNode, block_x) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, blockDimX));
static_assert(offsetof(KernelNode, shared_bytes) ==
              offsetof(CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes));
static_assert(offsetof(KernelNode, arguments) ==
              offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams));
static_assert(offsetof(KernelNode, extra) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, extra));
static_assert(offsetof(KernelNode, kernel) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kern));
static_assert(offsetof(KernelNode, context) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, ctx));
}  // namespace driver

namespace nvrtc {
#define RECUT_FUNCTION(name, ...) static_assert(Alike<__VA_ARGS__, decltype(::name)>::value);
#include "native/cuda/nvrtc_functions.def"
#undef RECUT_FUNCTION

static_assert(kSuccess == int{NVRTC_SUCCESS});
static_assert(kCompilation == int{NVRTC_ERROR_COMPILATION});
}  // namespace nvrtc

namespace cublas_lt {
#define RECUT_FUNCTION(name, ...) static_assert(Alike<__VA_ARGS__, decltype(::name)>::value);
#include "native/cuda/cublas_lt_functions.def"
#undef RECUT_FUNCTION

static_assert(kSuccess == int{CUBLAS_STATUS_SUCCESS});
static_assert(kComputeF32 == int{CUBLAS_COMPUTE_32F});
static_assert(kComputeTf32 == int{CUBLAS_COMPUTE_32F_FAST_TF32});
static_assert(kComputeBf16 == int{CUBLAS_COMPUTE_32F_FAST_16BF});
static_assert(kRealF32 == int{CUDA_R_32F});
static_assert(kRealF16 == int{CUDA_R_16F} && kRealBf16 == int{CUDA_R_16BF});
static_assert(kNoTranspose == int{CUBLAS_OP_N} && kTranspose == int{CUBLAS_OP_T});
static_assert(kPlain == unsigned{CUBLASLT_EPILOGUE_DEFAULT});
static_assert(kWithBias == unsigned{CUBLASLT_EPILOGUE_BIAS});
static_assert(kRelu == unsigned{CUBLASLT_EPILOGUE_RELU});
static_assert(kReluWithBias == unsigned{CUBLASLT_EPILOGUE_RELU_BIAS});
static_assert(kTransposeA == int{CUBLASLT_MATMUL_DESC_TRANSA});
static_assert(kTransposeB == int{CUBLASLT_MATMUL_DESC_TRANSB});
static_assert(kEpilogue == int{CUBLASLT_MATMUL_DESC_EPILOGUE});
static_assert(kBiasPointer == int{CUBLASLT_MATMUL_DESC_BIAS_POINTER});
static_assert(kBiasType == int{CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE});
static_assert(kBatchCount == int{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT});
static_assert(kBatchStride == int{CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET});
static_assert(kMaxWorkspaceBytes == int{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES});
static_assert(kPartialSums == int{CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK});
static_assert(kAsComputed == unsigned{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
static_assert(kAlignmentA == int{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES});
static_assert(kAlignmentB == int{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES});
static_assert(kAlignmentC == int{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES});
static_assert(kAlignmentD == int{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES});

static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
using Heuristic = cublasLtMatmulHeuristicResult_t;
static_assert(sizeof(Candidate) == sizeof(Heuristic));
static_assert(offsetof(Candidate, algorithm) == offsetof(Heuristic, algo));
static_assert(offsetof(Candidate, workspace_bytes) == offsetof(Heuristic, workspaceSize));
static_assert(offsetof(Candidate, status) == offsetof(Heuristic, state));
static_assert(offsetof(Candidate, waves) == offsetof(Heuristic, wavesCount));
}  // namespace cublas_lt

namespace cudnn {
#define RECUT_FUNCTION(name, ...) static_assert(Alike<__VA_ARGS__, decltype(::name)>::value);
#include "native/cuda/cudnn_functions.def"
#undef RECUT_FUNCTION

static_assert(kSuccess == int{CUDNN_STATUS_SUCCESS});
static_assert(kF32 == int{CUDNN_DATA_FLOAT});
static_assert(kF16 == int{CUDNN_DATA_HALF} && kBf16 == int{CUDNN_DATA_BFLOAT16});
static_assert(kChannelsFirst == int{CUDNN_TENSOR_NCHW} && kChannelsLast == int{CUDNN_TENSOR_NHWC});
static_assert(kCrossCorrelation == int{CUDNN_CROSS_CORRELATION});
static_assert(kDefaultMath == int{CUDNN_DEFAULT_MATH} && kFmaMath == int{CUDNN_FMA_MATH});
static_assert(kTensorMath == int{CUDNN_TENSOR_OP_MATH});
static_assert(kConvertingMath == int{CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION});
static_assert(0 == int{CUDNN_NON_DETERMINISTIC} && 1 == int{CUDNN_DETERMINISTIC});
static_assert(kInt32 == int{CUDNN_DATA_INT32} && kBoolean == int{CUDNN_DATA_BOOLEAN});

static_assert(kPointwise == int{CUDNN_BACKEND_POINTWISE_DESCRIPTOR});
static_assert(kConfiguration == int{CUDNN_BACKEND_ENGINECFG_DESCRIPTOR});
static_assert(kHeuristics == int{CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR});
static_assert(kPlan == int{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR});
static_assert(kPointwiseCall == int{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR});
static_assert(kGraph == int{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR});
static_assert(kPack == int{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR});
static_assert(kTensor == int{CUDNN_BACKEND_TENSOR_DESCRIPTOR});
static_assert(kProduct == int{CUDNN_BACKEND_MATMUL_DESCRIPTOR});
static_assert(kProductCall == int{CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR});
static_assert(kReduction == int{CUDNN_BACKEND_REDUCTION_DESCRIPTOR});
static_assert(kReductionCall == int{CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR});
static_assert(kReshapeCall == int{CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR});
static_assert(kDevice == int{CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR});

static_assert(kPointwiseMode == int{CUDNN_ATTR_POINTWISE_MODE});
static_assert(kPointwisePrecision == int{CUDNN_ATTR_POINTWISE_MATH_PREC});
static_assert(kPointwiseAxis == int{CUDNN_ATTR_POINTWISE_AXIS});
static_assert(kHeuristicsMode == int{CUDNN_ATTR_ENGINEHEUR_MODE});
static_assert(kHeuristicsGraph == int{CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH});
static_assert(kHeuristicsResults == int{CUDNN_ATTR_ENGINEHEUR_RESULTS});
static_assert(kHeuristicsDevice == int{CUDNN_ATTR_ENGINEHEUR_DEVICEPROP});
static_assert(kPlanConfiguration == int{CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG});
static_assert(kPlanWorkspaceBytes == int{CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE});
static_assert(kPlanDevice == int{CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP});
static_assert(kPointwiseOperator == int{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR});
static_assert(kPointwiseX == int{CUDNN_ATTR_OPERATION_POINTWISE_XDESC});
static_assert(kPointwiseB == int{CUDNN_ATTR_OPERATION_POINTWISE_BDESC});
static_assert(kPointwiseY == int{CUDNN_ATTR_OPERATION_POINTWISE_YDESC});
static_assert(kPointwiseT == int{CUDNN_ATTR_OPERATION_POINTWISE_TDESC});
static_assert(kGraphCalls == int{CUDNN_ATTR_OPERATIONGRAPH_OPS});
static_assert(kTensorAlignment == int{CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT});
static_assert(kTensorType == int{CUDNN_ATTR_TENSOR_DATA_TYPE});
static_assert(kTensorShape == int{CUDNN_ATTR_TENSOR_DIMENSIONS});
static_assert(kTensorStrides == int{CUDNN_ATTR_TENSOR_STRIDES});
static_assert(kTensorNumber == int{CUDNN_ATTR_TENSOR_UNIQUE_ID});
static_assert(kTensorIsBetween == int{CUDNN_ATTR_TENSOR_IS_VIRTUAL});
static_assert(kTensorIsFromHost == int{CUDNN_ATTR_TENSOR_IS_BY_VALUE});
static_assert(kPackNumbers == int{CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS});
static_assert(kPackPointers == int{CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS});
static_assert(kPackWorkspace == int{CUDNN_ATTR_VARIANT_PACK_WORKSPACE});
static_assert(kProductPrecision == int{CUDNN_ATTR_MATMUL_COMP_TYPE});
static_assert(kProductA == int{CUDNN_ATTR_OPERATION_MATMUL_ADESC});
static_assert(kProductB == int{CUDNN_ATTR_OPERATION_MATMUL_BDESC});
static_assert(kProductC == int{CUDNN_ATTR_OPERATION_MATMUL_CDESC});
static_assert(kProductOperator == int{CUDNN_ATTR_OPERATION_MATMUL_DESC});
static_assert(kReductionHow == int{CUDNN_ATTR_REDUCTION_OPERATOR});
static_assert(kReductionPrecision == int{CUDNN_ATTR_REDUCTION_COMP_TYPE});
static_assert(kReductionX == int{CUDNN_ATTR_OPERATION_REDUCTION_XDESC});
static_assert(kReductionY == int{CUDNN_ATTR_OPERATION_REDUCTION_YDESC});
static_assert(kReductionOperator == int{CUDNN_ATTR_OPERATION_REDUCTION_DESC});
static_assert(kReshapeX == int{CUDNN_ATTR_OPERATION_RESHAPE_XDESC});
static_assert(kReshapeY == int{CUDNN_ATTR_OPERATION_RESHAPE_YDESC});
static_assert(kDeviceHandle == int{CUDNN_ATTR_DEVICEPROP_HANDLE});

static_assert(kHandles == int{CUDNN_TYPE_HANDLE} && kTypes == int{CUDNN_TYPE_DATA_TYPE});
static_assert(kBooleans == int{CUDNN_TYPE_BOOLEAN} && kInt64s == int{CUDNN_TYPE_INT64});
static_assert(kPointers == int{CUDNN_TYPE_VOID_PTR});
static_assert(kHeuristicsModes == int{CUDNN_TYPE_HEUR_MODE});
static_assert(kPointwiseModes == int{CUDNN_TYPE_POINTWISE_MODE});
static_assert(kDescriptors == int{CUDNN_TYPE_BACKEND_DESCRIPTOR});
static_assert(kReductions == int{CUDNN_TYPE_REDUCTION_OPERATOR_TYPE});

static_assert(kAdd == int{CUDNN_POINTWISE_ADD} && kMultiply == int{CUDNN_POINTWISE_MUL});
static_assert(kDivide == int{CUDNN_POINTWISE_DIV} && kSubtract == int{CUDNN_POINTWISE_SUB});
static_assert(kExp == int{CUDNN_POINTWISE_EXP} && kLog == int{CUDNN_POINTWISE_LOG});
static_assert(kIdentity == int{CUDNN_POINTWISE_IDENTITY});
static_assert(kGreaterEqual == int{CUDNN_POINTWISE_CMP_GE});
static_assert(kIndex == int{CUDNN_POINTWISE_GEN_INDEX});
static_assert(kSelect == int{CUDNN_POINTWISE_BINARY_SELECT});
static_assert(kSum == int{CUDNN_REDUCE_TENSOR_ADD} && kLargest == int{CUDNN_REDUCE_TENSOR_MAX});
static_assert(kBestFirst == int{CUDNN_HEUR_MODE_A});

template <class Theirs>
constexpr bool is_candidate() {
  return sizeof(Candidate) == sizeof(Theirs) &&
         offsetof(Candidate, algorithm) == offsetof(Theirs, algo) &&
         offsetof(Candidate, status) == offsetof(Theirs, status) &&
         offsetof(Candidate, ms) == offsetof(Theirs, time) &&
         offsetof(Candidate, workspace_bytes) == offsetof(Theirs, memory) &&
         offsetof(Candidate, deterministic) == offsetof(Theirs, determinism) &&
         offsetof(Candidate, math) == offsetof(Theirs, mathType);
}
static_assert(is_candidate<cudnnConvolutionFwdAlgoPerf_t>());
static_assert(is_candidate<cudnnConvolutionBwdDataAlgoPerf_t>());
static_assert(is_candidate<cudnnConvolutionBwdFilterAlgoPerf_t>());
}  // namespace cudnn

TEST_CASE("cuda: our declarations are those of NVIDIA's headers", "[native][cuda]") {
  SUCCEED("it was compiled");
}

}  // namespace recut::cuda
#else
TEST_CASE("cuda: our declarations are those of NVIDIA's headers", "[native][cuda]") {
  SKIP("CUDA's headers aren't on the machine that compiled this");
}
#endif
