// The pass expand_flex_attention, for passes that need it first.
#pragma once

#include <map>
#include <string>

#include "engine/passes/pass.h"

namespace recut {

namespace passes {
PassResult expand_flex_attention(const Graph& graph);
}

// The calls that it leaves as they are, and the reasons.
std::map<NodeId, std::string> unexpanded_attention(const Graph& graph);

}  // namespace recut
