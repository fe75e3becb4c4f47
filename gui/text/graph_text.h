// A graph's text form line by line, and the difference between two passes' texts, as rows to draw.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph.h"
#include "gui/text/line_difference.h"

namespace recut::gui {

struct GraphText {
  std::vector<std::string> lines;
  std::vector<NodeId> nodes;  // the node of each line; invalid for braces, outputs and aliases

  // The line of a node; lines.size() if it has none.
  std::size_t line_of(NodeId id) const;

  std::unordered_map<std::uint32_t, std::size_t> line_by_node;  // by node id; looked up only
};
std::shared_ptr<const GraphText> text_of(const Graph& graph);

inline constexpr std::size_t kNoLine = static_cast<std::size_t>(-1);

struct DiffLine {
  Edit edit = Edit::same;
  // Lines of the two texts; of a removed or added one: where it would stand in the other.
  std::size_t before = 0, after = 0;
  std::size_t partner = kNoLine;  // of a removed line, the added one of the same node; and back
};

struct TextDifference {
  std::shared_ptr<const GraphText> before, after;
  std::vector<DiffLine> lines;
  std::vector<std::size_t> changes;  // where a block of changed lines begins, into `lines`
  std::size_t removed = 0, added = 0;

  const std::string& text(const DiffLine& line) const;
  NodeId node(const DiffLine& line) const;
  // The line of a node in `after`, else its removed line; lines.size() if there is none.
  std::size_t line_of(NodeId id) const;
};
TextDifference difference_of(std::shared_ptr<const GraphText> before,
                             std::shared_ptr<const GraphText> after);

// The rows that are drawn: lines, and folds of `count` unchanged lines.
struct TextRow {
  std::size_t first = 0;  // into TextDifference::lines
  std::size_t count = 1;
  bool fold = false;
};

// Unchanged runs are folded but for `context` lines beside each change. Runs that hold a line of
// `open` (sorted) are not folded.
std::vector<TextRow> folded_rows(const TextDifference& difference, std::size_t context,
                                 const std::vector<std::size_t>& open);
// Every line by itself.
std::vector<TextRow> all_rows(const TextDifference& difference);

// The row that shows a line; rows.size() where there are none.
std::size_t row_of(const std::vector<TextRow>& rows, std::size_t line);

// The number of bytes at the beginning and at the end that two lines share, cut between letters:
// the rest is the change.
struct Shared {
  std::size_t front = 0, back = 0;
};
Shared shared_part(std::string_view before, std::string_view after);

// The rows as a patch: "-", "+" or " " before each line of the rows, and "@@ 12 lines @@" for a
// fold.
std::string patch_text(const TextDifference& difference, const std::vector<TextRow>& rows);

}  // namespace recut::gui
