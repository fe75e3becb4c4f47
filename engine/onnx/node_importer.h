// Imports the nodes of a model's graphs: the main one, and branches and bodies nested in it.
#pragma once

#include <onnx/onnx.pb.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/onnx/constant_folding.h"
#include "engine/onnx/lowering.h"
#include "engine/onnx/options.h"

namespace recut::onnx {

// "node '/conv1/Conv'", or by its first output where it has no name; and "7 of 120".
std::string describe_node(const ::onnx::NodeProto& node);
std::string position_text(const ::onnx::GraphProto& model, int node);

// The name of the node's operator, with its domain, if it isn't supported in `opset`. The name may
// be empty: a file may say nothing.
std::optional<std::string> unsupported_operator(const ::onnx::NodeProto& node, std::int64_t opset);

// A value as a nested graph reads it, made from the value of the graph around.
using Gate = std::function<OnnxValue(const OnnxValue& value)>;

// The names that nodes of one graph see: its own, then those of the graph around it. Each value
// from around passes `gate` once, if there is one.
class Scope {
 public:
  explicit Scope(const Scope* around = nullptr, Gate gate = {})
      : around_(around), gate_(std::move(gate)) {}

  const OnnxValue* find(const std::string& name) const;  // null if there is none
  bool add(const std::string& name, OnnxValue value);    // false if the graph has the name
  void gate_own();  // the values added so far pass the gate, too

 private:
  std::map<std::string, OnnxValue> values_;
  const Scope* around_;
  Gate gate_;
  mutable std::map<std::string, OnnxValue> gated_;
};

// All functions throw ImportError.
class NodeImporter {
 public:
  NodeImporter(const ::onnx::GraphProto& model, std::int64_t opset, const Options& options);

  void read_initializers(const ::onnx::GraphProto& graph, Scope& scope);

  // Errors name the node and its position in the graph.
  void import_nodes(const ::onnx::GraphProto& graph, Scope& scope);

  // The results of a nested graph with these inputs. Each call imports its nodes again. `gate` is
  // for values from around, and for the graph's own initializers.
  Lowered import_nested(const ::onnx::GraphProto& graph, const std::vector<OnnxValue>& inputs,
                        const Scope& around, const Gate& gate = {});

  // The first output of a call that stands for a part of node `cause`, folded where it can be.
  OnnxValue call(const ::onnx::NodeProto& cause, std::string_view operator_name,
                 const std::vector<OnnxValue>& inputs,
                 const std::vector<std::pair<std::string, std::int64_t>>& attributes = {});

  // Inputs of the model that are one integer: the options can give their values.
  void add_fixable_input(const std::string& name) { fixable_inputs_.push_back(name); }
  const std::vector<std::string>& fixable_inputs() const { return fixable_inputs_; }

  // Counts a condition both of whose branches are computed.
  void add_open_condition() { ++open_conditions_; }
  std::int64_t open_conditions() const { return open_conditions_; }

  // Charges `count` nodes or items to the limit of nested graphs.
  void charge_nested(std::int64_t count);

  // A node for a constant: a splat becomes `full`, any other tensor a constant of the graph.
  NodeId constant(const OnnxValue& value);

  Graph& graph() { return graph_; }
  const std::map<NodeId, Tensor>& tensors() const { return tensors_; }  // of weights and constants
  std::string name_of(NodeId id) const;  // the model's name of a node's output, or ""

 private:
  OnnxValue read_initializer(const ::onnx::TensorProto& proto);
  void add_weight(const std::string& name, OnnxValue& value);
  void add(const ::onnx::NodeProto& node, Scope& scope);
  Lowered outputs_of(const ::onnx::NodeProto& node, std::vector<OnnxValue> inputs,
                     const Scope& scope);
  Lowered lowered(const ::onnx::NodeProto& node, std::int64_t opset, std::vector<OnnxValue> inputs);
  Lowered folded(const ::onnx::NodeProto& node, std::int64_t opset,
                 const std::vector<OnnxValue>& inputs);
  void name_output(NodeId id, const std::string& name);
  void count_bytes(const OnnxValue& value);
  void check_node_count() const;

  const std::int64_t opset_;
  const Options& options_;
  FoldingLimits folding_limits_;
  std::set<std::string> statistics_;  // constants, not parameters: they have no gradients
  std::vector<std::string> fixable_inputs_;
  Graph graph_;
  std::map<NodeId, Tensor> tensors_;
  std::map<NodeId, std::pair<int, std::string>> names_;  // with the depth of their graph
  std::map<std::string, NodeId> constants_;              // by type and bytes
  std::map<const ::onnx::TensorProto*, OnnxValue> initializers_;
  std::int64_t total_bytes_ = 0, nested_nodes_ = 0, open_conditions_ = 0;
  int depth_ = 0;  // of the graph whose nodes are imported
};

}  // namespace recut::onnx
