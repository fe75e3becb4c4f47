// The time of collectives (engine/ir/collective.h) by the ring algorithms of NCCL.
#pragma once

#include "engine/cost/device.h"
#include "engine/ir/graph.h"

namespace recut {

// Microseconds on the link alone. With n ranks, the bytes S of the whole value and a step's
// latency:
//
//   all_reduce                        2 (n-1) steps    2 S (n-1) / n bytes
//   all_gather, reduce_scatter          (n-1) steps      S (n-1) / n bytes
//   all_to_all                          (n-1) steps      the bytes to other ranks, at most
//   broadcast                           (n-1) steps      S bytes
//
// S is a gather's output and a scatter's input. Arguments of all_reduce and broadcast don't tell n:
// bytes are then those of many ranks, and steps those of two. A group of one rank takes no time.
double link_micros(const Graph& graph, NodeId collective, const Link& link);

}  // namespace recut
