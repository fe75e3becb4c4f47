#include "native/cuda/precision.h"

#include <algorithm>

namespace recut::cuda {
namespace {

constexpr double kErrorOfTenBits = 2e-3;
constexpr double kErrorOfSevenBits = 2e-2;

double error_of(DType dtype) {
  if (dtype == DType::bf16) return kErrorOfSevenBits;
  return dtype == DType::f16 ? kErrorOfTenBits : 0;
}

double error_of(Precision precision) {
  if (precision == Precision::bf16) return kErrorOfSevenBits;
  return precision == Precision::tf32 ? kErrorOfTenBits : 0;
}

}  // namespace

std::string_view name_of(Precision precision) {
  if (precision == Precision::bf16) return "bf16";
  return precision == Precision::tf32 ? "tf32" : "f32";
}

Precision parse_precision(std::string_view name) {
  if (name == "bf16") return Precision::bf16;
  return name == "tf32" ? Precision::tf32 : Precision::f32;
}

MatmulPrecision matmul_precision_of(Precision precision) {
  return precision == Precision::f32 ? MatmulPrecision::f32 : MatmulPrecision::tf32;
}

double allowed_error(const Graph& graph, Precision precision) {
  double most = error_of(precision);
  for (const NodeId id : graph.order())
    for (const TensorType& type : graph[id].outputs) most = std::max(most, error_of(type.dtype));
  return most;
}

}  // namespace recut::cuda
