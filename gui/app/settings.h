// Settings that the window remembers from one start to the next, by name: theme, scale, positions
// of splitters, panels that are shown. Text, so that a file of them can be read and edited.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace recut::gui {

class Settings {
 public:
  std::string text(std::string_view name, std::string_view otherwise = {}) const;
  double number(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;

  void set(std::string_view name, std::string value);  // "" takes it away
  void set_number(std::string_view name, double value);
  void set_flag(std::string_view name, bool value);

  const std::map<std::string, std::string, std::less<>>& all() const { return values_; }
  int changes() const { return changes_; }  // grows with each

 private:
  std::map<std::string, std::string, std::less<>> values_;
  int changes_ = 0;
};

}  // namespace recut::gui
