#include "gui/draw/items.h"

#include <algorithm>

namespace recut::gui {
namespace {

bool takes_keyboard(const Item& item) {
  const bool moves = item.kind != ItemKind::handle || item.span.has_value();
  return item.enabled && item.visible() && item.kind != ItemKind::figure && moves;
}

// True if the text has two letters at least; "×" and "?" are signs.
bool is_word(std::string_view text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (static_cast<unsigned char>(c) >= 0xc3 && static_cast<unsigned char>(c) <= 0xdf);
  });
  return letters >= 2;
}

}  // namespace

std::string spoken_name(const Item& item) {
  if (!item.name.empty()) return item.name;
  if (item.kind == ItemKind::button && is_word(item.value)) return item.value;
  if (item.kind == ItemKind::button && is_word(item.hint)) return item.hint;
  std::string_view label = item.label;
  label.remove_prefix(std::min(label.find('/') + 1, label.size()));
  for (const std::string_view script : {"turn ", "tab ", "term ", "answer "})
    if (label.substr(0, script.size()) == script) label.remove_prefix(script.size());
  return std::string(label);
}

void Items::describe(std::string_view hint) {
  if (!items_.empty() && items_.back().hint.empty()) items_.back().hint = hint;
}

void Items::begin_frame() {
  completing.clear();
  last_.swap(items_);
  items_.clear();
  texts_.clear();
  cuts_.clear();
  panel_.clear();
}

const std::string& Items::add(std::string_view label, ItemKind kind, const Rect& rect, bool enabled,
                              std::string value) {
  std::string whole = panel_.empty() ? std::string(label) : panel_ + "/" + std::string(label);
  items_.push_back({std::move(whole),
                    kind,
                    rect,
                    rect.size(),
                    enabled,
                    std::move(value),
                    std::nullopt,
                    {},
                    {},
                    false});
  return items_.back().label;
}

bool Items::take_keys() {
  items_.back().own_keys = true;
  return focus_visible && items_.back().label == focused;
}

bool Items::keys_are_taken() const {
  return focus_visible && std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
           return item.own_keys && item.label == focused;
         });
}

void Items::add_text(std::string_view text, const Rect& rect) {
  if (keep_texts && !rect.empty()) texts_.push_back({panel_, std::string(text), {}});
}

void Items::add_cut(std::string_view text, std::string_view shown, const Rect& rect) {
  if (keep_texts && !rect.empty()) cuts_.push_back({panel_, std::string(text), std::string(shown)});
}

std::vector<std::string> Items::cut_texts(std::string_view panel) const {
  std::vector<std::string> texts;
  for (const ShownText& cut : cuts_)
    if (cut.panel == panel) texts.push_back(cut.text);
  return texts;
}

std::vector<std::string> Items::remains_of_cut_texts(std::string_view panel) const {
  std::vector<std::string> texts;
  for (const ShownText& cut : cuts_)
    if (cut.panel == panel) texts.push_back(cut.shown);
  return texts;
}

const Item* Items::find(std::string_view label) const {
  const Item* hidden = nullptr;
  for (const Item& item : items_) {
    const bool whole = item.label == label;
    const std::size_t slash = item.label.find('/');
    const bool part =
        slash != std::string::npos && std::string_view(item.label).substr(slash + 1) == label;
    if (!whole && !part) continue;
    if (item.visible()) return &item;
    if (hidden == nullptr) hidden = &item;
  }
  return hidden;
}

const std::string* Items::find_text(std::string_view part, std::string_view panel) const {
  for (const ShownText& one : texts_) {
    const bool there = panel.empty() || one.panel == panel;
    if (there && one.text.find(part) != std::string::npos) return &one.text;
  }
  return nullptr;
}

void Items::move_focus(int by) {
  std::vector<const Item*> stops;
  for (const Item& item : last_)
    if (takes_keyboard(item)) stops.push_back(&item);
  focus_visible = !stops.empty();
  if (stops.empty()) return;
  const auto at = std::find_if(stops.begin(), stops.end(),
                               [&](const Item* item) { return item->label == focused; });
  const auto count = static_cast<int>(stops.size());
  const int now = at == stops.end() ? (by > 0 ? -1 : count) : static_cast<int>(at - stops.begin());
  focused = stops[static_cast<std::size_t>((now + by + count) % count)]->label;
}

}  // namespace recut::gui
