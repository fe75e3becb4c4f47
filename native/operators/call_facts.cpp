#include "native/operators/call_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"

namespace recut::operators {
namespace {

constexpr std::string_view kFields[] = {"dtype",  "sizes",         "strides",
                                        "device", "requires_grad", "value"};

Json tensor_facts(const TensorArgument& tensor) {
  return {{"kind", "tensor"},
          {"dtype", short_name(tensor.type.dtype)},
          {"sizes", tensor.type.shape},
          {"strides", tensor.type.strides},
          {"device", tensor.type.device},
          {"requires_grad", tensor.requires_grad}};
}

Json float_facts(double value) {
  Json facts = {{"kind", "float"}};
  if (std::isfinite(value))
    facts["value"] = value;
  else
    facts["value"] = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return facts;
}

// An int for a parameter of reals is the real, and one item for a list is the list: the kernel
// computes with the schema's kind.
Json value_facts(const Argument& argument, const Parameter& parameter,
                 const std::vector<TensorArgument>& tensors) {
  if (const auto* id = argument.get<NodeId>()) return tensor_facts(tensors[id->index]);
  if (const auto* flag = argument.get<bool>()) return {{"kind", "bool"}, {"value", *flag}};
  if (const auto* number = argument.get<std::int64_t>()) {
    if (parameter.kind == ParameterKind::real) return float_facts(static_cast<double>(*number));
    return {{"kind", "int"}, {"value", *number}};
  }
  if (const auto* number = argument.get<double>()) return float_facts(*number);
  if (const auto* dtype = argument.get<DType>())
    return {{"kind", "dtype"}, {"value", short_name(*dtype)}};
  if (const auto* text = argument.get<std::string>()) return {{"kind", "string"}, {"value", *text}};
  const auto* list = argument.get<ArgumentList>();
  if (list == nullptr) return {{"kind", "none"}};
  Json items = Json::array();
  for (const Argument& item : *list) items.push_back(value_facts(item, parameter, tensors));
  return {{"kind", "list"}, {"items", std::move(items)}};
}

Json argument_facts(const Argument& argument, const Parameter& parameter,
                    const std::vector<TensorArgument>& tensors) {
  Json value = value_facts(argument, parameter, tensors);
  const std::string kind = value["kind"];
  if (parameter.list && kind != "list" && kind != "none")
    value = {{"kind", "list"}, {"items", Json::array({value})}};
  Json facts = {{"name", parameter.name}};
  facts.update(value);
  return facts;
}

std::string text_of(const Json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (value.is_array())  // of sizes or strides
    for (std::size_t at = text.find(','); at != std::string::npos; at = text.find(',', at + 2))
      text.insert(at + 1, " ");
  return printable(text, 200);
}

// "float 2.5", "tensor f32", "none": a value in a few words.
std::string describe(const Json& facts) {
  if (!facts.is_object() || !facts.contains("kind")) return "nothing";
  std::string text = text_of(facts["kind"]);
  for (const char* key : {"dtype", "value"})
    if (facts.contains(key)) text += " " + text_of(facts[key]);
  return text;
}

std::string short_text(const Json& facts) {
  if (!facts.is_object()) return "?";
  if (facts.contains("items")) return "[" + arguments_text(facts["items"]) + "]";
  if (facts.contains("value")) return text_of(facts["value"]);
  if (!facts.contains("dtype")) return text_of(facts.value("kind", Json("?")));
  return text_of(facts["dtype"]) + text_of(facts.value("sizes", Json()));
}

void compare(const std::string& name, const Json& given, const Json& kept,
             std::vector<std::string>& found) {
  if (!kept.is_object() || kept.value("kind", Json()) != given["kind"]) {
    found.push_back(fmt::format("{}: {}, kept {}", name, describe(given), describe(kept)));
    return;
  }
  for (const std::string_view field : kFields) {
    const std::string key(field);
    const auto here = given.find(key), there = kept.find(key);
    if (here == given.end() && there == kept.end()) continue;
    const Json mine = here == given.end() ? Json() : *here;
    const Json other = there == kept.end() ? Json() : *there;
    if (mine != other)
      found.push_back(fmt::format("{}: {} {}, kept {}", name, key, text_of(mine), text_of(other)));
  }
  if (!given.contains("items")) return;
  const Json& items = given["items"];
  const Json others = kept.value("items", Json());
  if (!others.is_array() || others.size() != items.size()) {
    found.push_back(fmt::format("{}: {} items, kept {}", name, items.size(),
                                others.is_array() ? others.size() : 0));
    return;
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    compare(fmt::format("{}[{}]", name, i), items[i], others[i], found);
}

}  // namespace

std::string CallFacts::name_space() const { return target.substr(0, target.find('.')); }
std::string CallFacts::overload_name() const { return target.substr(target.find('.') + 1); }

CallFacts facts_of(const OperatorCall& call) {
  Json arguments = Json::array();
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    arguments.push_back(argument_facts(call.arguments[i], call.op->parameters[i], call.tensors));
  return {std::string(call.op->target), call.device, std::move(arguments)};
}

std::vector<std::string> differences(const Json& arguments, const Json& kept) {
  std::vector<std::string> found;
  if (!kept.is_array() || kept.size() != arguments.size())
    return {
        fmt::format("{} arguments, kept {}", arguments.size(), kept.is_array() ? kept.size() : 0)};
  for (std::size_t i = 0; i < arguments.size(); ++i)
    compare(arguments[i]["name"].get<std::string>(), arguments[i], kept[i], found);
  return found;
}

std::string arguments_text(const Json& arguments) {
  if (!arguments.is_array()) return "?";
  std::string text;
  for (const Json& facts : arguments) text += (text.empty() ? "" : ", ") + short_text(facts);
  return text;
}

}  // namespace recut::operators
