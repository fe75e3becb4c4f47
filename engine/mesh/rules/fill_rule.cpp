// From a row's text to the rule of one call.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/mesh/rules/rule_builder.h"
#include "engine/mesh/rules/rule_text.h"

namespace recut::mesh {
namespace {

using Kind = DimensionText::Kind;

std::string value_text(const Argument& argument) {
  if (const auto* b = argument.get<bool>()) return *b ? "true" : "false";
  if (const auto* i = argument.get<std::int64_t>()) return std::to_string(*i);
  if (const auto* d = argument.get<double>()) return fmt::format("{}", *d);
  if (const auto* s = argument.get<std::string>()) return *s;
  return "none";
}

class RowFit {
 public:
  RowFit(const RuleText& text, RuleBuilder& builder) : text_(text), b_(builder) {}

  bool run() {
    for (const ConditionText& condition : text_.conditions)
      if (!holds(condition)) return false;
    if (text_.structure.empty() ? !map_tensors() : !fill_structure(text_.structure, b_))
      return false;
    for (const SizeText& let : text_.lets)
      b_[b_.factor(let.parameter)].size = b_.call().integer(let.source);
    for (const FactorText& kind : text_.kinds) set_kind(kind);
    for (const GroupText& group : text_.groups) add_group(group);
    for (const std::string& name : text_.once)
      for (const std::size_t i : operands_of(name)) b_.rule().once.push_back(i);
    for (const SizeText& size : text_.sizes) add_size(size);
    b_.rule().by_global_index = text_.global;
    b_.rule().allows_empty |= text_.global || b_.call().op().is(kPointwise);
    return true;
  }

 private:
  std::size_t parameter(const std::string& name) const {
    const auto found = b_.call().op().parameter(name);
    RECUT_CHECK(found.has_value(), "a row names a parameter that its operator lacks");
    return *found;
  }

  std::vector<std::size_t> operands_of(const std::string& name) const {
    const auto [first, count] = b_.operands_of(parameter(name));
    std::vector<std::size_t> operands;
    for (std::size_t i = first; i < first + count; ++i) operands.push_back(i);
    return operands;
  }

  bool holds(const ConditionText& condition) const {
    const std::size_t p = parameter(condition.parameter);
    if (condition.rank) {
      const std::vector<std::size_t> operands = operands_of(condition.parameter);
      return !operands.empty() &&
             std::to_string(b_.operand_shape(operands[0]).size()) == condition.value;
    }
    const std::string value = value_text(b_.call().argument(p));
    const bool equal = value == condition.value || (condition.value == "0" && value == "0.0");
    return equal != condition.negated;
  }

  // Dimensions of the ellipsis that an attribute names; all where it names none.
  std::set<std::size_t> named_by(const std::string& attribute) const {
    std::set<std::size_t> dims;
    if (b_.call().op().parameter(attribute))
      for (const std::int64_t d : b_.call().integers(attribute)) {
        const auto wrapped = wrap_dimension(d, static_cast<std::int64_t>(ellipsis_));
        if (wrapped && ellipsis_ > 0) dims.insert(static_cast<std::size_t>(*wrapped));
      }
    if (dims.empty())
      for (std::size_t d = 0; d < ellipsis_; ++d) dims.insert(d);
    return dims;
  }

  static std::size_t fixed_dims(const TensorText& tensor) {
    return static_cast<std::size_t>(
        std::count_if(tensor.dims.begin(), tensor.dims.end(), [](const DimensionText& dim) {
          return (dim.kind == Kind::factor || dim.kind == Kind::whole) && !dim.optional;
        }));
  }

  static const DimensionText* first_of(const TensorText& tensor, Kind kind) {
    for (const DimensionText& dim : tensor.dims)
      if (dim.kind == kind) return &dim;
    return nullptr;
  }

  static bool has_optional(const TensorText& tensor) {
    return std::any_of(tensor.dims.begin(), tensor.dims.end(),
                       [](const DimensionText& dim) { return dim.optional; });
  }

  const TensorText& operand_text(std::size_t operand) const {
    std::size_t tensors = 0;
    for (std::size_t p = 0; p < b_.call().op().parameters.size(); ++p) {
      if (b_.call().op().parameters[p].kind != ParameterKind::tensor) continue;
      const auto [first, count] = b_.operands_of(p);
      if (operand >= first && operand < first + count)
        return text_.operands[std::min(tensors, text_.operands.size() - 1)];
      ++tensors;
    }
    return text_.operands.back();
  }

  const TensorText& result_text(std::size_t result) const {
    return text_.results[std::min(result, text_.results.size() - 1)];
  }

