#include "native/c_api/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <span>

#include "engine/codegen/target.h"
#include "engine/input/json_fields.h"
#include "engine/ir/dual_call.h"
#include "engine/passes/pass_runner.h"
#include "engine/support/text.h"
#include "engine/support/units.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/cost_model.h"
#include "engine/workspace/op_library.h"

// Options are JSON objects, so that new ones need no new C function. Options reads one object field
// by field into a request of the workspace. Unknown keys, wrong types and values out of range are
// collected as diagnostics with key, found and expected value; the caller gets all of them at once.
// A request is used only if sound() holds.

namespace recut::c_api {
namespace {

constexpr std::string_view kName = "options";
constexpr std::size_t kMaxJsonTextValues = 1'000'000;  // of one JSON text
constexpr double kMaxApiEffort = 1e6;
constexpr double kMaxApiSeconds = 1e9;

constexpr std::int64_t kMaxApiSize = std::int64_t{1} << 40;

constexpr std::string_view kOpenKeys[] = {"graph", "passes", "dims", "op_library"};
constexpr std::string_view kDifferentiateKeys[] = {"mode", "level", "wrt", "results", "passes"};
constexpr std::string_view kPlanKeys[] = {
    "strategy", "budget", "effort", "seconds",   "search_seed",
    "device",   "model",  "save",   "recompute", "ignore_checkpoints",
    "torch"};
constexpr std::string_view kEmitKeys[] = {"target",
                                          "strategy",
                                          "budget",
                                          "effort",
                                          "seconds",
                                          "search_seed",
                                          "device",
                                          "model",
                                          "save",
                                          "recompute",
                                          "ignore_checkpoints",
                                          "torch"};
constexpr std::string_view kSweepKeys[] = {"points", "effort", "search_seed", "device",
                                           "model",  "save",   "recompute",   "ignore_checkpoints",
                                           "torch",  "plans"};
constexpr std::string_view kMeshKeys[] = {"mesh", "preset", "placements", "rank"};
constexpr std::string_view kCallKeys[] = {"inputs", "set"};
constexpr std::string_view kFitKeys[] = {
    "graph",  "passes", "dims",   "op_library", "fit",
    "most",   "budget", "effort", "seconds",    "search_seed",
    "device", "model",  "save",   "recompute",  "ignore_checkpoints"};

// The options of one call. All errors are collected and reported at once.
class Options {
 public:
  Options(const JsonDocument& document, std::string_view text,
          std::span<const std::string_view> keys)
      : text_(text),
        diagnostics_(text, kName),
        is_object_(document.root().is(JsonKind::object)),
        fields_(document.root(), "the options", diagnostics_) {
    if (is_object_)
      fields_.only(keys);
    else
      diagnostics_.add(
          fmt::format("the options are {}, expected an object", describe(document.root().kind())));
  }

  void read(OpenOptions& open) {
    if (!is_object_) return;
    if (const auto key = fields_.text("graph")) open.graph_key = *key;
    open.passes = passes();
    read_dims(open.sizes);
    open.library = op_library();
  }

  void read(FitOptions& options) {
    if (!is_object_) return;
    read(options.open);
    read(options.planning);
    options.symbols = fields_.texts("fit");
    if (options.symbols.empty())
      report_error("fit", "expected names of symbols, such as [\"s17\"]");
    for (const std::string& symbol : options.symbols) options.open.sizes.erase(symbol);
    if (const auto bytes = parse_bytes(options.planning.budget))
      options.budget_bytes = *bytes;
    else
      report_error("budget", "expected bytes, such as '24GiB'");
    const auto most = fields_.integer("most");
    if (!most) return;
    if (*most < 1 || *most > kMaxApiSize)
      return report_error("most", fmt::format("{} found, expected 1 to {}", *most, kMaxApiSize));
    options.max_size = *most;
  }

  void read(DifferentiateOptions& options) {
    if (!is_object_) return;
    read_mode(options.request);
    if (fields_.find("wrt").present()) options.request.options.requires_grad = fields_.texts("wrt");
    if (const JsonValue results = fields_.find("results"); results.present())
      options.request.options.differentiable = positions("results", results);
    options.passes = passes();
  }

  void read(MeshRequest& request) {
    if (!is_object_) return;
    if (const auto mesh = fields_.text("mesh")) request.mesh = *mesh;
    if (request.mesh.empty()) report_error("mesh", "expected axes, such as 'dp=2,tp=4'");
    if (const auto preset = fields_.text("preset")) request.preset = *preset;
    if (const auto placements = fields_.text("placements")) request.placements = *placements;
    request.placements_name = "placements";
    request.rank = fields_.integer("rank").value_or(0);
  }

