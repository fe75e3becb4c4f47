#include "gui/app/hold.h"

#include <initializer_list>

namespace recut::gui {

void Holds::begin(Hold& hold) { hold = {++last_, false}; }

void Holds::button(int button, bool down) {
  const std::uint32_t bit = std::uint32_t{1} << (static_cast<unsigned>(button) % 32);
  if (down && buttons_ == 0) begin(pointer_);
  buttons_ = down ? buttons_ | bit : buttons_ & ~bit;
  if (buttons_ == 0) pointer_.over = true;
}

void Holds::key(ImGuiKey key, bool down) {
  if (down && held_key_ != key) {
    begin(key_);
    held_key_ = key;
  } else if (!down && held_key_ == key) {
    key_.over = true;
    held_key_ = ImGuiKey_None;
  }
}

void Holds::let_go() {
  buttons_ = 0;
  held_key_ = ImGuiKey_None;
  pointer_.over = key_.over = true;
}

void Holds::end_frame(bool all_taken) {
  if (!all_taken) return;
  for (Hold* hold : {&pointer_, &key_})
    if (hold->over) *hold = {};
}

}  // namespace recut::gui
