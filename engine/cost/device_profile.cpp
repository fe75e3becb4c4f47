#include "engine/cost/device_profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/cost/measured_kernels.h"
#include "engine/input/bytes.h"
#include "engine/input/json.h"
#include "engine/input/json_fields.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::int64_t kMaxProfileBytes = std::int64_t{1} << 26;  // with the kernels of a graph
constexpr std::size_t kMaxNameBytes = 64;
constexpr double kMaxRate = 1e24;
constexpr double kMaxLaunchMicros = 1e6;
constexpr double kMaxSlowdown = 1e3;

constexpr std::string_view kDeviceProfileKeys[] = {"name",
                                                   "title",
                                                   "source",
                                                   "note",
                                                   "flops_per_second",
                                                   "f32_uses_tf32",
                                                   "bytes_per_second",
                                                   "launch_micros",
                                                   "link",
                                                   "sustained",
                                                   "unaligned_slowdown",
                                                   "corrections",
                                                   "measured"};
constexpr std::string_view kProductKeys[] = {"f64", "f32", "tf32", "bf16", "f16",
                                             "i64", "i32", "i16",  "i8",   "u8"};
constexpr std::string_view kSlowdownKeys[] = {"f32", "tf32", "bf16", "f16"};
constexpr std::string_view kShareKeys[] = {"products", "memory"};
constexpr std::string_view kLinkKeys[] = {"bytes_per_second", "micros"};
constexpr std::string_view kCorrectionKeys[] = {"products", "memory", "launches"};

struct Range {
  double low = 0, high = 0;
};
constexpr Range kCorrectionRange{kMinCorrection, kMaxCorrection};

class ProfileReader {
 public:
  ProfileReader(std::string_view text, std::string_view file) : diagnostics_(text, file) {}

  Result<DeviceProfile> read(JsonValue root) {
    if (!root.is(JsonKind::object)) {
      diagnostics_.add(fmt::format("the file is {}, expected an object: a device profile",
                                   describe(root.kind())),
                       root);
      return diagnostics_.take();
    }
    JsonFields fields(root, "the profile", diagnostics_);
    fields.only(kDeviceProfileKeys);
    read_labels(fields);
    const Shares shares = read_shares(fields);
    read_products(fields);
    profile_.peaks.bytes_per_second = figure(fields, "bytes_per_second", {1, kMaxRate});
    profile_.peaks.launch_micros = figure(fields, "launch_micros", {0, kMaxLaunchMicros});
    read_link(fields);
    profile_.rates = profile_.peaks;
    for (double& rate : profile_.rates.flops_per_second) rate *= shares.products;
    profile_.rates.bytes_per_second *= shares.memory;
    read_slowdowns(fields);
    read_corrections(fields);
    if (const JsonValue measured = fields.find("measured", JsonKind::object, false);
        measured.present())
      profile_.measured =
          std::make_shared<const MeasuredGraph>(read_measured_graph(measured, diagnostics_));
    if (!diagnostics_.none()) return diagnostics_.take();
    return std::move(profile_);
  }

 private:
  struct Shares {
    double products = 1, memory = 1;
  };

