#include "native/commands/card_profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "engine/cost/measured_kernels.h"
#include "engine/input/bytes.h"
#include "engine/support/check.h"
#include "engine/support/version.h"
#include "native/calibrated_profile.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kCardProfileLeastShare = 0.001;  // that a profile may have
constexpr double kMostSlowdown = 1e3;             // too
constexpr std::int64_t kMostBytes = std::int64_t{1} << 20;

// Prices of cards that no profile is of.
constexpr std::string_view kUsualCard = "h100";

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

// The built-in profile whose name is in the card's: "NVIDIA H100 80GB HBM3", "h100".
const BuiltinProfile* builtin_of_card(std::string_view card) {
  const std::string name = plain(card);
  for (const BuiltinProfile& profile : builtin_profiles())
    if (name.find(plain(profile.name)) != std::string::npos) return &profile;
  return nullptr;
}

// With the rate of f32 that the libraries will have.
Result<DeviceProfile> at_precision(std::string_view text, std::string_view file, bool tf32) {
  auto profile = parse_device_profile(text, file);
  if (!profile || profile->f32_uses_tf32 == tf32) return profile;
  Json json = Json::parse(text);
  json["f32_uses_tf32"] = tf32 && json["flops_per_second"].contains("tf32");
  return parse_device_profile(json.dump(), file);
}

FoundProfile builtin(const std::string& card, bool tf32) {
  const BuiltinProfile* own = builtin_of_card(card);
  const bool known = own != nullptr;
  for (const BuiltinProfile& profile : builtin_profiles())
    if (!known && profile.name == kUsualCard) own = &profile;
  auto profile = at_precision(own->json, own->name, tf32);
  RECUT_CHECK(profile.ok(), "a built-in profile is one");
  return {std::move(*profile), known};
}

// Of the ceiling that the profile names, what usual products come to.
double products_share(const cuda::CardCalibration& c, bool tf32) {
  const cuda::ProductRate* rate = c.product(tf32 ? "tf32" : "f32");
  if (rate == nullptr) return 1;
  const double ceiling = tf32 ? rate->best : std::max(c.multiply_adds_f32, rate->best);
  return std::clamp(rate->median / ceiling, kCardProfileLeastShare, 1.0);
}

std::string note(const cuda::CardCalibration& c) {
  std::string products;
  for (const cuda::ProductRate& rate : c.products)
    products += fmt::format("{}{} {:.4g} and {:.4g}", products.empty() ? "" : ", ", rate.name,
                            rate.best, rate.median);
  return fmt::format(
      "All figures were measured on the card, none is of a data sheet. Ceilings: memory by a triad "
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

// Products of f32 run at the rate of bf16, by which convolutions are priced, too.
void price_as_bf16(DeviceProfile& profile) {
  profile.slowdown_of(DType::f32) = profile.slowdown_of(DType::bf16);
  for (DeviceRates* rates : {&profile.rates, &profile.peaks})
    rates->flops_of(DType::f32) = rates->flops_of(DType::bf16);
}

// By the rates of f32 and tf32, which profiles have.
Result<FoundProfile> find_measured(const std::string& card, const Graph* graph, bool tf32) {
  std::string path;
  if (graph != nullptr)
    path = find_profile(profile_name_of_graph(card, graph_digest(*graph), tf32));
  if (!path.empty()) {
    auto profile = find_device(path);
    if (!profile) return profile.diagnostics();
    return FoundProfile{std::move(*profile)};
  }
  path = find_profile(profile_name_of_card(card));
  if (path.empty()) return builtin(card, tf32);
  const auto text = read_file(path, kMostBytes);
  if (!text) return text.diagnostics();
  auto profile = at_precision(*text, path, tf32);
  if (!profile) return profile.diagnostics();
  return FoundProfile{std::move(*profile)};
}

}  // namespace

Json card_profile(const CardWords& card, const cuda::CardCalibration& c) {
  Json rates = {{"f64", c.multiply_adds_f64}, {"f32", c.multiply_adds_f32}};
  for (const cuda::ProductRate& rate : c.products)
    rates[rate.name] = rate.name == "f32" ? std::max(c.multiply_adds_f32, rate.best) : rate.best;
  Json slowdowns = Json::object();
  for (const cuda::ProductRate& rate : c.products)
    slowdowns[rate.name] = std::min(rate.unaligned_slowdown, kMostSlowdown);
  const bool tf32 = card.tf32 && rates.contains("tf32");
  return {{"name", profile_name_of_card(card.name)},
          {"title", fmt::format("{}, CUDA {}", card.name, card.driver)},
          {"source", fmt::format("Measured by recut calibrate, version {}.", version())},
          {"note", note(c)},
          {"flops_per_second", rates},
          {"f32_uses_tf32", tf32},
          {"bytes_per_second", c.triad_bytes},
          {"launch_micros", c.launch_micros},
          {"unaligned_slowdown", slowdowns},
          {"sustained", {{"products", products_share(c, tf32)}, {"memory", 1.0}}}};
}

void add_kernels(Json& profile, const CardWords& card, const cuda::GraphProfile& measured) {
  const MeasuredGraph& graph = measured.kernels;
  profile["name"] = profile_name_of_graph(card.name, graph.digest, card.tf32);
  profile["title"] =
      fmt::format("{}, with the kernels of {}", profile["title"].get<std::string>(), graph.name);
  profile["corrections"] = {{"products", measured.corrections.products},
                            {"memory", measured.corrections.memory},
                            {"launches", measured.corrections.launches}};
  Json kernels = Json::array();
  for (const MeasuredKernel& kernel : graph.kernels) kernels.push_back(kernel_json(kernel));
  profile["measured"] = {{"graph", graph.name}, {"digest", graph.digest}, {"kernels", kernels}};
}

Result<FoundProfile> find_card_profile(const std::string& card, const Graph* graph,
                                       cuda::Precision precision) {
  if (precision != cuda::Precision::bf16)
    return find_measured(card, graph, precision == cuda::Precision::tf32);
  auto found = find_measured(card, nullptr, false);
  if (found) price_as_bf16(found->profile);
  return found;
}

Result<FoundProfile> profile_on_card(const std::string& named, const std::string& card,
                                     const Graph* graph, cuda::Precision precision) {
  if (named.empty()) return find_card_profile(card, graph, precision);
  auto given = find_device(named);
  if (!given) return given.diagnostics();
  return FoundProfile{std::move(*given)};
}

}  // namespace recut::native
