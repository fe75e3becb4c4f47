// Loop nests that fold dimensions: loops over the kept ones, and inside of them loops over the
// folded ones, once for each sum and once more for what is computed from the sums element by
// element.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/codegen/lower/lowering.h"

namespace recut::loop {

// One accumulator of a loop over the folded dimensions.
struct Folded {
  std::string name;
  Combine how = Combine::add;
  Quantity initial;
  std::function<Quantity(const Indices&)> term;  // of a place; of the initial value's type
};

// Which dimensions of a space are folded, and how it is walked.
struct FoldSpace {
  Shape shape;
  std::vector<bool> folded;  // by dimension
  // What a step along each dimension costs: large ones go outside. Lanes go along the dimension of
  // the smallest: partial sums where that is folded, results side by side where it is kept.
  Strides strides;
};

class Folder {
 public:
  // Runs all folds in one loop nest over the folded dimensions, and at each place `also`.
  std::vector<Quantity> fold(std::vector<Folded> folds,
                             const std::function<void(const Indices&)>& also = {});
  Quantity fold(Folded one);

  // Calls body(at) for every place of the folded dimensions.
  void for_each(const std::function<void(const Indices&)>& body);

  // The place among the kept dimensions; folded ones are 0.
  const Indices& at() const { return at_; }
  std::int64_t count() const;  // of places folded into one

 private:
  enum class Columns : std::uint8_t { in_order, shared };
  friend void for_each_fold(Lowering&, const FoldSpace&, const std::function<void(Folder&)>&);
  friend void for_each_reduction(Lowering&, const FoldSpace&, const std::function<void(Folder&)>&);
  friend bool shares_columns(const Lowering&, const FoldSpace&);
  static std::int64_t lanes_of_group(const Lowering& lowering, const FoldSpace& space,
                                     Columns columns);
  static void run(Lowering& lowering, const FoldSpace& space, Columns columns,
                  const std::function<void(Folder&)>& body);
  Folder(Lowering& lowering, const FoldSpace& space) : lowering_(lowering), space_(space) {}

  // Opens loops over groups of dimensions, and sets their indices in `at`.
  void open(const std::vector<std::vector<std::size_t>>& groups, Indices& at, Builder::Order order,
            std::int64_t lanes_of_last);
  std::int64_t extent_of_last() const;

  Lowering& lowering_;
  const FoldSpace& space_;
  std::vector<std::vector<std::size_t>> groups_;  // of folded dimensions, each one loop
  std::int64_t lanes_of_sum_ = 1;
  bool lanes_inside_ = false;
  Indices at_;
};

// Calls body for every place of the kept dimensions, inside of loops over them.
void for_each_fold(Lowering& lowering, const FoldSpace& space,
                   const std::function<void(Folder&)>& body);
// The same of reductions: where their sums lie side by side, groups of threads may share them out,
// too.
void for_each_reduction(Lowering& lowering, const FoldSpace& space,
                        const std::function<void(Folder&)>& body);
// Whether they do so.
bool shares_columns(const Lowering& lowering, const FoldSpace& space);

// Folds one.term({k}) for k = 0 ... count - 1 in a loop of its own, which no loop of lanes is
// around.
Quantity fold_steps(Lowering& lowering, std::int64_t count, const Folded& one);

// The strides of a node's storage in the order of its dimensions: what a space walks best by.
Strides walking_strides(Lowering& lowering, NodeId id);

}  // namespace recut::loop
