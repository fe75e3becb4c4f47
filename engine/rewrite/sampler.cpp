// Draws graphs that match a rule's pattern, for the tester. Nodes of the pattern are made in order:
// wildcards get random types and calls random arguments, and each binds the rule's variables as the
// matcher would, so that later draws agree with earlier ones:
//   %a = view(%x, ?shape) : f32[?n, _]   draws ?n with %x, then a shape of as many elements
// Guards `?v == expression` give values instead of random ones. The rest is rejection: a graph that
// fails type inference or the rule's conditions is dropped by the caller. Solving all guards isn't
// attempted: attempts are cheap, and rules with rare graphs have `sample` lines. The random numbers
// are a hash of the seed, the same on every platform.
#include "engine/rewrite/sampler.h"

#include <algorithm>
#include <numeric>

#include "engine/support/hash.h"

namespace recut {

std::uint64_t SampleRandom::next() { return state_ = hash_mix(state_, 0); }

std::int64_t SampleRandom::below(std::int64_t bound) {
  return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
}

namespace {

constexpr std::int64_t kMaxSampleElements = 2048;  // of one value

constexpr DType kFloating[] = {DType::f32, DType::f32, DType::f32,
                               DType::f64, DType::f16, DType::bf16};
constexpr DType kIntegral[] = {DType::i64, DType::i64, DType::i32,
                               DType::i16, DType::i8,  DType::u8};
constexpr DType kAny[] = {DType::f32, DType::f32,  DType::f32, DType::f64,    DType::f16,
                          DType::i64, DType::bf16, DType::i32, DType::boolean};

class GraphSampler {
 public:
  GraphSampler(const Rule& rule, SampleRandom& random, const RuleSample* fixed)
      : rule_(rule), random_(random), fixed_(fixed), splats_(graph_.pool()) {
    graph_.name = "sample";
    values_.resize(rule.pattern.size() + rule.replacement.size());
    variables_.resize(rule.variables.size());
    if (fixed != nullptr)
      for (const auto& [variable, value] : fixed->variables) variables_[variable] = value;
  }

  std::optional<Graph> run() {
    for (std::size_t i = 0; i < rule_.pattern.size(); ++i) {
      const PatternNode& node = rule_.pattern[i];
      const bool made = node.kind == PatternNode::Kind::call ? make_call(i) : make_wildcard(i);
      if (!made) return std::nullopt;
      splats_.analyze(values_[i]);
    }
    for (const std::size_t result : rule_.results) add_output(values_[result]);
    return std::move(graph_);
  }

 private:
  // The outputs are copies of the results. Otherwise a rule that replaces a result by an input
  // would be refused, since an output may not become an input.
  void add_output(NodeId result) {
    const std::vector<TensorType> types = graph_[result].outputs;
    if (!operator_of(graph_[result].op).multiple_outputs()) return add_copy(result);
    for (std::size_t i = 0; i < types.size(); ++i)
      if (types[i].exists())
        add_copy(*graph_.make(Op::getitem, {result, static_cast<std::int64_t>(i)}));
  }

  void add_copy(NodeId value) {
    const Operator& clone = *find_operator_by_name("clone");
    std::vector<Argument> arguments(clone.parameters.size());
    arguments.front() = value;
    graph_.results.push_back(*graph_.make(clone.op, std::move(arguments)));
  }

  // Tells whether a condition compares the number of this value.
  static bool is_splat_query(const Expression& e, std::size_t value) {
    if (e.function != nullptr && e.function->name == "uniform" && e.items[0].index == value)
      return true;
    return std::any_of(e.items.begin(), e.items.end(),
                       [&](const Expression& item) { return is_splat_query(item, value); });
  }

  bool should_be_splat(std::size_t value) {
    return std::any_of(rule_.conditions.begin(), rule_.conditions.end(),
                       [&](const Condition& c) { return is_splat_query(c.expression, value); }) &&
           !random_.one_in(4);
  }

  // The number in a condition `uniform(%x) == number`, or `<=` or `>=`.
  std::optional<Argument> required_number(std::size_t value) const {
    for (const Condition& condition : rule_.conditions) {
      const Expression& e = condition.expression;
      const std::string_view name = e.function == nullptr ? "" : e.function->name;
      if (name != "==" && name != "<=" && name != ">=") continue;
      if (is_splat_query(e.items[0], value) && e.items[1].kind == Expression::Kind::literal)
        return e.items[1].literal;
    }
    return std::nullopt;
  }

