// Writes HTML: text escaped, tables with their numbers to the right, figures in both grounds.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/pictures/look.h"

namespace recut::gui {

std::string escape_html(std::string_view text);

// A table of text cells. Its rows may be sorted and searched in the page.
class HtmlTable {
 public:
  enum class Kind { text, number, code };

  // Adds a column. In a column of numbers the page sorts cells by their numbers.
  HtmlTable& column(std::string title, Kind kind = Kind::text);

  struct Cell {
    std::string text;
    double value = 0;  // sort key of a number column
  };
  void row(std::vector<Cell> cells);

  bool empty() const { return rows_.empty(); }
  // At most `limit` rows, and a line that says how many more there are.
  std::string format(std::size_t limit) const;

 private:
  struct Column {
    std::string title;
    Kind kind;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// A picture drawn on both grounds, wide and for a phone; the page shows the one for its reader's
// colour scheme and window width.
std::string html_figure(const std::function<std::string(const PictureLook&)>& draw,
                        std::string_view caption);

// Style and script of a report, to stand in its head.
std::string html_style();
std::string_view html_script();

}  // namespace recut::gui
