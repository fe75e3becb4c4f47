// The operator table: one row for each operator defines its enum value, names, parameters, flags,
// shape rule and summary (as MLIR's ODS does). Rows are in engine/ir/operators/*.def, by family.
//
// A row is
//   RECUT_OPERATOR(identifier, "aten::name.overload(Tensor self, …) -> Tensor", flags, rule,
//   "summary")
// The schema is written as ATen writes its own (native_functions.yaml), so that a row can be
// compared with PyTorch's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/type.h"
#include "engine/support/result.h"

namespace recut {

enum class Op : std::uint16_t {
#define RECUT_OPERATOR(identifier, schema, flags, rule, summary) identifier,
#include "engine/ir/operators/all.def"
#undef RECUT_OPERATOR
};

// Properties of an operator, as LLVM's instruction flags. Combine with |.
enum OperatorFlag : std::uint32_t {
  kNoFlags = 0,
  kView = 1 << 0,  // its output shares its first operand's storage
  kPointwise =
      1
      << 1,  // each output element depends on the operands' elements at the same (broadcast) index
  kReduction = 1 << 2,  // folds dimensions
  kRandom = 1 << 3,     // its values come from random numbers
  kImpure =
      1 << 4,  // stateful random draw: it runs at most once a step, and equal calls stay apart
  kMatrixProduct = 1 << 5,  // mm, bmm, addmm, …
  kConvolution = 1 << 6,
  kAttention = 1 << 7,
  kScatterGather = 1 << 8,  // reads or writes at indices that are data
  kCreation = 1 << 9,       // needs no tensor operand
  kScan = 1 << 10,          // prefix sums and the like
  kSort = 1 << 11,
  kPooling = 1 << 12,
  kNormalisation = 1 << 13,
  kRecurrent = 1 << 14,
  kLinearAlgebra = 1 << 15,  // factorisations and solves
  kCopy = 1 << 16,           // moves or pads data without arithmetic
  kCommutative = 1 << 17,    // in its first two operands
  kDataDependent = 1 << 18,  // its output's shape depends on values; it is taken from the file
  kInput = 1 << 19,          // a placeholder or constant: its value comes from outside
  kReadsStorage = 1 << 20,   // addresses its first operand's storage, beyond its shape
  // Cost of an element: a few cycles, less than a load from memory; many cycles; or a
  // data-dependent loop that no other call shares. No flag: in between.
  kCheap = 1 << 21,
  kCostly = 1 << 22,
  kIterative = 1 << 23,
  kRowReduction = 1 << 24,  // a reduction that a kernel can fuse with later calls, row by row
  kKeepsOrder = 1 << 25,    // a view, or a reshape, that leaves the order of elements as it is
  kCollective = 1 << 26,    // all ranks of a group take part in it (engine/ir/collective.h)
  kWait = 1 << 27,          // ends the collective that makes its operand
  kGather = 1 << 28,        // a collective that only copies: a plan may run it again, at its price
};
using OperatorFlags = std::uint32_t;
inline constexpr OperatorFlags kKinds = kReadsStorage - 1;  // all flags that name a kind of work

enum class ParameterKind : std::uint8_t {
  tensor,
  integer,
  real,
  scalar,
  boolean,
  dtype,
  text,
  any  // only of external operators
};

// One parameter of a schema.
struct Parameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::tensor;
  bool list = false;            // int[], Tensor[]
  bool optional = false;        // the whole may be None
  bool optional_items = false;  // Tensor?[]: items may be None
  bool keyword_only = false;
  bool has_default = false;
  Argument default_value;  // absent where has_default is false
};

class Call;

// Infers the types of a call's outputs, or reports the faulty argument.
using ShapeRule = Result<std::vector<TensorType>> (*)(const Call& call);

struct Operator {
  Op op;
  std::string_view
      target;  // "aten.add.Tensor", as fx prints it; "getitem", "placeholder" without a namespace
  std::string_view name;    // "add.Tensor", "mm", "prims.fma": unique, used in text and on screen
  std::string_view packet;  // "add": all overloads share it; "prims.fma" keeps its namespace
  OperatorFlags flags;
  std::vector<Parameter> parameters;
  std::size_t outputs;  // outputs that the schema declares
  bool returns_list;    // Tensor[]: as many outputs as the shape rule says
  bool multiple_outputs() const { return returns_list || outputs != 1; }
  ShapeRule rule;
  std::string_view summary;

  bool is(OperatorFlags any) const { return (flags & any) != 0; }
  std::optional<std::size_t> parameter(std::string_view parameter_name) const;
};

const Operator& operator_of(Op op);
std::span<const Operator> all_operators();

// True if the table lacks the operator: external_operator.h made its row.
bool is_external(Op op);
// True if a second run is the user's decision alone: the operator's effects are unknown, or it
// reduces values of all ranks. A gather is run again as any call, at the price of its traffic
// (FSDP's reshard after forward).
inline bool recomputed_on_request(const Operator& op) {
  return is_external(op.op) || (op.is(kCollective) && !op.is(kGather));
}
// True if a second run would give other values. It then runs once a step.
inline bool draws_anew(const Operator& op) { return op.is(kImpure) && !is_external(op.op); }
const Operator& external_row(std::size_t index);  // by the number that exceeds the table

// By fx target ("aten.mm.default") or by Recut's name ("mm").
const Operator* find_operator_by_target(std::string_view target);
const Operator* find_operator_by_name(std::string_view name);

}  // namespace recut