  void read(PlanningRequest& request) {
    if (!is_object_) return;
    std::vector<std::string_view> strategies;
    for (const Strategy& strategy : all_strategies()) strategies.push_back(strategy.name);
    if (const auto strategy = one_of("strategy", strategies)) request.strategy = *strategy;
    read_budget(request);
    if (const auto seconds = positive("seconds", kMaxApiSeconds)) request.limits.seconds = *seconds;
    read_search(request.limits.effort, request.limits.seed);
    read_costs(request);
    read_overrides(request.overrides);
    read_torch(request.torch);
  }

  // Steps are of the fused model where none is named, as the command's.
  void read(EmitOptions& options) {
    options.planning.cost_model = "fused";
    if (!is_object_) return;
    read(options.planning);
    std::vector<std::string_view> ids;
    for (const Target& target : targets()) ids.push_back(target.id);
    if (const auto target = one_of("target", ids)) options.target = *target;
  }

  void read(SweepOptions& options) {
    if (!is_object_) return;
    if (const auto points = fields_.integer("points")) {
      if (*points >= 2 && *points <= static_cast<std::int64_t>(kMaxCurvePoints))
        options.request.points = static_cast<std::size_t>(*points);
      else
        report_error("points", fmt::format("{} found, expected 2 to {}", *points, kMaxCurvePoints));
    }
    read_search(options.request.effort, options.request.seed);
    read_costs(options.request);
    read_overrides(options.request.overrides);
    read_torch(options.request.torch);
    options.plans = fields_.boolean("plans");
  }

  void read(CallOptions& options) {
    if (!is_object_) return;
    if (const JsonValue inputs = fields_.find("inputs", JsonKind::array, false); inputs.present())
      for (const JsonMember item : inputs.items())
        options.inputs.push_back(argument_text(item.value));
    if (const JsonValue named = fields_.find("set", JsonKind::object, false); named.present())
      for (const JsonMember member : named.items())
        options.settings.push_back(fmt::format("{}={}", member.key, argument_text(member.value)));
  }

  bool sound() const { return diagnostics_.none(); }
  Diagnostics take() { return diagnostics_.take(); }

 private:
  // An argument as the command takes it: a string is that text, other values are written out.
  static std::string argument_text(const JsonValue& value) {
    switch (value.kind()) {
      case JsonKind::null:
        return "none";
      case JsonKind::boolean:
        return value.boolean() ? "true" : "false";
      case JsonKind::integer:
        return fmt::format("{}", value.integer());
      case JsonKind::real:
        return fmt::format("{:#}", value.real());  // a point tells it from an integer
      case JsonKind::text:
        return std::string(value.text());
      case JsonKind::array: {
        std::vector<std::string> items;
        for (const JsonMember item : value.items()) items.push_back(argument_text(item.value));
        return fmt::format("[{}]", fmt::join(items, ", "));
      }
      default:
        return fmt::format("<{}>", describe(value.kind()));  // which the grammar refuses
    }
  }

  void report_error(std::string_view key, std::string_view message) {
    fields_.report_error(fmt::format("'{}': {}", key, message), fields_.find(key));
  }

  // Adds another function's diagnostics, which have no location in this text.
  void report_error(std::string_view key, const Diagnostics& diagnostics) {
    for (const Diagnostic& diagnostic : diagnostics) report_error(key, diagnostic.message);
  }

  std::optional<std::string> one_of(std::string_view key, std::span<const std::string_view> names) {
    const auto found = fields_.text(key);
    if (!found) return std::nullopt;
    for (const std::string_view name : names)
      if (name == *found) return std::string(name);
    report_error(
        key, fmt::format("{} found, expected one of: {}", quote(*found), fmt::join(names, ", ")));
    return std::nullopt;
  }

  std::optional<std::vector<std::string>> passes() {
    if (!fields_.find("passes").present()) return std::nullopt;
    const std::vector<std::string> names = fields_.texts("passes");
    if (const auto found = find_passes(names); !found) report_error("passes", found.diagnostics());
    return names;
  }

