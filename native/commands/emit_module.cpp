#include "native/commands/emit_module.h"

#include <nlohmann/json.hpp>

#include "engine/codegen/lower/view_map.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(loop::Access access) {
  switch (access) {
    case loop::Access::read:
      return "read";
    case loop::Access::write:
      return "written";
    case loop::Access::read_write:
      return "updated";
    case loop::Access::scratch:
      return "scratch";
  }
  return "";
}

Json json_of(const BufferAddress& location) {
  if (!location.input) return {{"arena", location.offset}};
  Json json = {{"input", *location.input}};
  if (location.offset != 0) json["offset"] = location.offset;
  return json;
}

// The inputs that kernels read, apart from views of them.
Json inputs_json(const Graph& graph, const Program& program) {
  Json inputs = Json::array();
  for (const NodeId id : program.inputs) {
    const TensorType& type = graph.type(id);
    inputs.push_back({{"name", graph.node_name(id)},
                      {"dtype", short_name(type.dtype)},
                      {"shape", type.shape},
                      {"strides", output_layout(type).strides}});
  }
  return inputs;
}

// Scratch is needed by each worker, and is no buffer of the host.
Json kernel_json(const loop::Kernel& kernel, const std::vector<loop::Stage>& stages) {
  Json buffers = Json::array(), functions = Json::array();
  for (std::size_t b = 0; b < loop::parameter_count(kernel); ++b) {
    const loop::Buffer& buffer = kernel.buffers[b];
    buffers.push_back({{"name", buffer.name},
                       {"dtype", short_name(buffer.dtype)},
                       {"elements", buffer.elements},
                       {"access", name_of(buffer.access)}});
  }
  for (const loop::Stage& stage : stages)
    functions.push_back({{"function", stage.symbol},
                         {"extent", stage.extent},
                         {"grain", stage.grain},
                         {"parallel", stage.parallel}});
  return {{"name", kernel.name}, {"buffers", buffers}, {"stages", functions}};
}

Json launches_json(const Program& program) {
  Json launches = Json::array();
  for (const Launch& launch : program.launches) {
    Json locations = Json::array();
    for (const BufferAddress& location : launch.buffers) locations.push_back(json_of(location));
    launches.push_back({{"kernel", launch.kernel}, {"buffers", locations}});
  }
  return launches;
}

Json outputs_json(const Graph& graph, const Program& program) {
  Json outputs = Json::array();
  for (const ProgramOutput& output : program.outputs) {
    if (!output.node.valid()) {
      outputs.push_back(nullptr);
      continue;
    }
    Json layouts = Json::array();
    for (const Layout& layout : output.layouts)
      layouts.push_back(
          {{"shape", layout.shape}, {"strides", layout.strides}, {"offset", layout.offset}});
    outputs.push_back({{"name", graph.node_name(output.node)},
                       {"dtype", short_name(output.type.dtype)},
                       {"shape", output.type.shape},
                       {"place", json_of(output.address)},
                       {"layouts", layouts}});
  }
  return outputs;
}

}  // namespace

std::string module_json(const Graph& graph, const Program& program, const wasm::Module& module,
                        const wasm::Options& options) {
  Json kernels = Json::array();
  for (std::size_t k = 0; k < program.kernels.size(); ++k)
    kernels.push_back(kernel_json(program.kernels[k], module.kernels[k]));
  return Json{{"relaxed", options.relaxed},
              {"arena_bytes", program.arena_bytes},
              {"scratch_bytes", module.scratch_bytes},
              {"faults", module.faults},
              {"inputs", inputs_json(graph, program)},
              {"kernels", kernels},
              {"launches", launches_json(program)},
              {"results", graph.results.size()},
              {"outputs", outputs_json(graph, program)}}
             .dump(1) +
         "\n";
}

}  // namespace recut::native
