#include <fmt/core.h>

#include "engine/ir/printer.h"
#include "tests/random/program.h"

namespace recut::test {
namespace {

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string reference(const std::string& name) { return fmt::format(R"({{"node": "{}"}})", name); }

std::string type_json(const TensorType& type) {
  std::vector<std::string> sizes, strides;
  for (const std::int64_t n : type.shape) sizes.push_back(std::to_string(n));
  for (const std::int64_t n : type.strides) strides.push_back(std::to_string(n));
  return fmt::format(R"({{"dtype": "{}", "shape": [{}], "stride": [{}]}})", torch_name(type.dtype),
                     joined(sizes), joined(strides));
}

// Nested graphs have names that no other one of the program has.
class ProgramPrinter {
 public:
  std::string nodes(const ProgramBody& body) {
    std::vector<std::string> lines, names;
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
      names.push_back(fmt::format("in{}", i));
      lines.push_back(
          fmt::format(R"({{"name": "{0}", "op": "placeholder", "target": "{0}", "val": {1}}})",
                      names.back(), type_json(body.inputs[i])));
    }
    for (const ProgramCall& call : body.calls) {
      names.push_back(fmt::format("v{}", names.size()));
      add_call(call, names, lines);
    }
    std::vector<std::string> results;
    for (const std::size_t number : body.results) results.push_back(reference(names[number]));
    lines.push_back(
        fmt::format(R"({{"name": "output", "op": "output", "target": "output", "args": [[{}]]}})",
                    joined(results)));
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "\n" : ",\n") + line;
    return text;
  }

 private:
  void add_call(const ProgramCall& call, const std::vector<std::string>& names,
                std::vector<std::string>& lines) {
    std::vector<std::string> positional, keywords, types;
    for (const ProgramArgument& argument : call.arguments) {
      const auto* text = std::get_if<std::string>(&argument);
      if (text == nullptr || text->find('=') == std::string::npos) {
        positional.push_back(argument_json(argument, names, lines));
        continue;
      }
      const auto [key, value] = key_and_value(*text);
      keywords.push_back(fmt::format(R"("{0}": {{"{0}": "{1}"}})", key, value));
    }
    for (const TensorType& type : call.outputs) types.push_back(type_json(type));
    const std::string val =
        is_nested_call(call) ? fmt::format(R"(, "val": [{}])", joined(types)) : "";
    lines.push_back(fmt::format(
        R"({{"name": "{}", "op": "call_function", "target": "{}", "args": [{}], "kwargs": {{{}}}{}}})",
        names.back(), call.target, joined(positional), joined(keywords), val));
  }

  std::string argument_json(const ProgramArgument& argument, const std::vector<std::string>& names,
                            std::vector<std::string>& lines) {
    std::vector<std::string> items;
    if (const auto* value = std::get_if<ProgramValue>(&argument))
      return reference(names[value->number]);
    if (const auto* values = std::get_if<std::vector<ProgramValue>>(&argument)) {
      for (const ProgramValue& item : *values) items.push_back(reference(names[item.number]));
      return "[" + joined(items) + "]";
    }
    if (const auto* body = std::get_if<std::shared_ptr<const ProgramBody>>(&argument)) {
      const std::string name = fmt::format("graph_{}", graphs_++);
      lines.push_back(
          fmt::format(R"({{"name": "{0}", "op": "get_attr", "target": "{0}", "subgraph": [{1}]}})",
                      name, nodes(**body)));
      return reference(name);
    }
    if (const auto* real = std::get_if<double>(&argument)) return fmt::format("{:.2f}", *real);
    if (const auto* whole = std::get_if<std::int64_t>(&argument)) return std::to_string(*whole);
    if (const auto* boolean = std::get_if<bool>(&argument)) return *boolean ? "true" : "false";
    if (const auto* text = std::get_if<std::string>(&argument)) return "\"" + *text + "\"";
    for (const std::int64_t n : std::get<std::vector<std::int64_t>>(argument))
      items.push_back(std::to_string(n));
    return "[" + joined(items) + "]";
  }

  int graphs_ = 0;
};

}  // namespace

std::string program_json(const ProgramBody& body) {
  return fmt::format(
      R"({{"format": "fx-joint-graph", "version": 1, "model": "program", "forward": [{}]}})",
      ProgramPrinter().nodes(body));
}

}  // namespace recut::test