  template <class Visit>
  void for_each_tensor(Visit&& visit) {
    for (std::size_t i = 0; i < b_.operands() && !text_.operands.empty(); ++i)
      if (b_.has_elements(false, i)) visit(operand_text(i), b_.operand_shape(i), false, i);
    for (std::size_t r = 0; r < b_.results(); ++r)
      if (b_.has_elements(true, r)) visit(result_text(r), b_.result_shape(r), true, r);
  }

  // The number of dimensions that an ellipsis stands for, and `*...`.
  bool count_dims() {
    bool fits = true, rest_known = false;
    for_each_tensor([&](const TensorText& tensor, const Shape& shape, bool, std::size_t) {
      const std::size_t fixed = fixed_dims(tensor);
      if (!tensor.mapped || tensor.broadcasts) return;
      if (shape.size() < fixed) {
        fits = false;
        return;
      }
      const DimensionText* dots = first_of(tensor, Kind::ellipsis);
      if (dots != nullptr && dots->without.empty())
        ellipsis_ = std::max(ellipsis_, shape.size() - fixed);
      if (first_of(tensor, Kind::rest) != nullptr && !has_optional(tensor)) {
        rest_ = shape.size() - fixed;
        rest_known = true;
      }
    });
    return fits && (rest_known || count_rest());
  }

  // Where each tensor with `*...` has an optional dimension, too, the latter is there.
  bool count_rest() {
    for_each_tensor([&](const TensorText& tensor, const Shape& shape, bool, std::size_t) {
      const std::size_t fixed = fixed_dims(tensor) + 1;
      if (first_of(tensor, Kind::rest) != nullptr && shape.size() >= fixed)
        rest_ = shape.size() - fixed;
    });
    return true;
  }

  bool map_tensors() {
    if (!count_dims()) return false;
    bool fits = true;
    for_each_tensor([&](const TensorText& tensor, const Shape& shape, bool result, std::size_t t) {
      if (!tensor.mapped && result) b_.rule().constant[t] = true;
      if (!tensor.mapped || !fits) return;
      fits = tensor.broadcasts ? map_broadcast(tensor, shape, result, t)
                               : map_tensor(tensor, shape, result, t);
    });
    return fits;
  }

  // Names alone, aligned at the last one.
  bool map_broadcast(const TensorText& tensor, const Shape& shape, bool result, std::size_t t) {
    const std::size_t names = tensor.dims.size();
    if (shape.size() > names) return false;
    for (std::size_t d = 0; d < shape.size(); ++d)
      b_.map({result, t, d, b_.factor(tensor.dims[names - shape.size() + d].name), false, true});
    return true;
  }

  bool map_tensor(const TensorText& tensor, const Shape& shape, bool result, std::size_t t) {
    std::size_t fixed = fixed_dims(tensor);
    const DimensionText* dots = first_of(tensor, Kind::ellipsis);
    const bool has_rest = first_of(tensor, Kind::rest) != nullptr;
    const std::size_t rest = has_rest ? rest_ : 0;
    bool optional = false;
    if (has_optional(tensor)) {
      optional = dots == nullptr && shape.size() == fixed + rest + 1;
      fixed += optional ? 1 : 0;
    }
    if (shape.size() < fixed + rest || (dots == nullptr && shape.size() != fixed + rest))
      return false;
    const std::size_t dotted = shape.size() - fixed - rest;
    std::size_t d = 0;
    for (const DimensionText& dim : tensor.dims) {
      if (dim.kind == Kind::ellipsis) {
        if (!map_ellipsis(dim, shape, {result, t, d}, dotted)) return false;
        d += dotted;
      } else if (dim.kind == Kind::rest) {
        d += rest;
      } else if (dim.kind == Kind::whole) {
        ++d;
      } else if (!dim.optional || optional) {
        b_.map({result, t, d++, b_.factor(dim.name), dim.multiple});
      }
    }
    return true;
  }

  bool map_ellipsis(const DimensionText& dim, const Shape& shape, RuleBuilder::Mapping at,
                    std::size_t dotted) {
    const std::size_t first = at.dim;
    const bool replaces = !dim.replaced.empty();
    std::set<std::size_t> left_out, replaced;
    if (!dim.without.empty()) left_out = named_by(dim.without);
    if (replaces) replaced = named_by(dim.replaced);
    if (replaces && (replaced.size() != 1 || !b_.call().given(dim.replaced))) return false;
    const bool kept = dotted == ellipsis_;
    const bool drops = !dim.without.empty() && !kept;
    if (drops && dotted + left_out.size() != ellipsis_) return false;
    if (!drops && !kept && (dim.strict || dotted > ellipsis_)) return false;
    std::size_t d = first;
    for (std::size_t e = drops ? 0 : ellipsis_ - dotted; e < ellipsis_; ++e) {
      const bool out = left_out.count(e) != 0;
      if (out && drops) continue;
      if (out && shape[d] != 1) return false;
      at.dim = d++;
      if (out) continue;
      at.factor = b_.factor(replaced.count(e) != 0 ? dim.name : dot_name(e));
      at.broadcasts = !at.result && !dim.strict;
      b_.map(at);
    }
    return true;
  }

