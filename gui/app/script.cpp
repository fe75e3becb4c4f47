#include "gui/app/script.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "gui/app/condition.h"

namespace recut::gui {
namespace {

using ScriptTokens = std::vector<std::string>;

struct Named {
  std::string_view name;
  ImGuiKey key;
};
constexpr Named kNamed[] = {{"Left", ImGuiKey_LeftArrow}, {"Right", ImGuiKey_RightArrow},
                            {"Up", ImGuiKey_UpArrow},     {"Down", ImGuiKey_DownArrow},
                            {"=", ImGuiKey_Equal},        {"-", ImGuiKey_Minus},
                            {",", ImGuiKey_Comma},        {"Backspace", ImGuiKey_Backspace},
                            {"Alt", ImGuiKey_LeftAlt}};

ImGuiKey key_named(std::string_view name) {
  for (const Named& named : kNamed)
    if (named.name == name) return named.key;
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END; ++key)
    if (name == ImGui::GetKeyName(static_cast<ImGuiKey>(key))) return static_cast<ImGuiKey>(key);
  return ImGuiKey_None;
}

}  // namespace

Result<std::vector<ScriptLine>> parse_script(std::string_view text, const std::string& file_name) {
  std::vector<ScriptLine> lines;
  Diagnostics faults;
  std::uint32_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    auto tokens = split_quoted(text.substr(at, end - at));
    ++number;
    at = end + 1;
    if (!tokens) faults.push_back({tokens.diagnostics().front().message, file_name, number, 0});
    if (tokens && !tokens->empty()) lines.push_back({number, std::move(*tokens)});
  }
  if (!faults.empty()) return faults;
  return lines;
}

ScriptRunner::ScriptRunner(App& app, std::vector<ScriptLine> lines, std::string file_name)
    : app_(app), lines_(std::move(lines)), file_(std::move(file_name)) {
  app_.items.keep_texts = true;
}

bool ScriptRunner::advance() {
  if (line_ >= lines_.size()) return false;
  if (beat_ == 0) {
    began_ = std::chrono::steady_clock::now();
    since_ = app_.backend.now();
  }
  const Progress progress = run_line();
  ++beat_;
  if (progress == Progress::failed) line_ = lines_.size();
  if (progress != Progress::done) return progress == Progress::more;
  ++line_;
  beat_ = 0;
  return line_ < lines_.size();
}

const std::string& ScriptRunner::word(std::size_t i) const {
  static const std::string none;
  const ScriptTokens& tokens = lines_[line_].tokens;
  return i < tokens.size() ? tokens[i] : none;
}

std::string ScriptRunner::rest(std::size_t i) const {
  std::string tokens;
  for (; i < lines_[line_].tokens.size(); ++i) tokens += (tokens.empty() ? "" : " ") + word(i);
  return tokens;
}

bool ScriptRunner::late() const {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
  return taken.count() > patience_;
}

ScriptRunner::Progress ScriptRunner::fail(std::string message) {
  failures_.push_back({std::move(message), file_, lines_[line_].number, 0});
  return Progress::failed;
}

ScriptRunner::Progress ScriptRunner::from(const Result<Done>& done) {
  return done ? Progress::done : fail(done.diagnostics().front().message);
}

// Waits for a condition: fails once the window was idle for some frames or the step is late.
ScriptRunner::Progress ScriptRunner::until(bool reached, const std::string& otherwise) {
  if (reached) return Progress::done;
  const bool at_rest = beat_ > 5 && app_.idle();
  return at_rest || late() ? fail(otherwise) : Progress::more;
}

const Item* ScriptRunner::item(const std::string& label) const {
  const Item* found = app_.items.find(label);
  return found != nullptr && found->visible() ? found : nullptr;
}

ScriptRunner::Progress ScriptRunner::run_line() {
  const std::string& verb = word(0);
  if (verb == "open") return from(app_.run("file.open", rest(1)));
  if (verb == "command") return from(app_.run(word(1), rest(2)));
  if (verb == "wait") return wait();
  if (verb == "expect") return expect();
  if (verb == "screenshot") {
    if (!app_.settled() && !late()) return Progress::more;
    return from(app_.backend.save_picture(word(1)));
  }
  if (verb == "drop") {
    app_.feed(FileGiven{word(1), std::nullopt});
    return Progress::done;
  }
  if (verb == "type" || verb == "key") return keys();
  if (verb == "drag") return drag();
  for (const char* known : {"click", "double", "right", "hover", "wheel"})
    if (verb == known) return pointer(verb);
  return fail(fmt::format("'{}' is nothing that a script can do", verb));
}

