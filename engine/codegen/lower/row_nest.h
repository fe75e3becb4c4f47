// The loop nest of reductions over the same rows (engine/fusion/row_fusion.h). For each row there
// are shared loops over its elements, and then the calls that follow in the kernel, those of the
// row's size last.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "engine/codegen/lower/nest.h"
#include "engine/fusion/row_fusion.h"

namespace recut::loop {

class RowNest {
 public:
  // `calls` are all calls of the kernel in order, and `rows` lists the calls after the reductions.
  // The nest takes the reductions over the same rows as `first`.
  RowNest(Lowering& lowering, std::span<const NodeId> calls, const RowKernel& rows, NodeId first);
  RowNest(const RowNest&) = delete;
  RowNest& operator=(const RowNest&) = delete;

  NodeId first() const { return reductions_.front().nest.node; }
  bool has(NodeId reduction) const;
  // The outputs of other calls that it writes.
  const std::vector<ValueRef>& outputs() const { return outputs_; }

  void build();

 private:
  struct Reduction {
    Reduction(Lowering& lowering, NodeId id)
        : call(lowering.call_of(id)),
          nest(lowering, call, id),
          reduce(nest_entry(lowering.graph()[id].op).reduce(nest)) {}

    const Call call;
    const Nest nest;
    const RowReduction reduce;
    std::size_t stage = 0;  // the number of stages that it depends on
  };

  void find_reductions(std::span<const NodeId> calls);
  void find_stages(std::span<const NodeId> calls);
  void find_outputs(std::span<const NodeId> calls);
  bool shares_first_loop(const ValueRef& ref) const;
  bool is_element(const ValueRef& ref) const { return lowering_.type(ref).shape == space_.shape; }

  void reduce_stage(std::size_t stage, Reducer& reducer);
  void bind_element(const Reduction& reduction, const RowReduction::Totals& totals,
                    const Reducer& reducer);
  void write(const std::vector<ValueRef>& outputs, const Indices& at) const;
  void write_early(const Indices& at) const;
  void write_row(const ValueRef& ref, const Reducer& reducer) const;

  Lowering& lowering_;
  const RowKernel& rows_;
  const RowSpace space_;
  const Strides strides_;  // of the operand of the first reduction
  std::deque<Reduction> reductions_;
  std::map<NodeId, std::size_t> ready_;  // by call: the first stage before which it is computable
  std::vector<ValueRef> early_;          // written by the first loop
  std::vector<ValueRef> row_outputs_, element_outputs_;  // of the calls that follow
  std::vector<ValueRef> outputs_;                        // all three
};

}  // namespace recut::loop
