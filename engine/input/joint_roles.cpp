#include "engine/input/joint_roles.h"

#include <fmt/core.h>

#include "engine/input/joint_writes.h"
#include "engine/support/text.h"

namespace recut {

std::map<std::size_t, JointRole> read_joint_roles(const JointNodes& nodes, const JointRoles& roles,
                                                  DiagnosticCollector& diagnostics) {
  std::map<std::size_t, JointRole> found;
  const auto take = [&](const std::vector<std::string>& names, std::string_view list,
                        JointRole role) {
    for (const std::string& name : names) {
      const auto it = nodes.by_name.find(name);
      if (it == nodes.by_name.end() || nodes.nodes[it->second].op != "placeholder")
        diagnostics.add(fmt::format("'{}' names {}, which is no placeholder", list, quote(name)));
      else if (!found.emplace(it->second, role).second)
        diagnostics.add(
            fmt::format("{} stands twice among parameters and buffers", describe_node(name)));
    }
  };
  take(roles.parameters, "parameters", JointRole::parameter);
  take(roles.buffers, "buffers", JointRole::buffer);
  // A constant has no new value: a buffer that is written is an input. A parameter stays one.
  if (!roles.buffers.empty())
    for (const std::size_t at : written_placeholders(nodes))
      if (const auto it = found.find(at); it != found.end() && it->second == JointRole::buffer)
        found.erase(it);
  return found;
}

}  // namespace recut
