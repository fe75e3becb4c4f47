// The engine, the window, steps and trainings as node runs them, and so as a browser would: one
// program, for every program that is linked costs as much as a tenth of the build. That it links
// proves the shared subset of C++. checks.mjs has the expected output.
//
// usage: node program.mjs recut_smoke.js THREADS COMMAND…
//
//   show text|json|dot|svg|plan|peak|timeline FILE OUT
//   window SCENARIO.script [NAME=GRAPH.json …]
//   step FILE BUDGET|least [STEPS] [unchecked]
//   train FILE sgd|adam|adamw STEPS OUT

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "wasm/smoke/commands.h"

namespace {

struct Command {
  std::string_view name;
  std::size_t min_arguments;
  int (*run)(recut::smoke::CommandArguments);
};

constexpr Command kCommands[] = {
    {"show", 3, recut::smoke::show_command},
    {"window", 1, recut::smoke::window_command},
    {"step", 2, recut::smoke::step_command},
    {"train", 4, recut::smoke::train_command},
};

// The runtime goes on after main (CMakeLists.txt), and so flushes nothing by itself.
int flushed(int status) {
  std::fflush(nullptr);
  return status;
}

}  // namespace

recut::Result<recut::Done> recut::smoke::write_text(const std::string& path,
                                                    std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool whole =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr && std::fclose(file) == 0 && whole) return Done{};
  return recut::error("can't write " + path);
}

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const Command& command : kCommands)
    if (arguments.size() > command.min_arguments && arguments[0] == command.name)
      return flushed(command.run(recut::smoke::CommandArguments(arguments).subspan(1)));
  std::fputs("usage: recut_smoke show|window|step|train …, as main.cpp says\n", stderr);
  return 2;
}
