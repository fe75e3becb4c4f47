// Tables in plain text: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace recut {

class Table {
 public:
  enum class Align { left, right };

  void column(std::string title, Align align = Align::left) {
    columns_.push_back({std::move(title), align});
  }
  // Adds a row of as many cells as columns.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // One line a row, each with `indent` blanks before it; the titles first, where any column has
  // one.
  std::string format(int indent = 2) const;

 private:
  struct Column {
    std::string title;
    Align align;
  };
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                   int indent) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace recut