  // Wildcards
  // ----------------------------------------------------------------------------------------------

  bool make_wildcard(std::size_t i) {
    const PatternNode& node = rule_.pattern[i];
    TensorType type = given_type(i).value_or(TensorType{});
    if (!type.exists()) type = random_type(node.type);
    if (!type.exists() || element_count(type.shape) > kMaxSampleElements) return false;
    if (!bind_type(node.type, type)) return false;
    Origin origin{node.name, {}, -1};
    if (node.kind == PatternNode::Kind::constant)
      values_[i] = graph_.add_constant(type, origin);
    else if (is_contiguous(type) && should_be_splat(i))
      values_[i] = make_full(type, origin, required_number(i));
    else
      values_[i] = graph_.add_input(InputKind::input, type, origin);
    return values_[i].valid();
  }

  std::optional<TensorType> given_type(std::size_t i) const {
    if (fixed_ != nullptr)
      for (const auto& [node, type] : fixed_->types)
        if (node == i) return type;
    return std::nullopt;
  }

  NodeId make_full(const TensorType& type, const Origin& origin,
                   const std::optional<Argument>& number) {
    const Operator& full = *find_operator_by_name("full");
    std::vector<Argument> arguments(full.parameters.size());
    arguments[*full.parameter("size")] = Argument(type.shape);
    const double real[] = {0.0, -0.0, 1.0, -1.0, 2.0};
    const std::int64_t whole[] = {0, 1, 2};
    arguments[*full.parameter("fill_value")] = is_floating(type.dtype) ? Argument(random_.of(real))
                                               : type.dtype == DType::boolean
                                                   ? Argument(random_.one_in(2))
                                                   : Argument(random_.of(whole));
    if (number) arguments[*full.parameter("fill_value")] = *number;
    arguments[*full.parameter("dtype")] = type.dtype;
    const auto made = graph_.make(full.op, std::move(arguments), origin);
    return made ? *made : NodeId();
  }

  TensorType random_type(const TypePattern& pattern) {
    const DType dtype = random_dtype(pattern);  // drawn before the shape, whatever compiler
    TensorType type = make_type(dtype, random_shape(pattern));
    if (type.rank() > 1 && random_.one_in(4)) permute_layout(type);
    return type;
  }

  // Mostly the dtype of an earlier value: few calls accept two.
  DType random_dtype(const TypePattern& pattern) {
    switch (pattern.kind) {
      case TypePattern::Kind::exact:
        return pattern.dtype;
      case TypePattern::Kind::variable:
        if (const auto* bound = variables_[pattern.variable].get<DType>()) return *bound;
        break;
      case TypePattern::Kind::integral:
        return random_.of(kIntegral);
      default:
        break;
    }
    const bool floating = pattern.kind == TypePattern::Kind::floating;
    if (const TensorType* other = earlier_type(); other != nullptr && !random_.one_in(5))
      if (!floating || is_floating(other->dtype)) return other->dtype;
    return floating ? random_.of(kFloating) : random_.of(kAny);
  }

  const TensorType* earlier_type() {
    const auto order = graph_.order();
    return order.empty() ? nullptr : &graph_.type(random_.of(order));
  }

  std::int64_t random_length() {
    constexpr std::int64_t kLengths[] = {1, 1, 2, 2, 3, 3, 4, 5, 7};
    return random_.one_in(60) ? 0 : random_.of(kLengths);
  }

  Shape random_shape(const TypePattern& pattern) {
    if (pattern.dims) return shape_of(*pattern.dims);
    const TensorType* other = earlier_type();
    if (other != nullptr && !random_.one_in(3)) {
      Shape shape = other->shape;
      if (random_.one_in(4) && !shape.empty()) random_.of(shape) = 1;
      if (random_.one_in(6) && !shape.empty()) shape.erase(shape.begin());
      return shape;
    }
    Shape shape(static_cast<std::size_t>(random_.below(5)));
    for (std::int64_t& length : shape) length = random_length();
    return shape;
  }

