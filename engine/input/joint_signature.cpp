#include "engine/input/joint_signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "engine/ir/graph_signature.h"
#include "engine/support/text.h"

namespace recut {
namespace {

class SignatureReader {
 public:
  SignatureReader(const JointNodes& nodes, const std::vector<std::optional<std::size_t>>& results,
                  Graph& graph, DiagnosticCollector& diagnostics)
      : nodes_(nodes), results_(results), graph_(graph), diagnostics_(diagnostics) {
    if (graph.signature != nullptr) signature_ = *graph.signature;
    for (const Mutation& mutation : signature_.mutations) derived_.insert(mutation.input);
  }

  void read(const JointSignature& from) {
    for_each(from.writes, "writes", [&](JsonValue item) { read_write(item); });
    for_each(from.views, "views", [&](JsonValue item) { read_view(item); });
    for_each(from.tangents, "tangents", [&](JsonValue item) { read_tangent(item); });
    for_each(from.shared_storages, "shared_storages",
             [&](JsonValue item) { read_shared_storage(item); });
    signature_.deterministic = signature_.deterministic || from.deterministic;
    set_signature(graph_, std::move(signature_));
    if (!diagnostics_.none()) return;
    for (const std::string& fault : check_signature(graph_)) diagnostics_.add(fault);
  }

 private:
  template <class Read>
  void for_each(JsonValue list, std::string_view key, const Read& read) {
    if (!list.present()) return;
    key_ = key;
    for (const JsonMember item : list.items()) read(item.value);
  }

  void fail(std::string_view message, JsonValue where) {
    diagnostics_.add(fmt::format("'{}': {}", key_, message), where);
  }

  // The place of an output among the graph's results; none for a size, and after an error.
  std::optional<std::size_t> result_of(JsonValue number) {
    if (!number.present()) return std::nullopt;
    const bool fits = number.is(JsonKind::integer) && number.integer() >= 0 &&
                      number.integer() < static_cast<std::int64_t>(results_.size());
    if (fits) return results_[static_cast<std::size_t>(number.integer())];
    fail(fmt::format("{} found, expected the number of one of the {} results",
                     number.is(JsonKind::integer) ? std::to_string(number.integer())
                                                  : std::string(describe(number.kind())),
                     results_.size()),
         number);
    return std::nullopt;
  }

  // "" for a size, which is no input of the graph, and after an error.
  std::string input_of(JsonValue name) {
    if (!name.present()) return "";
    if (!name.is(JsonKind::text)) {
      fail(fmt::format("{} found, expected the name of a placeholder", describe(name.kind())),
           name);
      return "";
    }
    const auto found = nodes_.by_name.find(name.text());
    if (found == nodes_.by_name.end() || nodes_.nodes[found->second].op != "placeholder") {
      fail(fmt::format("there is no placeholder {}", quote(name.text())), name);
      return "";
    }
    return graph_.find(name.text()).valid() ? std::string(name.text()) : "";
  }

  static JsonValue required(JsonFields& fields, std::string_view key) {
    const JsonValue value = fields.find(key);
    if (!value.present()) fields.report_error(fmt::format("{} is missing", quote(key)));
    return value;
  }

  bool is_object(JsonValue item) {
    if (item.is(JsonKind::object)) return true;
    fail(fmt::format("{} found, expected an object", describe(item.kind())), item);
    return false;
  }

  void read_write(JsonValue item) {
    if (!is_object(item)) return;
    JsonFields fields(item, "an item of 'writes'", diagnostics_);
    fields.only(std::vector<std::string_view>{"result", "input", "metadata_only"});
    const bool metadata_only = fields.boolean("metadata_only");
    const auto result = result_of(required(fields, "result"));
    std::string input = input_of(required(fields, "input"));
    if (!result || input.empty()) return;
    const NodeId value = graph_.results[*result];
    const bool moved =
        value.valid() && graph_.type(value).shape != graph_.type(graph_.find(input)).shape;
    // The file's own word counts before the writes of its calls.
    if (derived_.erase(input) != 0)
      signature_.mutations.erase(
          std::find_if(signature_.mutations.begin(), signature_.mutations.end(),
                       [&](const Mutation& mutation) { return mutation.input == input; }));
    signature_.mutations.push_back(
        {*result, std::move(input), !metadata_only, metadata_only || moved});
  }

  void read_view(JsonValue item) {
    if (!is_object(item)) return;
    JsonFields fields(item, "an item of 'views'", diagnostics_);
    fields.only(std::vector<std::string_view>{"result", "input", "of_result", "same"});
    fields.boolean("same");
    result_of(required(fields, "result"));
    const JsonValue input = fields.find("input"), other = fields.find("of_result");
    if (input.present() == other.present())
      return fail("expected either 'input' or 'of_result'", item);
    if (input.present())
      input_of(input);
    else
      result_of(other);
  }

  void read_tangent(JsonValue item) {
    if (const auto result = result_of(item)) signature_.tangent_of.push_back(*result);
  }

  void read_shared_storage(JsonValue item) {
    if (!item.is(JsonKind::array))
      return fail(fmt::format("{} found, expected a list of names", describe(item.kind())), item);
    std::vector<std::string> group;
    for (const JsonMember name : item.items())
      if (std::string input = input_of(name.value); !input.empty())
        group.push_back(std::move(input));
    if (group.size() > 1) signature_.shared_storages.push_back(std::move(group));
  }

  const JointNodes& nodes_;
  const std::vector<std::optional<std::size_t>>& results_;
  Graph& graph_;
  DiagnosticCollector& diagnostics_;
  GraphSignature signature_;
  std::set<std::string> derived_;  // inputs that calls of the graph write
  std::string_view key_;
};

}  // namespace

JointSignature::JointSignature(JsonFields& fields)
    : writes(fields.find("writes", JsonKind::array, false)),
      views(fields.find("views", JsonKind::array, false)),
      tangents(fields.find("tangents", JsonKind::array, false)),
      shared_storages(fields.find("shared_storages", JsonKind::array, false)),
      deterministic(fields.boolean("deterministic")) {}

std::set<std::string_view> JointSignature::written() const {
  std::set<std::string_view> names;
  if (!writes.present()) return names;
  for (const JsonMember item : writes.items()) {
    if (!item.value.is(JsonKind::object)) continue;
    for (const JsonMember member : item.value.items())
      if (member.key == "input" && member.value.is(JsonKind::text))
        names.insert(member.value.text());
  }
  return names;
}

void read_joint_signature(const JointSignature& signature, const JointNodes& nodes,
                          const std::vector<std::optional<std::size_t>>& results, Graph& graph,
                          DiagnosticCollector& diagnostics) {
  SignatureReader(nodes, results, graph, diagnostics).read(signature);
}

}  // namespace recut
