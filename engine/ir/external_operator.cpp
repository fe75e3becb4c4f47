#include "engine/ir/external_operator.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kMaxTarget = 200;
constexpr std::string_view kDraw = "draw";  // the last parameter of each row

Result<std::vector<TensorType>> types_of_external(const Call&) {
  return error("the types of an operator that Recut doesn't know have to be given");
}

// A row and the text behind its views.
struct ExternalRow {
  std::string target, name, packet;
  std::vector<std::string> parameters;
  Operator row;
};

// Rows by number are read without a lock: a slot is written once, before its number is given away.
class ExternalTable {
 public:
  const Operator& row(std::size_t index) const {
    return *slots_.at(index).load(std::memory_order_acquire);
  }

  const Operator* find_or_add(const ExternalSignature& signature) {
    const std::lock_guard lock(mutex_);
    const Key key{signature.target, signature.positional, signature.keywords, signature.several};
    if (const auto known = rows_.find(key); known != rows_.end()) return &known->second->row;
    if (rows_.size() == kMaxExternals) return nullptr;
    const std::size_t index = rows_.size();
    auto made = make(signature, index);
    const Operator* row = &made->row;
    slots_[index].store(row, std::memory_order_release);
    rows_.emplace(key, std::move(made));
    return row;
  }

 private:
  using Key = std::tuple<std::string, std::size_t, std::vector<std::string>, bool>;

  static std::unique_ptr<ExternalRow> make(const ExternalSignature& signature, std::size_t index) {
    auto made = std::make_unique<ExternalRow>();
    made->target = signature.target;
    made->name = external_name(signature.target);
    made->packet = made->name;
    for (std::size_t i = 0; i < signature.positional; ++i)
      made->parameters.push_back(fmt::format("arg{}", i));
    for (const std::string& keyword : signature.keywords) made->parameters.push_back(keyword);
    Operator& row = made->row;
    row.op = static_cast<Op>(all_operators().size() + index);
    row.target = made->target;
    row.name = made->name;
    row.packet = made->packet;
    row.flags = kDataDependent | kImpure;
    row.outputs = 1;
    row.returns_list = signature.several;
    row.rule = &types_of_external;
    row.summary = "An operator that Recut doesn't know, kept by its name.";
    for (std::size_t i = 0; i < made->parameters.size(); ++i) {
      Parameter parameter;
      parameter.name = made->parameters[i];
      parameter.kind = ParameterKind::any;
      parameter.optional = true;
      parameter.keyword_only = i >= signature.positional;
      row.parameters.push_back(parameter);
    }
    Parameter draw;
    draw.name = kDraw;
    draw.kind = ParameterKind::integer;
    draw.keyword_only = true;
    draw.has_default = true;
    draw.default_value = Argument(0);
    row.parameters.push_back(draw);
    return made;
  }

  std::mutex mutex_;
  std::map<Key, std::unique_ptr<ExternalRow>> rows_;
  std::array<std::atomic<const Operator*>, kMaxExternals> slots_{};
};

ExternalTable& external_table() {
  static ExternalTable table;
  return table;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

const Operator& external_row(std::size_t index) { return external_table().row(index); }

std::string external_name(std::string_view target) {
  if (target.empty() || target.size() > kMaxTarget) return "";
  bool start = true;
  for (const char c : target) {
    const bool digit = c >= '0' && c <= '9';
    if (c == '.' ? start : !is_name_character(c) || (start && digit)) return "";
    start = c == '.';
  }
  if (start) return "";
  constexpr std::string_view kHigherOrder = "torch.ops.higher_order.", kDefault = ".default";
  if (target.starts_with(kHigherOrder)) target.remove_prefix(kHigherOrder.size());
  if (target.ends_with(kDefault)) target.remove_suffix(kDefault.size());
  return std::string(target);
}

Result<const Operator*> external_operator(const ExternalSignature& signature) {
  if (external_name(signature.target).empty())
    return error(fmt::format("{} is no name of an operator", quote(signature.target)));
  for (std::size_t i = 0; i < signature.keywords.size(); ++i) {
    const std::string& keyword = signature.keywords[i];
    const bool plain = std::all_of(keyword.begin(), keyword.end(), is_name_character);
    const auto end = signature.keywords.begin() + static_cast<std::ptrdiff_t>(i);
    const bool taken = keyword == kDraw || keyword.starts_with("arg") ||
                       std::find(signature.keywords.begin(), end, keyword) != end;
    if (keyword.empty() || !plain || taken)
      return error(fmt::format("{} can't have an argument named {}", quote(signature.target),
                               quote(keyword)));
  }
  if (const Operator* row = external_table().find_or_add(signature)) return row;
  return error(fmt::format("more than {} kinds of calls of operators that Recut doesn't know",
                           kMaxExternals));
}

std::string_view expansion_tip(Op op) {
  return is_external(op) ? "; give its expansion by --op-library FILE" : "";
}

ExternalSignature signature_of(const Operator& row) {
  ExternalSignature signature{std::string(row.target), 0, {}, row.returns_list};
  for (const Parameter& parameter : row.parameters)
    if (!parameter.keyword_only)
      ++signature.positional;
    else if (parameter.name != kDraw)
      signature.keywords.emplace_back(parameter.name);
  return signature;
}

bool have_same_form(const Operator& a, const Operator& b) {
  if (a.name != b.name || a.returns_list != b.returns_list ||
      a.parameters.size() != b.parameters.size())
    return false;
  return std::all_of(a.parameters.begin(), a.parameters.end(), [&](const Parameter& parameter) {
    const auto index = b.parameter(parameter.name);
    return index && b.parameters[*index].keyword_only == parameter.keyword_only;
  });
}

}  // namespace recut
