// The loop form: a kernel is buffers and a tree of statements over named scalars (as in Inductor's
// loop-level IR). LLVM IR, WebAssembly and CUDA are all written from it; engine/codegen/README.md
// defines each construct and its translation.
//
//   kernel "add, relu" {
//     buffer %x : f32[1024] read
//     buffer %y : f32[1024] written
//     parallel %i in 0..1024 lanes 8 {
//       %zero : f32 = constant 0
//       %a : f32 = load %x[%i]
//       %b : f32 = max %a, %zero
//       store %y[%i], %b
//     }
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/codegen/loop/index.h"
#include "engine/codegen/loop/scalar.h"
#include "engine/ir/dtype.h"

namespace recut::loop {

using BufferId = Id<struct BufferTag>;
using AccumulatorId = Id<struct AccumulatorTag>;

// Memory as elements of one dtype. Two buffers never overlap. The caller passes all of them except
// scratch, which comes last: each iteration of an outermost loop has its own, with undefined
// contents at its start.
enum class Access : std::uint8_t {
  read,
  write,
  read_write,
  scratch
};  // read_write: read and written
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::int64_t elements = 0;
  Access access = Access::read;
};

// %name counts from 0 to extent - 1, and belongs to one loop.
struct LoopVariable {
  std::string name;
  std::int64_t extent = 0;
};

struct ScalarValue {
  std::string name;
  DType type = DType::f32;
};

// A reduction variable. With L lanes it is L partials: the update in iteration k of the innermost
// loop with lanes goes to partial k mod L. The first partial starts at the initial value, the
// others at the neutral element. Reading combines partial p with partial p + L/2 for p < L/2, and
// so on with half as many, until one is left. This fixes the order of every sum on every target.
struct Accumulator {
  std::string name;
  DType type = DType::f32;
  Combine combine = Combine::add;
  std::int64_t lanes = 1;  // a power of two
};

// Expressions: the right sides of definitions.
struct Constant {
  double real = 0;           // if the type is floating
  std::int64_t integer = 0;  // if it isn't; bools are 0 or 1
};
struct IndexNumber {  // the index as an i64
  Index index;
};
// A masked load: if `where` is given and false, nothing is read and the value is 0.
struct Load {
  BufferId buffer;
  Index at;
  ValueId where;
};
struct Apply {
  ScalarOp op = ScalarOp::add;
  std::vector<ValueId> operands;
  DType stored = DType::none;  // of narrow
};
// The i64 itself, checked to be in 0 ... below - 1. If it isn't, the data is bad: the run fails.
struct Checked {
  ValueId value;
  std::int64_t below = 0;
};
struct ReadAccumulator {
  AccumulatorId accumulator;
};
using Expression = std::variant<Constant, IndexNumber, Load, Apply, Checked, ReadAccumulator>;

// Statements.
struct Statement;
using Block = std::vector<Statement>;

struct Define {
  ValueId value;
  Expression expression;
};
// With `combine`, a read-modify-write: buffer[at] = value op buffer[at].
struct Store {
  BufferId buffer;
  Index at;
  ValueId value;
  std::optional<Combine> combine;
};
struct Declare {
  AccumulatorId accumulator;
  ValueId initial;
};
// With `times`, a sum's next summand is value * times, which the target fuses with the addition or
// rounds first: the only place where targets may differ in the bits of + and *.
struct Update {
  AccumulatorId accumulator;
  ValueId value;
  ValueId times;
};
// Iterations run in order, or in any order and concurrently if `parallel`. `lanes`: the vector
// width, a power of two: the number of neighbouring iterations that run statement by statement; 1:
// scalar.
struct Loop {
  LoopId variable;
  bool parallel = false;
  std::int64_t lanes = 1;
  Block body;
};
struct If {
  ValueId condition;
  Block body;
};

// `location`: the source location, an index into the kernel's list of them (kUnknownLocation:
// unknown). Only for display: it isn't printed in a statement's text, so a parsed kernel has none.
inline constexpr std::uint32_t kUnknownLocation = UINT32_MAX;
struct Statement {
  std::variant<Define, Store, Declare, Update, Loop, If> value;
  std::uint32_t location = kUnknownLocation;
};

struct Kernel {
  std::string name;
  std::vector<std::string> locations;  // source locations, one for each node that it computes
  std::vector<Buffer> buffers;
  std::vector<LoopVariable> loops;
  std::vector<ScalarValue> values;
  std::vector<Accumulator> accumulators;
  Block body;

  const Buffer& operator[](BufferId id) const { return buffers[id.index]; }
  const LoopVariable& operator[](LoopId id) const { return loops[id.index]; }
  const ScalarValue& operator[](ValueId id) const { return values[id.index]; }
  const Accumulator& operator[](AccumulatorId id) const { return accumulators[id.index]; }
};

// Limits of a valid kernel: lanes, and depth of nested loops and ifs.
inline constexpr std::int64_t kMaxLanes = 8192;
inline constexpr int kMaxNestDepth = 64;
// Maximum bytes of scratch of an outermost loop: the shared memory of a thread block on a GPU, and
// a safe amount of stack on a CPU.
inline constexpr std::int64_t kMaxScratchBytes = std::int64_t{160} << 10;

// The number of buffers that the caller passes: those before the scratch.
std::size_t parameter_count(const Kernel& kernel);

// The kernel without names and source locations, on which no compiled code depends.
Kernel strip_names(Kernel kernel);

// The neutral element: combining it with x gives x. For sums of reals it is -0.0.
Constant neutral(Combine combine, DType type);

// Calls visit(ValueId) for every value that an expression or an index uses.
template <class Visit>
void for_each_used(const Index& index, Visit&& visit) {
  for_each_atom(index, [&](const Atom& atom) {
    if (atom.kind == AtomKind::value) visit(ValueId(atom.id));
  });
}
template <class Visit>
void for_each_used(const Expression& expression, Visit&& visit) {
  if (const auto* number = std::get_if<IndexNumber>(&expression))
    for_each_used(number->index, visit);
  if (const auto* load = std::get_if<Load>(&expression)) {
    for_each_used(load->at, visit);
    if (load->where.valid()) visit(load->where);
  }
  if (const auto* apply = std::get_if<Apply>(&expression))
    for (const ValueId operand : apply->operands) visit(operand);
  if (const auto* checked = std::get_if<Checked>(&expression)) visit(checked->value);
}

}  // namespace recut::loop
