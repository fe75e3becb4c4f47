#include "native/aot/library.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/support/units.h"
#include "engine/workspace/compile.h"
#include "native/aot/driver.h"
#include "native/aot/link.h"
#include "native/aot/temporary_files.h"

namespace recut::aot {
namespace {

// Puts weights into a file that the assembler includes. Returns its path, or "" where none are
// inside.
Result<std::string> weights_inside(const TemporaryFiles& files, BuiltLibrary& built) {
  if (built.interface.weights_bytes > kMaxWeightsInside)
    return error(
        fmt::format("weights of {} are more than a library can hold, {}: --weights FILE "
                    "keeps them beside it",
                    format_bytes(built.interface.weights_bytes), format_bytes(kMaxWeightsInside)));
  const std::string name = "weights";
  if (!files.write(name, built.weights))
    return Diagnostic{std::string("can't write the weights: ") + std::strerror(errno),
                      files.path_of(name), 0, 0};
  built.weights.clear();
  built.interface.weights_inside = true;
  return files.path_of(name);
}

}  // namespace

Result<BuiltLibrary> build_library(const Document& document, const ScheduledPlan& scheduled,
                                   const LibraryRequest& request, const std::string& path) {
  const Graph& graph = document.graph();
  const auto program = program_of(document, scheduled);
  if (!program) return program.diagnostics();
  BuiltLibrary built{interface_of(graph, *program, request.prefix), program->arena_bytes, ""};
  const TemporaryFiles files;
  std::string included;
  if (request.weights != Weights::inputs)
    built.weights = place_weights(graph, document.file.tensors, built.interface);
  if (request.weights == Weights::inside && !built.interface.weights.empty()) {
    auto written = weights_inside(files, built);
    if (!written) return written.diagnostics();
    included = std::move(*written);
  }
  const auto object = cpu::compile_object(
      step_text(*program, scheduled.schedule, built.interface, included), request.target);
  if (!object) return object.diagnostics();
  if (auto done = link_library(*object, request.prefix, request.linker, path); !done)
    return done.diagnostics();
  return built;
}

}  // namespace recut::aot