  Shape shape_of(const std::vector<TypePattern::Dimension>& dims) {
    Shape shape;
    for (const TypePattern::Dimension& dim : dims) {
      const auto* bound = dim.variable ? variables_[*dim.variable].get<std::int64_t>() : nullptr;
      const std::int64_t length = dim.length ? *dim.length : bound ? *bound : random_length();
      if (dim.variable) variables_[*dim.variable] = length;
      shape.push_back(length);
    }
    return shape;
  }

  // Dense strides with the dimensions in another order.
  void permute_layout(TensorType& type) {
    const std::vector<std::int64_t> order = random_permutation(type.rank());
    Shape shape;
    for (const std::int64_t d : order) shape.push_back(type.shape[static_cast<std::size_t>(d)]);
    const Strides strides = contiguous_strides(shape);
    for (std::size_t i = 0; i < order.size(); ++i)
      type.strides[static_cast<std::size_t>(order[i])] = strides[i];
  }

  std::vector<std::int64_t> random_permutation(std::int64_t count) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1],
                order[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(i)))]);
    return order;
  }

  // Binds variables as the matcher will, so that later draws depend on them.
  bool bind_type(const TypePattern& pattern, const TensorType& type) {
    const auto bind = [&](std::size_t variable, Argument value) {
      if (variables_[variable].absent()) variables_[variable] = value;
      return variables_[variable] == value;
    };
    if (pattern.kind == TypePattern::Kind::variable && !bind(pattern.variable, type.dtype))
      return false;
    if (!pattern.dims) return true;
    if (pattern.dims->size() != type.shape.size()) return false;
    for (std::size_t i = 0; i < type.shape.size(); ++i)
      if (const auto& dim = (*pattern.dims)[i]; dim.variable && !bind(*dim.variable, type.shape[i]))
        return false;
    return true;
  }

  // Calls
  // ----------------------------------------------------------------------------------------------

  bool make_call(std::size_t i) {
    const PatternNode& node = rule_.pattern[i];
    std::vector<Argument> arguments;
    for (std::size_t p = 0; p < node.arguments.size(); ++p)
      arguments.push_back(argument(node, p, node.arguments[p], arguments));
    const auto made = graph_.make(node.op->op, std::move(arguments), {node.name, {}, -1});
    if (!made) return false;
    values_[i] = *made;
    for (const TensorType& type : graph_[*made].outputs)
      if (type.exists() && element_count(type.shape) > kMaxSampleElements) return false;
    return node.op->multiple_outputs() || bind_type(node.type, graph_.type(*made));
  }

  Argument argument(const PatternNode& node, std::size_t parameter, const PatternArgument& pattern,
                    const std::vector<Argument>& before) {
    switch (pattern.kind) {
      case PatternArgument::Kind::absent:
        return Argument();
      case PatternArgument::Kind::literal:
        return pattern.literal;
      case PatternArgument::Kind::value:
        return values_[pattern.index];
      case PatternArgument::Kind::ignored:
        if (auto size = required_size(node, parameter)) return *size;
        return random_literal(*node.op, parameter, before);
      case PatternArgument::Kind::variable: {
        Argument& bound = variables_[pattern.index];
        if (bound.absent()) bound = required_value(pattern.index).value_or(Argument());
        if (bound.absent()) bound = random_literal(*node.op, parameter, before);
        if (bound.absent()) bound = node.op->parameters[parameter].default_value;
        return bound;
      }
      case PatternArgument::Kind::list: {
        ArgumentList items;
        for (const PatternArgument& item : pattern.items)
          items.push_back(argument(node, parameter, item, before));
        return items;
      }
    }
    return Argument();
  }

  // The size of a view that the pattern's type requires, if it is known by now.
  std::optional<Argument> required_size(const PatternNode& node, std::size_t parameter) const {
    if (node.op->parameters[parameter].name != "size" || !node.type.dims) return std::nullopt;
    ArgumentList size;
    for (const TypePattern::Dimension& dim : *node.type.dims) {
      const auto* bound = dim.variable ? variables_[*dim.variable].get<std::int64_t>() : nullptr;
      if (!dim.length && bound == nullptr) return std::nullopt;
      size.push_back(dim.length ? *dim.length : *bound);
    }
    return Argument(std::move(size));
  }

  // The value that a guard `?v == expression` gives the variable, if it is known by now.
  std::optional<Argument> required_value(std::size_t variable) {
    const Call::TypesOf types = [&](NodeId id) { return graph_.pool().types_of(id); };
    const std::function<const SplatValue*(NodeId)> splat = [&](NodeId id) {
      return splats_.of(id);
    };
    std::vector<Argument> known = variables_;
    const Scope scope{values_, known, types, splat};
    for (const Condition& condition : rule_.conditions) {
      const Expression& e = condition.expression;
      if (condition.defines) {
        if (auto value = evaluate(e, scope)) known[*condition.defines] = *value;
        continue;
      }
      const std::string_view name = e.function == nullptr ? "" : e.function->name;
      if (name != "==" && name != "<=" && name != ">=") continue;
      for (const std::size_t side : {0u, 1u})
        if (e.items[side].kind == Expression::Kind::variable && e.items[side].index == variable)
          if (auto value = evaluate(e.items[1 - side], scope)) return value;
    }
    return std::nullopt;
  }

  // A random argument that the parameter accepts; absent for its default.
  Argument random_literal(const Operator& op, std::size_t index,
                          const std::vector<Argument>& before) {
    const Parameter& parameter = op.parameters[index];
    const bool optional = parameter.has_default || parameter.optional;
    if (optional && random_.one_in(2)) return Argument();
    const TensorType* operand = first_type(before);
    const std::int64_t rank = operand == nullptr ? 1 : std::max<std::int64_t>(operand->rank(), 1);
    switch (parameter.kind) {
      case ParameterKind::integer:
        return parameter.list ? random_integers(op, parameter, operand, rank)
                              : Argument(random_integer(parameter, rank));
      case ParameterKind::boolean:
        return random_.one_in(2);
      case ParameterKind::dtype:
        return random_.of(kAny);
      case ParameterKind::text:
        return Argument();
      default:
        return random_number();
    }
  }

  const TensorType* first_type(const std::vector<Argument>& before) const {
    for (const Argument& argument : before)
      if (const auto* id = argument.get<NodeId>()) return &graph_.type(*id);
    return nullptr;
  }

  Argument random_number() {
    constexpr double kReals[] = {1.0, -1.0, 0.5, 2.0, 0.125, -0.25, 0.0, -0.0, 3.0};
    if (random_.one_in(4)) return Argument(random_.below(4) - 1);
    return Argument(random_.of(kReals));
  }

  std::int64_t random_integer(const Parameter& parameter, std::int64_t rank) {
    if (parameter.name.find("dim") != std::string_view::npos) return random_.below(2 * rank) - rank;
    return random_.below(6);
  }

  Argument random_integers(const Operator& op, const Parameter& parameter,
                           const TensorType* operand, std::int64_t rank) {
    std::vector<std::int64_t> list;
    if (parameter.name == "dims" || parameter.name == "dim") {
      list = random_permutation(operand == nullptr ? rank : operand->rank());
      if (op.packet != "permute" && !list.empty())
        list.resize(static_cast<std::size_t>(1 + random_.below(rank)));
      return Argument(list);
    }
    if (operand == nullptr) return Argument(random_shape({}));
    list = operand->shape;
    if (op.packet == "view" || op.packet == "reshape") return Argument(reshaped(list));
    for (std::int64_t& length : list)
      if (length == 1 && random_.one_in(2)) length = random_length();
    if (random_.one_in(3)) list.insert(list.begin(), random_length());
    return Argument(list);
  }

  // Another shape of as many elements: merges two dimensions or splits one.
  Shape reshaped(Shape shape) {
    if (shape.size() > 1 && random_.one_in(2)) {
      const auto at =
          static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(shape.size()) - 1));
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      return shape;
    }
    const auto at = random_.below(static_cast<std::int64_t>(shape.size()) + 1);
    const auto dim = shape.begin() + static_cast<std::ptrdiff_t>(at);
    if (dim != shape.end() && *dim % 2 == 0 && *dim > 0) {
      *dim /= 2;
      shape.insert(dim, 2);
    } else {
      shape.insert(dim, 1);
    }
    return shape;
  }

  const Rule& rule_;
  SampleRandom& random_;
  const RuleSample* fixed_;
  Graph graph_;
  SplatAnalysis splats_;
  std::vector<NodeId> values_;
  std::vector<Argument> variables_;
};

}  // namespace

std::optional<Graph> sample_graph(const Rule& rule, SampleRandom& random, const RuleSample* fixed) {
  return GraphSampler(rule, random, fixed).run();
}

}  // namespace recut