  void read_dims(Dimensions& sizes) {
    const JsonValue dims = fields_.find("dims");
    if (!dims.present()) return;
    if (!dims.is(JsonKind::object))
      return report_error("dims", "expected an object, such as {\"s17\": 64}");
    for (const JsonMember member : dims.items())
      if (member.value.is(JsonKind::integer) && member.value.integer() > 0)
        sizes.insert_or_assign(std::string(member.key), member.value.integer());
      else
        report_error("dims", fmt::format("{}: expected a size above 0", quote(member.key)));
  }

  // [{"text": "rule …"}, {"operator": "mine.scale3", "text": "graph …", "name": "scale3.recut"}]
  std::shared_ptr<const OpLibrary> op_library() {
    const JsonValue list = fields_.find("op_library");
    if (!list.present()) return nullptr;
    std::vector<OpLibrarySource> sources;
    bool sound = list.is(JsonKind::array);
    if (sound)
      for (const JsonMember item : list.items()) sound = sound && read_source(item.value, sources);
    if (!sound) {
      report_error("op_library",
                   "expected a list of objects of 'text', 'operator' and 'name', such as "
                   "[{\"text\": \"rule …\"}]");
      return nullptr;
    }
    auto library = read_op_library(sources);
    if (library) return std::move(*library);
    for (const Diagnostic& fault : library.diagnostics()) report_error("op_library", format(fault));
    return nullptr;
  }

  static bool read_source(const JsonValue& value, std::vector<OpLibrarySource>& sources) {
    OpLibrarySource source{"", fmt::format("op_library[{}]", sources.size()), ""};
    if (!value.is(JsonKind::object)) return false;
    for (const JsonMember member : value.items()) {
      std::string* field = member.key == "text"       ? &source.text
                           : member.key == "operator" ? &source.op
                           : member.key == "name"     ? &source.file
                                                      : nullptr;
      if (field == nullptr || !member.value.is(JsonKind::text)) return false;
      *field = member.value.text();
    }
    sources.push_back(std::move(source));
    return true;
  }

  std::vector<std::size_t> positions(std::string_view key, const JsonValue& list) {
    std::vector<std::size_t> found;
    bool sound = list.is(JsonKind::array);
    if (sound)
      for (const JsonMember item : list.items()) {
        sound = sound && item.value.is(JsonKind::integer) && item.value.integer() >= 0;
        if (sound) found.push_back(static_cast<std::size_t>(item.value.integer()));
      }
    if (!sound) report_error(key, "expected a list of numbers from 0 on");
    return found;
  }

  std::optional<double> positive(std::string_view key, double most) {
    const auto number = fields_.number(key);
    if (!number || (*number > 0 && *number <= most)) return number;
    report_error(key,
                 fmt::format("{} found, expected a number above 0, at most {}", *number, most));
    return std::nullopt;
  }

  void read_search(double& effort, std::uint64_t& seed) {
    if (const auto effort_given = positive("effort", kMaxApiEffort)) effort = *effort_given;
    const auto number = fields_.integer("search_seed");
    if (!number) return;
    if (*number < 0)
      return report_error("search_seed", fmt::format("{} found, expected 0 or more", *number));
    seed = static_cast<std::uint64_t>(*number);
  }

  // Levels are of forward mode, and chosen results of reverse mode.
  void read_mode(GradRequest& request) {
    constexpr std::string_view kModes[] = {"reverse", "jvp"};
    if (const auto mode = one_of("mode", kModes))
      request.mode = *mode == "jvp" ? GradMode::forward : GradMode::reverse;
    const bool forward = request.mode == GradMode::forward;
    if (forward && fields_.find("results").present())
      report_error("results", "expected mode 'reverse': mode 'jvp' gives each result its tangent");
    const auto level = fields_.integer("level");
    if (!level) return;
    if (!forward) return report_error("level", "expected mode 'jvp', which makes tangents");
    if (*level < 0 || *level > kMaxDualLevel)
      return report_error("level",
                          fmt::format("{} found, expected 0 to {}", *level, kMaxDualLevel));
    request.options.level = static_cast<int>(*level);
  }

  // The budget as users write it, or a number.
  std::optional<std::string> budget() {
    const JsonValue value = fields_.find("budget");
    if (!value.present()) return std::nullopt;
    if (value.is(JsonKind::text)) return std::string(value.text());
    if (value.is(JsonKind::integer)) return fmt::format("{}", value.integer());
    if (value.is(JsonKind::real))
      return fmt::format("{:.{}f}", value.real(),
                         value.real() == std::floor(value.real()) ? 0 : 17);
    report_error("budget", fmt::format("{} found, expected a text such as '3GiB' or a number",
                                       describe(value.kind())));
    return std::nullopt;
  }

