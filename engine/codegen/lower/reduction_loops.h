// Loop nests that reduce dimensions (parallel and reduction iterators of MLIR linalg): loops over
// the kept dimensions, and inside of them loops over the reduced ones. A first inner loop computes
// the sums, a second one the elements that depend on them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/codegen/lower/lowering.h"

namespace recut::loop {

// One accumulator of a loop over the reduced dimensions.
struct Accumulation {
  std::string name;
  Combine how = Combine::add;
  ScalarExpr initial;
  std::function<ScalarExpr(const Indices&)> term;  // of an index; of the initial value's type
};

// An iteration space, its reduced dimensions and its walking order.
struct ReductionSpace {
  Shape shape;
  std::vector<bool> reduced;  // by dimension
  // The cost of a step along each dimension: costly ones go outside. Lanes go along the cheapest
  // dimension: as partial sums where it is reduced, as neighbouring results where it is kept.
  Strides strides;
};

class Reducer {
 public:
  // Computes all accumulations in one loop nest over the reduced dimensions, and calls `also` in
  // its body.
  std::vector<ScalarExpr> reduce(std::vector<Accumulation> reductions,
                                 const std::function<void(const Indices&)>& also = {});
  ScalarExpr reduce(Accumulation one);

  // Calls body(at) for every index of the reduced dimensions.
  void for_each(const std::function<void(const Indices&)>& body);

  // The index of the kept dimensions; reduced ones are 0.
  const Indices& at() const { return at_; }
  std::int64_t count() const;  // elements that are reduced to one

 private:
  enum class Columns : std::uint8_t { in_order, shared };
  friend void for_each_ordered_reduction(Lowering&, const ReductionSpace&,
                                         const std::function<void(Reducer&)>&);
  friend void for_each_reduction(Lowering&, const ReductionSpace&,
                                 const std::function<void(Reducer&)>&);
  friend bool shares_columns(const Lowering&, const ReductionSpace&);
  static std::int64_t lanes_of_group(const Lowering& lowering, const ReductionSpace& space,
                                     Columns columns);
  static void run(Lowering& lowering, const ReductionSpace& space, Columns columns,
                  const std::function<void(Reducer&)>& body);
  Reducer(Lowering& lowering, const ReductionSpace& space) : lowering_(lowering), space_(space) {}

  // Opens loops over groups of dimensions, and sets their indices in `at`.
  void open(const std::vector<std::vector<std::size_t>>& groups, Indices& at, Builder::Order order,
            std::int64_t lanes_of_last);
  std::int64_t extent_of_last() const;

  Lowering& lowering_;
  const ReductionSpace& space_;
  std::vector<std::vector<std::size_t>> groups_;  // of reduced dimensions, each group one loop
  std::int64_t lanes_of_sum_ = 1;
  bool lanes_inside_ = false;
  Indices at_;
};

// Calls body for every index of the kept dimensions, inside of loops over them.
void for_each_ordered_reduction(Lowering& lowering, const ReductionSpace& space,
                                const std::function<void(Reducer&)>& body);
// Like the above, for reductions whose order is free: where neighbouring results lie side by side
// in memory, the threads of a group may share each sum (a split reduction).
void for_each_reduction(Lowering& lowering, const ReductionSpace& space,
                        const std::function<void(Reducer&)>& body);
// True where for_each_reduction splits each sum among threads.
bool shares_columns(const Lowering& lowering, const ReductionSpace& space);

// Reduces one.term({k}) over k = 0 ... count - 1 in a loop of its own. No loop with lanes may
// enclose it.
ScalarExpr reduce_range(Lowering& lowering, std::int64_t count, const Accumulation& one);

// The strides of a node's storage by dimension: the walking order of ReductionSpace.
Strides walking_strides(Lowering& lowering, NodeId id);

}  // namespace recut::loop
