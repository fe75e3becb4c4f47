// Index expressions: affine sums of loop variables, loaded integers, floordivs and mods (MLIR's
// AffineExpr), in one canonical form. Equal expressions are equal data.
//
//   768*%i + %j + 5          div(%p, 49) + 7*mod(%p, 49)
//
// Division is floor division by a positive constant, and mod(a, b) = a - b*div(a, b).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/support/ids.h"

namespace recut::loop {

using LoopId = Id<struct LoopTag>;
using ValueId = Id<struct ValueTag>;

struct Index;

enum class AtomKind : std::uint8_t { loop, value, quotient, remainder };

// A term without its factor: a loop variable, an integer value, div(of, by) or mod(of, by).
struct Atom {
  AtomKind kind = AtomKind::loop;
  std::uint32_t id = 0;             // of the loop or value
  std::shared_ptr<const Index> of;  // of a quotient or remainder
  std::int64_t by = 1;              // positive
};

struct Term {
  std::int64_t factor = 1;  // not 0
  Atom atom;
};

// constant + the sum of factor * atom, atoms in their order (compare), each once.
struct Index {
  std::int64_t constant = 0;
  std::vector<Term> terms;

  Index() = default;
  Index(std::int64_t number) : constant(number) {}  // NOLINT: numbers are indices
  Index(LoopId loop) : terms{{1, {AtomKind::loop, loop.index, nullptr, 1}}} {}      // NOLINT
  Index(ValueId value) : terms{{1, {AtomKind::value, value.index, nullptr, 1}}} {}  // NOLINT
  explicit Index(Atom atom) : terms{{1, std::move(atom)}} {}

  bool is_constant() const { return terms.empty(); }
};

// A total order: negative, zero or positive.
int compare(const Atom& a, const Atom& b);
int compare(const Index& a, const Index& b);
inline bool operator==(const Index& a, const Index& b) { return compare(a, b) == 0; }
inline bool operator<(const Index& a, const Index& b) { return compare(a, b) < 0; }

// Arithmetic wraps around as two's complement does: an index of a hostile text can't overflow.
Index operator+(const Index& a, const Index& b);
Index operator*(std::int64_t factor, const Index& a);
inline Index operator-(const Index& a, const Index& b) { return a + -1 * b; }

// The atom as given; simplify.h has versions that simplify it.
Index quotient(Index of, std::int64_t by);
Index remainder(Index of, std::int64_t by);

// Floor division of numbers; `by` is positive.
std::int64_t floor_quotient(std::int64_t a, std::int64_t by);
std::int64_t floor_remainder(std::int64_t a, std::int64_t by);

// Calls visit(const Atom&) for every atom, including those inside of quotients and remainders.
template <class Visit>
void for_each_atom(const Index& index, Visit&& visit) {
  for (const Term& term : index.terms) {
    visit(term.atom);
    if (term.atom.of != nullptr) for_each_atom(*term.atom.of, visit);
  }
}

// The value of an index; number_of(const Atom&) gives the numbers of loop variables and values.
template <class NumberOf>
std::int64_t evaluate(const Index& index, NumberOf&& number_of) {
  auto sum = static_cast<std::uint64_t>(index.constant);
  for (const Term& term : index.terms) {
    const Atom& atom = term.atom;
    const bool quotient = atom.kind == AtomKind::quotient;
    const std::int64_t number = atom.of == nullptr ? number_of(atom)
                                : quotient
                                    ? floor_quotient(evaluate(*atom.of, number_of), atom.by)
                                    : floor_remainder(evaluate(*atom.of, number_of), atom.by);
    sum += static_cast<std::uint64_t>(term.factor) * static_cast<std::uint64_t>(number);
  }
  return static_cast<std::int64_t>(sum);
}

}  // namespace recut::loop
