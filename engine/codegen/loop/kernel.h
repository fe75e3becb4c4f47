// The loop form: a kernel is buffers and a tree of statements over named scalars. The trunk from
// which LLVM IR, WebAssembly and CUDA are written; engine/codegen/README.md says what each
// construct means and what it becomes there.
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

// Memory as elements of one dtype. Two buffers never overlap. The caller brings it, but for
// scratch, which stands behind the others: every iteration of the kernel's outermost loops has its
// own, and begins with nothing of use in it.
enum class Access : std::uint8_t { read, written, updated, scratch };  // updated: read and written
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

// A number that grows by updates. With lanes, it is as many partial numbers: the update in
// iteration k of the innermost loop that has lanes goes to partial k mod lanes. The first partial
// begins at the initial value, the others at the neutral one; reading combines partial p with
// partial p + lanes/2 for the lower half, and so on with half as many, until one is left.
struct Accumulator {
  std::string name;
  DType type = DType::f32;
  Combine combine = Combine::add;
  std::int64_t lanes = 1;  // a power of two
};

// Expressions: what a definition gives its name to.
struct Constant {
  double real = 0;           // where the type is floating
  std::int64_t integer = 0;  // where it is not; bools are 0 or 1
};
struct IndexNumber {  // the index as an i64
  Index index;
};
// Where `where` is given and false, nothing is read and the value is 0.
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
// The i64 itself, known to be in 0 ... below - 1; that it isn't is the data's fault and ends the
// run.
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
// With `combine`, what stands there is combined with the value: buffer[at] = value op old.
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
// With `times`, a sum's next summand is value * times, which is added exactly or after a rounding
// of its own, as the target has it: the only place where a target chooses bits of + and *.
struct Update {
  AccumulatorId accumulator;
  ValueId value;
  ValueId times;
};
// One after another, or in any order and at once where it is parallel. `lanes`: so many
// neighbouring iterations at once, statement by statement; 1: none.
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

// `note`: which of the kernel's notes it is from. For readers, too, and no part of the meaning: the
// text has no word for it, and a kernel that was parsed knows nothing of it.
inline constexpr std::uint32_t kNoNote = UINT32_MAX;
struct Statement {
  std::variant<Define, Store, Declare, Update, Loop, If> value;
  std::uint32_t note = kNoNote;
};

struct Kernel {
  std::string name;
  std::vector<std::string> notes;  // for readers: which nodes it computes
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

// The largest number of lanes, and of nested loops and ifs, that a sound kernel has.
inline constexpr std::int64_t kMostLanes = 8192;
inline constexpr int kDeepestNest = 64;
// The most bytes of scratch that an outermost loop uses: what a block of threads may have on a GPU,
// and a stack on a processor.
inline constexpr std::int64_t kMostScratchBytes = std::int64_t{160} << 10;

// How many buffers the caller brings: those before the scratch.
std::size_t brought_buffers(const Kernel& kernel);

// What the kernel is but for its names and notes, which say where it comes from.
Kernel without_names(Kernel kernel);

// The number that combines with any other to that other: 0 of add is -0.0 for reals.
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
