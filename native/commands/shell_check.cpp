#include "native/commands/shell_check.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/ir/printer.h"
#include "engine/support/shell_word.h"
#include "native/commands/command.h"

namespace recut::native {
namespace {

constexpr std::string_view kGraph = "{}", kTensors = "{tensors}";
constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 20;

// A file that the command reads or writes; the destructor removes it.
class FileOfRun {
 public:
  explicit FileOfRun(std::string_view ending)
      : path_((std::filesystem::temp_directory_path() / fmt::format("recut-{}{}", getpid(), ending))
                  .string()) {}
  ~FileOfRun() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string with_path(std::string command, std::string_view mark, const std::string& path) {
  const std::string quoted = shell_word(path);
  for (std::size_t at = command.find(mark); at != std::string::npos;
       at = command.find(mark, at + quoted.size()))
    command.replace(at, mark.size(), quoted);
  return command;
}

// Runs a line by the shell in a process group of its own, so that all of it can be ended.
int run_in_shell(const std::string& line, std::optional<double> limit_seconds) {
  const auto began = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  if (child < 0) return 126 << 8;
  int status = 0;
  if (!limit_seconds) {
    waitpid(child, &status, 0);
    return status;
  }
  while (waitpid(child, &status, WNOHANG) == 0) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    if (passed.count() > *limit_seconds) kill(-child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return status;
}

std::string first_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMaxOutputBytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

Result<ShellCommand> ShellCommand::parse(std::string text) {
  if (text.find(kGraph) == std::string::npos)
    return error(fmt::format("the command '{}' has no {{}}, where the graph's file goes", text));
  return ShellCommand(std::move(text));
}

bool ShellCommand::wants_tensors() const { return text_.find(kTensors) != std::string::npos; }

Result<ShellRun> ShellCommand::run(const Graph& graph, std::string_view tensors,
                                   std::optional<double> limit_seconds) const {
  const FileOfRun file(".recut"), values(".safetensors"), output(".txt");
  if (const auto written = write_file(file.path(), print(graph)); !written)
    return written.diagnostics();
  if (wants_tensors())
    if (const auto written = write_file(values.path(), tensors); !written)
      return written.diagnostics();
  const std::string command =
      with_path(with_path(text_, kTensors, values.path()), kGraph, file.path());
  ShellRun run;
  const auto began = std::chrono::steady_clock::now();
  const int status = run_in_shell(
      fmt::format("{{ {}\n}} > {} 2>&1", command, shell_word(output.path())), limit_seconds);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.output = first_bytes(output.path());
  if (run.code == 126 || run.code == 127)
    return error(
        fmt::format("the shell can't run the command '{}' (exit code {})", text_, run.code));
  return run;
}

Result<GraphCheck> shell_check(const std::string& command) {
  auto parsed = ShellCommand::parse(command);
  if (!parsed) return parsed.diagnostics();
  return GraphCheck([shell = std::move(*parsed)](const Graph& graph) -> Result<bool> {
    const auto run = shell.run(graph);
    if (!run) return run.diagnostics();
    return run->code == 0;
  });
}

}  // namespace recut::native
