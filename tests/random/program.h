// Programs as PyTorch traces them before functionalisation: calls that write in place, views that
// share storages, nested graphs. They are run by their definition, on storages that change, and
// written as an fx-joint-graph for the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/type.h"
#include "engine/support/result.h"

namespace recut::test {

struct ProgramBody;

// A value of a body by its number: inputs come first, then one for each call.
struct ProgramValue {
  std::size_t number = 0;
};
using ProgramArgument =
    std::variant<ProgramValue, std::vector<ProgramValue>, std::shared_ptr<const ProgramBody>,
                 double, std::int64_t, bool, std::vector<std::int64_t>, std::string>;

struct ProgramCall {
  std::string target;  // "aten.add_.Tensor", "getitem", "torch.ops.higher_order.cond"
  std::vector<ProgramArgument> arguments;
  std::vector<TensorType> outputs;  // of a call that gives a list
};

struct ProgramBody {
  std::vector<TensorType> inputs;
  std::vector<ProgramCall> calls;
  std::vector<std::size_t> results;
};

// "dtype=int64", a keyword argument, as its two parts.
std::pair<std::string, std::string> key_and_value(const std::string& keyword);

bool is_nested_call(const ProgramCall& call);
bool writes_first_operand(const ProgramCall& call);

// A call of one operator on operands of these types, without its effect; the types that it gives.
Result<std::vector<TensorType>> types_of_call(const ProgramCall& call,
                                              const std::vector<TensorType>& operands);

// A tensor as positions in a storage that others may share.
struct SharedTensor {
  std::shared_ptr<std::vector<double>> storage;
  std::vector<std::size_t> elements;
  TensorType type;  // contiguous

  Tensor value() const;
  void write(const Tensor& value);
};
SharedTensor fresh(const Tensor& value);

// A view of a tensor by a call; none where the call's operator isn't a view.
std::optional<std::vector<SharedTensor>> view_of(const ProgramCall& call, const SharedTensor& self);

// The inputs that calls write, also through views and in nested graphs, in the order of their first
// writes.
std::vector<std::size_t> written_inputs(const ProgramBody& body);

// Results, then the values at the end of the inputs that are written.
Result<std::vector<Tensor>> run_program(const ProgramBody& body, const std::vector<Tensor>& inputs);

// The program as an fx-joint-graph (program_json.cpp).
std::string program_json(const ProgramBody& body);

}  // namespace recut::test
