// The words of a picture as a reader finds them in its file: where each stands, and which meet.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "gui/pictures/svg.h"

namespace recut::gui {

struct PictureText {
  std::string text;
  LabelBox box;
  double size = 0;
};

inline std::string picture_attribute(const std::string& element, const std::string& name) {
  const std::string key = " " + name + "=\"";
  const std::size_t at = element.find(key);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size();
  return element.substr(begin, element.find('"', begin) - begin);
}

inline std::string without_entities(std::string text) {
  const std::pair<const char*, const char*> entities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}};
  for (const auto& [entity, letter] : entities)
    for (std::size_t at = text.find(entity); at != std::string::npos; at = text.find(entity))
      text.replace(at, std::string(entity).size(), letter);
  return text;
}

inline std::vector<PictureText> picture_texts(const std::string& svg) {
  std::vector<PictureText> found;
  for (std::size_t at = svg.find("<text "); at != std::string::npos; at = svg.find("<text ", at)) {
    const std::size_t end = svg.find('>', at);
    const std::string element = svg.substr(at, end - at);
    at = svg.find("</text>", end);
    TextStyle style;
    style.size = std::atof(picture_attribute(element, "font-size").c_str());
    const std::string weight = picture_attribute(element, "font-weight");
    if (!weight.empty()) style.weight = std::atoi(weight.c_str());
    const std::string anchor = picture_attribute(element, "text-anchor");
    style.anchor = anchor == "end"      ? Anchor::end
                   : anchor == "middle" ? Anchor::middle
                                        : Anchor::start;
    style.mono = picture_attribute(element, "class") == "m";
    const PicturePoint place{std::atof(picture_attribute(element, "x").c_str()),
                             std::atof(picture_attribute(element, "y").c_str())};
    const std::string text = without_entities(svg.substr(end + 1, at - end - 1));
    found.push_back({text, text_box(place, text, style), style.size});
  }
  return found;
}

// Positions in the file have two decimals.
inline constexpr double kRounding = 0.02;

// "a meets b" of the first two that do; "" where none do.
inline std::string meeting_texts(const std::string& svg) {
  std::vector<PictureText> texts = picture_texts(svg);
  std::stable_sort(texts.begin(), texts.end(), [](const PictureText& a, const PictureText& b) {
    return a.box.top < b.box.top;
  });
  for (std::size_t i = 0; i < texts.size(); ++i) {
    LabelBox box = texts[i].box;
    box = {box.left + kRounding, box.top + kRounding, box.right - kRounding,
           box.bottom - kRounding};
    for (std::size_t k = i + 1; k < texts.size() && texts[k].box.top < box.bottom; ++k)
      if (texts[k].box.meets(box)) return texts[i].text + " meets " + texts[k].text;
  }
  return "";
}

// "" where every text is inside the picture; else one that isn't.
inline std::string text_outside(const std::string& svg) {
  const std::string view = picture_attribute(svg.substr(0, svg.find('>')), "viewBox");
  char* rest = nullptr;
  const double left = std::strtod(view.c_str(), &rest), top = std::strtod(rest, &rest);
  const double width = std::strtod(rest, &rest), height = std::strtod(rest, &rest);
  const LabelBox all{left - kRounding, top - kRounding, left + width + kRounding,
                     top + height + kRounding};
  for (const PictureText& word : picture_texts(svg))
    if (!word.box.inside(all)) return word.text;
  return "";
}

// Points of the least text of a picture that says how wide it is on paper; 0 where it doesn't.
inline double least_points(const std::string& svg) {
  const std::string head = svg.substr(0, svg.find('>'));
  const std::string width = picture_attribute(head, "width");
  if (width.size() < 3 || width.substr(width.size() - 2) != "mm") return 0;
  char* rest = nullptr;
  const std::string view = picture_attribute(head, "viewBox");
  std::strtod(view.c_str(), &rest);
  std::strtod(rest, &rest);
  const double units = std::strtod(rest, &rest);
  double least = 1e9;
  for (const PictureText& word : picture_texts(svg)) least = std::min(least, word.size);
  return least * std::atof(width.c_str()) * kPointsInMm / units;
}

// Whether elements close in the order in which they open.
inline bool is_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    if (end == std::string::npos) return false;
    const std::string element = svg.substr(at + 1, end - at - 1);
    const std::string name = element.substr(0, element.find_first_of(" \n"));
    if (name[0] == '/') {
      if (open.empty() || open.back() != name.substr(1)) return false;
      open.pop_back();
    } else if (element.back() != '/') {
      open.push_back(name);
    }
  }
  return open.empty();
}

}  // namespace recut::gui
