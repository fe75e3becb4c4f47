#include "native/aot/link.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "engine/input/bytes.h"
#include "engine/support/text.h"
#include "native/aot/temporary_files.h"

extern char** environ;

namespace recut::aot {
namespace {

// The path of the loaded library that has a function; "" where the program itself has it.
std::string library_of(const char* function) {
  Dl_info facts{};
  void* address = dlsym(RTLD_DEFAULT, function);
  if (address == nullptr || dladdr(address, &facts) == 0) return "";
  const std::string_view name = facts.dli_fname;
  return name.find(".so") == std::string_view::npos ? "" : std::string(name);
}

// Runs a program with its output in a file. Returns its exit code, or -1 where it can't be started.
int run(std::vector<std::string> command, const std::string& says) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, says.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int fault = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (fault != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

Result<Done> link_library(std::string_view object, const std::string& prefix,
                          const std::string& linker, const std::string& path) {
  const TemporaryFiles files;
  const std::string shown = fmt::format("{{ global: {}_*; local: *; }};\n", prefix);
  if (!files.write("step.o", object) || !files.write("shown", shown))
    return Diagnostic{"can't write the linker's files: " + std::string(std::strerror(errno)),
                      files.path_of("step.o"), 0, 0};
  std::vector<std::string> command = {linker,
                                      "-shared",
                                      "-o",
                                      path,
                                      "--version-script=" + files.path_of("shown"),
                                      "--gc-sections",
                                      "-z",
                                      "noexecstack",
                                      "--as-needed",
                                      files.path_of("step.o")};
  for (const char* function : {"exp", "memcpy"})
    if (const std::string library = library_of(function); !library.empty())
      command.push_back(library);
  const int code = run(command, files.path_of("says"));
  if (code == 0) return Done{};
  if (code < 0)
    return error(
        fmt::format("there is no linker {} to make a shared library with: it is a part of "
                    "binutils, or --linker names another one, such as ld.lld",
                    quote(linker)));
  const auto said = read_file(files.path_of("says"));
  return Diagnostic{fmt::format("{} can't link the step: {}", linker,
                                said ? printable(*said, 2000) : "it doesn't say why"),
                    path, 0, 0};
}

}  // namespace recut::aot
