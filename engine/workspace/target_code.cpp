#include "engine/workspace/target_code.h"

#include <nlohmann/json.hpp>

#include "engine/runtime/program_text.h"
#include "engine/workspace/compile.h"

namespace recut {
namespace {

// Lines that begin with a semicolon, as the target's comments.
std::string as_comments(const Target& target, const std::string& lines) {
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin) + 1;
    text += std::string(target.comment) + lines.substr(begin + 1, end - begin - 1);
    begin = end;
  }
  return text;
}

std::string kernels_text(const Target& target, const Program& program,
                         std::optional<std::uint32_t> kernel, const TargetOptions& options) {
  const auto loops = static_cast<std::uint32_t>(program.kernels.size());
  std::vector<loop::Kernel> kernels;
  std::vector<library::Kernel> calls;
  for (std::uint32_t k = 0; k < kernel_count(program); ++k) {
    if (kernel.value_or(k) != k) continue;
    if (k < loops) {
      kernels.push_back(program.kernels[k]);
      kernels.back().locations.push_back(kernel_title(program, k));
    } else {
      calls.push_back(program.library[k - loops]);
      calls.back().locations.push_back(kernel_title(program, k - loops, true));
    }
  }
  std::string text;
  for (const TargetLine& line : target.lines(kernels, calls, options)) text += line.text + "\n";
  return text;
}

}  // namespace

Result<Program> program_for(const Target& target, const Document& document,
                            const ScheduledPlan& scheduled, const TargetOptions& options) {
  ProgramOptions program;
  program.lower = target.lower(options);
  program.collectives = true;
  if (target.functions != nullptr) {
    program.library = true;
    program.library_takes = target.functions;
  }
  return program_of(document, scheduled, program);
}

std::uint32_t kernel_count(const Program& program) {
  return static_cast<std::uint32_t>(program.kernels.size() + program.library.size());
}

std::string code_of(const Target& target, const Graph& graph, const Program& program,
                    std::optional<std::uint32_t> kernel, const TargetOptions& options) {
  std::string text;
  if (!kernel) text = as_comments(target, launches_text(graph, program)) + "\n";
  return text + kernels_text(target, program, kernel, options);
}

std::string target_code_json(const Target& target, const Graph& graph, const Program& program,
                             const TargetOptions& options) {
  return nlohmann::ordered_json{{"target", target.id},
                                {"program", program_digest(program)},
                                {"arena_bytes", program.arena_bytes},
                                {"kernels", kernel_count(program)},
                                {"launches", program.launches.size()},
                                {"code", code_of(target, graph, program, {}, options)}}
             .dump(1) +
         "\n";
}

}  // namespace recut
