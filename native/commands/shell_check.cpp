#include "native/commands/shell_check.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "engine/ir/printer.h"
#include "engine/support/shell_word.h"
#include "native/commands/command.h"

namespace recut::native {
namespace {

// The file that the command reads; the destructor removes it.
class GraphFileOnDisk {
 public:
  GraphFileOnDisk()
      : path_((std::filesystem::temp_directory_path() / fmt::format("recut-{}.recut", getpid()))
                  .string()) {}
  ~GraphFileOnDisk() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string with_path(std::string command, const std::string& path) {
  const std::string quoted = shell_word(path);
  for (std::size_t at = command.find("{}"); at != std::string::npos;
       at = command.find("{}", at + quoted.size()))
    command.replace(at, 2, quoted);
  return command;
}

}  // namespace

Result<GraphCheck> shell_check(const std::string& command) {
  if (command.find("{}") == std::string::npos)
    return error(fmt::format("the command '{}' has no {{}}, where the graph's file goes", command));
  return GraphCheck([command](const Graph& graph) -> Result<bool> {
    const GraphFileOnDisk file;
    const auto written = write_file(file.path(), print(graph));
    if (!written) return written.diagnostics();
    const int status = std::system(with_path(command, file.path()).c_str());
    if (status == -1 || !WIFEXITED(status))
      return error(fmt::format("the command '{}' was ended by a signal", command));
    const int code = WEXITSTATUS(status);
    if (code == 126 || code == 127)
      return error(
          fmt::format("the shell can't run the command '{}' (exit code {})", command, code));
    return code == 0;
  });
}

}  // namespace recut::native
