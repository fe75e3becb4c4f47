// The text form of a graph with the node of each line, and the difference of two such texts as
// rows: removed, added and equal lines, with long equal runs folded. Removed and added lines of one
// node name are partners, so that the panel marks the changed part within the line. The difference
// itself is Myers' (line_difference.h). Cost: O(lines) besides that.
#include "gui/text/graph_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/printer.h"

namespace recut::gui {
namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& lines) {
  return {lines.begin(), lines.end()};
}

bool in_letter(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

// A run of equal lines: its ends stay beside a change, the middle becomes a fold. A middle no
// longer than its fold stays open.
void add_run(std::vector<TextRow>& rows, std::size_t first, std::size_t end, std::size_t head,
             std::size_t tail, const std::vector<std::size_t>& open) {
  const std::size_t count = end - first;
  const auto opened = std::lower_bound(open.begin(), open.end(), first);
  const bool whole = count <= head + tail + 1 || (opened != open.end() && *opened < end);
  const std::size_t fold_from = whole ? end : first + head, fold_to = whole ? end : end - tail;
  for (std::size_t i = first; i < fold_from; ++i) rows.push_back({i, 1, false});
  if (fold_from < fold_to) rows.push_back({fold_from, fold_to - fold_from, true});
  for (std::size_t i = fold_to; i < end; ++i) rows.push_back({i, 1, false});
}

// Removed and added lines of nodes with one name.
void find_partners(TextDifference& difference) {
  std::unordered_map<std::string_view, std::size_t> removed;  // looked up only
  const auto name_of = [&](const DiffLine& line) {
    const std::string_view text = difference.text(line);
    return text.substr(0, text.find(" = "));
  };
  for (const Edit edit : {Edit::removed, Edit::added})
    for (std::size_t i = 0; i < difference.lines.size(); ++i) {
      DiffLine& line = difference.lines[i];
      if (line.edit != edit || !difference.node(line).valid()) continue;
      if (edit == Edit::removed) {
        removed.try_emplace(name_of(line), i);
      } else if (const auto found = removed.find(name_of(line)); found != removed.end()) {
        line.partner = found->second;
        difference.lines[found->second].partner = i;
      }
    }
}

}  // namespace

std::size_t GraphText::line_of(NodeId id) const {
  const auto found = line_by_node.find(id.index);
  return found == line_by_node.end() ? lines.size() : found->second;
}

// Makes the text from the printer's lines: the graph's, then one for each node in order.
std::shared_ptr<const GraphText> text_of(const Graph& graph) {
  auto text = std::make_shared<GraphText>();
  text->lines = split_lines(print(graph));
  text->nodes.assign(text->lines.size(), NodeId());
  std::size_t line = 0;
  for (const NodeId id : graph.order()) {
    text->nodes[++line] = id;
    text->line_by_node[id.index] = line;
  }
  return text;
}

const std::string& TextDifference::text(const DiffLine& line) const {
  return line.edit == Edit::removed ? before->lines[line.before] : after->lines[line.after];
}

NodeId TextDifference::node(const DiffLine& line) const {
  return line.edit == Edit::removed ? before->nodes[line.before] : after->nodes[line.after];
}

std::size_t TextDifference::line_of(NodeId id) const {
  if (!id.valid() || !after) return lines.size();
  const bool there = after->line_of(id) < after->lines.size();
  const std::size_t target = there ? after->line_of(id) : before->line_of(id);
  // Both columns of numbers rise along the lines.
  const auto found = std::lower_bound(lines.begin(), lines.end(), target,
                                      [&](const DiffLine& line, std::size_t edit) {
                                        return (there ? line.after : line.before) < edit;
                                      });
  for (auto line = found; line != lines.end(); ++line) {
    if ((there ? line->after : line->before) != target) break;
    if (node(*line) == id) return static_cast<std::size_t>(line - lines.begin());
  }
  return lines.size();
}

TextDifference difference_of(std::shared_ptr<const GraphText> before,
                             std::shared_ptr<const GraphText> after) {
  TextDifference result;
  const auto first = views_of(before->lines), second = views_of(after->lines);
  bool changing = false;
  for (const EditRun& run : line_difference(first, second)) {
    const bool same = run.edit == Edit::same;
    if (!same && !changing) result.changes.push_back(result.lines.size());
    changing = !same;
    if (run.edit == Edit::removed) result.removed += run.count;
    if (run.edit == Edit::added) result.added += run.count;
    for (std::size_t i = 0; i < run.count; ++i)
      result.lines.push_back({run.edit, run.before + (run.edit == Edit::added ? 0 : i),
                              run.after + (run.edit == Edit::removed ? 0 : i), kNoLine});
  }
  result.before = std::move(before);
  result.after = std::move(after);
  find_partners(result);
  return result;
}

std::vector<TextRow> folded_rows(const TextDifference& difference, std::size_t context,
                                 const std::vector<std::size_t>& open) {
  std::vector<TextRow> rows;
  const auto& lines = difference.lines;
  for (std::size_t i = 0; i < lines.size();) {
    if (lines[i].edit != Edit::same) {
      rows.push_back({i++, 1, false});
      continue;
    }
    std::size_t end = i;
    while (end < lines.size() && lines[end].edit == Edit::same) ++end;
    // The graph's first line is kept, as it has the graph's name; other ends of the text need no
    // context.
    add_run(rows, i, end, i == 0 ? 1 : context, end == lines.size() ? 0 : context, open);
    i = end;
  }
  return rows;
}

std::vector<TextRow> all_rows(const TextDifference& difference) {
  std::vector<TextRow> rows(difference.lines.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].first = i;
  return rows;
}

std::size_t row_of(const std::vector<TextRow>& rows, std::size_t line) {
  const auto after =
      std::upper_bound(rows.begin(), rows.end(), line,
                       [](std::size_t edit, const TextRow& row) { return edit < row.first; });
  return after == rows.begin() ? rows.size() : static_cast<std::size_t>(after - rows.begin()) - 1;
}

Shared shared_part(std::string_view before, std::string_view after) {
  const std::size_t most = std::min(before.size(), after.size());
  Shared shared;
  while (shared.front < most && before[shared.front] == after[shared.front]) ++shared.front;
  while (shared.front > 0 && (in_letter(before, shared.front) || in_letter(after, shared.front)))
    --shared.front;
  while (shared.back < most - shared.front &&
         before[before.size() - 1 - shared.back] == after[after.size() - 1 - shared.back])
    ++shared.back;
  while (shared.back > 0 && (in_letter(before, before.size() - shared.back) ||
                             in_letter(after, after.size() - shared.back)))
    --shared.back;
  return shared;
}

std::string patch_text(const TextDifference& difference, const std::vector<TextRow>& rows) {
  constexpr char signs[] = {' ', '-', '+'};
  std::string text;
  for (const TextRow& row : rows) {
    if (row.fold) {
      text += fmt::format("@@ {} lines @@\n", row.count);
      continue;
    }
    const DiffLine& line = difference.lines[row.first];
    text += signs[static_cast<std::size_t>(line.edit)];
    text += difference.text(line) + "\n";
  }
  return text;
}

}  // namespace recut::gui
