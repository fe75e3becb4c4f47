// The end of every help: examples that work from the repository's root.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace recut::native {

// `prose`, and below it one line per command, without the word recut: "show FILE".
// tests/house/command_examples.py runs them.
inline std::string footer_with_examples(std::string_view prose,
                                        std::initializer_list<std::string_view> commands) {
  std::string text(prose);
  if (!text.empty()) text += text.ends_with('\n') ? "\n" : "\n\n";
  text += "Examples:";
  for (const std::string_view command : commands) text.append("\n  recut ").append(command);
  return text;
}

}  // namespace recut::native
