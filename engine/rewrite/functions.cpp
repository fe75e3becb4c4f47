// The table of functions that expressions may call: numbers, comparisons, types, lists, values.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/rewrite/expression.h"

namespace recut {
namespace {

using Operands = std::span<const Argument>;
using FunctionValue = std::optional<Argument>;
using IntegerList = std::vector<std::int64_t>;

// Access to operands
// ------------------------------------------------------------------------------------------------

std::optional<std::int64_t> integer(const Argument& a) {
  const auto* i = a.get<std::int64_t>();
  return i == nullptr ? std::nullopt : std::optional(*i);
}

std::optional<double> real(const Argument& a) {
  if (const auto* d = a.get<double>()) return *d;
  if (const auto* i = a.get<std::int64_t>()) return static_cast<double>(*i);
  return std::nullopt;
}

const TensorType* type_of(const Scope& scope, const Argument& a) {
  const auto* id = a.get<NodeId>();
  if (id == nullptr) return nullptr;
  const auto types = scope.types_of(*id);
  return types.empty() || !types.front().exists() ? nullptr : &types.front();
}

std::optional<DType> dtype_of(const Scope& scope, const Argument& a) {
  if (const auto* d = a.get<DType>()) return *d;
  if (const auto* type = type_of(scope, a)) return type->dtype;
  return std::nullopt;
}

std::optional<IntegerList> integers(const Argument& a) {
  const auto* list = a.get<ArgumentList>();
  if (list == nullptr) return std::nullopt;
  IntegerList values;
  for (const Argument& item : *list) {
    const auto i = integer(item);
    if (!i) return std::nullopt;
    values.push_back(*i);
  }
  return values;
}

// Numbers
// ------------------------------------------------------------------------------------------------

// Integers give an integer and must not overflow; any other pair is computed in reals.
template <class Whole, class Reals>
FunctionValue arithmetic(Operands o, Whole whole, Reals reals) {
  const auto i = integer(o[0]), j = integer(o[1]);
  if (i && j) {
    std::int64_t result = 0;
    return whole(*i, *j, &result) ? FunctionValue(Argument(result)) : std::nullopt;
  }
  const auto a = real(o[0]), b = real(o[1]);
  return a && b ? FunctionValue(Argument(reals(*a, *b))) : std::nullopt;
}

FunctionValue add(const Scope&, Operands o) {
  return arithmetic(
      o,
      [](std::int64_t a, std::int64_t b, std::int64_t* r) {
        return !__builtin_add_overflow(a, b, r);
      },
      [](double a, double b) { return a + b; });
}

// With one operand, its negation.
FunctionValue subtract(const Scope& scope, Operands o) {
  if (o.size() == 1) {
    if (const auto* d = o[0].get<double>()) return Argument(-*d);
    const Argument from_zero[] = {Argument(std::int64_t{0}), o[0]};
    return subtract(scope, from_zero);
  }
  return arithmetic(
      o,
      [](std::int64_t a, std::int64_t b, std::int64_t* r) {
        return !__builtin_sub_overflow(a, b, r);
      },
      [](double a, double b) { return a - b; });
}

FunctionValue multiply(const Scope&, Operands o) {
  return arithmetic(
      o,
      [](std::int64_t a, std::int64_t b, std::int64_t* r) {
        return !__builtin_mul_overflow(a, b, r);
      },
      [](double a, double b) { return a * b; });
}

// Integers divide only without remainder.
FunctionValue divide(const Scope&, Operands o) {
  return arithmetic(
      o,
      [](std::int64_t a, std::int64_t b, std::int64_t* r) {
        if (b == 0 || b == -1 || a % b != 0) return false;
        *r = a / b;
        return true;
      },
      [](double a, double b) { return a / b; });
}

FunctionValue remainder(const Scope&, Operands o) {
  const auto a = integer(o[0]), b = integer(o[1]);
  if (!a || !b || *b <= 0) return std::nullopt;
  return Argument((*a % *b + *b) % *b);
}

FunctionValue minimum(const Scope&, Operands o) {
  return arithmetic(
      o,
      [](std::int64_t a, std::int64_t b, std::int64_t* r) {
        *r = std::min(a, b);
        return true;
      },
      [](double a, double b) { return a < b ? a : b; });
}

FunctionValue maximum(const Scope&, Operands o) {
  return arithmetic(
      o,
      [](std::int64_t a, std::int64_t b, std::int64_t* r) {
        *r = std::max(a, b);
        return true;
      },
      [](double a, double b) { return a < b ? b : a; });
}

FunctionValue square_root(const Scope&, Operands o) {
  const auto a = real(o[0]);
  return a ? FunctionValue(Argument(std::sqrt(*a))) : std::nullopt;
}

// Converts a number to a real, as a parameter of kind float requires.
FunctionValue as_real(const Scope&, Operands o) {
  const auto a = real(o[0]);
  return a ? FunctionValue(Argument(*a)) : std::nullopt;
}

FunctionValue is_number(const Scope&, Operands o) { return Argument(real(o[0]).has_value()); }

// A number that is neither infinite nor a NaN.
FunctionValue is_finite(const Scope&, Operands o) {
  const auto a = real(o[0]);
  return Argument(a.has_value() && std::isfinite(*a));
}

// Comparisons and logic
// ------------------------------------------------------------------------------------------------

// Compares numbers by value across integers and reals, and lists item by item.
bool equal(const Argument& a, const Argument& b) {
  const auto i = integer(a), j = integer(b);
  if (i && j) return *i == *j;
  const auto x = real(a), y = real(b);
  if (x && y) return *x == *y;
  const auto *l = a.get<ArgumentList>(), *m = b.get<ArgumentList>();
  if (l != nullptr && m != nullptr)
    return std::equal(l->begin(), l->end(), m->begin(), m->end(), equal);
  return a == b;
}

template <class Compare>
FunctionValue compared(Operands o, Compare compare) {
  const auto i = integer(o[0]), j = integer(o[1]);
  if (i && j) return Argument(compare(*i, *j));
  const auto a = real(o[0]), b = real(o[1]);
  return a && b ? FunctionValue(Argument(compare(*a, *b))) : std::nullopt;
}

FunctionValue equals(const Scope&, Operands o) { return Argument(equal(o[0], o[1])); }
FunctionValue differs(const Scope&, Operands o) { return Argument(!equal(o[0], o[1])); }
FunctionValue less(const Scope&, Operands o) { return compared(o, std::less<>()); }
FunctionValue at_most(const Scope&, Operands o) { return compared(o, std::less_equal<>()); }
FunctionValue more(const Scope&, Operands o) { return compared(o, std::greater<>()); }
FunctionValue at_least(const Scope&, Operands o) { return compared(o, std::greater_equal<>()); }

FunctionValue negated(const Scope&, Operands o) {
  const bool* b = o[0].get<bool>();
  return b == nullptr ? std::nullopt : FunctionValue(Argument(!*b));
}

// `and` and `or` are evaluated elsewhere, one side at a time (expression.cpp).
FunctionValue never(const Scope&, Operands) { return std::nullopt; }

// Types
// ------------------------------------------------------------------------------------------------

FunctionValue rank(const Scope& scope, Operands o) {
  const auto* type = type_of(scope, o[0]);
  return type == nullptr ? std::nullopt : FunctionValue(Argument(type->rank()));
}

FunctionValue item(const std::vector<std::int64_t>& list, const Argument& at) {
  const auto i = integer(at);
  const auto size = static_cast<std::int64_t>(list.size());
  if (!i || *i < -size || *i >= size) return std::nullopt;
  return Argument(list[static_cast<std::size_t>(*i < 0 ? *i + size : *i)]);
}

FunctionValue dim(const Scope& scope, Operands o) {
  const auto* type = type_of(scope, o[0]);
  return type == nullptr ? std::nullopt : item(type->shape, o[1]);
}

FunctionValue shape(const Scope& scope, Operands o) {
  const auto* type = type_of(scope, o[0]);
  return type == nullptr ? std::nullopt : FunctionValue(Argument(type->shape));
}

FunctionValue strides(const Scope& scope, Operands o) {
  const auto* type = type_of(scope, o[0]);
  return type == nullptr ? std::nullopt : FunctionValue(Argument(type->strides));
}

// The strides of a contiguous tensor of that shape.
FunctionValue row_major(const Scope&, Operands o) {
  const auto dims = integers(o[0]);
  if (!dims || !check_size(TensorType{DType::u8, *dims, {}, {}})) return std::nullopt;
  return Argument(contiguous_strides(*dims));
}

FunctionValue numel(const Scope& scope, Operands o) {
  const auto* type = type_of(scope, o[0]);
  return type == nullptr ? std::nullopt : FunctionValue(Argument(element_count(type->shape)));
}

FunctionValue dtype(const Scope& scope, Operands o) {
  const auto d = dtype_of(scope, o[0]);
  return d ? FunctionValue(Argument(*d)) : std::nullopt;
}

FunctionValue device(const Scope& scope, Operands o) {
  const auto* type = type_of(scope, o[0]);
  return type == nullptr ? std::nullopt : FunctionValue(Argument(type->device));
}

FunctionValue floating(const Scope& scope, Operands o) {
  const auto d = dtype_of(scope, o[0]);
  return d ? FunctionValue(Argument(is_floating(*d))) : std::nullopt;
}

FunctionValue integral(const Scope& scope, Operands o) {
  const auto d = dtype_of(scope, o[0]);
  return d ? FunctionValue(Argument(is_integral(*d))) : std::nullopt;
}

FunctionValue itemsize(const Scope& scope, Operands o) {
  const auto d = dtype_of(scope, o[0]);
  return d ? FunctionValue(Argument(item_bytes(*d))) : std::nullopt;
}

FunctionValue contiguous(const Scope& scope, Operands o) {
  const auto* type = type_of(scope, o[0]);
  return type == nullptr ? std::nullopt : FunctionValue(Argument(is_contiguous(*type)));
}

FunctionValue same_shape(const Scope& scope, Operands o) {
  const auto *a = type_of(scope, o[0]), *b = type_of(scope, o[1]);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return Argument(a->shape == b->shape);
}

FunctionValue same_type(const Scope& scope, Operands o) {
  const auto *a = type_of(scope, o[0]), *b = type_of(scope, o[1]);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return Argument(*a == *b);
}

// Tells whether the first shape broadcasts to the second.
FunctionValue broadcasts(const Scope&, Operands o) {
  const auto a = integers(o[0]), b = integers(o[1]);
  if (!a || !b) return std::nullopt;
  const auto both = broadcast(*a, *b);
  return Argument(both.ok() && *both == *b);
}

// Tells whether the second dtype represents every value of the first: a lossless conversion.
FunctionValue holds_all_of(const Scope& scope, Operands o) {
  const auto a = dtype_of(scope, o[0]), b = dtype_of(scope, o[1]);
  if (!a || !b) return std::nullopt;
  if (*a == *b) return Argument(true);
  if (!is_floating(*a) || !is_floating(*b)) return Argument(false);
  return Argument(item_bytes(*b) > item_bytes(*a));
}

// Lists
// ------------------------------------------------------------------------------------------------

FunctionValue length(const Scope&, Operands o) {
  const auto* list = o[0].get<ArgumentList>();
  if (list == nullptr) return std::nullopt;
  return Argument(static_cast<std::int64_t>(list->size()));
}

FunctionValue at(const Scope&, Operands o) {
  const auto* list = o[0].get<ArgumentList>();
  const auto i = integer(o[1]);
  const auto size = list == nullptr ? 0 : static_cast<std::int64_t>(list->size());
  if (list == nullptr || !i || *i < -size || *i >= size) return std::nullopt;
  return (*list)[static_cast<std::size_t>(*i < 0 ? *i + size : *i)];
}

// [a, b, c, d] from 1 to 3 is [b, c].
FunctionValue part(const Scope&, Operands o) {
  const auto* list = o[0].get<ArgumentList>();
  const auto from = integer(o[1]), to = integer(o[2]);
  if (list == nullptr || !from || !to) return std::nullopt;
  const auto size = static_cast<std::int64_t>(list->size());
  const std::int64_t first = *from < 0 ? *from + size : *from;
  const std::int64_t last = *to < 0 ? *to + size : *to;
  if (first < 0 || last > size || first > last) return std::nullopt;
  return Argument(ArgumentList(list->begin() + first, list->begin() + last));
}

FunctionValue product(const Scope& scope, Operands o) {
  const auto list = integers(o[0]);
  if (!list) return std::nullopt;
  FunctionValue result = Argument(std::int64_t{1});
  for (const std::int64_t i : *list) {
    const Argument factors[] = {*result, Argument(i)};
    result = multiply(scope, factors);
    if (!result) return std::nullopt;
  }
  return result;
}

FunctionValue concatenation(const Scope&, Operands o) {
  const auto *a = o[0].get<ArgumentList>(), *b = o[1].get<ArgumentList>();
  if (a == nullptr || b == nullptr) return std::nullopt;
  ArgumentList both = *a;
  both.insert(both.end(), b->begin(), b->end());
  return Argument(std::move(both));
}

// The list with one item replaced.
FunctionValue replaced(const Scope&, Operands o) {
  const auto* list = o[0].get<ArgumentList>();
  const auto i = integer(o[1]);
  const auto size = list == nullptr ? 0 : static_cast<std::int64_t>(list->size());
  if (list == nullptr || !i || *i < -size || *i >= size) return std::nullopt;
  ArgumentList other = *list;
  other[static_cast<std::size_t>(*i < 0 ? *i + size : *i)] = o[2];
  return Argument(std::move(other));
}

// A list of one item repeated.
FunctionValue repeated(const Scope&, Operands o) {
  constexpr std::int64_t kMaxRepeats = 64;
  const auto count = integer(o[1]);
  if (!count || *count < 0 || *count > kMaxRepeats) return std::nullopt;
  return Argument(ArgumentList(static_cast<std::size_t>(*count), o[0]));
}

// A dimension, or a list of them, wrapped to 0 … rank - 1.
FunctionValue wrapped(const Scope&, Operands o) {
  const auto rank_of = integer(o[1]);
  if (!rank_of) return std::nullopt;
  if (const auto i = integer(o[0])) {
    const auto d = wrap_dimension(*i, *rank_of);
    return d ? FunctionValue(Argument(*d)) : std::nullopt;
  }
  const auto list = integers(o[0]);
  if (!list) return std::nullopt;
  IntegerList dims;
  for (const std::int64_t i : *list) {
    const auto d = wrap_dimension(i, *rank_of);
    if (!d) return std::nullopt;
    dims.push_back(*d);
  }
  return Argument(dims);
}

// Values
// ------------------------------------------------------------------------------------------------

// The number in every element of the value; undefined if it is no known splat.
FunctionValue known_splat(const Scope& scope, Operands o) {
  const auto* id = o[0].get<NodeId>();
  const SplatValue* value = id == nullptr ? nullptr : scope.splat(*id);
  return value == nullptr ? std::nullopt : FunctionValue(as_argument(*value));
}

constexpr Function kFunctions[] = {
    {"+", 2, 2, add},
    {"-", 1, 2, subtract},
    {"*", 2, 2, multiply},
    {"/", 2, 2, divide},
    {"mod", 2, 2, remainder},
    {"min", 2, 2, minimum},
    {"max", 2, 2, maximum},
    {"sqrt", 1, 1, square_root},
    {"real", 1, 1, as_real},
    {"is_number", 1, 1, is_number},
    {"finite", 1, 1, is_finite},
    {"==", 2, 2, equals},
    {"!=", 2, 2, differs},
    {"<", 2, 2, less},
    {"<=", 2, 2, at_most},
    {">", 2, 2, more},
    {">=", 2, 2, at_least},
    {"not", 1, 1, negated},
    {"and", 2, 2, never},
    {"or", 2, 2, never},
    {"rank", 1, 1, rank},
    {"dim", 2, 2, dim},
    {"shape", 1, 1, shape},
    {"strides", 1, 1, strides},
    {"row_major", 1, 1, row_major},
    {"numel", 1, 1, numel},
    {"dtype", 1, 1, dtype},
    {"device", 1, 1, device},
    {"floating", 1, 1, floating},
    {"integral", 1, 1, integral},
    {"itemsize", 1, 1, itemsize},
    {"contiguous", 1, 1, contiguous},
    {"same_shape", 2, 2, same_shape},
    {"same_type", 2, 2, same_type},
    {"broadcasts", 2, 2, broadcasts},
    {"holds_all_of", 2, 2, holds_all_of},
    {"length", 1, 1, length},
    {"at", 2, 2, at},
    {"part", 3, 3, part},
    {"product", 1, 1, product},
    {"concatenation", 2, 2, concatenation},
    {"replaced", 3, 3, replaced},
    {"repeated", 2, 2, repeated},
    {"wrapped", 2, 2, wrapped},
    {"uniform", 1, 1, known_splat},
};

}  // namespace

std::span<const Function> all_functions() { return kFunctions; }

}  // namespace recut
