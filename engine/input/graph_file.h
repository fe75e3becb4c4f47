// Graph files: fx-joint-graph JSON (version 1 or 2), graphs that PyTorch printed (printed_graph.h),
// each plain or gzipped, archives of torch.export (exported_archive.h), and Recut's text form. The
// content tells them apart, never a file's name.
//
// Printed are a graph alone (`GraphModule.print_readable`), logs (TORCH_LOGS=aot_joint_graph,
// aot_graphs,post_grad_graphs) and traces (TORCH_TRACE). A single graph has the key `joint` or
// `forward`; the graphs of a log or trace have keys of compile id and kind,
// "0/0/aot_joint_graph", and of equal ones the second is "…#2". Graphs of forward and backward that
// PyTorch partitioned are one more joint graph, "0/0/aot_forward_graph+aot_backward_graph"; it is
// the graph after Inductor's joint passes, and PyTorch's saved values are its default partition.
// The graph alone of forward or of backward reads as a `forward` graph: its tangents are inputs. A
// printed graph has no modules, and no hints of symbols except in a trace.
//
// A joint graph file holds the forward and backward graph of a training step as AOTAutograd traced
// it: `joint` before and `joint_after_passes` after Inductor's joint passes, and the choices of
// PyTorch's partitioner. A graph for inference has the key `forward`; its "parameters" and
// "buffers" (lists of names) tell which placeholders the module holds, and buffers become constants
// of the graph. It needs no "num_fwd_outputs": all of its outputs are results.
//
// The "module" of a placeholder is the parameter's own path, "h.0.attn.weight"; for other nodes it
// is the module that called them.
//
// A node may have a source location: "source": "net.py:12 in forward: y = self.act(x)".
//
// Sizes and strides may be expressions over symbols, "8*s48", that "symbols" lists: {"s48":
// {"hint": 512, "min": 2, "max": null}}. A node whose "val" is {"sym": "s48*s58", "type": "SymInt"}
// (or SymFloat) is such a number. Reading binds every symbol, to a given size or to its hint: the
// graph has fixed sizes.
//
// A call whose target isn't in the operator table is kept by its name, with the types of its "val"
// (engine/ir/external_operator.h); without a "val" it is an error, and with null as "val" it is
// left out. A call that writes to an operand in place gives it a new value (written_values.h), and
// that of an input follows the results; a composite becomes other calls (composite_operators.h). A
// buffer that is written stays an input. A get_attr without a "val" is a nested graph: its nodes
// may stand in its "subgraph".
//
// Version 2 adds the graph's signature (joint_signature.h): which results are new values of inputs,
// the results of the tangents, inputs that share a storage, and whether the trace was deterministic.
//
// A program that ran the graph may write its measurements (engine/ir/measurements.h): a
// call_function has "measured": {"us": 12.3, "workspace_bytes": 1048576}, either key or both, and
// the file "measured_on", the device's name, and "allocation_granularity", the bytes that the
// allocator rounds up to. Workspaces and granularity always count; times count on the device
// "measured".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/bytes.h"
#include "engine/input/safetensors.h"
#include "engine/input/symbols.h"
#include "engine/ir/graph.h"

namespace recut {

// A solution of PyTorch's min-cut partitioner for the graph `joint_after_passes`.
struct TorchPartition {
  std::optional<double> budget;  // a fraction of saved bytes, 0 … 1; none: the default partition
  double seconds = 0;            // solve time
  std::vector<std::string> saved, recomputed;  // names of nodes
};

struct GraphFile {
  Graph graph;
  std::string model, torch_version, device_name;
  bool amp = false;
  std::vector<TorchPartition> partitions;  // the default one first, if there is one
  double joint_passes_seconds = 0;         // of Inductor's joint passes, first run; 0: not recorded
  double joint_passes_seconds_warm = 0;    // and a later one
  std::string key;  // the graph that was read: "joint", "0/0/aot_joint_graph", …; "" in text form
  std::vector<std::string> graph_keys;  // the graphs that the file has
  bool after_joint_passes = false;      // Inductor's joint passes ran on the graph
  // Of a joint graph from before them: the graph that PyTorch partitioned, if the file has it.
  std::shared_ptr<const GraphFile> partitioned;
  std::vector<BoundSymbol> symbols;  // symbols of its sizes, with their bound values
  std::string
      symbols_note;  // a warning: other symbols had the same hint as one that was given a size
  // Of a printed graph, an archive or a model: assumptions, and parts that were read in another
  // form.
  std::string printed_note;
  std::string unknown_note;    // of calls whose operators Recut doesn't know
  std::string externals_note;  // of calls and writes that were left out or moved
  std::string policies_note;   // of calls whose checkpoint policies Recut doesn't know
  std::string library_note;    // of calls that an operator library expanded
  // The notes that there are, to be shown as the file is opened.
  std::vector<std::string> notes() const {
    std::vector<std::string> all;
    for (const std::string* note : {&symbols_note, &printed_note, &unknown_note, &externals_note,
                                    &policies_note, &library_note})
      if (!note->empty()) all.push_back(*note);
    return all;
  }

  std::vector<NamedTensor> tensors;     // values of the graph's inputs in the file: in.<name>
  std::shared_ptr<const void> storage;  // owner of the bytes of `tensors`
};

// The note on a graph's calls of operators that Recut doesn't know, "… mine.scale3 (2 calls)"; "" if
// there are none.
std::string unknown_operators_note(const Graph& graph);

// The graph that is read by default; `forward` if the file has no joint graph.
inline constexpr std::string_view kDefaultGraphKey = "joint";

}  // namespace recut
