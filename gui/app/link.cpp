#include "gui/app/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "engine/passes/stages.h"
#include "engine/support/text.h"
#include "engine/support/utf8.h"
#include "engine/workspace/budget.h"
#include "engine/workspace/cost_model.h"
#include "gui/app/app.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

constexpr std::string_view kLinkVersion = "1";
constexpr std::size_t kLongest = 32 << 10;  // bytes: enough for any view; browsers take more
constexpr std::size_t kMaxDigits = 18;      // of a number that fits 64 bits
constexpr std::size_t kMaxRules = 4096;     // bytes of rules that a link carries
constexpr std::size_t kMaxOpen = 400;       // groups; more make a link too long to send

using Pair = std::pair<std::string, std::string>;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.~:/,").find(c) != std::string_view::npos;
}

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (is_plain(c))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

Result<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = high >= 0 ? digit_of(text[i + 2]) : -1;
    if (low < 0) return error("a '%' without two digits");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (valid_utf8(out) != out || out.find('\0') != std::string::npos)
    return error("bytes that are no UTF-8");
  return out;
}

Result<std::vector<Pair>> pairs_of(std::string_view fragment) {
  std::vector<Pair> pairs;
  for (std::size_t at = 0; at < fragment.size();) {
    const std::size_t end = std::min(fragment.find('&', at), fragment.size());
    const std::string_view one = fragment.substr(at, end - at);
    at = end + 1;
    const std::size_t cut = one.find('=');
    if (cut == std::string_view::npos) return error(quote(one) + " has no '='");
    auto value = decoded(one.substr(cut + 1));
    if (!value)
      return error(fmt::format("{} has {}", quote(one), value.diagnostics().front().message));
    pairs.emplace_back(std::string(one.substr(0, cut)), std::move(*value));
  }
  return pairs;
}

Result<std::int64_t> number_of(const std::string& name, const std::string& text) {
  const bool digits = !text.empty() && text.size() <= kMaxDigits &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) return error(fmt::format("{} is {}, expected a number", name, quote(text)));
  return std::int64_t{std::stoll(text)};
}

// The parts of a text between its commas.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Takes a link's pairs one by one, and collects damaged ones for one message.
class Reader {
 public:
  Result<Done> take(const std::string& name, const std::string& value) {
    if (name == "v" && value != kLinkVersion)
      return error(fmt::format("it is of version {}, expected {}", quote(value), kLinkVersion));
    if (name == "v") return Done{};
    if (name == "budget") return take_budget(value);
    if (name == "pass") return take_pass(value);
    if (name == "camera") return take_camera(value);
    if (name == "open") return take_open(value);
    if (name == "effort") return take_effort(value);
    if (name == "grad") return take_grad(value);
    if (name == "freeze") return take_freeze(value);
    if (name == "stages") return take_stages(value);
    if (name == "checkpoints") return take_checkpoints(value);
    if (name == "train") return take_optimizer(value);
    if (name == "dim") return take_dimension(value);
    if (name == "torch") return take_torch(value);
    if (name == "mesh") return take_mesh(value);
    if (name == "theme" && value != "dark" && value != "light")
      return error(fmt::format("the theme is {}, expected dark or light", quote(value)));
    std::string* text = text_of(name);
    if (text == nullptr) return error(fmt::format("it says {}, which is nothing", quote(name)));
    *text = value;
    return Done{};
  }

  LinkState state;

 private:
  // Takes a budget in bytes: a link knows no peak for a percentage.
  Result<Done> take_budget(const std::string& value) {
    if (value.ends_with('%'))
      return error(fmt::format("the budget is {}, expected bytes or none", quote(value)));
    const auto budget = parse_budget(value, "peak", 0);
    if (!budget) return budget.diagnostics();
    if (const auto* bytes = std::get_if<PeakBytes>(&*budget))
      state.plan_settings.budget_bytes = bytes->value;
    return Done{};
  }

  Result<Done> take_effort(const std::string& value) {
    const auto effort = read_effort(value);
    if (!effort) return effort.diagnostics();
    state.plan_settings.effort = *effort;
    return Done{};
  }

