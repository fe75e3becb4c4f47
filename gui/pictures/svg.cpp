// Writes SVG elements to a string, and places labels: a label takes the first of its positions that
// is free of marks and other labels, and of lines if possible. Occupied boxes are kept in rows of a
// fixed height, so that a test looks at a few of them. Text widths come from the embedded fonts'
// own metrics, so labels fit wherever the picture is shown. finish() embeds a font of just the
// letters in use.
#include "gui/pictures/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "engine/support/utf8.h"

namespace recut::gui {
namespace {

constexpr const char* kSans = "Inter, 'Segoe UI', Helvetica, Arial, sans-serif";
constexpr const char* kMonoFonts = "'JetBrains Mono', Consolas, 'DejaVu Sans Mono', monospace";

// Characters that XML keeps for itself are spelled out; control characters, which it forbids,
// become blanks.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

// Writes a number with two decimals at most, which keeps the file small and the picture sharp.
std::string svg_number(double x) {
  std::string text = fmt::format("{:.2f}", x);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string points_of(const std::vector<PicturePoint>& points) {
  std::string text;
  for (const PicturePoint& p : points)
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", svg_number(p.x), svg_number(p.y));
  return text;
}

std::string dash_attribute(std::string_view dashes) {
  return dashes.empty() ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dashes);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = (three << 8) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[(three >> (18 - 6 * k)) & 63];
  }
  return out;
}

Typeface face_of(const TextStyle& style) {
  return style.mono ? Typeface::mono : style.weight >= 600 ? Typeface::strong : Typeface::sans;
}

constexpr double kLabelRow = 32;
int label_row(double y) { return static_cast<int>(std::floor(y / kLabelRow)); }

}  // namespace

void LabelSpace::take(const LabelBox& box) {
  for (int row = label_row(box.top); row <= label_row(box.bottom); ++row) rows_[row].push_back(box);
}

bool LabelSpace::is_free(const LabelBox& box) const {
  for (int row = label_row(box.top); row <= label_row(box.bottom); ++row) {
    const auto found = rows_.find(row);
    if (found == rows_.end()) continue;
    if (std::any_of(found->second.begin(), found->second.end(),
                    [&](const LabelBox& taken) { return taken.meets(box); }))
      return false;
  }
  return true;
}

void Svg::line(PicturePoint a, PicturePoint b, Colour colour, double width,
               std::string_view dashes) {
  body_ += fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
      svg_number(a.x), svg_number(a.y), svg_number(b.x), svg_number(b.y), css(colour),
      svg_number(width), dash_attribute(dashes));
}

void Svg::rectangle(PicturePoint corner, double width, double height, Colour fill, double radius,
                    double opacity) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"",
                       svg_number(corner.x), svg_number(corner.y), svg_number(width),
                       svg_number(height), css(fill));
  if (radius > 0) body_ += fmt::format(" rx=\"{}\"", svg_number(radius));
  if (opacity < 1) body_ += fmt::format(" fill-opacity=\"{}\"", svg_number(opacity));
  body_ += "/>\n";
}

void Svg::outline(PicturePoint corner, double width, double height, Colour stroke, double radius,
                  std::string_view dashes) {
  body_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"none\" "
      "stroke=\"{}\"{}/>\n",
      svg_number(corner.x), svg_number(corner.y), svg_number(width), svg_number(height),
      svg_number(radius), css(stroke), dash_attribute(dashes));
}

void Svg::circle(PicturePoint centre, double radius, Colour fill, Colour stroke) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n",
                       svg_number(centre.x), svg_number(centre.y), svg_number(radius), css(fill),
                       css(stroke));
}

void Svg::polygon(const std::vector<PicturePoint>& points, Colour fill, double opacity) {
  body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
                       points_of(points), css(fill), svg_number(opacity));
}

void Svg::polyline(const std::vector<PicturePoint>& points, Colour stroke, double width,
                   std::string_view dashes) {
  body_ += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
      "stroke-linejoin=\"round\"{}/>\n",
      points_of(points), css(stroke), svg_number(width), dash_attribute(dashes));
}

void Svg::arrowhead(PicturePoint from, PicturePoint tip, Colour fill, double size) {
  const double dx = tip.x - from.x, dy = tip.y - from.y, length = std::sqrt(dx * dx + dy * dy);
  if (length <= 0) return;
  const double ux = dx / length * size, uy = dy / length * size;
  const PicturePoint back{tip.x - ux, tip.y - uy};
  polygon({tip, {back.x - uy * 0.45, back.y + ux * 0.45}, {back.x + uy * 0.45, back.y - ux * 0.45}},
          fill);
}

