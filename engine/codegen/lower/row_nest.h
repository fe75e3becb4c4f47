// The loop nest of reductions that fold the same rows: for each row loops over its elements, which
// the reductions share, and then what stands behind them in the kernel, the row's elements last.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "engine/codegen/lower/nest.h"
#include "engine/fusion/rows.h"

namespace recut::loop {

class RowNest {
 public:
  // `calls` are all of the kernel, in order; `rows` is how they go on. The nest is of those
  // reductions among them that fold as `first` does.
  RowNest(Lowering& lowering, std::span<const NodeId> calls, const RowKernel& rows, NodeId first);
  RowNest(const RowNest&) = delete;
  RowNest& operator=(const RowNest&) = delete;

  NodeId first() const { return reductions_.front().nest.node; }
  bool has(NodeId reduction) const;
  // What it writes of calls that aren't reductions.
  const std::vector<Made>& outputs() const { return outputs_; }

  void build();

 private:
  struct Reduction {
    Reduction(Lowering& lowering, NodeId id)
        : call(lowering.call_of(id)),
          nest(lowering, call, id),
          fold(nest_row(lowering.graph()[id].op).fold(nest)) {}

    const Call call;
    const Nest nest;
    const RowFold fold;
    std::size_t stage = 0;  // how many others' stages have to be over before its first loop
  };

  void find_reductions(std::span<const NodeId> calls);
  void find_stages(std::span<const NodeId> calls);
  void find_outputs(std::span<const NodeId> calls);
  bool shares_first_loop(const Made& made) const;
  bool is_element(const Made& made) const { return lowering_.type(made).shape == space_.shape; }

  void fold_stage(std::size_t stage, Folder& folder);
  void settle(const Reduction& reduction, const RowFold::Totals& totals, const Folder& folder);
  void write(const std::vector<Made>& outputs, const Indices& at) const;
  void write_early(const Indices& at) const;
  void write_row(const Made& made, const Folder& folder) const;

  Lowering& lowering_;
  const RowKernel& rows_;
  const RowSpace space_;
  const Strides strides_;  // of the first reduction's operand
  std::deque<Reduction> reductions_;
  std::map<NodeId, std::size_t> ready_;  // of the calls behind: the stage before which they can be
  std::vector<Made> early_;              // elements that the first loop writes
  std::vector<Made> row_outputs_, element_outputs_;  // of calls behind
  std::vector<Made> outputs_;                        // all three
};

}  // namespace recut::loop
