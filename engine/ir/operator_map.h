// A value for each operator of the table. All external operators (external_operator.h) share one,
// which can't be changed.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "engine/ir/operator.h"

namespace recut {

template <class T>
class OperatorMap {
 public:
  explicit OperatorMap(T unset = T()) : unset_(std::move(unset)) {
    slots_.assign(all_operators().size(), Slot{unset_});
  }

  const T& operator[](Op op) const { return is_external(op) ? unset_ : slot(op).value; }
  void set(Op op, T value) { slots_.at(static_cast<std::size_t>(op)).value = std::move(value); }

 private:
  struct Slot {  // keeps vector<bool> away
    T value;
  };
  const Slot& slot(Op op) const { return slots_[static_cast<std::size_t>(op)]; }

  T unset_;
  std::vector<Slot> slots_;
};

}  // namespace recut
