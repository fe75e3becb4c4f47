// Memory of panels for a document from frame to frame, each under a name: zoom, scroll, folds.
#pragma once

#include <any>
#include <map>
#include <string>
#include <string_view>

namespace recut::gui {

using PanelMemory = std::map<std::string, std::any, std::less<>>;

// The memory of that name, at first T(). A name always has one type.
template <class T>
T& memory_of(PanelMemory& memories, std::string_view name) {
  std::any& slot = memories[std::string(name)];
  if (!slot.has_value()) slot = T();
  return std::any_cast<T&>(slot);
}

// A panel's memory; null if there is none yet.
template <class T>
const T* find_memory(const PanelMemory& memories, std::string_view name) {
  const auto found = memories.find(name);
  return found == memories.end() ? nullptr : std::any_cast<T>(&found->second);
}

}  // namespace recut::gui
