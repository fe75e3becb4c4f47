// A loop with lanes becomes a vector loop and a scalar epilogue over the same body:
//
//   for %i in 0..n lanes 8 { S }  =>  for i in 0..n & -8 step 8 { S on <8 x T> }; the rest: S
//
// Accumulators live in allocas, which SROA turns into phis; a vector of partials is updated lane by
// lane in the vector loop, and one element of it (iteration mod lanes) in the epilogue. Both add to
// the partials in the order that the loop form fixes. Reading a sum combines the halves of the
// vector by shuffles, again in that order. Nothing is unrolled or hoisted here: that is LLVM's
// work.
#include "engine/codegen/llvm/kernel_code.h"

#include <fmt/format.h>

#include "engine/codegen/llvm/scalar_code.h"
#include "engine/codegen/llvm/storage_code.h"
#include "engine/codegen/loop/stages.h"

namespace recut::llvm_ir {
namespace {

// A cache line, so that no vector crosses two.
constexpr std::int64_t kScratchAlignment = 64;

// The first or second half of the lanes.
Code half_of(Writer& w, const Code& all, std::int64_t which) {
  const std::int64_t half = all.lanes / 2;
  if (half == 1) return w.extract(all, which);
  std::string lanes;
  for (std::int64_t lane = 0; lane < half; ++lane)
    lanes += fmt::format("{}i32 {}", lane == 0 ? "" : ", ", which * half + lane);
  return w.let(all.type, half,
               fmt::format("shufflevector {0} {1}, {0} poison, {2} <{3}>", type_name(all), all.text,
                           type_name(DType::i32, half), lanes));
}

}  // namespace

KernelCode::KernelCode(const loop::Kernel& kernel, Writer& writer, std::vector<std::string>& faults)
    : kernel_(kernel),
      w_(writer),
      faults_(faults),
      ranges_(kernel),
      loops_(kernel.loops.size()),
      values_(kernel.values.size()),
      partials_(kernel.accumulators.size()),
      iteration_(Writer::integer(DType::i64, 0)) {
  for (std::uint32_t b = 0; b < kernel.buffers.size(); ++b)
    buffers_.push_back(b < loop::brought_buffers(kernel) ? buffer_name(loop::BufferId(b)) : "");
}

const std::string& KernelCode::begin_of(loop::BufferId id) {
  std::string& begin = buffers_[id.index];
  const loop::Buffer& buffer = kernel_[id];
  if (begin.empty())
    begin = w_.room_for(fmt::format("[{} x {}]", buffer.elements, memory_type(buffer.dtype)),
                        kScratchAlignment);
  return begin;
}

void KernelCode::block(const loop::Block& block) {
  for (const loop::Statement& statement : block) {
    const std::uint32_t around = w_.begin_note(statement.note);
    std::visit([&](const auto& one) { execute(one); }, statement.value);
    w_.begin_note(around);
  }
}

void KernelCode::part(const loop::Loop& loop) {
  range(loop, {"%first", DType::i64, 1}, {"%last", DType::i64, 1},
        kernel_[loop.variable].extent % loop.lanes != 0);
}

void KernelCode::execute(const loop::Define& define) {
  values_[define.value.index] = std::visit(
      [&](const auto& expression) { return code(expression, define.value); }, define.expression);
}

void KernelCode::execute(const loop::Store& store) {
  if (store.combine)
    write_combined(store);
  else
    write(store.buffer, place(store.at), values_[store.value.index]);
}

void KernelCode::execute(const loop::Declare& declare) {
  const loop::Accumulator& accumulator = kernel_[declare.accumulator];
  const std::int64_t lanes = lanes_ > 1 ? lanes_ : accumulator.lanes;
  Partials& partials = partials_[declare.accumulator.index];
  if (partials.room.empty() || partials.lanes != lanes)
    partials = {w_.room_for(type_name(accumulator.type, lanes)), lanes};
  Code initial = w_.splat(values_[declare.initial.index], lanes_);
  if (partials.lanes != initial.lanes) {
    const loop::Constant start = loop::neutral(accumulator.combine, accumulator.type);
    const Code neutral = is_floating(accumulator.type)
                             ? Writer::real(accumulator.type, start.real, partials.lanes)
                             : Writer::integer(accumulator.type, start.integer, partials.lanes);
    initial = w_.insert(neutral, initial, 0);
  }
  w_.put(fmt::format("store {} {}, ptr {}", type_name(initial), initial.text, partials.room));
}

Code KernelCode::load_partials(const Partials& partials, const loop::Accumulator& accumulator) {
  return w_.let(
      accumulator.type, partials.lanes,
      fmt::format("load {}, ptr {}", type_name(accumulator.type, partials.lanes), partials.room));
}

void KernelCode::execute(const loop::Update& update) {
  const loop::Accumulator& accumulator = kernel_[update.accumulator];
  const Partials& partials = partials_[update.accumulator.index];
  if (partials.lanes != lanes_) return update_one(partials, update);
  const Code sum = updated(update, load_partials(partials, accumulator));
  w_.put(fmt::format("store {} {}, ptr {}", type_name(sum), sum.text, partials.room));
}

// The new value of a partial.
Code KernelCode::updated(const loop::Update& update, const Code& partial) {
  const Code& by = values_[update.value.index];
  if (update.times.valid()) return multiply_add_code(w_, by, values_[update.times.index], partial);
  return combine_code(w_, kernel_[update.accumulator].combine, partial,
                      w_.splat(by, partial.lanes));
}

// Scalar code: updates the partial of this iteration.
void KernelCode::update_one(const Partials& partials, const loop::Update& update) {
  const loop::Accumulator& accumulator = kernel_[update.accumulator];
  const Code all = load_partials(partials, accumulator);
  const Code lane =
      w_.apply("and", DType::i64, iteration_, Writer::integer(DType::i64, partials.lanes - 1));
  const Code old =
      w_.let(accumulator.type, 1,
             fmt::format("extractelement {} {}, i64 {}", type_name(all), all.text, lane.text));
  const Code sum = updated(update, old);
  const std::string made = w_.let(fmt::format("insertelement {} {}, {} {}, i64 {}", type_name(all),
                                              all.text, type_name(sum), sum.text, lane.text));
  w_.put(fmt::format("store {} {}, ptr {}", type_name(all), made, partials.room));
}

void KernelCode::execute(const loop::Loop& loop) {
  const std::int64_t extent = kernel_[loop.variable].extent;
  range(loop, Writer::integer(DType::i64, 0), Writer::integer(DType::i64, extent),
        extent % loop.lanes != 0);
}

void KernelCode::execute(const loop::If& branch) {
  const std::string inside = w_.fresh_label("then"), after = w_.fresh_label("after");
  w_.branch(values_[branch.condition.index], inside, after);
  w_.open(inside);
  block(branch.body);
  w_.go(after);
  w_.open(after);
}

// A vector loop, then a scalar epilogue.
void KernelCode::range(const loop::Loop& loop, const Code& first, const Code& last,
                       bool may_have_rest) {
  if (loop.lanes == 1 || !loop::fits_lanes(loop.body)) return one_by_one(loop, first, last);
  if (!may_have_rest) return in_lanes(loop, first, last);
  const Code count = w_.apply("sub", DType::i64, last, first);
  const Code whole = w_.apply("and", DType::i64, count, Writer::integer(DType::i64, -loop.lanes));
  const Code middle = w_.apply("add", DType::i64, first, whole);
  in_lanes(loop, first, middle);
  one_by_one(loop, middle, last);
}

// A counted loop; `body` gets the induction variable.
template <class Body>
void KernelCode::counted(const Code& first, const Code& last, std::int64_t step, Body body) {
  const std::string head = w_.fresh_label("loop"), inside = w_.fresh_label("body"),
                    next = w_.fresh_label("next"), done = w_.fresh_label("done");
  const Code i{"%i." + head, DType::i64, 1};
  const std::string before = w_.block();
  w_.go(head);
  w_.open(head);
  w_.put(fmt::format("{} = phi i64 [ {}, %{} ], [ %n.{}, %{} ]", i.text, first.text, before, head,
                     next));
  w_.branch(w_.apply("icmp slt", DType::boolean, i, last), inside, done);
  w_.open(inside);
  body(i);
  w_.go(next);
  w_.open(next);
  w_.put(fmt::format("%n.{} = add nsw i64 {}, {}", head, i.text, step));
  w_.go(head);
  w_.open(done);
}

void KernelCode::in_lanes(const loop::Loop& loop, const Code& first, const Code& last) {
  counted(first, last, loop.lanes, [&](const Code& i) {
    loops_[loop.variable.index] = i;
    lane_loop_ = loop.variable;
    lanes_ = loop.lanes;
    block(loop.body);
    lanes_ = 1;
    lane_loop_ = loop::LoopId();
  });
}

void KernelCode::one_by_one(const loop::Loop& loop, const Code& first, const Code& last) {
  counted(first, last, 1, [&](const Code& i) {
    loops_[loop.variable.index] = i;
    const Code outer = iteration_;
    if (loop.lanes > 1) iteration_ = i;
    block(loop.body);
    iteration_ = outer;
  });
}

Code KernelCode::code(const loop::Constant& constant, loop::ValueId value) {
  const DType type = kernel_[value].type;
  return is_floating(type) ? Writer::real(type, constant.real)
                           : Writer::integer(type, constant.integer);
}

Code KernelCode::code(const loop::IndexNumber& number, loop::ValueId) {
  return index(number.index);
}

Code KernelCode::code(const loop::Apply& apply, loop::ValueId value) {
  std::vector<Code> operands;
  for (const loop::ValueId operand : apply.operands) operands.push_back(values_[operand.index]);
  const bool divides = apply.op == loop::ScalarOp::quotient || apply.op == loop::ScalarOp::rest;
  if (divides && !is_floating(operands[1].type)) {
    const DType type = operands[1].type;
    const Code zero = w_.apply("icmp eq", DType::boolean, operands[1], Writer::integer(type, 0));
    tell(zero, "an integer is divided by zero");
    operands[1] = w_.select(zero, Writer::integer(type, 1), operands[1]);
  }
  return scalar_code(w_, apply, kernel_[value].type, operands, {"%seed", DType::i64, 1});
}

Code KernelCode::code(const loop::Checked& checked, loop::ValueId value) {
  const Code& number = values_[checked.value.index];
  const Code bad =
      w_.apply("icmp uge", DType::boolean, number, Writer::integer(DType::i64, checked.below));
  tell(bad, fmt::format("an index is out of range for {} places", checked.below));
  ranges_.set(value, {0, checked.below - 1});
  return w_.select(bad, Writer::integer(DType::i64, 0), number);
}

Code KernelCode::code(const loop::ReadAccumulator& read, loop::ValueId) {
  const loop::Accumulator& accumulator = kernel_[read.accumulator];
  const Partials& partials = partials_[read.accumulator.index];
  Code all = load_partials(partials, accumulator);
  if (partials.lanes == lanes_) return all;
  while (all.lanes > 1)
    all = combine_code(w_, accumulator.combine, half_of(w_, all, 0), half_of(w_, all, 1));
  return all;
}

void KernelCode::tell(const Code& bad, std::string message) {
  faults_.push_back(std::move(message));
  Code any = bad;
  if (bad.lanes > 1) {
    const std::string name = "@llvm.vector.reduce.or." + suffix(DType::boolean, bad.lanes);
    w_.declare(fmt::format("i1 {}({})", name, type_name(bad)));
    any =
        w_.let(DType::boolean, 1, fmt::format("call i1 {}({} {})", name, type_name(bad), bad.text));
  }
  const std::string inside = w_.fresh_label("fault"), after = w_.fresh_label("after");
  w_.branch(any, inside, after);
  w_.open(inside);
  w_.put(fmt::format("store atomic i64 {}, ptr %fault monotonic, align 8", faults_.size()));
  w_.go(after);
  w_.open(after);
}

}  // namespace recut::llvm_ir
