#include "wasm/page/page.h"

#include "gui/app/link.h"
#include "wasm/page/bridge.h"

namespace recut::page {
namespace {

// A screen that doesn't settle, as while a model trains in quick steps, is told of twice a second:
// browsers take a new address a few times a second and no more.
constexpr double kLongestUntold = 0.5;  // seconds

}  // namespace

Page::Page(std::string fragment) : fragment_(std::move(fragment)) {}

void Page::start() {
  gui::AppOptions options;
  options.link = fragment_;
  app = std::make_unique<gui::App>(backend, options);
}

void Page::follow(const std::string& fragment) {
  // What the page itself wrote into the address comes back here, too.
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
  if (app->settled() || now - told_ >= kLongestUntold) {
    tell_link();
    mirror.tell(*app);
    told_ = now;
  }
  if (runner_ != nullptr) return 0;
  return app->rest().value_or(-1);
}

// Phones show their keyboard, and input methods their words, where a real field has the focus.
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
