// A hold of a button or a key: a drag, however long it rests, or a key, however often it repeats.
// All changes of the plan settings within one hold are one step to undo.
#pragma once

#include <imgui.h>

#include <cstdint>

namespace recut::gui {

class Holds {
 public:
  static constexpr int kNone = 0;

  void button(int button, bool down);
  // A key that is down already repeats. Modifiers are no holds.
  void key(ImGuiKey key, bool down);
  // Ends all holds: the window lost the focus, so it doesn't see the releases.
  void let_go();
  // A frame was drawn. `all_taken`: ImGui has seen all input, so a released key or button has had
  // its effect.
  void end_frame(bool all_taken);

  // The hold in which a command is at work now, a number that is never used twice; the pointer's
  // where a key is down, too.
  int current() const { return pointer_.number != kNone ? pointer_.number : key_.number; }

 private:
  struct Hold {
    int number = kNone;
    bool over = false;  // let go of
  };
  void begin(Hold& hold);

  Hold pointer_, key_;
  std::uint32_t buttons_ = 0;          // that are down, a bit each
  ImGuiKey held_key_ = ImGuiKey_None;  // the last one that went down
  int last_ = kNone;
};

}  // namespace recut::gui
