// Parameters and buffers among the placeholders of a forward graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "engine/input/diagnostic_collector.h"
#include "engine/input/joint_builder.h"
#include "engine/input/joint_nodes.h"

namespace recut {

enum class JointRole : std::uint8_t { parameter, buffer };

// The roles of placeholders, by their indices among the nodes. Names that are no placeholders, or
// stand twice, are reported.
std::map<std::size_t, JointRole> read_joint_roles(const JointNodes& nodes, const JointRoles& roles,
                                                  DiagnosticCollector& diagnostics);

}  // namespace recut
