#include "engine/ir/dual_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/ir/node_diagnostic.h"
#include "engine/ir/printer.h"
#include "engine/support/text.h"

namespace recut {
namespace {

struct DualCallRow {
  DualCallKind kind;
  std::string_view name;
  std::vector<std::string_view> parameters;
};

const DualCallRow* dual_row_of(const Operator& op) {
  static const std::vector<DualCallRow> rows = {
#define RECUT_DUAL_CALL(kind, name, ...) {DualCallKind::kind, name, {__VA_ARGS__}},
#include "engine/ir/operators/dual_calls.def"
#undef RECUT_DUAL_CALL
  };
  for (const DualCallRow& row : rows)
    if (row.name == op.name) return &row;
  return nullptr;
}

std::string kind_of(const TensorType& type) {
  return fmt::format("{}{}", short_name(type.dtype), format_shape(type.shape));
}

class DualCallReader {
 public:
  DualCallReader(const Graph& graph, NodeId id, const DualCallRow& row)
      : graph_(graph), id_(id), node_(graph[id]), row_(row) {}

  Result<DualCall> read() {
    DualCall call{row_.kind, {}, {}, 0};
    if (!bind()) return fault(fmt::format("found {}, expected {}", call_text(), signature()));
    const auto* level = given_.back()->get<std::int64_t>();
    if (level == nullptr || *level < 0 || *level > kMaxDualLevel)
      return fault(
          fmt::format("found {}, expected a level from 0 to {}", call_text(), kMaxDualLevel));
    call.level = static_cast<int>(*level);
    for (std::size_t i = 0; i + 1 < given_.size(); ++i) {
      const auto* operand = given_[i]->get<NodeId>();
      if (operand == nullptr || graph_.op(*operand).multiple_outputs())
        return fault(
            fmt::format("found {}, expected a tensor as its {}", call_text(), row_.parameters[i]));
      (i == 0 ? call.value : call.tangent) = *operand;
    }
    if (std::string wrong = type_fault(call); !wrong.empty()) return fault(wrong);
    return call;
  }

 private:
  Diagnostic fault(const std::string& message) const {
    return node_diagnostic(graph_, id_, message);
  }

  std::string call_text() const { return print_node(graph_, id_); }
  std::string signature() const {
    return fmt::format("{}({})", row_.name, fmt::join(row_.parameters, ", "));
  }
  std::string_view value_word() const {
    return row_.kind == DualCallKind::make ? "primal" : "dual number";
  }
  std::string named(NodeId id) const { return "%" + graph_.node_name(id); }

  // Arguments by their parameter, each given once: by position or by name.
  bool bind() {
    const Operator& op = operator_of(node_.op);
    given_.assign(row_.parameters.size(), nullptr);
    for (std::size_t i = 0; i + 1 < op.parameters.size(); ++i) {  // the last one is the draw
      const Parameter& parameter = op.parameters[i];
      const auto found = std::find(row_.parameters.begin(), row_.parameters.end(), parameter.name);
      const std::size_t at =
          parameter.keyword_only ? static_cast<std::size_t>(found - row_.parameters.begin()) : i;
      if (at >= given_.size() || given_[at] != nullptr) return false;
      given_[at] = &node_.arguments[i];
    }
    return std::none_of(given_.begin(), given_.end(), [](const auto* a) { return a == nullptr; });
  }

  // Checks `type`, the type of `what`, against the type of the primal or of the dual number.
  std::string disagreement(const std::string& what, const TensorType& type,
                           const DualCall& call) const {
    const TensorType& value = graph_.type(call.value);
    if (!type.exists() || (type.dtype == value.dtype && type.shape == value.shape)) return "";
    return fmt::format("{} is {}, expected {}, the type of the {} {}", what, kind_of(type),
                       kind_of(value), value_word(), named(call.value));
  }

  std::string type_fault(const DualCall& call) const {
    const TensorType& value = graph_.type(call.value);
    const bool lists = call.kind == DualCallKind::unpack;
    if (lists != operator_of(node_.op).returns_list || node_.outputs.size() > (lists ? 2u : 1u))
      return fmt::format(
          "found {}, expected {}", call_text(),
          lists ? "a list of two types, the primal's and the tangent's" : "one type, the primal's");
    if (call.kind != DualCallKind::primal && !has_gradient(value.dtype))
      return fmt::format("the {} {} is {}, which has no tangent; expected real or complex numbers",
                         value_word(), named(call.value), kind_of(value));
    if (call.tangent.valid())
      if (auto wrong =
              disagreement("the tangent " + named(call.tangent), graph_.type(call.tangent), call);
          !wrong.empty())
        return wrong;
    for (std::size_t i = 0; i < node_.outputs.size(); ++i)
      if (auto wrong = disagreement(
              lists ? fmt::format("its {}", i == 0 ? "primal" : "tangent") : "its value",
              node_.outputs[i], call);
          !wrong.empty())
        return wrong;
    return "";
  }

  const Graph& graph_;
  NodeId id_;
  const Node& node_;
  const DualCallRow& row_;
  std::vector<const Argument*> given_;  // by parameter
};

}  // namespace

bool is_dual_call(const Node& node) {
  return is_external(node.op) && dual_row_of(operator_of(node.op)) != nullptr;
}

Result<DualCall> dual_call(const Graph& graph, NodeId call) {
  const DualCallRow* row = dual_row_of(graph.op(call));
  RECUT_CHECK(row != nullptr, "no call of a dual number");
  return DualCallReader(graph, call, *row).read();
}

}  // namespace recut
