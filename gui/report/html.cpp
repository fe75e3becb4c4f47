#include "gui/report/html.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/support/units.h"

namespace recut::gui {
namespace {

const char* class_of(HtmlTable::Kind kind) {
  switch (kind) {
    case HtmlTable::Kind::text:
      return "words";
    case HtmlTable::Kind::number:
      return "number";
    case HtmlTable::Kind::code:
      return "code";
  }
  return "words";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // Of the control characters HTML takes tab and newline alone.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

HtmlTable& HtmlTable::column(std::string title, Kind kind) {
  columns_.push_back({std::move(title), kind});
  return *this;
}

void HtmlTable::row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }

std::string HtmlTable::format(std::size_t limit) const {
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>";
  for (const Column& column : columns_)
    out +=
        fmt::format("<th class=\"{}\">{}</th>", class_of(column.kind), escape_html(column.title));
  out += "</tr></thead><tbody>\n";
  for (std::size_t r = 0; r < std::min(limit, rows_.size()); ++r) {
    out += "<tr>";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Cell& cell = rows_[r][i];
      const bool number = columns_[i].kind == Kind::number;
      out += fmt::format("<td class=\"{}\"{}>{}</td>", class_of(columns_[i].kind),
                         number ? fmt::format(" data-value=\"{}\"", cell.value) : "",
                         escape_html(cell.text));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (rows_.size() > limit)
    out += fmt::format("<p class=\"more\">and {} more</p>\n",
                       format_count(static_cast<std::int64_t>(rows_.size() - limit)));
  return out;
}

std::string html_figure(const std::function<std::string(const PictureLook&)>& draw,
                        std::string_view caption) {
  std::string pictures;
  for (const Theme* theme : {&kDark, &kLight}) {
    // Without a title, as section and caption say the same.
    PictureLook wide(*theme);
    wide.title = false;
    pictures += fmt::format(
        "<div class=\"{}\"><div class=\"wide\">{}</div><div class=\"narrow\">{}</div></div>",
        theme == &kDark ? "on-dark" : "on-light", draw(wide), draw(narrow(*theme)));
  }
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", pictures,
                     escape_html(caption));
}

}  // namespace recut::gui
