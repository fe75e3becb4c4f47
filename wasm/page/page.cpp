#include "wasm/page/page.h"

#include "gui/app/link.h"
#include "wasm/page/bridge.h"

namespace recut::page {
namespace {

// The longest delay of the address while the screen keeps changing, as in training: browsers accept
// a new address only a few times a second.
constexpr double kMaxUntoldSeconds = 0.5;  // seconds

}  // namespace

Page::Page(std::string fragment) : fragment_(std::move(fragment)) {}

void Page::start() {
  gui::AppOptions options;
  options.link = fragment_;
  app = std::make_unique<gui::App>(backend, options);
}

void Page::follow(const std::string& fragment) {
  // The page's own change of the address comes back here, too.
  if (app == nullptr || fragment == link_) return;
  const auto followed = gui::follow_link(*app, fragment);
  if (!followed) app->say(followed.diagnostics().front().message, true);
}

double Page::tick() {
  if (app == nullptr) return -1;
  advance_script();
  app->tick();
  tell_text_field();
  const double now = backend.now();
  if (app->settled() || now - told_ >= kMaxUntoldSeconds) {
    tell_link();
    mirror.tell(*app);
    told_ = now;
  }
  if (runner_ != nullptr) return 0;
  return app->rest().value_or(-1);
}

// On-screen keyboards and input methods appear where a real text input has the focus.
void Page::tell_text_field() {
  const std::string& field = app->items.active_field;
  const gui::Item* item = field.empty() ? nullptr : app->items.find(field);
  const gui::Rect rect = item != nullptr ? item->rect : gui::Rect();
  if (field == field_ && rect.left == field_rect_.left && rect.top == field_rect_.top) return;
  field_ = field;
  field_rect_ = rect;
  const double pixels = backend.scale();
  host_text_field(item != nullptr ? 1 : 0, field.c_str(), rect.left / pixels, rect.top / pixels,
                  rect.width() / pixels, rect.height() / pixels);
}

void Page::tell_link() {
  std::string link = gui::address_of(*app);
  if (link == link_) return;
  link_ = std::move(link);
  host_set_link(link_.c_str());
}

void Page::play(const std::string& text) {
  played_.clear();
  auto lines = gui::parse_script(text, "script");
  if (!lines) {
    played_ = format(lines.diagnostics());
    return;
  }
  runner_ = std::make_unique<gui::ScriptRunner>(*app, std::move(*lines), "script");
  backend.wake();
}

void Page::advance_script() {
  if (runner_ == nullptr || runner_->advance()) return;
  played_ = runner_->failures().empty() ? "passed" : format(runner_->failures());
  runner_ = nullptr;
}

std::string Page::played() const { return played_; }

}  // namespace recut::page
