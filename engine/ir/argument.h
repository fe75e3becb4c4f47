// Arguments of a node: values, numbers and lists, with the kinds of ATen's schemas.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/ir/dtype.h"
#include "engine/support/ids.h"
#include "engine/support/variant_copy.h"

namespace recut {

using NodeId = Id<struct NodeTag>;

struct Argument;
using ArgumentList = std::vector<Argument>;

struct Absent {  // not given: the schema's default holds
  friend bool operator==(Absent, Absent) = default;
};
struct None {  // given as None
  friend bool operator==(None, None) = default;
};

// One argument. Text holds strings and the names of devices, layouts and memory formats. A double
// and an int of equal value are different arguments, as are an absent argument and its default:
// nodes are equal only if they are written alike.
struct Argument {
  using Value = std::variant<Absent, None, NodeId, bool, std::int64_t, double, DType, std::string,
                             ArgumentList>;
  Value value;

  Argument() = default;
  Argument(const Argument& from) : value(copy_of(from.value)) {}
  Argument(Argument&&) noexcept = default;
  Argument& operator=(const Argument&) = default;
  Argument& operator=(Argument&&) noexcept = default;
  ~Argument() = default;
  Argument(Absent) {}                                 // NOLINT: implicit by design, all of them
  Argument(None) : value(None{}) {}                   // NOLINT
  Argument(NodeId id) : value(id) {}                  // NOLINT
  Argument(bool b) : value(b) {}                      // NOLINT
  Argument(int i) : value(std::int64_t{i}) {}         // NOLINT
  Argument(std::int64_t i) : value(i) {}              // NOLINT
  Argument(double d) : value(d) {}                    // NOLINT
  Argument(DType d) : value(d) {}                     // NOLINT
  Argument(std::string s) : value(std::move(s)) {}    // NOLINT
  Argument(const char* s) : value(std::string(s)) {}  // NOLINT
  Argument(ArgumentList list) : value(std::move(list)) {}  // NOLINT
  explicit Argument(const std::vector<std::int64_t>& ints)
      : value(ArgumentList(ints.begin(), ints.end())) {}
  explicit Argument(const std::vector<NodeId>& nodes)
      : value(ArgumentList(nodes.begin(), nodes.end())) {}

  template <class T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  bool absent() const { return get<Absent>() != nullptr; }
  bool none() const { return get<None>() != nullptr; }
};

// Equality by bits: a NaN equals itself, 0.0 and -0.0 differ. Equal arguments hash alike, on every
// platform.
bool operator==(const Argument& a, const Argument& b);
std::uint64_t hash(const Argument& argument, std::uint64_t seed);

// Calls visit(NodeId&) for every node in the argument, in order.
template <class Visit>
void for_each_node(Argument& argument, Visit&& visit) {
  if (auto* id = std::get_if<NodeId>(&argument.value)) visit(*id);
  if (auto* list = std::get_if<ArgumentList>(&argument.value))
    for (Argument& item : *list) for_each_node(item, visit);
}
template <class Visit>
void for_each_node(const Argument& argument, Visit&& visit) {
  if (const auto* id = argument.get<NodeId>()) visit(*id);
  if (const auto* list = argument.get<ArgumentList>())
    for (const Argument& item : *list) for_each_node(item, visit);
}

}  // namespace recut
