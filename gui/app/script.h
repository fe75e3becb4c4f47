// Scenario scripts: the user's actions and the expected states, a line each. They drive a real
// window and the null backend alike, by the labels of widgets.
//
//   open FILE                  command ID [ARGUMENT]      drop FILE
//   click LABEL                double LABEL               right LABEL      hover LABEL
//   drag LABEL DX DY           wheel LABEL STEPS [Ctrl]   (in units of length)
//   type TEXT                  key Ctrl+Shift+P
//   wait idle                  wait SECONDS               screenshot FILE.png
//   expect [no] text PART      expect [no] item LABEL     expect [not] enabled LABEL
//   expect state KEY VALUE     expect value LABEL VALUE
//
// Words with blanks stand in "quotes"; `#` begins a remark. VALUE is the expected text, or
// `contains PART`, `not WORDS`, `below NUMBER`, `above NUMBER`. An expectation may take a while: it
// fails once the window is at rest without it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "gui/app/app.h"

namespace recut::gui {

struct ScriptLine {
  std::uint32_t number = 0;
  std::vector<std::string> tokens;
};

// Parses a script. Fails on quotes that don't close.
Result<std::vector<ScriptLine>> parse_script(std::string_view text, const std::string& file_name);

class ScriptRunner {
 public:
  ScriptRunner(App& app, std::vector<ScriptLine> lines, std::string file_name);

  // Call it before each tick of the application. False: the script is over.
  bool advance();
  const Diagnostics& failures() const { return failures_; }
  // Sets the seconds that a line may take, since machines differ.
  void set_patience(double seconds) { patience_ = seconds; }

 private:
  enum class Progress { done, more, failed };
  Progress run_line();
  Progress pointer(const std::string& verb);
  Progress drag();
  Progress keys();
  void hold(const std::string& combination, bool down);
  Progress wait();
  Progress expect();
  Progress from(const Result<Done>& done);
  Progress fail(std::string message);
  Progress until(bool reached, const std::string& otherwise);
  const Item* item(const std::string& label) const;
  const std::string& word(std::size_t i) const;
  std::string rest(std::size_t i) const;
  bool late() const;

  App& app_;
  const std::vector<ScriptLine> lines_;
  const std::string file_;
  Diagnostics failures_;
  std::size_t line_ = 0;
  int beat_ = 0;  // ticks that this line has taken
  ImVec2 at_;     // where the pointer is
  std::chrono::steady_clock::time_point began_;
  double since_ = 0;  // the same by the backend's clock
  double patience_ = 120;
};

}  // namespace recut::gui
