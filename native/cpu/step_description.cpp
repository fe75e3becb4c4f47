#include "native/cpu/step_description.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "native/cache/build.h"

namespace recut::cpu {
namespace {

using Json = nlohmann::ordered_json;

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

Json description(std::string_view kind, const Target& target) {
  return {{"kind", kind},
          {"device", "cpu"},
          {"created", now()},
          {"recut", cache::this_build()},
          {"llvm", llvm_version()},
          {"target", {{"triple", target.triple}, {"processor", target.processor}}}};
}

Json type_json(const std::string& name, const TensorType& type) {
  return {{"name", name},
          {"dtype", short_name(type.dtype)},
          {"shape", type.shape},
          {"strides", type.strides}};
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string describe_step(const Document& document, const SchedulingRequest& request,
                          const Program& program, const Target& target) {
  const Graph& graph = document.graph();
  Json json = description("step", target);
  json["graph"] = graph.name;
  json["strategy"] = request.planning.strategy;
  json["budget"] = request.planning.budget;
  json["arena_bytes"] = program.arena_bytes;
  json["launches"] = program.launches.size();
  json["inputs"] = Json::array();
  for (const NodeId id : graph.inputs()) {
    json["inputs"].push_back(type_json(graph.node_name(id), graph.type(id)));
    json["inputs"].back()["kind"] = name_of(graph.input_kind(id));
  }
  json["outputs"] = Json::array();
  for (const ProgramOutput& output : program.outputs)
    if (output.node.valid())
      json["outputs"].push_back(type_json(graph.node_name(output.node), output.type));
  return text_of(json);
}

std::string describe_object(const Target& target, const std::string& object) {
  Json json = description("kernels", target);
  json["bytes"] = object.size();
  return text_of(json);
}

}  // namespace recut::cpu
