// The signature and the symbols of an exported program (exported_program.h). Its nodes are written
// by exported_graph.h; all become the text of an fx-joint-graph, so that both forms have one
// meaning and one set of checks.
//
// The signature gives each input and output of the graph a role. Buffers that the signature says
// are written stay inputs: a constant has no new value. The new ones are outside of
// differentiation. Writes that it doesn't mention, as those of a program in training form, are
// found as the text is read (written_values.h).
#include "engine/input/exported_program.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/input/exported_graph.h"
#include "engine/input/printed_values.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::int64_t kSchemaMajor = 8;

std::vector<JsonValue> list_in(JsonValue object, std::string_view key) {
  std::vector<JsonValue> items;
  if (const JsonValue list = member_of(object, key); list.is(JsonKind::array))
    for (const JsonMember item : list.items()) items.push_back(item.value);
  return items;
}

// The kind of an input of the graph, by its entry in the signature.
struct InputRole {
  std::string_view kind;    // "user_input", "parameter", "buffer", "tensor_constant", …
  std::string_view target;  // the module's name of it
};
InputRole input_role(JsonValue spec) {
  const JsonMember chosen = chosen_of(spec);
  InputRole role{chosen.key, {}};
  for (const std::string_view key : {"parameter_name", "buffer_name", "tensor_constant_name"})
    if (const std::string_view target = text_of(chosen.value, key); !target.empty())
      role.target = target;
  return role;
}

// The kind of an output. A gradient's target is the input's name in the graph, or the parameter's
// own.
struct OutputRole {
  enum Kind : std::uint8_t { result, written, gradient, ignored } kind = result;
  std::string_view target;
};
OutputRole output_role(JsonValue spec) {
  const JsonMember chosen = chosen_of(spec);
  OutputRole role;
  if (chosen.key.ends_with("_mutation")) role.kind = OutputRole::written;
  if (chosen.key.starts_with("gradient_to_")) role.kind = OutputRole::gradient;
  if (chosen.key == "token") role.kind = OutputRole::ignored;
  for (const std::string_view key : {"buffer_name", "parameter_name", "user_input_name"})
    if (const std::string_view target = text_of(chosen.value, key); !target.empty())
      role.target = target;
  return role;
}

std::string_view name_in(JsonValue value) {
  const JsonMember chosen = chosen_of(value);
  if (chosen.key == "as_tensor") return text_of(chosen.value, "name");
  return chosen.key.starts_with("as_sym_") ? text_of(chosen.value, "as_name") : std::string_view();
}

class ProgramWriter {
 public:
  ProgramWriter(JsonValue program, std::string_view model)
      : program_(program),
        graph_(member_of(member_of(program, "graph_module"), "graph")),
        signature_(member_of(member_of(program, "graph_module"), "signature")),
        model_(model),
        values_(text_.symbols),
        writer_(text_, values_) {}

  Result<ExportedProgram> write() {
    check_version();
    if (!graph_.is(JsonKind::object) || !signature_.is(JsonKind::object))
      writer_.add_fault("no 'graph_module' with a graph and its signature", program_);
    if (!text_.faults.empty()) return text_.faults;
    read_outputs();
    write_graph();
    if (!text_.faults.empty()) return text_.faults;
    ExportedProgram written;
    written.json = header() + text_.json + "\n]" + symbols() +
                   (writes_.empty() ? "" : ",\"writes\":[" + writes_ + "]") + "}";
    written.places = std::move(text_.places);
    written.held = std::move(held_);
    written.note = note();
    return written;
  }

 private:
  void check_version() {
    const JsonValue version = member_of(program_, "schema_version");
    const JsonValue major = version.is(JsonKind::integer) ? version : member_of(version, "major");
    if (!major.is(JsonKind::integer))
      writer_.add_fault("no 'schema_version': it is no program of torch.export", program_);
    else if (major.integer() != kSchemaMajor)
      writer_.add_fault(fmt::format("schema version {}, expected {} (PyTorch 2.6 to 2.11): export "
                                    "the model anew with one of these",
                                    major.integer(), kSchemaMajor),
                        major);
  }

