#include "gui/app/app.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/passes/rule_pass.h"
#include "engine/support/units.h"
#include "gui/app/check_view.h"
#include "gui/app/link.h"
#include "gui/app/measured_view.h"
#include "gui/app/torch_plans.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

constexpr int kFramesAfterChange = 3;  // hovering, opening and fading settle within these
constexpr double kNoticeSeconds = 6;
constexpr double kSaveDelay = 1;        // seconds after a change
constexpr double kBesideFrame = 0.015;  // seconds of work; after more, the next tick draws

// True for a file of tensors, on which the shown plan runs; it holds no graph.
bool is_tensors(const std::string& path) {
  constexpr std::string_view ending = ".safetensors";
  return path.size() > ending.size() &&
         path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

// True for input that is not just a move of the pointer.
bool is_meant(const InputEvent& event) { return !std::holds_alternative<PointerMoved>(event); }

}  // namespace

App::App(Backend& backend, AppOptions options)
    : backend(backend),
      jobs(
          options.threads && backend.has_threads(), [&backend] { backend.wake(); },
          backend.helper()),
      planner(backend, jobs,
              {[this](int serial) { return documents.find(serial); },
               [this](const std::string& text, bool fault) { say(text, fault); },
               [this](const DocumentView& opened) { choose_graph(opened); }}),
      panels(registered_panels()),
      options_(std::move(options)) {
  context_ = ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // the workspace file keeps the window's settings
  io.LogFilename = nullptr;
  io.ConfigInputTextCursorBlink = false;  // a blinking caret would draw for ever
  io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors | ImGuiBackendFlags_RendererHasVtxOffset;
  io.UserData = this;
  io.SetClipboardTextFn = [](void* app, const char* text) {
    static_cast<App*>(app)->backend.set_clipboard(text);
  };
  io.GetClipboardTextFn = [](void* app) {
    static std::string held;
    held = static_cast<App*>(app)->backend.clipboard();
    return held.c_str();
  };
  io.ClipboardUserData = this;
  open_first();
}

// Opens the requested files; else the workspace as it was left; else, at the first start, a sample.
void App::open_first() {
  const bool requested = !options_.files.empty() || !options_.link.empty();
  bool restored = options_.restore && restore_workspace(!requested);
  for (const std::string& path : options_.files) {
    open(path);
    if (!options_.rules.empty()) open_rules(options_.rules, nullptr);
  }
  if (!options_.link.empty()) {
    const auto followed = follow_link(*this, options_.link);
    if (!followed) {
      restored = options_.restore && restore_workspace(true);
      show_bad_link(*this, options_.link, followed.diagnostics());
    }
  }
  const std::vector<std::string> samples = backend.samples();
  if (options_.welcome && !restored && documents.all().empty() && !samples.empty()) {
    open(sample_path(samples.front()));
    first_screen = true;
  }
}

App::~App() {
  if (options_.remember) save_workspace();
  jobs.cancel_all();
  ImGui::SetCurrentContext(context_);
  backend.end_drawing();
  ImGui::DestroyContext(context_);
}

bool App::tick() {
  ImGui::SetCurrentContext(context_);
  std::vector<InputEvent> events = std::exchange(waiting_, {});
  for (const auto& more : {backend.take_input(), std::exchange(fed_, {})})
    events.insert(events.end(), more.begin(), more.end());
  if (!events.empty()) {
    answers_ |= std::any_of(events.begin(), events.end(), is_meant);
    take(std::move(events));
    want_frames();
  }
  const double began = backend.now();
  end_first_screen();
  if (jobs.deliver()) want_frames();
  for (const auto& document : documents.all()) planner.tick(*document);
  if (lessons.tick(*this)) want_frames();
  const double now = backend.now();
  save_when_due();
  if (hint_due_ >= 0 && now >= hint_due_) {
    hint_due_ = -1;
    want_frames();
  }
  const auto over = std::remove_if(notices.begin(), notices.end(),
                                   [&](const Notice& notice) { return notice.until <= now; });
  if (over != notices.end()) want_frames();
  notices.erase(over, notices.end());
  const bool drew = draw_what_is_owed(began);
  // The first frame after a change shows it; the others let it settle.
  jobs.let_measure(frames_owed_ < kFramesAfterChange);
  return drew;
}

bool App::draw_what_is_owed(double began) {
  if (frames_owed_ == 0 && !motion.moving()) return false;
  if (waits_for_times()) return false;
  if (backend.now() - began > kBesideFrame && !std::exchange(put_off_, true)) return false;
  put_off_ = false;
  frames_owed_ = std::max(0, frames_owed_ - 1);
  answers_ = false;
  frame();
  show_title();
  return true;
}