  Result<Done> take_checkpoints(const std::string& value) {
    if (value != "0") return error(fmt::format("checkpoints is {}, expected 0", quote(value)));
    state.plan_settings.overrides.ignore_checkpoints = true;
    return Done{};
  }

  Result<Done> take_grad(const std::string& value) {
    if (value != "1" && value != "jvp")
      return error(fmt::format("grad is {}, expected 1 or jvp", quote(value)));
    state.plan_settings.transforms.differentiate =
        value == "jvp" ? GradMode::forward : GradMode::reverse;
    return Done{};
  }

  Result<Done> take_freeze(const std::string& value) {
    if (value != "1") return error(fmt::format("freeze is {}, expected 1", quote(value)));
    state.plan_settings.transforms.freeze = true;
    return Done{};
  }

  Result<Done> take_stages(const std::string& value) {
    auto stages = parse_stages(value);
    if (!stages) return stages.diagnostics();
    state.plan_settings.transforms.set_stages(std::move(*stages));
    return Done{};
  }

  Result<Done> take_optimizer(const std::string& value) {
    const std::vector<std::string> parts = parts_of(value);
    if (parts.size() != 2)
      return error(fmt::format("train is {}, expected optimiser,learning rate", quote(value)));
    auto choice = read_optimizer(parts[0], parts[1]);
    if (!choice) return choice.diagnostics();
    state.plan_settings.transforms.optimizer = std::move(*choice);
    return Done{};
  }

  Result<Done> take_dimension(const std::string& value) {
    const auto read = read_dimensions(value);
    if (!read) return read.diagnostics();
    for (const auto& [name, size] : *read) state.plan_settings.transforms.dimensions[name] = size;
    return Done{};
  }

  Result<Done> take_mesh(const std::string& value) {
    auto mesh = read_mesh(value);
    if (!mesh) return mesh.diagnostics();
    state.plan_settings.transforms.mesh = std::move(*mesh);
    return Done{};
  }

  Result<Done> take_torch(const std::string& value) {
    auto settings = with_torch_setting(state.plan_settings.torch, value);
    if (!settings) return settings.diagnostics();
    state.plan_settings.torch = std::move(*settings);
    return Done{};
  }

  Result<Done> take_pass(const std::string& value) {
    const auto pass = number_of("the pass", value);
    if (!pass) return pass.diagnostics();
    state.pass = static_cast<std::size_t>(std::min<std::int64_t>(*pass, 1 << 20));
    return Done{};
  }

  Result<Done> take_camera(const std::string& value) {
    std::vector<double> numbers;
    for (const std::string& part : parts_of(value)) {
      char* end = nullptr;
      numbers.push_back(std::strtod(part.c_str(), &end));
      if (part.empty() || *end != '\0' || !std::isfinite(numbers.back())) numbers.clear();
    }
    if (numbers.size() != 3)
      return error(fmt::format("the camera is {}, expected x,y,zoom", quote(value)));
    state.view.camera = SavedView::Camera{numbers[0], numbers[1], numbers[2]};
    return Done{};
  }

  Result<Done> take_open(const std::string& value) {
    state.view.open.emplace();
    if (value.empty()) return Done{};
    for (const std::string& part : parts_of(value)) {
      const bool digits = !part.empty() && part.size() <= 16 &&
                          part.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (!digits) return error(fmt::format("an open group is {}", quote(part)));
      state.view.open->push_back(std::strtoull(part.c_str(), nullptr, 16));
    }
    return Done{};
  }

