// Finds a rule's pattern in a graph: structure first, then types, users and guards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/rewrite/rule.h"
#include "engine/rewrite/subject.h"

namespace recut {

// The nodes and arguments bound to a pattern's nodes and variables.
struct Bindings {
  std::vector<NodeId> nodes;        // by pattern node
  std::vector<Argument> variables;  // by variable; absent: unbound
};

// The first match with the plan's anchor at `anchor`, if any. Operands are tried in the order of
// the pattern before they are swapped, and users in program order. A search that exceeds its step
// limit finds none; only patterns with many @commutative calls and shared users can exceed it.
std::optional<Bindings> match(const Rule& rule, Subject& subject, NodeId anchor);

// A replacement before its nodes exist. Ids from kFirstPlanned on are its own nodes, in order.
struct PlannedReplacement {
  struct Call {
    const Operator* op;
    std::vector<Argument> arguments;
    std::vector<TensorType> types;
  };
  std::vector<Call> calls;
  std::vector<NodeId> results;  // one a result of the pattern
};
inline constexpr std::uint32_t kFirstPlanned = 0x80000000;

// Infers the types of the replacement from the bound operands. An error says which type does not
// fit; it is a fault of the rule, whose guard is too weak.
Result<PlannedReplacement> plan_replacement(const Rule& rule, Subject& subject,
                                            const Bindings& bindings);

}  // namespace recut