void App::show_title() {
  const DocumentView* front = document();
  backend.set_title(front != nullptr ? front->title + " · Recut" : "Recut");
}

// Saves soon after a change, not only at the end, so that a crash loses little.
void App::save_when_due() {
  if (settings.changes() != seen_changes_ && save_due_ < 0) save_due_ = backend.now() + kSaveDelay;
  seen_changes_ = settings.changes();
  if (save_due_ < 0 || backend.now() < save_due_) return;
  save_due_ = -1;
  if (options_.remember) save_workspace();
}

std::optional<double> App::rest() const {
  if ((frames_owed_ > 0 || motion.moving()) && !waits_for_times()) return 0;
  std::optional<double> next;
  const auto at = [&](double when) {
    const double left = std::max(0.0, when - backend.now());
    next = next ? std::min(*next, left) : left;
  };
  if (hint_due_ >= 0) at(hint_due_);
  if (save_due_ >= 0) at(save_due_);
  for (const Notice& notice : notices) at(notice.until);
  for (const auto& document : documents.all())
    if (document->plan_due >= 0) at(document->plan_due);
  if (!jobs.resting()) return 0;
  return next;
}

void App::feed(InputEvent event) { fed_.push_back(std::move(event)); }

void App::want_frames() { frames_owed_ = kFramesAfterChange; }

Result<Done> App::run(std::string_view id, std::string_view argument) {
  if (save_due_ < 0) save_due_ = backend.now() + kSaveDelay;
  const Command* command = find_command(id);
  if (command == nullptr) return error("no command '" + std::string(id) + "'");
  if (command->enabled != nullptr && !command->enabled(*this))
    return error("'" + std::string(command->title) + "' isn't possible now");
  want_frames();
  return track(id, [&] { return command->run(*this, argument); });
}

// Runs `work`; the changes that it makes to the plan settings can be undone, and start planning. Of
// commands that run others, the outermost one is undone.
Result<Done> App::track(std::string_view id, const std::function<Result<Done>()>& work) {
  if (tracking_) return work();
  const DocumentView* front = document();
  const int serial = front != nullptr ? front->serial : 0;
  const PlanSettings before = front != nullptr ? front->plan_settings : PlanSettings();
  tracking_ = true;
  Result<Done> done = work();
  tracking_ = false;
  DocumentView* after = documents.find(serial);
  if (after == nullptr || after->plan_settings == before) return done;
  // Changed transform settings are a step of their own, and say nothing of the budget.
  PlanSettings others = before;
  others.transforms = after->plan_settings.transforms;
  const std::string_view step = others == before ? id : std::string_view();
  if (id != "edit.undo" && id != "edit.redo")
    history.record(*after, before, step, holds_.current());
  if (!(after->plan_settings == others)) after->chose_budget = true;
  planner.plan_settings_changed(*after, before);
  renew_torch_baseline(*this, *after);
  return done;
}

bool App::undo(bool redo) {
  DocumentView* front = document();
  if (front == nullptr) return false;
  return redo ? history.redo(*front) : history.undo(*front);
}

void App::open(const std::string& path, std::shared_ptr<const std::string> bytes) {
  want_frames();
  if (is_tensors(path) && has_ready() && document()->shown) {
    start_check(*this, *document(), {path, std::move(bytes)});
    (void)run("panel.show", "check");
    return;
  }
  if (is_rules_name(path)) return open_rules(path, bytes);
  if (is_snapshot(*this, path, bytes)) return open_measured(path, std::move(bytes));
  if (save_due_ < 0) save_due_ = backend.now() + kSaveDelay;
  if (DocumentView* lacking = documents.find_lacking(path)) {
    lacking->path = path;
    lacking->bytes = std::move(bytes);
    documents.remember(path);
    documents.show(lacking->serial);
    return planner.open(*lacking);
  }
  const DocumentView* open_already = bytes ? nullptr : documents.find_path(path);
  if (open_already != nullptr) return documents.show(open_already->serial);
  if (!is_pasted(path)) documents.remember(path);
  DocumentView& document = documents.add(path, std::move(bytes));
  document.plan_settings.effort = options_.effort;
  if (awaited_rules)
    document.plan_settings.transforms.rules = std::exchange(awaited_rules, std::nullopt);
  planner.open(document);
}

void App::open_measured(const std::string& path, std::shared_ptr<const std::string> bytes) {
  if (!has_ready() || !document()->shown)
    return say(fmt::format("{} is a memory snapshot: open its model's graph, then this file again",
                           file_name(path)),
               true);
  open_snapshot(*this, *document(), path, std::move(bytes));
  (void)run("panel.show", "memory");
}

