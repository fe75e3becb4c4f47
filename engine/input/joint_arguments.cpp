#include "engine/input/joint_arguments.h"

#include <fmt/core.h>

#include "engine/input/joint_complex.h"
#include "engine/support/text.h"

namespace recut {
namespace {

class ArgumentReader {
 public:
  ArgumentReader(const Operator& op, const JointNode& node, Graph& graph, const FindNode& find_node,
                 const std::function<void(const std::string&)>& report_error)
      : op_(op),
        node_(node),
        graph_(graph),
        find_node_(find_node),
        report_error_(report_error),
        arguments_(op.parameters.size()) {}

  std::optional<std::vector<Argument>> read() {
    bool sound = true;
    if (node_.args.present()) sound = read_positional();
    if (node_.kwargs.present()) sound = read_by_name() && sound;
    if (!sound) return std::nullopt;
    add_complex_numbers(complex_, node_, graph_, arguments_);
    return std::move(arguments_);
  }

 private:
  bool read_positional() {
    std::size_t count = 0;
    while (count < op_.parameters.size() && !op_.parameters[count].keyword_only) ++count;
    if (node_.args.size() > count) {
      report_error_(fmt::format("{} takes {} positional arguments, found {}", op_.name, count,
                                node_.args.size()));
      return false;
    }
    bool sound = true;
    std::size_t position = 0;
    for (const JsonMember item : node_.args.items()) sound = read(position++, item.value) && sound;
    return sound;
  }

  bool read_by_name() {
    bool sound = true;
    for (const JsonMember member : node_.kwargs.items()) {
      const auto position = op_.parameter(member.key);
      if (!position || (op_.is(kImpure) && member.key == "draw")) {
        report_error_(fmt::format("{} has no argument {}", op_.name, quote(member.key)));
        sound = false;
      } else if (!arguments_[*position].absent()) {
        report_error_(fmt::format("argument '{}' of {} is given twice", member.key, op_.name));
        sound = false;
      } else {
        sound = read(*position, member.value) && sound;
      }
    }
    return sound;
  }

  bool read(std::size_t position, JsonValue value) {
    bool sound = true;
    auto argument = is_complex_number(value) ? read_complex(position, value)
                                             : read_joint_argument(value, find_node_, sound);
    if (!argument) {
      report_error_(fmt::format("argument '{}' of {}: {}", op_.parameters[position].name, op_.name,
                                argument.diagnostics().front().message));
      return false;
    }
    arguments_[position] = std::move(*argument);
    return sound;
  }

  // Another value stands for the number until all arguments are known.
  Result<Argument> read_complex(std::size_t position, JsonValue value) {
    const Parameter& parameter = op_.parameters[position];
    if (parameter.kind != ParameterKind::tensor || parameter.list)
      return error("a complex number found, expected another value: this parameter takes none");
    const auto number = read_complex_number(value);
    if (!number) return number.diagnostics();
    complex_.emplace_back(position, *number);
    return Argument(None{});
  }

  const Operator& op_;
  const JointNode& node_;
  Graph& graph_;
  const FindNode& find_node_;
  const std::function<void(const std::string&)>& report_error_;
  std::vector<Argument> arguments_;
  ComplexNumbers complex_;
};

}  // namespace

std::optional<std::vector<Argument>> read_joint_arguments(
    const Operator& op, const JointNode& node, Graph& graph, const FindNode& find_node,
    const std::function<void(const std::string&)>& report_error) {
  return ArgumentReader(op, node, graph, find_node, report_error).read();
}

JsonValue argument_of(const Operator& op, const JointNode& node, std::string_view parameter) {
  const auto position = op.parameter(parameter);
  std::size_t at = 0;
  if (node.args.present() && position)
    for (const JsonMember item : node.args.items())
      if (at++ == *position) return item.value;
  if (node.kwargs.present())
    for (const JsonMember member : node.kwargs.items())
      if (member.key == parameter) return member.value;
  return {};
}

std::string_view referenced_name(JsonValue value) {
  if (!value.is(JsonKind::object) || value.size() != 1) return {};
  const JsonMember member = *value.items().begin();
  return member.key == "node" && member.value.is(JsonKind::text) ? member.value.text()
                                                                 : std::string_view();
}

}  // namespace recut