void Svg::text(PicturePoint at, std::string_view text, const TextStyle& style) {
  static constexpr const char* kAnchors[] = {"start", "middle", "end"};
  if (text.empty()) return;
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\" font-size=\"{}\"", svg_number(at.x),
                       svg_number(at.y), css(style.colour), svg_number(style.size));
  if (style.weight != 400) body_ += fmt::format(" font-weight=\"{}\"", style.weight);
  if (style.anchor != Anchor::start)
    body_ += fmt::format(" text-anchor=\"{}\"", kAnchors[static_cast<std::size_t>(style.anchor)]);
  if (style.mono) body_ += " class=\"m\"";
  body_ += fmt::format(">{}</text>\n", escaped(text));
  for (const char32_t letter : letters_of(text))
    letters_[static_cast<std::size_t>(face_of(style))].insert(letter);
  marks_.take(text_box(at, text, style));
}

void Svg::hint(PicturePoint corner, double width, double height, std::string_view text) {
  body_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
      "fill=\"transparent\"><title>{}</title></rect>\n",
      svg_number(corner.x), svg_number(corner.y), svg_number(width), svg_number(height),
      escaped(text));
}

void Svg::keep_clear_if_possible(PicturePoint from, PicturePoint to) {
  constexpr double kStride = 6;
  const double dx = to.x - from.x, dy = to.y - from.y;
  const double length = std::sqrt(dx * dx + dy * dy);
  const int steps = std::max(1, static_cast<int>(length / kStride));
  for (int i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    const double x = from.x + dx * share, y = from.y + dy * share;
    lines_.take({x - 2, y - 2, x + 2, y + 2});
  }
}

bool Svg::is_free(const LabelBox& box, bool strictly) const {
  return box.inside(room_) && marks_.is_free(box) && (!strictly || lines_.is_free(box));
}

bool Svg::label(const std::vector<LabelPosition>& positions,
                const std::vector<std::string>& variants, TextStyle style, bool strictly) {
  for (const bool beside_lines : {true, false}) {
    if (!beside_lines && strictly) break;
    for (const std::string& variant : variants)
      for (const LabelPosition& position : positions) {
        style.anchor = position.anchor;
        if (!is_free(text_box(position.at, variant, style), beside_lines)) continue;
        text(position.at, variant, style);
        return true;
      }
  }
  return false;
}

// The styles: one font a typeface, with the letters that the picture uses.
std::string Svg::styles() const {
  struct Family {
    const char* name;
    int weight;
  };
  static constexpr Family kFamilies[kTypefaces] = {
      {"Inter", 400}, {"Inter", 600}, {"JetBrains Mono", 400}};
  std::string css = "<style>";
  for (std::size_t face = 0; look_.fonts && face < kTypefaces; ++face) {
    if (letters_[face].empty()) continue;
    css += fmt::format(
        "@font-face{{font-family:'{}';font-weight:{};src:url(data:font/otf;base64,{})}}\n",
        kFamilies[face].name, kFamilies[face].weight,
        base64(font_of(static_cast<Typeface>(face), letters_[face])));
  }
  return css +
         fmt::format("text{{font-family:{}}}.m{{font-family:{}}}</style>\n", kSans, kMonoFonts);
}

std::string Svg::finish(const LabelBox& area, std::string_view name) && {
  const double width = area.right - area.left, height = area.bottom - area.top;
  const bool print = look_.print_mm > 0;
  const double scale = print ? look_.print_mm / width : 1;
  const char* unit = print ? "mm" : "";
  std::string drawn = std::move(body_);
  body_ = {};
  rectangle({area.left, area.top}, width, height, ground_);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{} {} {} {}\" width=\"{}{}\" "
             "height=\"{}{}\" role=\"img\" aria-label=\"{}\">\n",
             svg_number(area.left), svg_number(area.top), svg_number(width), svg_number(height),
             svg_number(width * scale), unit, svg_number(height * scale), unit, escaped(name)) +
         styles() + body_ + drawn + "</svg>\n";
}

double text_width(std::string_view text, const TextStyle& style) {
  return width_in_ems(face_of(style), text) * style.size;
}

LabelBox text_box(PicturePoint at, std::string_view text, const TextStyle& style) {
  const double width = text_width(text, style);
  const double left = style.anchor == Anchor::start ? at.x
                      : style.anchor == Anchor::end ? at.x - width
                                                    : at.x - width / 2;
  return {left, at.y - 0.75 * style.size, left + width, at.y + 0.2 * style.size};
}

std::string fitted(std::string_view text, const TextStyle& style, double room) {
  if (text_width(text, style) <= room) return std::string(text);
  std::string cut = "…";
  for (std::size_t kept = display_width(text); kept > 1; --kept) {
    cut = shorten_back(text, kept - 1);
    if (text_width(cut, style) <= room) break;
  }
  return cut;
}

}  // namespace recut::gui