  static std::string dot_name(std::size_t e) { return "d" + std::to_string(e); }

  std::vector<int> targets(const FactorText& kind) const {
    std::vector<std::string> names;
    if (kind.target == FactorText::Target::name) {
      names.push_back(kind.name);
    } else if (kind.target == FactorText::Target::named_by) {
      for (const std::size_t e : named_by(kind.name)) names.push_back(dot_name(e));
    } else {
      const std::size_t last = kind.target == FactorText::Target::last_of
                                   ? b_.call().integers(kind.name).size()
                                   : ellipsis_;
      for (std::size_t e = ellipsis_ - std::min(last, ellipsis_); e < ellipsis_; ++e)
        names.push_back(dot_name(e));
    }
    std::vector<int> factors;
    for (const std::string& name : names)
      if (b_.has_factor(name)) factors.push_back(b_.factor(name));
    return factors;
  }

  // A kind whose condition fails makes the factor whole.
  void set_kind(const FactorText& kind) {
    const bool applies = !kind.condition || holds(*kind.condition);
    const bool only_then = kind.kind == FactorKind::whole || kind.kind == FactorKind::merge ||
                           kind.kind == FactorKind::pass;
    if (!applies && only_then) return;
    for (const int f : targets(kind)) {
      b_[f].kind = applies ? kind.kind : FactorKind::whole;
      b_[f].reduction = kind.reduction;
      if (!kind.indices.empty()) {
        const auto indices = operands_of(kind.indices);
        if (indices.size() != 1) b_[f].kind = FactorKind::whole;
        if (indices.size() == 1) b_[f].indices = indices[0];
      }
      if (!kind.zeroed.empty()) b_[f].zeroed = operands_of(kind.zeroed).front();
    }
  }

  // A number in an operand's place is a constant, which a sum over ranks would count on each.
  void add_group(const GroupText& group) {
    if (group.condition && !holds(*group.condition)) return;
    std::vector<std::size_t> operands;
    for (const std::string& name : group.parameters) {
      const std::vector<std::size_t> given = operands_of(name);
      if (given.empty() && b_.call().given(name)) return;
      operands.insert(operands.end(), given.begin(), given.end());
    }
    if (group.kind == "linear") return b_.add_linear(std::move(operands));
    if (group.kind == "moves") return b_.add_moves(std::move(operands));
    const bool down = group.kind == "down";
    for (const std::size_t i : operands) {
      const DType dtype = b_.operand_dtype(i);
      if (is_complex(dtype) || (down && !is_floating(dtype))) return;  // integers wrap
    }
    if (group.kind != "min")
      b_.add_group(operands, Reduction::max, down ? Reduction::min : Reduction::max);
    if (group.kind != "max")
      b_.add_group(operands, Reduction::min, down ? Reduction::max : Reduction::min);
  }

  void add_size(const SizeText& size) {
    SizeArgument argument{parameter(size.parameter)};
    const std::size_t dot = size.source.find('.');
    const std::string name = size.source.substr(0, dot);
    const bool result = name.size() == 2 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9';
    if (result) {
      argument.of_result = true;
      argument.tensor = static_cast<std::size_t>(name[1] - '0');
      if (!b_.has_elements(true, argument.tensor)) return;
      argument.count = b_.result_shape(argument.tensor).size();
    } else if (b_.call().op().parameter(name)) {
      argument.tensor = operands_of(name).front();
      argument.count = b_.operand_shape(argument.tensor).size();
    } else {
      argument.factor = b_.factor(name);
    }
    if (dot != std::string::npos) {
      argument.first = static_cast<std::size_t>(std::stoi(size.source.substr(dot + 1)));
      argument.count = 1;
    }
    b_.rule().sizes.push_back(argument);
  }

  const RuleText& text_;
  RuleBuilder& b_;
  std::size_t ellipsis_ = 0, rest_ = 0;
};

}  // namespace

bool fill_rule(const RuleText& text, RuleBuilder& builder) { return RowFit(text, builder).run(); }

}  // namespace recut::mesh
