// Statements as C++, one line each. Threads of a group run straight code alike and all have its
// values in registers; only the first one stores, and barriers go where another thread's store is
// read (barriers.h). An accumulator is a register for each thread's partial, and reading it is a
// call of the reduction for the group's size (device/reductions.cuh). Special bodies are in the
// other *_code.cpp.
#include "engine/codegen/cuda/kernel_code.h"

#include <fmt/format.h>

#include "engine/codegen/cuda/index_code.h"
#include "engine/codegen/cuda/scalar_code.h"

namespace recut::cuda {
namespace {

// Unrolling lets an ordered sum have several loads in flight, instead of waiting for each.
constexpr int kKernelCodeUnrolled = 16;
constexpr std::size_t kKernelCodeShortBody = 12;

bool is_long_sum(const loop::Kernel& kernel, const loop::Loop& loop) {
  bool grows = false;
  for (const loop::Statement& statement : loop.body) {
    const bool update = std::holds_alternative<loop::Update>(statement.value);
    if (!update && !std::holds_alternative<loop::Define>(statement.value)) return false;
    grows |= update;
  }
  return grows && loop.body.size() <= kKernelCodeShortBody &&
         kernel[loop.variable].extent >= 4 * kKernelCodeUnrolled;
}

}  // namespace

KernelCode::KernelCode(const loop::Kernel& kernel, const Mapping& mapping,
                       const loop::Ranges& ranges, Context context)
    : kernel_(kernel),
      mapping_(mapping),
      ranges_(ranges),
      context_(context),
      names_(kernel),
      barriers_(kernel, mapping) {
  for (std::size_t i = 0; i < kernel.loops.size(); ++i)
    loops_.push_back(names_.of(loop::LoopId(i)));
  for (std::size_t i = 0; i < kernel.values.size(); ++i)
    values_.push_back(names_.of(loop::ValueId(i)));
}

void KernelCode::block(const loop::Block& block) {
  for (const loop::Statement& one : block) statement(one);
}

void KernelCode::statement(const loop::Statement& statement) {
  const std::uint32_t around = text_.set_location(statement.location);
  const auto* loop = std::get_if<loop::Loop>(&statement.value);
  const bool whole = !std::holds_alternative<loop::If>(statement.value) &&
                     (loop == nullptr || mapping_.worksharing.contains(loop));
  if (replicated() && whole && barriers_.pass(barriers_.uses_of(statement))) wait();
  std::visit([&](const auto& one) { execute(one); }, statement.value);
  text_.set_location(around);
}

void KernelCode::execute(const loop::Define& define) {
  if (const auto* constant = std::get_if<loop::Constant>(&define.expression)) {
    values_[define.value.index] = code(*constant, define.value);
    return;
  }
  const std::string expression =
      std::visit([&](const auto& one) { return code(one, define.value); }, define.expression);
  text_.line(fmt::format("const {} {} = {};", value_type_name(kernel_[define.value].type),
                         value(define.value), expression));
}

void KernelCode::execute(const loop::Store& store) {
  const loop::Buffer& buffer = kernel_[store.buffer];
  if (buffer.elements == 0) return;
  const std::string first = !storer_.empty() ? fmt::format("if ({}) ", storer_)
                            : replicated()   ? "if (thread == 0) "
                                             : "";
  if (const auto replacement = replaced_.find(&store); replacement != replaced_.end()) {
    text_.line(fmt::format("{} = {};", replacement->second,
                           memory_of_value(buffer.dtype, value(store.value), context_.helpers)));
    return;
  }
  if (store.combine) {
    text_.line(first + combined_store(store));
    return;
  }
  text_.line(fmt::format("{}{} = {};", first, element(store.buffer, store.at),
                         memory_of_value(buffer.dtype, value(store.value), context_.helpers)));
}

void KernelCode::execute(const loop::Declare& declare) {
  const loop::Accumulator& accumulator = kernel_[declare.accumulator];
  const std::string name = names_.of(declare.accumulator), &initial = value(declare.initial);
  const std::string type = value_type_name(accumulator.type);
  if (accumulator.lanes == 1) {
    text_.line(fmt::format("{} {} = {};", type, name, initial));
    return;
  }
  const std::string neutral =
      literal(accumulator.type, loop::neutral(accumulator.combine, accumulator.type));
  if (replicated()) {
    const bool some = mapping_.partials > 1;
    std::string first = fmt::format("thread == 0 ? {} : {}", initial, neutral);
    for (int p = 1; p < mapping_.partials; ++p) first += ", " + neutral;
    text_.line(some ? fmt::format("{} {}[{}] = {{{}}};", type, name, mapping_.partials, first)
                    : fmt::format("{} {} = {};", type, name, first));
    return;
  }
  text_.line(fmt::format("{} {}[{}];", type, name, accumulator.lanes));
  text_.line(fmt::format("for (int lane = 0; lane < {}; ++lane) {}[lane] = lane == 0 ? {} : {};",
                         accumulator.lanes, name, initial, neutral));
}

void KernelCode::execute(const loop::Update& update) {
  const std::string times = update.times.valid() ? value(update.times) : "";
  const auto slot = summands_.find(&update);
  if (slot == summands_.end()) return accumulate(update, value(update.value), times);
  text_.line(fmt::format("{} = {};", slot->second.front(), value(update.value)));
  if (update.times.valid()) text_.line(fmt::format("{} = {};", slot->second.back(), times));
}

void KernelCode::accumulate(const loop::Update& update, const std::string& value,
                            const std::string& times) {
  const loop::Accumulator& accumulator = kernel_[update.accumulator];
  std::string partial = names_.of(update.accumulator);
  if (accumulator.lanes > 1 && mapping_.group == 1)
    partial += fmt::format("[{} % {}]", iteration_, accumulator.lanes);
  else if (accumulator.lanes > 1 && mapping_.partials > 1)
    partial += "[lane]";
  const std::string made =
      update.times.valid()
          ? multiply_add_code(accumulator.type, value, times, partial, context_.helpers)
          : combine_code(accumulator.combine, accumulator.type, partial, value, context_.helpers);
  text_.line(fmt::format("{} = {};", partial, made));
}

void KernelCode::execute(const loop::Loop& loop) {
  if (const auto shared = mapping_.worksharing.find(&loop);
      replicated() && shared != mapping_.worksharing.end())
    return worksharing_loop(shared->second);
  if (const auto sum = mapping_.sum_tile.sums.find(&loop); sum != mapping_.sum_tile.sums.end())
    return sum_in_order(sum->second);
  const std::int64_t extent = kernel_[loop.variable].extent;
  const Barriers::Uses before = barriers_.since();
  if (replicated() && extent > 1) barriers_.add(barriers_.uses_of(loop.body));
  const std::string around = iteration_;
  const std::string& i = variable(loop.variable);
  if (loop.lanes > 1) iteration_ = i;
  if (!replicated() && is_long_sum(kernel_, loop))
    text_.line(fmt::format("#pragma unroll {}", kKernelCodeUnrolled));
  text_.open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", int_type_name(extent), i, extent));
  block(loop.body);
  text_.close();
  iteration_ = around;
  if (replicated() && extent == 0) barriers_.add(before);
}

void KernelCode::execute(const loop::If& branch) {
  const Barriers::Uses before = barriers_.since();
  text_.open(fmt::format("if ({})", value(branch.condition)));
  block(branch.body);
  text_.close();
  if (replicated()) barriers_.add(before);
}

std::string KernelCode::code(const loop::Constant& constant, loop::ValueId value) {
  return literal(kernel_[value].type, constant);
}

std::string KernelCode::code(const loop::IndexNumber& number, loop::ValueId) {
  return index(number.index);
}

std::string KernelCode::code(const loop::Load& load, loop::ValueId result) {
  const loop::Buffer& buffer = kernel_[load.buffer];
  const std::string zero = literal(kernel_[result].type, {});
  if (buffer.elements == 0) return zero;
  const auto replacement = replaced_.find(&load);
  const std::string found = value_of_memory(
      buffer.dtype,
      replacement != replaced_.end() ? replacement->second : element(load.buffer, load.at),
      context_.helpers);
  return load.where.valid() ? fmt::format("{} ? {} : {}", value(load.where), found, zero) : found;
}

std::string KernelCode::code(const loop::Apply& apply, loop::ValueId result) {
  std::vector<std::string> operands;
  for (const loop::ValueId operand : apply.operands) operands.push_back(value(operand));
  const DType type =
      apply.operands.empty() ? kernel_[result].type : kernel_[apply.operands.back()].type;
  const bool divides = apply.op == loop::ScalarOp::quotient || apply.op == loop::ScalarOp::rem;
  if (divides && !is_floating(type)) {
    context_.faults.emplace_back("an integer is divided by zero");
    operands[1] = fmt::format("{}({}, {}, fault)", context_.helpers.use("divisor"), operands[1],
                              context_.faults.size());
  }
  return scalar_code(apply, type, kernel_[result].type, operands, context_.helpers);
}

std::string KernelCode::code(const loop::Checked& checked, loop::ValueId) {
  context_.faults.push_back(fmt::format("an index is out of range for size {}", checked.below));
  return fmt::format("{}({}, {}, {}, fault)", context_.helpers.use("checked"), value(checked.value),
                     checked.below, context_.faults.size());
}

std::string KernelCode::code(const loop::ReadAccumulator& read, loop::ValueId) {
  const loop::Accumulator& accumulator = kernel_[read.accumulator];
  const std::string& name = names_.of(read.accumulator);
  if (accumulator.lanes == 1) return name;
  const std::string how = combining(accumulator);
  const std::int64_t threads = accumulator.lanes / mapping_.partials;
  if (mapping_.group == 1)
    return fmt::format("{}({}, {})", context_.helpers.use("reduce_in_thread"), name, how);
  if (mapping_.in_warp())
    return fmt::format("{}<{}, {}>({}, {}, {})", context_.helpers.use("warp_reduce"), threads,
                       mapping_.group, name, mask(), how);
  barriers_.clear();
  const std::string shared =
      shared_pointer(value_type_name(accumulator.type), mapping_.scratch_bytes);
  if (mapping_.cooperative)
    return fmt::format("{}<{}, {}, {}>({}, {}, cooperative, {})",
                       context_.helpers.use("cooperative_reduce"), mapping_.cluster,
                       mapping_.threads / mapping_.interleaved, mapping_.interleaved, name, shared,
                       how);
  if (mapping_.interleaved > 1)
    return fmt::format("{}<{}, {}, {}>({}, {}, {})", context_.helpers.use("interleaved_reduce"),
                       mapping_.cluster, mapping_.threads / mapping_.interleaved,
                       mapping_.interleaved, name, shared, how);
  if (mapping_.cluster > 1)
    return fmt::format("{}<{}, {}>({}, {}, {})", context_.helpers.use("cluster_reduce"),
                       mapping_.cluster, mapping_.threads, name, shared, how);
  return fmt::format("{}<{}>({}, {}, {})", context_.helpers.use("block_reduce"), threads, name,
                     shared, how);
}

std::string KernelCode::combining(const loop::Accumulator& accumulator) {
  const std::string type = value_type_name(accumulator.type);
  return fmt::format(
      "[]({0} so_far, {0} next) {{ return {1}; }}", type,
      combine_code(accumulator.combine, accumulator.type, "so_far", "next", context_.helpers));
}

}  // namespace recut::cuda