  // Splits the outputs by their roles, in order.
  void read_outputs() {
    const std::vector<JsonValue> specs = list_in(signature_, "output_specs");
    const std::vector<JsonValue> outputs = list_in(graph_, "outputs");
    if (specs.size() != outputs.size())
      return writer_.add_fault(
          fmt::format("the signature has {} outputs, the graph {}", specs.size(), outputs.size()),
          signature_);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const OutputRole role = output_role(specs[i]);
      if (role.kind == OutputRole::written) written_to_.insert(role.target);
      if (role.kind == OutputRole::written) written_.emplace_back(outputs[i], role.target);
      if (role.kind == OutputRole::result) results_.push_back(outputs[i]);
      if (role.kind == OutputRole::gradient) gradients_[std::string(role.target)] = outputs[i];
    }
  }

  bool is_joint() const { return !gradients_.empty(); }

  void write_graph() {
    const std::vector<JsonValue> specs = list_in(signature_, "input_specs");
    const std::vector<JsonValue> inputs = list_in(graph_, "inputs");
    if (specs.size() != inputs.size())
      return writer_.add_fault(
          fmt::format("the signature has {} inputs, the graph {}", specs.size(), inputs.size()),
          signature_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const InputRole role = input_role(specs[i]);
      const std::string_view name = name_in(inputs[i]);
      if (name.empty() || role.kind == "custom_obj" || role.kind == "token") continue;
      writer_.write_input(graph_, inputs[i], role.target);
      placeholders_.emplace_back(name, role.target);
      if (role.target.empty()) continue;
      held_.push_back({std::string(name), std::string(role.target)});
      const bool constant = written_to_.count(role.target) == 0 && !is_joint();
      if (role.kind == "parameter") parameters_.push_back(name);
      if (role.kind != "parameter" && constant) buffers_.push_back(name);
    }
    writer_.write_nodes(graph_);
    write_outputs();
  }

  // Tensors only: numbers and None among the leaves of the results have no place.
  void write_outputs() {
    std::vector<std::string> outputs;
    for (const JsonValue value : results_)
      if (chosen_of(value).key == "as_tensor")
        if (const auto output = writer_.output(value)) outputs.push_back(*output);
    for (const auto& [value, target] : written_) {
      if (chosen_of(value).key != "as_tensor") continue;
      const auto output = writer_.detached(value);
      if (!output) continue;
      add_write(outputs.size(), target);
      outputs.push_back(*output);
    }
    result_count_ = outputs.size();
    for (const auto& [name, target] : placeholders_) {
      if (!is_joint()) break;
      const auto found = gradients_.find(target.empty() ? name : target);
      const auto output = found == gradients_.end() ? Result<std::string>(std::string("null"))
                                                    : writer_.output(found->second);
      outputs.push_back(output ? *output : "null");
    }
    writer_.begin_line(member_of(graph_, "outputs"));
    text_.json += fmt::format(R"({{"name":"graph results","op":"output","target":"output",)"
                              R"("args":[[{}]]}})",
                              fmt::join(outputs, ","));
  }

  // A target is the path of a buffer, or the name of an input.
  void add_write(std::size_t result, std::string_view target) {
    for (const auto& [name, path] : placeholders_) {
      if ((path.empty() ? name : path) != target) continue;
      writes_ += fmt::format("{}{{\"result\":{},\"input\":", writes_.empty() ? "" : ",", result);
      append_json_text(name, writes_);
      writes_ += '}';
      return;
    }
  }

  std::string header() const {
    std::string json = R"({"format":"fx-joint-graph","version":2,"model":)";
    append_json_text(model_, json);
    if (const std::string_view torch = text_of(program_, "torch_version"); !torch.empty()) {
      json += ",\"torch\":";
      append_json_text(torch, json);
    }
    add_names("parameters", parameters_, json);
    add_names("buffers", buffers_, json);
    if (is_joint()) json += fmt::format(",\"num_fwd_outputs\":{}", result_count_);
    return json + (is_joint() ? ",\"joint\":[" : ",\"forward\":[");
  }

  static void add_names(std::string_view key, const std::vector<std::string_view>& names,
                        std::string& json) {
    json += fmt::format(",\"{}\":[", key);
    for (const std::string_view name : names) {
      if (json.back() != '[') json += ',';
      append_json_text(name, json);
    }
    json += ']';
  }

  // Hints are those of the sizes; ranges stand apart. An end that is missing is open.
  std::string symbols() {
    if (const JsonValue ranges = member_of(program_, "range_constraints");
        ranges.is(JsonKind::object))
      for (const JsonMember range : ranges.items()) {
        Symbol& symbol = text_.symbols[std::string(range.key)];
        const JsonValue min = member_of(range.value, "min_val");
        const JsonValue max = member_of(range.value, "max_val");
        if (min.is(JsonKind::integer)) symbol.min = min.integer();
        if (max.is(JsonKind::integer)) symbol.max = max.integer();
      }
    return ",\"symbols\":" + symbols_json(text_.symbols);
  }

  std::string note() const {
    std::map<std::string_view, std::size_t> calls;
    for (const std::string& target : text_.inlined) ++calls[target];
    std::string note;
    for (const auto& [target, count] : calls) {
      const std::string_view name = target.substr(target.rfind('.') + 1);
      note += fmt::format("{}{} ({} {})", note.empty() ? "" : ", ", name, count,
                          count == 1 ? "call" : "calls");
    }
    if (note.empty()) return note;
    return "nested graphs stand in the place of their calls, of a condition both branches: " + note;
  }

  JsonValue program_, graph_, signature_;
  std::string_view model_;
  ExportedText text_;
  ExportedValues values_;
  ExportedGraphWriter writer_;
  std::vector<JsonValue> results_;
  std::vector<std::pair<JsonValue, std::string_view>> written_;  // and the tensor's name
  std::string writes_;                                           // items of "writes"
  std::map<std::string, JsonValue, std::less<>> gradients_;      // by input
  std::set<std::string_view> written_to_;
  std::vector<std::pair<std::string_view, std::string_view>> placeholders_;  // and targets
  std::vector<std::string_view> parameters_, buffers_;
  std::vector<ExportedInput> held_;
  std::size_t result_count_ = 0;
};

// Lines of faults are positions in the program until here.
void place_faults(Diagnostics& faults, std::string_view program, std::string_view file_name) {
  for (Diagnostic& fault : faults) {
    const LineColumn at = line_column_of(program, fault.line);
    fault.line = at.line;
    fault.column = at.column;
    fault.file = std::string(file_name);
  }
}

}  // namespace

void ExportedProgram::relocate(Diagnostics& diagnostics, std::string_view program) const {
  for (Diagnostic& fault : diagnostics) {
    if (fault.line == 0) continue;
    // The first line is the header, and the symbols stand behind the last: they have no place.
    const bool placed = fault.line >= 2 && fault.line - 2 < places.size();
    const LineColumn at =
        placed ? line_column_of(program, places[fault.line - 2]) : LineColumn{0, 0};
    fault.line = at.line;
    fault.column = at.column;
  }
}

Result<ExportedProgram> read_exported_program(std::string_view program, std::string_view file_name,
                                              std::string_view model) {
  const auto document = parse_json(program, file_name);
  if (!document) return document.diagnostics();
  auto written = ProgramWriter(document->root(), model).write();
  if (written) return written;
  Diagnostics faults = written.diagnostics();
  place_faults(faults, program, file_name);
  return faults;
}

}  // namespace recut
