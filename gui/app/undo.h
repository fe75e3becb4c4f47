// Undo and redo of a document's plan settings: each entry is the state before a command.
#pragma once

#include <string>
#include <vector>

#include "gui/app/hold.h"
#include "gui/model/document_view.h"

namespace recut::gui {

class UndoStack {
 public:
  // Records that a command changed `document`'s plan settings from `before`. Equal commands of one
  // hold (hold.h) are one step: a drag is undone in one, however long it takes. "" equals none;
  // without a hold, each command is a step of its own.
  void record(const DocumentView& document, const PlanSettings& before, std::string_view command,
              int hold);

  // Swaps the document's plan settings for those before or after; false if there are none.
  bool undo(DocumentView& document);
  bool redo(DocumentView& document);
  bool can_undo(int serial) const { return last_of(done_, serial) >= 0; }
  bool can_redo(int serial) const { return last_of(undone_, serial) >= 0; }
  void forget(int serial);

 private:
  struct Entry {
    int serial = 0;
    PlanSettings plan_settings;
    std::string command;
    int hold = Holds::kNone;
  };
  static int last_of(const std::vector<Entry>& entries, int serial);
  static bool swap(std::vector<Entry>& from, std::vector<Entry>& to, DocumentView& document);

  std::vector<Entry> done_, undone_;
};

}  // namespace recut::gui
