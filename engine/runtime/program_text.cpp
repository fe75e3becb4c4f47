#include "engine/runtime/program_text.h"

#include <fmt/format.h>

#include "engine/codegen/lower/lower.h"

namespace recut {
namespace {

std::string place_text(const Graph& graph, const Program& program, const Place& place) {
  if (place.input) return "%" + graph.node_name(program.inputs[*place.input]);
  return fmt::format("@{}", place.offset);
}

std::string launch_text(const Graph& graph, const Program& program, const Launch& launch) {
  std::vector<std::string> places, calls;
  for (const Place& place : launch.buffers) places.push_back(place_text(graph, program, place));
  for (const NodeId call : loop::computed_calls(graph, launch.calls))
    calls.push_back("%" + graph.node_name(call));
  return fmt::format("{}kernel {} ({}) makes {}", launch.library ? "library " : "", launch.kernel,
                     fmt::join(places, ", "), fmt::join(calls, ", "));
}

std::string output_text(const Graph& graph, const Program& program, const ProgramOutput& output) {
  if (!output.node.valid()) return "none";
  return fmt::format("%{}: {}", graph.node_name(output.node),
                     place_text(graph, program, output.place));
}

}  // namespace

std::string launches_text(const Graph& graph, const Program& program) {
  std::string text =
      fmt::format("; {} launches of {} kernels, an arena of {} bytes\n", program.launches.size(),
                  program.kernels.size() + program.library.size(), program.arena_bytes);
  for (std::size_t i = 0; i < program.launches.size(); ++i)
    text += fmt::format("; launch {}: {}\n", i, launch_text(graph, program, program.launches[i]));
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    text += fmt::format("; {} {}\n", i < graph.results.size() ? "result" : "gradient",
                        output_text(graph, program, program.outputs[i]));
  return text;
}

std::string kernel_title(const Program& program, std::uint32_t kernel, bool library) {
  std::vector<std::size_t> launches;
  for (std::size_t i = 0; i < program.launches.size(); ++i)
    if (program.launches[i].library == library && program.launches[i].kernel == kernel)
      launches.push_back(i);
  return fmt::format("{}kernel {} of {}, launch{} {}", library ? "library " : "", kernel,
                     library ? program.library.size() : program.kernels.size(),
                     launches.size() == 1 ? "" : "es", fmt::join(launches, ", "));
}

}  // namespace recut
