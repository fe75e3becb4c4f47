// recut plan for a FILE that is a node-link graph.
#pragma once

#include <string>
#include <string_view>

#include "native/commands/plan_arguments.h"
#include "native/console.h"

namespace recut::native {

struct NodeLinkCommand {
  std::string path;
  std::string_view bytes;  // of the file
  const PlanArguments& plan;
  std::string out;
  bool json = false;
};

int plan_node_link_file(const NodeLinkCommand& command, const Console& console);

}  // namespace recut::native