  std::string* text_of(const std::string& name) {
    OverrideRequest& overrides = state.plan_settings.overrides;
    if (name == "save") return &overrides.save.emplace_back();
    if (name == "again") return &overrides.recompute.emplace_back();
    TransformSettings& transforms = state.plan_settings.transforms;
    if (name == "on") return &transforms.on.emplace_back();
    if (name == "off") return &transforms.off.emplace_back();
    if (name == "graph") return &transforms.graph;
    if (name == "rules") return &transforms.rules.emplace().path;
    if (name == "rule-text" && transforms.rules) return &transforms.rules->text;
    const std::pair<std::string_view, std::string*> texts[] = {
        {"sample", &state.sample},
        {"file", &state.file},
        {"device", &state.plan_settings.device},
        {"model", &state.plan_settings.cost_model},
        {"select", &state.selected},
        {"theme", &state.theme}};
    for (const auto& [known, text] : texts)
      if (known == name) return text;
    return nullptr;
  }
};

void want(DocumentView& document, const LinkState& state) {
  restore(document, {document.path, state.plan_settings, state.selected, state.pass, state.view});
  document.chose_budget = true;
}

Result<Done> check(const LinkState& state) {
  const auto costs = find_cost_model(state.plan_settings.device, state.plan_settings.cost_model);
  if (!costs) return error("This link can't be followed: " + costs.diagnostics().front().message);
  TransformSettings rules;
  rules.rules = state.plan_settings.transforms.rules;
  if (const auto read = options_of(rules); !read)
    return error("This link's rules are damaged: " + format(read.diagnostics().front()));
  return Done{};
}

// The open document of that name, or null: a link has only the name of a file.
const DocumentView* named(const App& app, const std::string& path) {
  if (is_sample(path)) return app.documents.find_path(path);
  for (const auto& document : app.documents.all())
    if (!is_sample(document->path) && file_name(document->path) == path) return document.get();
  return nullptr;
}

// Drops rules whose text the link doesn't have.
void drop_unknown_rules(App& app, LinkState& state) {
  std::optional<RuleFile>& rules = state.plan_settings.transforms.rules;
  if (!rules || !rules->text.empty()) return;
  app.say(fmt::format("This link runs the rules of {}, a file of its author's: open it yourself",
                      quote(rules->path)));
  rules.reset();
}

}  // namespace

bool LinkState::operator==(const LinkState& other) const {
  return sample == other.sample && file == other.file && plan_settings == other.plan_settings &&
         selected == other.selected && pass == other.pass && view == other.view &&
         theme == other.theme;
}

std::string write_link(const LinkState& state) {
  const PlanSettings usual;
  std::string link = fmt::format("v={}", kLinkVersion);
  const auto add = [&](std::string_view name, std::string_view value) {
    link += fmt::format("&{}={}", name, encoded(value));
  };
  if (!state.sample.empty()) add("sample", state.sample);
  if (!state.file.empty()) add("file", state.file);
  if (!state.sample.empty() || !state.file.empty()) {
    const std::int64_t budget = state.plan_settings.budget_bytes;
    add("budget", budget == 0 ? "none" : fmt::format("{}", budget));
  }
  if (state.plan_settings.device != usual.device) add("device", state.plan_settings.device);
  if (state.plan_settings.cost_model != usual.cost_model)
    add("model", state.plan_settings.cost_model);
  if (state.plan_settings.effort != usual.effort)
    add("effort", fmt::format("{}", state.plan_settings.effort));
  for (const std::string& name : state.plan_settings.overrides.save) add("save", name);
  for (const std::string& name : state.plan_settings.overrides.recompute) add("again", name);
  if (state.plan_settings.overrides.ignore_checkpoints) add("checkpoints", "0");
  for (const std::string& setting : state.plan_settings.torch) add("torch", setting);
  const TransformSettings& transforms = state.plan_settings.transforms;
  if (const auto mode = transforms.differentiate)
    add("grad", mode == GradMode::forward ? "jvp" : "1");
  if (transforms.freeze) add("freeze", "1");
  if (!transforms.stages.empty()) add("stages", stages_text(transforms.stages));
  if (const auto& optimizer = transforms.optimizer)
    add("train", fmt::format("{},{}", optimizer->name, optimizer->learning_rate));
  for (const auto& [name, size] : transforms.dimensions)
    add("dim", fmt::format("{}={}", name, size));
  if (!transforms.graph.empty()) add("graph", transforms.graph);
  if (transforms.mesh) add("mesh", write_mesh(*transforms.mesh));
  for (const std::string& name : transforms.on) add("on", name);
  for (const std::string& name : transforms.off) add("off", name);
  if (transforms.rules) add("rules", file_name(transforms.rules->path));
  if (transforms.rules && transforms.rules->text.size() <= kMaxRules)
    add("rule-text", transforms.rules->text);
  if (!state.selected.empty()) add("select", state.selected);
  if (state.pass) add("pass", fmt::format("{}", *state.pass));
  if (const auto& camera = state.view.camera)
    add("camera", fmt::format("{:.1f},{:.1f},{:.4g}", camera->x, camera->y, camera->zoom));
  if (state.view.open && state.view.open->size() <= kMaxOpen)
    add("open", fmt::format("{:x}", fmt::join(*state.view.open, ",")));
  if (!state.theme.empty()) add("theme", state.theme);
  return link;
}

