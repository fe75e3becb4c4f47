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
IrValue half_of(IrBuilder& ir, const IrValue& all, std::int64_t which) {
  const std::int64_t half = all.lanes / 2;
  if (half == 1) return ir.extract(all, which);
  std::string lanes;
  for (std::int64_t lane = 0; lane < half; ++lane)
    lanes += fmt::format("{}i32 {}", lane == 0 ? "" : ", ", which * half + lane);
  return ir.create(all.type, half,
                   fmt::format("shufflevector {0} {1}, {0} poison, {2} <{3}>", type_name(all),
                               all.text, type_name(DType::i32, half), lanes));
}

}  // namespace

KernelCode::KernelCode(const loop::Kernel& kernel, IrBuilder& builder,
                       std::vector<std::string>& faults)
    : kernel_(kernel),
      ir_(builder),
      faults_(faults),
      ranges_(kernel),
      loops_(kernel.loops.size()),
      values_(kernel.values.size()),
      partials_(kernel.accumulators.size()),
      iteration_(IrBuilder::integer(DType::i64, 0)) {
  for (std::uint32_t b = 0; b < kernel.buffers.size(); ++b)
    buffers_.push_back(b < loop::parameter_count(kernel) ? buffer_name(loop::BufferId(b)) : "");
}

const std::string& KernelCode::base_pointer(loop::BufferId id) {
  std::string& base = buffers_[id.index];
  const loop::Buffer& buffer = kernel_[id];
  if (base.empty())
    base = ir_.create_alloca(fmt::format("[{} x {}]", buffer.elements, memory_type(buffer.dtype)),
                             kScratchAlignment);
  return base;
}

void KernelCode::block(const loop::Block& block) {
  for (const loop::Statement& statement : block) {
    const std::uint32_t around = ir_.set_location(statement.location);
    std::visit([&](const auto& one) { execute(one); }, statement.value);
    ir_.set_location(around);
  }
}

