// Calls that run nested graphs (Graph::regions): conditions and loops. Their operators are external
// (external_operator.h); Recut knows the operators of engine/ir/operators/region_calls.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"

namespace recut {

// The runs of a call's regions, and their operands:
//
//   branches     the first region where the predicate holds, else the second, on `whole`
//   while_loop   the second region on `carried` and `whole`, as long as the first one holds; its
//                results are the next carried values
//   while_stack  the same; the results of all trips are stacked
//   scan         the region on `carried`, one slice of each of `sliced`, and `whole`; its first
//                results are the next carried values, and the others are stacked
//   prefix_scan  the region on the results of the step before, one slice, and `whole`; all results
//                are stacked, and the first slices are results themselves
//   once         the region on `whole`
enum class RegionCallKind : std::uint8_t {
  branches,
  while_loop,
  while_stack,
  scan,
  prefix_scan,
  once
};

// A call by the roles of its arguments. Lists hold operands and numbers.
struct RegionCall {
  RegionCallKind kind = RegionCallKind::branches;
  std::vector<std::string> regions;  // by name
  Argument predicate;
  ArgumentList carried;  // values that a loop hands from trip to trip
  ArgumentList sliced;   // values that a loop reads along their first dimension
  ArgumentList whole;    // values that each run reads
};

// The call, if its operator is in the table and its arguments have the table's form.
std::optional<RegionCall> region_call(const Node& node);

// The operands among values, in order.
std::vector<NodeId> operands_among(const ArgumentList& values);

// The trips of a scan or prefix scan: the elements along the first dimension of `sliced`. Invalid
// calls (check_regions) have none.
std::optional<std::int64_t> trips_of(const Graph& graph, const RegionCall& call);

// The number of a draw in one run of a call's regions, which has random numbers of its own. The
// interpreter and inlined runs number draws alike. Runs are counted from 0, in the order in which
// the call makes them.
struct RegionRunNumber {
  std::int64_t draw = 0;  // of the call
  std::int64_t run = 0;
};
std::int64_t draw_of_run(RegionRunNumber number, std::int64_t draw);

// The draw of an external call, its last argument.
std::int64_t draw_of(const Node& external);

// True for a call of the table, or of flex_attention.h, whose regions the graph has: Recut computes
// its values.
bool has_regions(const Graph& graph, NodeId id);

// The outputs of a call by the results of its regions; none where the graph lacks them.
std::optional<std::size_t> output_count(const Graph& graph, const RegionCall& call);

// The regions that the graph's calls name, in the order of their first use.
std::vector<std::string_view> named_regions(const Graph& graph);
std::vector<std::string_view> named_regions(const Graph& graph, NodeId id);
std::vector<std::string_view> named_regions(const Graph& graph, const Node& call);

// Compares each region of a call with the call: its inputs with the call's operands, and its results
// with the call's outputs, in number, dtype and shape. One message for each difference. The graph
// may lack regions: those are passed over.
std::vector<std::string> check_regions(const Graph& graph, NodeId id);

}  // namespace recut
