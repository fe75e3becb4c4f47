#include "engine/support/table.h"

#include <algorithm>

#include "engine/support/utf8.h"

namespace recut {
std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths, int indent) const {
  std::string text(static_cast<std::size_t>(indent), ' ');
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::string blanks(widths[c] - display_width(cells[c]), ' ');
    text += columns_[c].align == Align::left ? cells[c] + blanks : blanks + cells[c];
    if (c + 1 < cells.size()) text += "  ";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string Table::format(int indent) const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  bool titled = false;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    titled = titled || !column.title.empty();
    widths.push_back(display_width(column.title));
  }
  for (const auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c]));
  std::string text = titled ? line(titles, widths, indent) : std::string();
  for (const auto& row : rows_) text += line(row, widths, indent);
  return text;
}

}  // namespace recut
