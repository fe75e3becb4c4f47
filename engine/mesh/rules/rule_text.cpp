#include "engine/mesh/rules/rule_text.h"

#include <algorithm>
#include <cctype>

#include "engine/support/check.h"

namespace recut::mesh {
namespace {

std::string_view stripped(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> parts_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t depth = 0, begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] != separator || depth > 0) continue;
    parts.push_back(stripped(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(stripped(text.substr(begin)));
  return parts;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : parts_at(text, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text = stripped(text.substr(prefix.size()));
  return true;
}

DimensionText parse_ellipsis(std::string_view word) {
  DimensionText dim{DimensionText::Kind::ellipsis};
  dim.strict = word.substr(0, 3) != "...";
  word.remove_prefix(dim.strict ? 2 : 3);
  if (!word.empty() && word.front() == '/') dim.without = word.substr(1);
  if (!word.empty() && word.front() == '{') {
    const std::size_t colon = word.find(':');
    RECUT_CHECK(colon != word.npos && word.back() == '}',
                "a replaced dimension is {ATTRIBUTE:FACTOR}");
    dim.replaced = word.substr(1, colon - 1);
    dim.name = word.substr(colon + 1, word.size() - colon - 2);
  }
  return dim;
}

DimensionText parse_dimension(std::string_view word) {
  if (word == "*") return {DimensionText::Kind::whole};
  if (word == "*...") return {DimensionText::Kind::rest};
  if (word.substr(0, 2) == "..") return parse_ellipsis(word);
  DimensionText dim;
  dim.multiple = word.back() == '.';
  dim.optional = word.back() == '?';
  dim.name = word.substr(0, word.size() - (dim.multiple || dim.optional ? 1 : 0));
  RECUT_CHECK(std::all_of(dim.name.begin(), dim.name.end(),
                          [](unsigned char c) { return std::isalnum(c) != 0; }),
              "a factor's name has letters and digits");
  return dim;
}

std::vector<TensorText> parse_tensors(std::string_view text) {
  std::vector<TensorText> tensors;
  if (text.empty()) return tensors;
  for (std::string_view part : parts_at(text, ',')) {
    TensorText tensor;
    tensor.mapped = part != "-";
    tensor.broadcasts = take_prefix(part, "^");
    if (tensor.mapped && part != "()")
      for (const std::string& word : words_of(part)) tensor.dims.push_back(parse_dimension(word));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

ConditionText parse_condition(std::string_view text) {
  ConditionText condition;
  condition.rank = take_prefix(text, "rank ");
  if (take_prefix(text, "!")) return {true, false, std::string(text), "true"};
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return {false, false, std::string(text), "true"};
  condition.negated = equals > 0 && text[equals - 1] == '!';
  condition.parameter = text.substr(0, equals - (condition.negated ? 1 : 0));
  condition.value = text.substr(equals + 1);
  return condition;
}

// Cuts " if CONDITION" off the end.
std::optional<ConditionText> take_condition(std::string_view& text) {
  const std::size_t found = text.find(" if ");
  if (found == text.npos) return std::nullopt;
  const ConditionText condition = parse_condition(stripped(text.substr(found + 4)));
  text = stripped(text.substr(0, found));
  return condition;
}

void parse_kind(std::string_view text, FactorText& factor) {
  static constexpr std::pair<std::string_view, FactorKind> kKinds[] = {{"pass", FactorKind::pass},
                                                                       {"whole", FactorKind::whole},
                                                                       {"merge", FactorKind::merge},
                                                                       {"halo", FactorKind::halo}};
  for (const auto& [name, kind] : kKinds)
    if (name == text) {
      factor.kind = kind;
      return;
    }
  if (take_prefix(text, "masked(")) {
    RECUT_CHECK(!text.empty() && text.back() == ')', "masked(INDICES, ZEROED)");
    const auto names = parts_at(text.substr(0, text.size() - 1), ',');
    factor.kind = FactorKind::masked;
    factor.indices = names.front();
    if (names.size() > 1) factor.zeroed = names[1];
    return;
  }
  factor.kind = FactorKind::reduce;
  for (const Reduction r :
       {Reduction::sum, Reduction::avg, Reduction::product, Reduction::min, Reduction::max})
    if (text == title(r)) {
      factor.reduction = r;
      return;
    }
  RECUT_CHECK(false, "the kind of a factor is unknown");
}

FactorText parse_factor(std::string_view name, std::string_view kind) {
  FactorText factor;
  factor.condition = take_condition(kind);
  if (name == "...") {
    factor.target = FactorText::Target::ellipsis;
  } else if (take_prefix(name, "[")) {
    RECUT_CHECK(name.back() == ']', "[ATTRIBUTE]");
    name.remove_suffix(1);
    factor.target =
        take_prefix(name, "-") ? FactorText::Target::last_of : FactorText::Target::named_by;
  }
  factor.name = name;
  parse_kind(kind, factor);
  return factor;
}

SizeText parse_size(std::string_view text) {
  const std::size_t equals = text.find('=');
  RECUT_CHECK(equals != text.npos, "a size is ATTRIBUTE=SOURCE");
  return {std::string(stripped(text.substr(0, equals))),
          std::string(stripped(text.substr(equals + 1)))};
}

bool parse_group(std::string_view clause, RuleText& rule) {
  for (const std::string_view kind : {"linear ", "moves ", "up ", "down ", "max ", "min "}) {
    std::string_view rest = clause;
    if (!take_prefix(rest, kind)) continue;
    GroupText group{std::string(stripped(kind)), {}, take_condition(rest)};
    group.parameters = words_of(rest);
    rule.groups.push_back(std::move(group));
    return true;
  }
  return false;
}

void parse_clause(std::string_view clause, RuleText& rule) {
  if (parse_group(clause, rule)) return;
  if (take_prefix(clause, "if ")) return rule.conditions.push_back(parse_condition(clause));
  if (take_prefix(clause, "size ")) return rule.sizes.push_back(parse_size(clause));
  if (take_prefix(clause, "let ")) return rule.lets.push_back(parse_size(clause));
  if (take_prefix(clause, "once ")) return rule.once.push_back(std::string(clause));
  if (clause == "global") {
    rule.global = true;
    return;
  }
  const std::size_t colon = clause.find(':');
  RECUT_CHECK(colon != clause.npos, "a clause is unknown");
  rule.kinds.push_back(
      parse_factor(stripped(clause.substr(0, colon)), stripped(clause.substr(colon + 1))));
}

RuleText parse_row(std::string_view text) {
  RuleText rule;
  const auto clauses = parts_at(text, ';');
  std::string_view head = clauses.front();
  if (take_prefix(head, "@")) {
    rule.structure = head;
  } else {
    const std::size_t arrow = head.find("->");
    RECUT_CHECK(arrow != head.npos, "a row has operands -> results");
    rule.operands = parse_tensors(stripped(head.substr(0, arrow)));
    rule.results = parse_tensors(stripped(head.substr(arrow + 2)));
  }
  for (std::size_t i = 1; i < clauses.size(); ++i) parse_clause(clauses[i], rule);
  return rule;
}

}  // namespace

std::vector<RuleText> parse_rule(std::string_view text) {
  std::vector<RuleText> rows;
  for (const std::string_view row : parts_at(text, '|')) rows.push_back(parse_row(row));
  return rows;
}

}  // namespace recut::mesh