  void read_labels(JsonFields& fields) {
    const auto name = fields.text("name", true);
    const auto fit = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_' || c == '-';
    };
    if (name && (name->empty() || name->size() > kMaxNameBytes ||
                 !std::all_of(name->begin(), name->end(), fit)))
      fields.report_error(
          fmt::format("'name' is {}, expected 1 to {} letters, digits, '.', '_', '-'", quote(*name),
                      kMaxNameBytes),
          fields.find("name"));
    profile_.name = name.value_or("");
    profile_.title = printable(fields.text("title", true).value_or(""), 200);
    profile_.source = fields.text("source", true).value_or("");
    profile_.note = fields.text("note").value_or("");
  }

  // A required number within a range; anything else is a diagnostic.
  double figure(JsonFields& fields, std::string_view key, Range range) {
    const JsonValue value = fields.find(key);
    double number = NAN;
    if (value.is(JsonKind::integer)) number = static_cast<double>(value.integer());
    if (value.is(JsonKind::real)) number = value.real();
    if (number >= range.low && number <= range.high) return number;
    const std::string found = !value.present()     ? "missing"
                              : std::isnan(number) ? std::string(describe(value.kind()))
                                                   : fmt::format("{}", number);
    fields.report_error(fmt::format("'{}' is {}, expected a number from {} to {}", key, found,
                                    range.low, range.high),
                        value);
    return range.high;
  }

  Shares read_shares(JsonFields& fields) {
    const JsonValue object = fields.find("sustained", JsonKind::object, true);
    if (!object.present()) return {};
    JsonFields shares(object, "'sustained'", diagnostics_);
    shares.only(kShareKeys);
    const Range share{0.001, 1};
    return {figure(shares, "products", share), figure(shares, "memory", share)};
  }

  void read_link(JsonFields& fields) {
    const JsonValue object = fields.find("link", JsonKind::object, false);
    if (!object.present()) return;
    JsonFields link(object, "'link'", diagnostics_);
    link.only(kLinkKeys);
    profile_.peaks.link = {figure(link, "bytes_per_second", {1, kMaxRate}),
                           figure(link, "micros", {0, kMaxLaunchMicros})};
  }

  void read_corrections(JsonFields& fields) {
    const JsonValue object = fields.find("corrections", JsonKind::object, false);
    if (!object.present()) return;
    JsonFields factors(object, "'corrections'", diagnostics_);
    factors.only(kCorrectionKeys);
    const auto read = [&](std::string_view key, double& factor) {
      if (factors.find(key).present()) factor = figure(factors, key, kCorrectionRange);
    };
    read("products", profile_.rates.corrections.products);
    read("memory", profile_.rates.corrections.memory);
    read("launches", profile_.rates.corrections.launches);
  }

  void read_products(JsonFields& fields) {
    const bool uses_tf32 = fields.boolean("f32_uses_tf32");
    profile_.f32_uses_tf32 = uses_tf32;
    const JsonValue object = fields.find("flops_per_second", JsonKind::object, true);
    if (!object.present()) return;
    JsonFields rates(object, "'flops_per_second'", diagnostics_);
    rates.only(kProductKeys);
    const Range rate{1, kMaxRate};
    const double f32 = figure(rates, "f32", rate);
    const bool has_tf32 = rates.find("tf32").present();
    if (uses_tf32 && !has_tf32)
      rates.report_error("'tf32' is missing, but 'f32_uses_tf32' is true");
    const double tf32 = has_tf32 ? figure(rates, "tf32", rate) : f32;
    profile_.peaks.flops_per_second.fill(f32);
    for (const std::string_view key : kProductKeys) {
      const auto dtype = dtype_from_short_name(key);
      if (dtype && rates.find(key).present())
        profile_.peaks.flops_of(*dtype) = figure(rates, key, rate);
    }
    if (uses_tf32) profile_.peaks.flops_of(DType::f32) = tf32;
  }

  // Read after the products: f32 has the slowdown of tf32 where `f32_uses_tf32`.
  void read_slowdowns(JsonFields& fields) {
    const JsonValue object = fields.find("unaligned_slowdown", JsonKind::object, false);
    if (!object.present()) return;
    JsonFields slowdowns(object, "'unaligned_slowdown'", diagnostics_);
    slowdowns.only(kSlowdownKeys);
    const std::string_view of_f32 = profile_.f32_uses_tf32 ? "tf32" : "f32";
    for (const std::string_view key : kSlowdownKeys) {
      if (!slowdowns.find(key).present()) continue;
      const double slowdown = figure(slowdowns, key, {1, kMaxSlowdown});
      const auto dtype = key == of_f32 ? DType::f32 : dtype_from_short_name(key);
      if (dtype && (*dtype != DType::f32 || key == of_f32))
        profile_.unaligned_slowdown[static_cast<std::size_t>(*dtype)] = slowdown;
    }
  }

  DiagnosticCollector diagnostics_;
  DeviceProfile profile_;
};

std::string builtin_names() {
  std::string names;
  for (const BuiltinProfile& builtin : builtin_profiles())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", builtin.name);
  return names;
}

}  // namespace

Result<DeviceRates> DeviceProfile::rates_of(const Graph& graph) const {
  DeviceRates known = rates;
  if (measured == nullptr || !measured->is_of(graph)) return known;
  auto kernel_times = KernelTimes::make(*measured, graph);
  if (!kernel_times) return kernel_times.diagnostics();
  known.kernel_times = std::move(*kernel_times);
  return known;
}

Result<DeviceProfile> parse_device_profile(std::string_view json_text, std::string_view file_name) {
  const auto document = parse_json(json_text, file_name);
  if (!document) return document.diagnostics();
  return read_device_profile(document->root(), json_text, file_name);
}

Result<DeviceProfile> read_device_profile(JsonValue profile, std::string_view text,
                                          std::string_view file_name) {
  return ProfileReader(text, file_name).read(profile);
}

Result<DeviceProfile> find_device(const std::string& name_or_path) {
  if (name_or_path.find_first_of("/\\.") != std::string::npos) {
    const auto text = read_file(name_or_path, kMaxProfileBytes);
    if (!text) return text.diagnostics();
    return parse_device_profile(*text, name_or_path);
  }
  for (const BuiltinProfile& builtin : builtin_profiles())
    if (builtin.name == name_or_path) return parse_device_profile(builtin.json, builtin.name);
  return error(fmt::format(
      "there is no device {}, expected one of: {}; or a profile's path, such as ./mine.json",
      quote(name_or_path), builtin_names()));
}

}  // namespace recut