void KernelCode::partial_loop(const loop::Loop& loop) {
  split_loop(loop, {"%first", DType::i64, 1}, {"%last", DType::i64, 1},
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
    write(store.buffer, classify(store.at), values_[store.value.index]);
}

void KernelCode::execute(const loop::Declare& declare) {
  const loop::Accumulator& accumulator = kernel_[declare.accumulator];
  const std::int64_t lanes = lanes_ > 1 ? lanes_ : accumulator.lanes;
  Partials& partials = partials_[declare.accumulator.index];
  if (partials.pointer.empty() || partials.lanes != lanes)
    partials = {ir_.create_alloca(type_name(accumulator.type, lanes)), lanes};
  IrValue initial = ir_.splat(values_[declare.initial.index], lanes_);
  if (partials.lanes != initial.lanes) {
    const loop::Constant start = loop::neutral(accumulator.combine, accumulator.type);
    const IrValue neutral =
        is_floating(accumulator.type)
            ? IrBuilder::real(accumulator.type, start.real, partials.lanes)
            : IrBuilder::integer(accumulator.type, start.integer, partials.lanes);
    initial = ir_.insert(neutral, initial, 0);
  }
  ir_.emit(fmt::format("store {} {}, ptr {}", type_name(initial), initial.text, partials.pointer));
}

IrValue KernelCode::load_partials(const Partials& partials, const loop::Accumulator& accumulator) {
  return ir_.create(accumulator.type, partials.lanes,
                    fmt::format("load {}, ptr {}", type_name(accumulator.type, partials.lanes),
                                partials.pointer));
}

void KernelCode::execute(const loop::Update& update) {
  const loop::Accumulator& accumulator = kernel_[update.accumulator];
  const Partials& partials = partials_[update.accumulator.index];
  if (partials.lanes != lanes_) return update_scalar(partials, update);
  const IrValue sum = updated(update, load_partials(partials, accumulator));
  ir_.emit(fmt::format("store {} {}, ptr {}", type_name(sum), sum.text, partials.pointer));
}

// The new value of a partial.
IrValue KernelCode::updated(const loop::Update& update, const IrValue& partial) {
  const IrValue& by = values_[update.value.index];
  if (update.times.valid()) return multiply_add_code(ir_, by, values_[update.times.index], partial);
  return combine_code(ir_, kernel_[update.accumulator].combine, partial,
                      ir_.splat(by, partial.lanes));
}

// Scalar code: updates the partial of this iteration.
void KernelCode::update_scalar(const Partials& partials, const loop::Update& update) {
  const loop::Accumulator& accumulator = kernel_[update.accumulator];
  const IrValue all = load_partials(partials, accumulator);
  const IrValue lane =
      ir_.apply("and", DType::i64, iteration_, IrBuilder::integer(DType::i64, partials.lanes - 1));
  const IrValue old =
      ir_.create(accumulator.type, 1,
                 fmt::format("extractelement {} {}, i64 {}", type_name(all), all.text, lane.text));
  const IrValue sum = updated(update, old);
  const std::string made =
      ir_.create(fmt::format("insertelement {} {}, {} {}, i64 {}", type_name(all), all.text,
                             type_name(sum), sum.text, lane.text));
  ir_.emit(fmt::format("store {} {}, ptr {}", type_name(all), made, partials.pointer));
}

void KernelCode::execute(const loop::Loop& loop) {
  const std::int64_t extent = kernel_[loop.variable].extent;
  split_loop(loop, IrBuilder::integer(DType::i64, 0), IrBuilder::integer(DType::i64, extent),
             extent % loop.lanes != 0);
}

void KernelCode::execute(const loop::If& branch) {
  const std::string inside = ir_.fresh_label("then"), after = ir_.fresh_label("after");
  ir_.branch_if(values_[branch.condition.index], inside, after);
  ir_.begin_block(inside);
  block(branch.body);
  ir_.branch_to(after);
  ir_.begin_block(after);
}

// A vector loop, then a scalar epilogue.
void KernelCode::split_loop(const loop::Loop& loop, const IrValue& first, const IrValue& last,
                            bool needs_epilogue) {
  if (loop.lanes == 1 || !loop::is_vectorizable(loop.body)) return scalar_loop(loop, first, last);
  if (!needs_epilogue) return vector_loop(loop, first, last);
  const IrValue count = ir_.apply("sub", DType::i64, last, first);
  const IrValue whole =
      ir_.apply("and", DType::i64, count, IrBuilder::integer(DType::i64, -loop.lanes));
  const IrValue middle = ir_.apply("add", DType::i64, first, whole);
  vector_loop(loop, first, middle);
  scalar_loop(loop, middle, last);
}

// A counted loop; `body` gets the induction variable.
template <class Body>
void KernelCode::counted_loop(const IrValue& first, const IrValue& last, std::int64_t step,
                              Body body) {
  const std::string head = ir_.fresh_label("loop"), inside = ir_.fresh_label("body"),
                    next = ir_.fresh_label("next"), done = ir_.fresh_label("done");
  const IrValue i{"%i." + head, DType::i64, 1};
  const std::string before = ir_.block();
  ir_.branch_to(head);
  ir_.begin_block(head);
  ir_.emit(fmt::format("{} = phi i64 [ {}, %{} ], [ %n.{}, %{} ]", i.text, first.text, before, head,
                       next));
  ir_.branch_if(ir_.apply("icmp slt", DType::boolean, i, last), inside, done);
  ir_.begin_block(inside);
  body(i);
  ir_.branch_to(next);
  ir_.begin_block(next);
  ir_.emit(fmt::format("%n.{} = add nsw i64 {}, {}", head, i.text, step));
  ir_.branch_to(head);
  ir_.begin_block(done);
}

void KernelCode::vector_loop(const loop::Loop& loop, const IrValue& first, const IrValue& last) {
  counted_loop(first, last, loop.lanes, [&](const IrValue& i) {
    loops_[loop.variable.index] = i;
    lane_loop_ = loop.variable;
    lanes_ = loop.lanes;
    block(loop.body);
    lanes_ = 1;
    lane_loop_ = loop::LoopId();
  });
}

void KernelCode::scalar_loop(const loop::Loop& loop, const IrValue& first, const IrValue& last) {
  counted_loop(first, last, 1, [&](const IrValue& i) {
    loops_[loop.variable.index] = i;
    const IrValue outer = iteration_;
    if (loop.lanes > 1) iteration_ = i;
    block(loop.body);
    iteration_ = outer;
  });
}

IrValue KernelCode::code(const loop::Constant& constant, loop::ValueId value) {
  const DType type = kernel_[value].type;
  return is_floating(type) ? IrBuilder::real(type, constant.real)
                           : IrBuilder::integer(type, constant.integer);
}

IrValue KernelCode::code(const loop::IndexNumber& number, loop::ValueId) {
  return index(number.index);
}

IrValue KernelCode::code(const loop::Apply& apply, loop::ValueId value) {
  std::vector<IrValue> operands;
  for (const loop::ValueId operand : apply.operands) operands.push_back(values_[operand.index]);
  const bool divides = apply.op == loop::ScalarOp::quotient || apply.op == loop::ScalarOp::rem;
  if (divides && !is_floating(operands[1].type)) {
    const DType type = operands[1].type;
    const IrValue zero =
        ir_.apply("icmp eq", DType::boolean, operands[1], IrBuilder::integer(type, 0));
    report_fault(zero, "an integer is divided by zero");
    operands[1] = ir_.select(zero, IrBuilder::integer(type, 1), operands[1]);
  }
  return scalar_code(ir_, apply, kernel_[value].type, operands, {"%seed", DType::i64, 1});
}

IrValue KernelCode::code(const loop::Checked& checked, loop::ValueId value) {
  const IrValue& number = values_[checked.value.index];
  const IrValue bad =
      ir_.apply("icmp uge", DType::boolean, number, IrBuilder::integer(DType::i64, checked.below));
  report_fault(bad, fmt::format("an index is out of range for size {}", checked.below));
  ranges_.set(value, {0, checked.below - 1});
  return ir_.select(bad, IrBuilder::integer(DType::i64, 0), number);
}

IrValue KernelCode::code(const loop::ReadAccumulator& read, loop::ValueId) {
  const loop::Accumulator& accumulator = kernel_[read.accumulator];
  const Partials& partials = partials_[read.accumulator.index];
  IrValue all = load_partials(partials, accumulator);
  if (partials.lanes == lanes_) return all;
  while (all.lanes > 1)
    all = combine_code(ir_, accumulator.combine, half_of(ir_, all, 0), half_of(ir_, all, 1));
  return all;
}

void KernelCode::report_fault(const IrValue& bad, std::string message) {
  faults_.push_back(std::move(message));
  IrValue any = bad;
  if (bad.lanes > 1) {
    const std::string name = "@llvm.vector.reduce.or." + suffix(DType::boolean, bad.lanes);
    ir_.declare(fmt::format("i1 {}({})", name, type_name(bad)));
    any = ir_.create(DType::boolean, 1,
                     fmt::format("call i1 {}({} {})", name, type_name(bad), bad.text));
  }
  const std::string inside = ir_.fresh_label("fault"), after = ir_.fresh_label("after");
  ir_.branch_if(any, inside, after);
  ir_.begin_block(inside);
  ir_.emit(fmt::format("store atomic i64 {}, ptr %fault monotonic, align 8", faults_.size()));
  ir_.branch_to(after);
  ir_.begin_block(after);
}

}  // namespace recut::llvm_ir
