#include "native/commands/gpu_profile.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/cost/measured_kernels.h"
#include "engine/support/version.h"
#include "native/calibrated_profile.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMinGpuProfileShare = 0.001;  // of a profile
constexpr double kMaxUnalignedSlowdown = 1e3;  // of a profile
// The share of the profile's ceiling that usual products reach.
double products_share(const cuda::GpuCalibration& c, bool tf32) {
  const cuda::ProductRate* rate = c.product(tf32 ? "tf32" : "f32");
  if (rate == nullptr) return 1;
  const double ceiling = tf32 ? rate->best : std::max(c.multiply_adds_f32, rate->best);
  return std::clamp(rate->median / ceiling, kMinGpuProfileShare, 1.0);
}

std::string note(const cuda::GpuCalibration& c) {
  std::string products;
  for (const cuda::ProductRate& rate : c.products)
    products += fmt::format("{}{} {:.4g} and {:.4g}", products.empty() ? "" : ", ", rate.name,
                            rate.best, rate.median);
  return fmt::format(
      "All figures were measured on the GPU, none is of a data sheet. Ceilings: memory by a triad "
      "beyond the cache, f64 and f32 by multiply-adds in registers. For what tensor cores multiply "
      "nothing but cuBLASLt was tried, whose quickest large product stands for the ceiling. "
      "Operations a second of its products, large and usual ones: {}. What isn't named is priced "
      "like f32.",
      products);
}

Json kernel_json(const MeasuredKernel& kernel) {
  Json json = {{"calls", kernel.calls}, {"us", kernel.micros}};
  if (kernel.workspace_bytes > 0) json["workspace_bytes"] = kernel.workspace_bytes;
  return json;
}

}  // namespace

Json gpu_profile(const GpuDescription& gpu, const cuda::GpuCalibration& c) {
  Json rates = {{"f64", c.multiply_adds_f64}, {"f32", c.multiply_adds_f32}};
  for (const cuda::ProductRate& rate : c.products)
    rates[rate.name] = rate.name == "f32" ? std::max(c.multiply_adds_f32, rate.best) : rate.best;
  Json slowdowns = Json::object();
  for (const cuda::ProductRate& rate : c.products)
    slowdowns[rate.name] = std::min(rate.unaligned_slowdown, kMaxUnalignedSlowdown);
  const bool tf32 = gpu.tf32 && rates.contains("tf32");
  return {{"name", profile_name_of_gpu(gpu.name)},
          {"title", fmt::format("{}, CUDA {}", gpu.name, gpu.driver)},
          {"source", fmt::format("Measured by recut calibrate, version {}.", version())},
          {"note", note(c)},
          {"flops_per_second", rates},
          {"f32_uses_tf32", tf32},
          {"bytes_per_second", c.triad_bytes},
          {"launch_micros", c.launch_micros},
          {"unaligned_slowdown", slowdowns},
          {"sustained", {{"products", products_share(c, tf32)}, {"memory", 1.0}}}};
}

void add_kernels(Json& profile, const GpuDescription& gpu, const cuda::GraphProfile& measured) {
  const MeasuredGraph& graph = measured.kernels;
  profile["name"] = profile_name_of_graph(gpu.name, graph.digest, gpu.tf32);
  profile["title"] =
      fmt::format("{}, with the kernels of {}", profile["title"].get<std::string>(), graph.name);
  profile["corrections"] = {{"products", measured.corrections.products},
                            {"memory", measured.corrections.memory},
                            {"launches", measured.corrections.launches}};
  Json kernels = Json::array();
  for (const MeasuredKernel& kernel : graph.kernels) kernels.push_back(kernel_json(kernel));
  profile["measured"] = {{"graph", graph.name}, {"digest", graph.digest}, {"kernels", kernels}};
}

}  // namespace recut::native
