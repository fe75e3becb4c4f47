// A plan's two halves as graphs of their own: what a compiler makes code of, one after the other.
#pragma once

#include "engine/ir/graph.h"
#include "engine/ir/plan.h"

namespace recut {

// On the pool of the graph that was planned, under its names.
//
//   forward   takes its parameters and inputs; gives its results, then what is saved
//   backward  takes those parameters and inputs that it reads, tangents and what is saved, which
//             are inputs here; gives the gradients that there are, as results, in order
//
// Of a call with several outputs what is saved are those that backward reads. A node that backward
// computes again stands in both halves, once in each: when it runs is the plan's matter.
struct Halves {
  Graph forward;
  Graph backward;
};

// The plan has to be one that can run (engine/partition/replay.h).
Halves halves_of(const Graph& graph, const Plan& plan);

}  // namespace recut
