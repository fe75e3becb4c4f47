// The page's one window, and the work around its ticks.
#pragma once

#include <memory>
#include <string>

#include "gui/app/app.h"
#include "gui/app/script.h"
#include "wasm/page/mirror.h"
#include "wasm/page/page_backend.h"

namespace recut::page {

class Page {
 public:
  // `fragment`: of the address, without '#'; "" for none.
  explicit Page(std::string fragment);

  void start();  // once the canvas has its size
  // Seconds until the next due tick: 0 for the next frame; below 0: never.
  double tick();
  void follow(const std::string& fragment);

  // Plays a scenario (gui/app/script.h) from the next tick on.
  void play(const std::string& text);
  // The scenario's result: "" while it plays, then "passed" or the failure.
  std::string played() const;

  PageBackend backend;
  std::unique_ptr<gui::App> app;  // null before start()
  Mirror mirror;

 private:
  void advance_script();
  void tell_text_field();
  void tell_link();

  std::string fragment_, link_;
  double told_ = 0;  // when the address and the mirror were last updated
  std::unique_ptr<gui::ScriptRunner> runner_;
  std::string played_;
  std::string field_;
  gui::Rect field_rect_;
};

}  // namespace recut::page
