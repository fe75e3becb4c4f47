#include "gui/pictures/svg.h"

#include <fmt/core.h>

#include "engine/support/utf8.h"

namespace recut::gui {
namespace {

constexpr const char* kSans = "Inter, 'Segoe UI', Helvetica, Arial, sans-serif";
constexpr const char* kMono = "'JetBrains Mono', Consolas, 'DejaVu Sans Mono', monospace";

// Characters that XML keeps for itself are spelled out; control characters, which it forbids,
// become blanks.
std::string escaped(std::string_view words) {
  std::string out;
  for (const char c : valid_utf8(words)) {
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

// Two decimals at most: the file stays small and the picture sharp.
std::string number(double x) {
  std::string text = fmt::format("{:.2f}", x);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string points_of(const std::vector<Point>& points) {
  std::string text;
  for (const Point& p : points)
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", number(p.x), number(p.y));
  return text;
}

std::string dash_attribute(std::string_view dashes) {
  return dashes.empty() ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dashes);
}

}  // namespace

Svg::Svg(double width, double height, Colour background) {
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\">\n"
      "<style>text{{font-family:{2}}}.m{{font-family:{3}}}</style>\n",
      number(width), number(height), kSans, kMono);
  rectangle({0, 0}, width, height, background);
}

void Svg::line(Point a, Point b, Colour colour, double width, std::string_view dashes) {
  body_ += fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
      number(a.x), number(a.y), number(b.x), number(b.y), css(colour), number(width),
      dash_attribute(dashes));
}

void Svg::rectangle(Point corner, double width, double height, Colour fill, double radius,
                    double opacity) {
  body_ +=
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"",
                  number(corner.x), number(corner.y), number(width), number(height), css(fill));
  if (radius > 0) body_ += fmt::format(" rx=\"{}\"", number(radius));
  if (opacity < 1) body_ += fmt::format(" fill-opacity=\"{}\"", number(opacity));
  body_ += "/>\n";
}

void Svg::outline(Point corner, double width, double height, Colour stroke, double radius,
                  std::string_view dashes) {
  body_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"none\" "
      "stroke=\"{}\"{}/>\n",
      number(corner.x), number(corner.y), number(width), number(height), number(radius),
      css(stroke), dash_attribute(dashes));
}

void Svg::circle(Point centre, double radius, Colour fill, Colour stroke) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n",
                       number(centre.x), number(centre.y), number(radius), css(fill), css(stroke));
}

void Svg::polygon(const std::vector<Point>& points, Colour fill, double opacity) {
  body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
                       points_of(points), css(fill), number(opacity));
}

void Svg::polyline(const std::vector<Point>& points, Colour stroke, double width,
                   std::string_view dashes) {
  body_ += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
      "stroke-linejoin=\"round\"{}/>\n",
      points_of(points), css(stroke), number(width), dash_attribute(dashes));
}

void Svg::text(Point at, std::string_view words, const TextStyle& style) {
  static constexpr const char* kAnchors[] = {"start", "middle", "end"};
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\" font-size=\"{}\"", number(at.x),
                       number(at.y), css(style.colour), number(style.size));
  if (style.weight != 400) body_ += fmt::format(" font-weight=\"{}\"", style.weight);
  if (style.anchor != Anchor::start)
    body_ += fmt::format(" text-anchor=\"{}\"", kAnchors[static_cast<std::size_t>(style.anchor)]);
  if (style.mono) body_ += " class=\"m\"";
  body_ += fmt::format(">{}</text>\n", escaped(words));
}

void Svg::hint(Point corner, double width, double height, std::string_view words) {
  body_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
      "fill=\"transparent\"><title>{}</title></rect>\n",
      number(corner.x), number(corner.y), number(width), number(height), escaped(words));
}

std::string Svg::finish() && { return std::move(body_) + "</svg>\n"; }

double text_width(std::string_view words, const TextStyle& style) {
  return static_cast<double>(words.size()) * style.size * (style.mono ? 0.6 : 0.55);
}

}  // namespace recut::gui
