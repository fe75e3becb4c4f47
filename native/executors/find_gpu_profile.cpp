#include "native/executors/find_gpu_profile.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/cost/measured_kernels.h"
#include "engine/input/bytes.h"
#include "engine/support/check.h"
#include "native/calibrated_profile.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxProfileFileBytes = std::int64_t{1} << 20;

// Prices GPUs that have no profile.
constexpr std::string_view kFallbackGpu = "h100";

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

// The built-in profile whose name is in the GPU's: "NVIDIA H100 80GB HBM3", "h100".
const BuiltinProfile* builtin_profile_of_gpu(std::string_view gpu) {
  const std::string name = plain(gpu);
  for (const BuiltinProfile& profile : builtin_profiles())
    if (name.find(plain(profile.name)) != std::string::npos) return &profile;
  return nullptr;
}

// The profile with the rate of f32 that the libraries will have.
Result<DeviceProfile> at_precision(std::string_view text, std::string_view file, bool tf32) {
  auto profile = parse_device_profile(text, file);
  if (!profile || profile->f32_uses_tf32 == tf32) return profile;
  Json json = Json::parse(text);
  json["f32_uses_tf32"] = tf32 && json["flops_per_second"].contains("tf32");
  return parse_device_profile(json.dump(), file);
}

FoundProfile builtin(const std::string& gpu, bool tf32) {
  const BuiltinProfile* own = builtin_profile_of_gpu(gpu);
  const bool known = own != nullptr;
  for (const BuiltinProfile& profile : builtin_profiles())
    if (!known && profile.name == kFallbackGpu) own = &profile;
  auto profile = at_precision(own->json, own->name, tf32);
  RECUT_CHECK(profile.ok(), "a built-in profile is one");
  return {std::move(*profile), known};
}

// Products of f32 run at the rate of bf16; convolutions are priced by it, too.
void price_as_bf16(DeviceProfile& profile) {
  profile.slowdown_of(DType::f32) = profile.slowdown_of(DType::bf16);
  for (DeviceRates* rates : {&profile.rates, &profile.peaks})
    rates->flops_of(DType::f32) = rates->flops_of(DType::bf16);
}

// By the rates of f32 and tf32, which profiles have.
Result<FoundProfile> find_measured(const std::string& gpu, const Graph* graph, bool tf32) {
  std::string path;
  if (graph != nullptr) path = find_profile(profile_name_of_graph(gpu, graph_digest(*graph), tf32));
  if (!path.empty()) {
    auto profile = find_device(path);
    if (!profile) return profile.diagnostics();
    return FoundProfile{std::move(*profile)};
  }
  path = find_profile(profile_name_of_gpu(gpu));
  if (path.empty()) return builtin(gpu, tf32);
  const auto text = read_file(path, kMaxProfileFileBytes);
  if (!text) return text.diagnostics();
  auto profile = at_precision(*text, path, tf32);
  if (!profile) return profile.diagnostics();
  return FoundProfile{std::move(*profile)};
}

}  // namespace

Result<FoundProfile> find_gpu_profile(const std::string& gpu, const Graph* graph,
                                      cuda::Precision precision) {
  if (precision != cuda::Precision::bf16)
    return find_measured(gpu, graph, precision == cuda::Precision::tf32);
  auto found = find_measured(gpu, nullptr, false);
  if (found) price_as_bf16(found->profile);
  return found;
}

Device device_of_step(const DeviceProfile& profile, cuda::Precision precision) {
  Device device = profile;
  device.runs_step = true;
  device.f32_uses_tf32 = precision != cuda::Precision::f32;
  return device;
}

Result<FoundProfile> profile_on_gpu(const std::string& named, const std::string& gpu,
                                    const Graph* graph, cuda::Precision precision) {
  if (named.empty()) return find_gpu_profile(gpu, graph, precision);
  auto given = find_device(named);
  if (!given) return given.diagnostics();
  return FoundProfile{std::move(*given)};
}

}  // namespace recut::native
