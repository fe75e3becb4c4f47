// The types that an fx-joint-graph records, and the types that calls have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/input/joint_nodes.h"
#include "engine/input/joint_values.h"
#include "engine/ir/call.h"
#include "engine/ir/graph.h"

namespace recut {

class JointTypes {
 public:
  using Report = std::function<void(const JointNode& about, const std::string& message)>;

  // `report` gets each error.
  JointTypes(const JointNodes& nodes, const Graph& graph, Report report);

  // The types that a node records, by its index.
  const RecordedTypes& of(std::size_t at) const { return recorded_[at]; }
  bool faulty(std::size_t at) const { return faulty_[at]; }
  void set(std::size_t at, RecordedTypes types) { recorded_[at] = std::move(types); }
  void set_faulty(std::size_t at) { faulty_[at] = true; }

  // The type of an input, which has to be recorded. None after an error.
  std::optional<TensorType> of_input(std::size_t at);

  // take_common_device() of all nodes.
  std::string take_device() { return take_common_device(recorded_); }

  // Types on that device are types on the graph's own.
  void drop_device(std::string_view device) { ::recut::drop_device(device, recorded_); }

  // The types of a node's call: the recorded types if there are any, which must agree with the
  // shape rule. None after an error.
  std::optional<std::vector<TensorType>> resolve(std::size_t at, const Operator& op,
                                                 const std::vector<Argument>& arguments);

  // Reports types that differ.
  bool agree(std::size_t at, const Operator& op, std::size_t output, const TensorType& recorded,
             const TensorType& inferred) const;

  // Reports a graph whose values can't be counted together.
  bool count_bytes(std::size_t at, const std::vector<TensorType>& types);

 private:
  void record_read_outputs();
  bool uses_recorded_type(std::size_t at, std::size_t output, const TensorType& recorded) const;
  bool is_masked_out(std::size_t at, std::size_t output, const TensorType& inferred) const;
  bool is_read(std::size_t at, std::size_t output) const;
  bool lacks_arithmetic(const std::vector<Argument>& arguments,
                        const std::vector<RecordedType>& recorded) const;
  std::optional<std::vector<TensorType>> take_unchecked(std::size_t at, const Operator& op,
                                                        const std::vector<Argument>& arguments);

  void report_error(std::size_t at, const std::string& message) const {
    report_(nodes_.nodes[at], message);
  }

  const JointNodes& nodes_;
  const Report report_;
  const Call::TypesOf types_of_;
  std::vector<RecordedTypes> recorded_;
  std::vector<bool> faulty_;
  std::set<std::pair<std::string_view, std::int64_t>> read_;  // (node name, output index)
  std::int64_t total_bytes_ = 0;
};

// True for types of as many elements of one dtype. PyTorch 2.11 records the states of an LSTM with
// one dimension too many.
bool same_elements(const TensorType& a, const TensorType& b);

}  // namespace recut
