#include "gui/app/undo.h"

#include <algorithm>
#include <utility>

namespace recut::gui {
namespace {

constexpr std::size_t kMaxEntries = 500;

}  // namespace

int UndoStack::last_of(const std::vector<Entry>& entries, int serial) {
  for (std::size_t i = entries.size(); i-- > 0;)
    if (entries[i].serial == serial) return static_cast<int>(i);
  return -1;
}

void UndoStack::record(const DocumentView& document, const PlanSettings& before,
                       std::string_view command, int hold) {
  undone_.erase(std::remove_if(undone_.begin(), undone_.end(),
                               [&](const Entry& e) { return e.serial == document.serial; }),
                undone_.end());
  const int last = last_of(done_, document.serial);
  if (last >= 0) {
    const Entry& entry = done_[static_cast<std::size_t>(last)];
    const bool goes_on = hold != Holds::kNone && entry.hold == hold;
    if (goes_on && !command.empty() && entry.command == command) return;
  }
  done_.push_back({document.serial, before, std::string(command), hold});
  if (done_.size() > kMaxEntries) done_.erase(done_.begin());
}

bool UndoStack::swap(std::vector<Entry>& from, std::vector<Entry>& to, DocumentView& document) {
  const int last = last_of(from, document.serial);
  if (last < 0) return false;
  Entry entry = std::move(from[static_cast<std::size_t>(last)]);
  from.erase(from.begin() + last);
  std::swap(entry.plan_settings, document.plan_settings);
  entry.hold = Holds::kNone;  // the next command is a step of its own
  to.push_back(std::move(entry));
  return true;
}

bool UndoStack::undo(DocumentView& document) { return swap(done_, undone_, document); }
bool UndoStack::redo(DocumentView& document) { return swap(undone_, done_, document); }

void UndoStack::forget(int serial) {
  for (auto* entries : {&done_, &undone_})
    entries->erase(std::remove_if(entries->begin(), entries->end(),
                                  [&](const Entry& e) { return e.serial == serial; }),
                   entries->end());
}

}  // namespace recut::gui
