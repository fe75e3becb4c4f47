// Finds a rule's pattern in a graph: structure first, then types, users and guards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/rewrite/rule.h"
#include "engine/rewrite/subject.h"

namespace recut {

// What a pattern's nodes and variables stand for.
struct Bindings {
  std::vector<NodeId> nodes;        // by pattern node
  std::vector<Argument> variables;  // by variable; absent: unbound
};

// The match with the plan's anchor at `anchor`, if there is one: the first, operands in the order
// of the text before the other way round, users in program order. A search that takes too long
// counts as none: only patterns with many @commutative calls and shared users can make one.
std::optional<Bindings> match(const Rule& rule, Subject& subject, NodeId anchor);

// What a replacement would be. Ids from kFirstPlanned on are its own nodes, in order.
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

// Types the replacement by the operators' shape rules, on the real operands. An error, which says
// what does not fit, is a fault of the rule: its guard has let through what it can't replace.
Result<PlannedReplacement> plan_replacement(const Rule& rule, Subject& subject,
                                            const Bindings& bindings);

}  // namespace recut