void App::open_failed(const std::string& path, Diagnostics why) {
  want_frames();
  DocumentView* lacking = documents.find_lacking(path);
  DocumentView& document = lacking != nullptr ? *lacking : documents.add(path, nullptr);
  document.state = DocumentState::failed;
  document.fault = explain_fault(backend, path, nullptr, std::move(why));
  documents.show(document.serial);
}

// Over the file's first choice, which opens meanwhile.
void App::choose_graph(const DocumentView& opened) {
  if (&opened == document() && overlay.empty() && !first_screen) overlay = "graphs";
}

void App::open_rules(const std::string& path, const std::shared_ptr<const std::string>& bytes) {
  const auto loaded = track("rules.load", [&] { return load_rules(path, bytes); });
  if (!loaded) say(loaded.diagnostics().front().message, true);
}

Result<Done> App::load_rules(const std::string& path,
                             const std::shared_ptr<const std::string>& bytes) {
  const Result<std::string> text = bytes ? Result<std::string>(*bytes) : backend.read(path);
  if (!text) return text.diagnostics();
  if (text->size() > kMaxRuleBytes)
    return error(fmt::format("{} holds more than the {} of rules that the window keeps", path,
                             format_bytes(kMaxRuleBytes)));
  DocumentView* front = document();
  TransformSettings transforms =
      front != nullptr ? front->plan_settings.transforms : TransformSettings();
  transforms.rules = RuleFile{path, *text};
  std::erase(transforms.off, kRulesPass);
  const auto good = options_of(transforms);
  if (front != nullptr) front->transform_faults = good ? Diagnostics() : good.diagnostics();
  if (!good) return error(format(good.diagnostics().front()));
  want_frames();
  if (front != nullptr) {
    front->plan_settings.transforms = std::move(transforms);
  } else {
    awaited_rules = std::move(transforms.rules);
    say(fmt::format("{} waits for a graph to be opened", file_name(path)));
  }
  return Done{};
}

void App::close_document(int serial) {
  jobs.cancel_owned_by(serial);
  history.forget(serial);
  documents.close(serial);
}

void App::say(std::string text, bool fault) {
  want_frames();
  const double until = backend.now() + kNoticeSeconds * (fault ? 2 : 1);
  for (Notice& notice : notices)
    if (notice.text == text) {
      notice.until = until;
      return;
    }
  notices.push_back({std::move(text), fault, until});
}

void App::note_outcome(const std::string& command, const Result<Done>& done) {
  if (std::erase_if(notices, [&](const Notice& n) { return n.command == command; }) > 0)
    want_frames();
  if (done) return;
  const std::string& text = done.diagnostics().front().message;
  say(text, true);
  for (Notice& notice : notices)
    if (notice.text == text) notice.command = command;
}

bool App::has_ready() const {
  const DocumentView* front = document();
  return front != nullptr && front->is_ready();
}

WindowState App::window_state() const {
  const DocumentView* front = document();
  if (front == nullptr) return WindowState::none;
  const bool stuck =
      front->state == DocumentState::failed || front->state == DocumentState::waiting;
  if (stuck) return WindowState::stuck;
  return first_screen ? WindowState::first : WindowState::open;
}

// The other panels come in once a budget was chosen and let go of, by pointer or keyboard, or
// anything else is looked at.
// After its sample is closed the next graph is the user's own.
void App::end_first_screen() {
  if (!first_screen) return;
  const DocumentView* front = document();
  const bool closed = front == nullptr;
  const bool held = ImGui::IsMouseDown(ImGuiMouseButton_Left) || items.keys_are_taken();
  const bool chosen = !closed && front->chose_budget && !held;
  const bool elsewhere = closed || documents.all().size() > 1 || lessons.lesson() != nullptr ||
                         front->selection.node.valid() || !front->search.text.empty();
  if (!chosen && !elsewhere) return;
  first_screen = false;
  want_frames();
}

bool App::is_dark() const {
  const std::string theme = settings.text("theme", "system");
  return theme == "system" ? backend.prefers_dark() : theme == "dark";
}

const Theme& App::theme() const { return is_dark() ? kDark : kLight; }

float App::scale() const {
  const double own = std::clamp(settings.number("scale", 1), 0.5, 4.0);
  return static_cast<float>(std::clamp(backend.scale() * own, 0.5, 6.0));
}

bool App::idle() const {
  if (!jobs.idle() || motion.moving() || !fed_.empty() || !waiting_.empty() || frames_owed_ > 0)
    return false;
  return std::all_of(documents.all().begin(), documents.all().end(), [](const auto& document) {
    return document->plan_due < 0 && !document->awaited;
  });
}

}  // namespace recut::gui