// Presses with one event a tick, as a hand would: move, down, up.
ScriptRunner::Progress ScriptRunner::pointer(const std::string& verb) {
  if (beat_ == 0) at_ = {-1, -1};
  if (at_.x < 0) {
    if (!app_.settled() && !late()) return Progress::more;  // it may be on its way elsewhere
    const Item* target = item(word(1));
    if (target == nullptr) return until(false, fmt::format("no '{}' can be seen", word(1)));
    if (!target->enabled) return fail(fmt::format("'{}' isn't enabled", word(1)));
    at_ = target->rect.centre();
    app_.feed(PointerMoved{at_.x, at_.y});
    beat_ = 1;
    return Progress::more;
  }
  if (beat_ < 4) return Progress::more;  // the widget there notices the pointer
  const int button = verb == "right" ? 1 : 0;
  const int last = verb == "double" ? 8 : 6;
  if (verb == "hover") return beat_ < 6 ? Progress::more : Progress::done;
  if (verb == "wheel") {
    if (beat_ == 4) hold(word(3), true);
    if (beat_ == 5) app_.feed(WheelTurned{0, std::strtof(word(2).c_str(), nullptr)});
    if (beat_ < 7) return Progress::more;
    hold(word(3), false);
    return Progress::done;
  }
  app_.feed(PointerButton{button, beat_ % 2 == 0});
  return beat_ + 1 < last ? Progress::more : Progress::done;
}

// Drags in ten steps, so that the window sees the positions between.
ScriptRunner::Progress ScriptRunner::drag() {
  constexpr int kSteps = 10;
  if (beat_ == 0) at_ = {-1, -1};
  if (at_.x < 0) {
    if (!app_.settled() && !late()) return Progress::more;
    const Item* target = item(word(1));
    if (target == nullptr) return until(false, fmt::format("no '{}' can be seen", word(1)));
    at_ = target->rect.centre();
    app_.feed(PointerMoved{at_.x, at_.y});
    beat_ = 1;
    return Progress::more;
  }
  if (beat_ < 4) return Progress::more;
  if (beat_ == 4) app_.feed(PointerButton{0, true});
  const int step = beat_ - 4;
  if (step >= 1 && step <= kSteps) {
    const float share = static_cast<float>(step) / kSteps * app_.scale();
    app_.feed(PointerMoved{at_.x + std::strtof(word(2).c_str(), nullptr) * share,
                           at_.y + std::strtof(word(3).c_str(), nullptr) * share});
  }
  if (step <= kSteps) return Progress::more;
  app_.feed(PointerButton{0, false});
  return Progress::done;
}

// Presses or releases the modifiers of "Ctrl+Shift+P" or "Ctrl".
void ScriptRunner::hold(const std::string& combination, bool down) {
  for (const auto& [name, mod] : {std::pair("Ctrl", ImGuiMod_Ctrl), std::pair("Alt", ImGuiMod_Alt),
                                  std::pair("Shift", ImGuiMod_Shift)})
    if (combination == name || combination.find(name + std::string("+")) != std::string::npos)
      app_.feed(KeyChanged{mod, down});
}

ScriptRunner::Progress ScriptRunner::keys() {
  if (word(0) == "type") {
    if (beat_ < 2) return Progress::more;  // a field that was asked for has the keyboard by now
    app_.feed(TextTyped{rest(1)});
    return Progress::done;
  }
  const std::string combination = word(1);
  const bool modified = combination.size() > 1 && combination.find('+') != std::string::npos;
  const ImGuiKey key =
      key_named(modified ? combination.substr(combination.rfind('+') + 1) : combination);
  if (combination.size() == 1 && beat_ == 0) app_.feed(TextTyped{combination});
  if (combination.size() == 1) return Progress::done;
  if (key == ImGuiKey_None) return fail(fmt::format("no key '{}'", combination));
  const bool down = beat_ == 0;
  hold(combination, down);
  app_.feed(KeyChanged{key, down});
  return down ? Progress::more : Progress::done;
}

ScriptRunner::Progress ScriptRunner::wait() {
  if (word(1) == "idle") {
    if (beat_ > 3 && app_.idle()) return Progress::done;
    return late() ? fail("the window didn't come to rest") : Progress::more;
  }
  const double seconds = std::strtod(word(1).c_str(), nullptr);
  return app_.backend.now() - since_ >= seconds ? Progress::done : Progress::more;
}

ScriptRunner::Progress ScriptRunner::expect() {
  const bool no = word(1) == "no" || word(1) == "not";
  const std::size_t at = no ? 2 : 1;
  const std::string &what = word(at), &name = word(at + 1);
  const ScriptTokens& tokens = lines_[line_].tokens;
  const ScriptTokens requested(
      tokens.begin() + static_cast<std::ptrdiff_t>(std::min(tokens.size(), at + 2)), tokens.end());
  if (what == "text") {
    const bool there = app_.items.find_text(name) != nullptr;
    return until(there != no, fmt::format("{} text has '{}'", no ? "a" : "no", name));
  }
  if (what == "item")
    return until((item(name) != nullptr) != no,
                 fmt::format("'{}' can{} be seen", name, no ? "" : "'t"));
  const Item* found = item(name);
  if (what == "enabled")
    return until(found != nullptr && found->enabled != no,
                 fmt::format("'{}' is{} enabled", name, no ? "" : "n't"));
  if (what == "value") {
    const std::string value = found != nullptr ? found->value : "nothing that can be seen";
    return until(found != nullptr && agrees(value, requested),
                 fmt::format("'{}' is '{}', expected {}", name, value, rest(at + 2)));
  }
  if (what != "state") return fail(fmt::format("'{}' is nothing to expect", what));
  const auto state = app_.state(name);
  if (!state) return fail(fmt::format("there is no state '{}'", name));
  return until(agrees(*state, requested),
               fmt::format("{} is '{}', expected {}", name, *state, rest(at + 2)));
}

}  // namespace recut::gui
