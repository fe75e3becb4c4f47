// State of the text panel for a document. Jobs make the texts and their differences.
#pragma once

#include <map>
#include <optional>

#include "gui/model/document_view.h"
#include "gui/text/graph_text.h"

namespace recut::gui {

class App;

struct TextView {
  std::optional<std::size_t> base;  // the pass to compare with; none: the one before
  bool whole = false;               // nothing is folded

  // The difference; null until the first one is made.
  std::shared_ptr<const TextDifference> difference;
  std::size_t pass = 0, base_pass = 0;
  JobId job = 0;
  std::map<std::size_t, std::shared_ptr<const GraphText>> texts;  // by pass

  std::vector<TextRow> rows;
  std::vector<std::size_t> open;     // lines whose folds are open, sorted
  std::size_t change = kNoLine;      // the block of changes that was gone to last
  std::optional<std::size_t> bring;  // a line to bring into view
  NodeId followed;                   // the selection that was last brought into view

  void fold();  // makes the rows again
};

inline constexpr std::string_view kTextMemory = "text";

TextView& text_view(DocumentView& document);

// The pass that the text of `document`'s is compared with.
std::size_t base_pass(const DocumentView& document, const TextView& view);
// True if the difference is of the shown passes.
bool is_current(const DocumentView& document, const TextView& view);

// Starts the job that makes the difference, unless it is at work or done.
void prepare_text(App& app, DocumentView& document);

// Opens the folds that hold a line, and has it brought into view.
void reveal_line(TextView& view, std::size_t line);

}  // namespace recut::gui
