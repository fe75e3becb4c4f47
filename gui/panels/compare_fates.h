// The list of values that two plans treat differently: the columns of a row at any width.
#pragma once

#include "gui/draw/widgets.h"
#include "gui/model/plan_difference.h"

namespace recut::gui {

// The cells of a row, or of the titles over it.
struct FateCells {
  Rect name, here, there, bytes;
  Rect why;  // of a row of two lines; in one line it follows the name
  Rect bar;  // empty where it has no room
};

class FateColumns {
 public:
  // In pixels: the width of a row, and of the longest name; names come first. If names don't fit
  // beside the fates, or the reasons behind them, a row takes two lines.
  FateColumns(const Ui& ui, float room, float longest_name, bool why);

  bool in_two_lines() const { return two_lines_; }
  float row_height() const;
  float head_height() const;
  FateCells cells_of(Rect row) const;
  void titles(const Rect& row, bool why) const;
  // Draws both fates and the bytes; `share`: the filled part of the bar.
  void figures(const Rect& row, const FateRow& fate, double share) const;

 private:
  void fate(Rect cell, Role role, std::int32_t runs) const;

  const Ui& ui_;
  bool two_lines_ = false, bar_ = true;
};

}  // namespace recut::gui
