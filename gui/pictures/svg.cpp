#include "gui/pictures/svg.h"

#include <fmt/core.h>

#include "engine/support/utf8.h"

namespace recut::gui {
namespace {

constexpr const char* kSans = "Inter, 'Segoe UI', Helvetica, Arial, sans-serif";
constexpr const char* kMonoFonts = "'JetBrains Mono', Consolas, 'DejaVu Sans Mono', monospace";

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

}  // namespace

Svg::Svg(double width, double height, Colour background) {
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\">\n"
      "<style>text{{font-family:{2}}}.m{{font-family:{3}}}</style>\n",
      svg_number(width), svg_number(height), kSans, kMonoFonts);
  rectangle({0, 0}, width, height, background);
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

void Svg::text(PicturePoint at, std::string_view words, const TextStyle& style) {
  static constexpr const char* kAnchors[] = {"start", "middle", "end"};
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\" font-size=\"{}\"", svg_number(at.x),
                       svg_number(at.y), css(style.colour), svg_number(style.size));
  if (style.weight != 400) body_ += fmt::format(" font-weight=\"{}\"", style.weight);
  if (style.anchor != Anchor::start)
    body_ += fmt::format(" text-anchor=\"{}\"", kAnchors[static_cast<std::size_t>(style.anchor)]);
  if (style.mono) body_ += " class=\"m\"";
  body_ += fmt::format(">{}</text>\n", escaped(words));
}

void Svg::hint(PicturePoint corner, double width, double height, std::string_view words) {
  body_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
      "fill=\"transparent\"><title>{}</title></rect>\n",
      svg_number(corner.x), svg_number(corner.y), svg_number(width), svg_number(height),
      escaped(words));
}

std::string Svg::finish() && { return std::move(body_) + "</svg>\n"; }

double text_width(std::string_view words, const TextStyle& style) {
  return static_cast<double>(words.size()) * style.size * (style.mono ? 0.6 : 0.55);
}

}  // namespace recut::gui