Result<LinkState> read_link(std::string_view fragment) {
  const auto fault = [](std::string_view text) {
    return error(fmt::format("This link is damaged: {}", text));
  };
  if (fragment.size() > kLongest) return fault("it is too long");
  const auto pairs = pairs_of(fragment);
  if (!pairs) return fault(pairs.diagnostics().front().message);
  if (pairs->empty() || pairs->front().first != "v") return fault("it doesn't begin with v=");
  Reader reader;
  for (const auto& [name, value] : *pairs) {
    const auto taken = reader.take(name, value);
    if (!taken) return fault(taken.diagnostics().front().message);
  }
  TransformSettings& transforms = reader.state.plan_settings.transforms;
  if (transforms.freeze && (transforms.differentiate || transforms.optimizer))
    return fault("it says freeze with grad or train, expected one of them");
  transforms.use_current_pass_names();
  return std::move(reader.state);
}

LinkState link_of(const App& app) {
  LinkState state;
  const std::string theme = app.settings.text("theme", "system");
  if (theme != "system") state.theme = theme;
  const DocumentView* front = app.document();
  if (front == nullptr || front->path.empty()) return state;
  const bool sample = is_sample(front->path);
  (sample ? state.sample : state.file) = sample ? sample_name(front->path) : file_name(front->path);
  const SavedDocument saved = saved_of(*front);
  state.plan_settings = saved.plan_settings;
  state.selected = saved.selected;
  state.pass = saved.pass;
  state.view = saved.view;
  return state;
}

std::string address_of(const App& app) {
  const DocumentView* front = app.document();
  const bool came = front != nullptr && !front->is_ready() && !front->link.empty();
  return came ? front->link : write_link(link_of(app));
}

Result<Done> follow_link(App& app, std::string_view fragment) {
  auto state = read_link(fragment);
  if (!state) return state.diagnostics();
  const auto good = check(*state);
  if (!good) return good.diagnostics();
  if (!state->theme.empty()) app.settings.set("theme", state->theme);
  drop_unknown_rules(app, *state);
  app.want_frames();
  const bool sample = !state->sample.empty();
  if (!sample && state->file.empty()) return Done{};
  // An open document is opened again, so that settings without a pair in the link have their
  // defaults.
  std::string path = sample ? sample_path(state->sample) : state->file;
  std::shared_ptr<const std::string> bytes;
  if (const DocumentView* before = named(app, path)) {
    path = before->path;
    bytes = before->bytes;
    app.close_document(before->serial);
  }
  DocumentView& document = app.documents.add(path, bytes);
  want(document, *state);
  document.link = fragment;
  if (sample || bytes)
    app.planner.open(document);
  else
    document.state = DocumentState::waiting;
  return Done{};
}

void show_bad_link(App& app, std::string_view fragment, const Diagnostics& why) {
  app.want_frames();
  DocumentView& document = app.documents.add("", nullptr);
  document.title = "A link";
  document.state = DocumentState::failed;
  document.link = fragment;
  document.fault.diagnostics = why;
  document.fault.lines.resize(why.size());
}

}  // namespace recut::gui
