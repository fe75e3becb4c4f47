// Functions that the page's scripts call (js/engine.js). Positions are canvas pixels, texts UTF-8.
#include <emscripten/emscripten.h>
#include <imgui_internal.h>

#include <cstdlib>
#include <new>
#include <string>

#include "gui/app/hotkey.h"
#include "wasm/page/bridge.h"
#include "wasm/page/keys.h"
#include "wasm/page/page.h"

namespace {

namespace gui = recut::gui;
using recut::Diagnostic;
using recut::page::Page;

std::unique_ptr<Page> page;

// Null before the start and after a failure: calls then do nothing.
gui::App* app() { return page ? page->app.get() : nullptr; }

void give(gui::InputEvent event) {
  if (app() != nullptr) page->backend.give(std::move(event));
}

// A text that the caller frees.
char* text_for_page(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  text.copy(copy, text.size());
  copy[text.size()] = 0;
  return copy;
}

enum Modifier { kCtrl = 1, kShift = 2, kAlt = 4 };

}  // namespace

extern "C" {

// Makes the page; 1 if there is a WebGL context to draw with.
EMSCRIPTEN_KEEPALIVE int page_prepare(const char* fragment) {
  page = std::make_unique<Page>(fragment);
  return page->backend.screen.works() ? 1 : 0;
}

EMSCRIPTEN_KEEPALIVE void page_start() { page->start(); }

// Seconds to the next tick, as Page::tick; -2 where memory has run out.
EMSCRIPTEN_KEEPALIVE double page_tick() {
  try {
    return page ? page->tick() : -1;
  } catch (const std::bad_alloc&) {
    return -2;
  }
}

EMSCRIPTEN_KEEPALIVE void page_resized(int width, int height, double scale) {
  page->backend.resize({width, height}, static_cast<float>(scale));
}

EMSCRIPTEN_KEEPALIVE void page_prefers_dark(int dark) { page->backend.prefer_dark(dark != 0); }

EMSCRIPTEN_KEEPALIVE void page_has_fingers(int fingers) { page->backend.use_fingers(fingers != 0); }

EMSCRIPTEN_KEEPALIVE void page_context(int there) {
  if (there == 0) return page->backend.screen.lose();
  page->backend.screen.restore();
  give(gui::SizeChanged{});
}

EMSCRIPTEN_KEEPALIVE void page_pointer(double x, double y, int finger) {
  give(gui::PointerMoved{static_cast<float>(x), static_cast<float>(y), finger != 0});
}
EMSCRIPTEN_KEEPALIVE void page_pointer_left() { give(gui::PointerMoved{-1e6f, -1e6f}); }
EMSCRIPTEN_KEEPALIVE void page_button(int button, int down) {
  give(gui::PointerButton{button, down != 0});
}
EMSCRIPTEN_KEEPALIVE void page_wheel(double x, double y) {
  give(gui::WheelTurned{static_cast<float>(x), static_cast<float>(y)});
}

// True if a finger that moves from here drags something; else it scrolls.
EMSCRIPTEN_KEEPALIVE int page_drags_at(double x, double y) {
  if (app() == nullptr) return 0;
  const ImVec2 at{static_cast<float>(x), static_cast<float>(y)};
  for (const gui::Item& item : app()->items.all()) {
    const bool moves = item.kind == gui::ItemKind::handle || item.kind == gui::ItemKind::slider;
    if (moves && item.enabled && item.rect.contains(at)) return 1;
  }
  return 0;
}
// Pixels that a list scrolls for one step of the wheel.
EMSCRIPTEN_KEEPALIVE double page_wheel_step() {
  return app() != nullptr ? 5.0 * ImGui::GetFontSize() : 100.0;
}

// True if the program uses the key; then the browser must not handle it.
EMSCRIPTEN_KEEPALIVE int page_key(const char* code, int down, int modifiers) {
  const ImGuiKey key = recut::page::key_of(code);
  if (app() == nullptr || key == ImGuiKey_None) return 0;
  const bool ctrl = (modifiers & kCtrl) != 0, shift = (modifiers & kShift) != 0,
             alt = (modifiers & kAlt) != 0;
  give(gui::KeyChanged{ImGuiMod_Ctrl, ctrl});
  give(gui::KeyChanged{ImGuiMod_Shift, shift});
  give(gui::KeyChanged{ImGuiMod_Alt, alt});
  give(gui::KeyChanged{key, down != 0});
  return gui::is_taken(*app(), gui::hotkey_of(key, ctrl, shift, alt)) ? 1 : 0;
}
EMSCRIPTEN_KEEPALIVE void page_text(const char* text) { give(gui::TextTyped{text}); }
EMSCRIPTEN_KEEPALIVE void page_focus(int focused) { give(gui::FocusChanged{focused != 0}); }

EMSCRIPTEN_KEEPALIVE void page_paste(const char* text) {
  if (app() == nullptr) return;
  page->backend.give_clipboard(text);
  give(gui::KeyChanged{ImGuiMod_Ctrl, true});
  for (const bool down : {true, false}) give(gui::KeyChanged{ImGuiKey_V, down});
  give(gui::KeyChanged{ImGuiMod_Ctrl, false});
}

// The caller owns the bytes.
EMSCRIPTEN_KEEPALIVE void page_file_given(const char* name, const char* bytes, std::size_t count) {
  if (app() == nullptr) return;
  page->backend.hold(name, std::string(bytes, count));
  give(gui::FileGiven{name, std::string(bytes, count)});
}
// Gives a document its file's bytes without opening it.
EMSCRIPTEN_KEEPALIVE void page_file_held(const char* name, const char* bytes, std::size_t count) {
  page->backend.hold(name, std::string(bytes, count));
}
// A file that couldn't be read, and the reason.
EMSCRIPTEN_KEEPALIVE void page_file_failed(const char* name, const char* message) {
  if (app() == nullptr) return;
  app()->open_failed(name, {Diagnostic{message, name, 0, 0}});
  host_wake();
}
EMSCRIPTEN_KEEPALIVE void page_sample_given(const char* name, const char* bytes,
                                            std::size_t count) {
  page->backend.give_sample(name, std::string(bytes, count));
}
EMSCRIPTEN_KEEPALIVE void page_sample_failed(const char* name, const char* message) {
  page->backend.give_sample(name, Diagnostic{message, std::string("sample ") + name, 0, 0});
}

// `state`: a HelperReply::State.
EMSCRIPTEN_KEEPALIVE void page_helper_reply(int request_id, int state, const char* bytes,
                                            std::size_t count) {
  page->backend.helping.give(
      {request_id, static_cast<gui::HelperReply::State>(state), std::string(bytes, count)});
}

EMSCRIPTEN_KEEPALIVE void page_say(const char* message, int fault) {
  if (app() != nullptr) app()->say(message, fault != 0);
}
EMSCRIPTEN_KEEPALIVE void page_follow(const char* fragment) { page->follow(fragment); }
EMSCRIPTEN_KEEPALIVE void page_save_workspace() {
  if (app() != nullptr) app()->save_workspace();
}

// Focus and presses of the mirror's elements.
EMSCRIPTEN_KEEPALIVE void page_item_focused(const char* label) {
  if (app() == nullptr) return;
  gui::Items& items = app()->items;
  items.focused = label;
  items.focus_visible = label[0] != 0;
  // The panel takes keys that mean something else in each panel.
  if (items.focus_visible) app()->give_focus(items.focused.substr(0, items.focused.find('/')));
  // A text field with the focus loses it when the focus moves elsewhere; the next letter is a
  // command key again.
  if (items.focus_visible && !items.active_field.empty() && items.active_field != label) {
    ImGui::ClearActiveID();
    ImGui::GetIO().WantTextInput = false;
    ImGui::GetCurrentContext()->WantTextInputNextFrame = -1;
  }
  app()->want_frames();
  host_wake();
}
EMSCRIPTEN_KEEPALIVE void page_item_pressed(const char* label) {
  const gui::Item* item = app() != nullptr ? app()->items.find(label) : nullptr;
  if (item == nullptr) return;
  if (item->kind == gui::ItemKind::field) app()->items.keyboard_for = label;
  app()->items.focused = label;
  app()->items.activate = item->kind != gui::ItemKind::field;
  app()->want_frames();
  host_wake();
}

// For tests and the console: the commands and states of scenario scripts.
EMSCRIPTEN_KEEPALIVE char* page_command(const char* id, const char* argument) {
  if (app() == nullptr) return text_for_page("not started");
  const auto done = app()->run(id, argument);
  host_wake();
  return text_for_page(done ? "" : recut::format(done.diagnostics()));
}
EMSCRIPTEN_KEEPALIVE char* page_state(const char* name) {
  return text_for_page(app() != nullptr ? app()->state(name).value_or("") : "");
}
EMSCRIPTEN_KEEPALIVE int page_idle() { return app() != nullptr && app()->idle() ? 1 : 0; }
EMSCRIPTEN_KEEPALIVE void page_play(const char* script) { page->play(script); }
EMSCRIPTEN_KEEPALIVE char* page_played() { return text_for_page(page->played()); }
// The shown plan, as `recut plan --out` writes it; "" where there is none.
EMSCRIPTEN_KEEPALIVE char* page_plan() {
  if (app() == nullptr || !app()->has_ready() || !app()->document()->shown)
    return text_for_page("");
  const gui::DocumentView& document = *app()->document();
  return text_for_page(recut::plan_file_json(document.graph(), document.shown->planned));
}
}