  // A percentage needs a peak, which the planner knows later; any peak serves to check it here.
  void read_budget(PlanningRequest& request) {
    const auto effort_given = budget();
    if (!effort_given) return;
    request.budget = *effort_given;
    const auto parsed = parse_budget(*effort_given, request.strategy, std::int64_t{1} << 40);
    if (!parsed) report_error("budget", parsed.diagnostics());
  }

  template <class Request>
  void read_costs(Request& request) {
    if (const auto model = fields_.text("model")) request.cost_model = *model;
    const JsonValue device = fields_.find("device");
    if (device.is(JsonKind::object)) {
      auto profile = read_device_profile(device, text_, kName);
      if (profile)
        request.profile = std::move(*profile);
      else
        report_error("device", profile.diagnostics());
    } else if (const auto name = fields_.text("device")) {
      request.device = *name;
    }
    const bool by_name = !request.profile && request.device != kMeasuredDevice;
    if (const auto known = find_device(by_name ? request.device : std::string(kReferenceDevice));
        !known)
      report_error("device", known.diagnostics());
    if (const auto known = find_cost_model(std::string(kReferenceDevice), request.cost_model);
        !known)
      report_error("model", known.diagnostics());
  }

  // {"solver": "greedy", "ban_recompute_reductions": false, "recomputable": ["mm"]}
  void read_torch(std::vector<std::string>& settings) {
    const JsonValue object = fields_.find("torch");
    if (!object.present()) return;
    if (!object.is(JsonKind::object))
      return report_error("torch", "expected an object, such as {\"solver\": \"greedy\"}");
    for (const JsonMember member : object.items()) {
      std::string value;
      if (member.value.is(JsonKind::boolean)) value = member.value.boolean() ? "on" : "off";
      if (member.value.is(JsonKind::text)) value = member.value.text();
      if (member.value.is(JsonKind::array))
        for (const JsonMember item : member.value.items())
          value += (value.empty() ? "" : ",") +
                   (item.value.is(JsonKind::text) ? std::string(item.value.text()) : "?");
      auto setting = checked_torch_setting(member.key, value);
      if (setting)
        settings.push_back(std::move(*setting));
      else
        report_error("torch", setting.diagnostics());
    }
    if (const auto options = read_torch_options(settings); !options)
      report_error("torch", options.diagnostics());
  }

  void read_overrides(OverrideRequest& overrides) {
    overrides.save = fields_.texts("save");
    overrides.recompute = fields_.texts("recompute");
    overrides.ignore_checkpoints = fields_.boolean("ignore_checkpoints");
  }

  std::string_view text_;
  DiagnosticCollector diagnostics_;
  bool is_object_;
  JsonFields fields_;
};

template <class Request>
Result<Request> read_options(const char* json, std::span<const std::string_view> keys) {
  Request request;
  if (json == nullptr) return request;
  const std::string_view text = json;
  const auto document = parse_json(text, kName, {}, kMaxJsonTextValues);
  if (!document) return document.diagnostics();
  Options options(*document, text, keys);
  options.read(request);
  if (!options.sound()) return options.take();
  return request;
}

}  // namespace

Result<OpenOptions> read_open_options(const char* json) {
  return read_options<OpenOptions>(json, kOpenKeys);
}

Result<DifferentiateOptions> read_differentiate_options(const char* json) {
  return read_options<DifferentiateOptions>(json, kDifferentiateKeys);
}

Result<PlanningRequest> read_plan_options(const char* json) {
  return read_options<PlanningRequest>(json, kPlanKeys);
}

Result<EmitOptions> read_emit_options(const char* json) {
  return read_options<EmitOptions>(json == nullptr ? "{}" : json, kEmitKeys);
}

Result<SweepOptions> read_sweep_options(const char* json) {
  return read_options<SweepOptions>(json, kSweepKeys);
}

Result<FitOptions> read_fit_options(const char* json) {
  return read_options<FitOptions>(json == nullptr ? "{}" : json, kFitKeys);
}

Result<MeshRequest> read_mesh_options(const char* json) {
  return read_options<MeshRequest>(json == nullptr ? "{}" : json, kMeshKeys);
}

Result<CallOptions> read_call_options(const char* json) {
  return read_options<CallOptions>(json, kCallKeys);
}

}  // namespace recut::c_api
