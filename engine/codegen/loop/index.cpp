#include "engine/codegen/loop/index.h"

#include "engine/support/check.h"

namespace recut::loop {
namespace {

std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace

int compare(const Atom& a, const Atom& b) {
  if (const int by_kind = order(a.kind, b.kind); by_kind != 0) return by_kind;
  if (a.of == nullptr || b.of == nullptr) return order(a.id, b.id);
  if (const int by_divisor = order(a.by, b.by); by_divisor != 0) return by_divisor;
  return compare(*a.of, *b.of);
}

int compare(const Index& a, const Index& b) {
  for (std::size_t i = 0; i < a.terms.size() && i < b.terms.size(); ++i) {
    if (const int by_atom = compare(a.terms[i].atom, b.terms[i].atom); by_atom != 0) return by_atom;
    if (const int by_factor = order(a.terms[i].factor, b.terms[i].factor); by_factor != 0)
      return by_factor;
  }
  if (const int by_length = order(a.terms.size(), b.terms.size()); by_length != 0) return by_length;
  return order(a.constant, b.constant);
}

Index operator+(const Index& a, const Index& b) {
  Index sum(wrapped_sum(a.constant, b.constant));
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    const int side = left == a.terms.end()    ? 1
                     : right == b.terms.end() ? -1
                                              : compare(left->atom, right->atom);
    if (side != 0) {
      sum.terms.push_back(side < 0 ? *left++ : *right++);
      continue;
    }
    const std::int64_t factor = wrapped_sum(left->factor, right->factor);
    if (factor != 0) sum.terms.push_back({factor, left->atom});
    ++left;
    ++right;
  }
  return sum;
}

Index operator*(std::int64_t factor, const Index& a) {
  Index product(wrapped_product(factor, a.constant));
  for (const Term& term : a.terms)
    if (const std::int64_t scaled = wrapped_product(factor, term.factor); scaled != 0)
      product.terms.push_back({scaled, term.atom});
  return product;
}

Index quotient(Index of, std::int64_t by) {
  RECUT_CHECK(by > 0, "indices are divided by positive constants");
  return Index(Atom{AtomKind::quotient, 0, std::make_shared<const Index>(std::move(of)), by});
}

Index remainder(Index of, std::int64_t by) {
  RECUT_CHECK(by > 0, "indices are divided by positive constants");
  return Index(Atom{AtomKind::remainder, 0, std::make_shared<const Index>(std::move(of)), by});
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t by) {
  return a / by - (a % by < 0 ? 1 : 0);
}

std::int64_t floor_remainder(std::int64_t a, std::int64_t by) {
  const std::int64_t rest = a % by;
  return rest < 0 ? rest + by : rest;
}

}  // namespace recut::loop
