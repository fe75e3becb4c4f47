// A stack of open blocks; close() moves the finished block into the statement that opened it.
//
// define() is value numbering over the open blocks: an expression is keyed by its operator, type
// and operands (loop/expression_key.h).
//   %3 = add %1, %2;  %4 = add %1, %2    =>    one %3, used twice
// An earlier value is reused only while its block is open, so every use is dominated by its
// definition. Loads from buffers that the kernel writes are not steady, and never merged. Each
// definition costs one map lookup.
#include "engine/codegen/lower/builder.h"

#include <utility>

#include "engine/support/check.h"

namespace recut::loop {

BufferId Builder::add_buffer(Buffer buffer) {
  kernel_.buffers.push_back(std::move(buffer));
  return BufferId(kernel_.buffers.size() - 1);
}

Index Builder::open_loop(const std::string& name, std::int64_t extent, Order order,
                         std::int64_t lanes) {
  if (extent != 1) return open_any_loop(name, extent, order, lanes);
  open_.emplace_back();
  open_.back().skipped = true;
  return 0;
}

Index Builder::open_any_loop(const std::string& name, std::int64_t extent, Order order,
                             std::int64_t lanes) {
  open_.emplace_back();
  const LoopId id(kernel_.loops.size());
  kernel_.loops.push_back({name, extent});
  ranges_.set(id, extent);
  open_.back().opener = {Loop{id, order == Order::parallel, lanes, {}}, location_};
  return id;
}

void Builder::open_if(ValueId condition) {
  open_.emplace_back();
  open_.back().opener = {If{condition, {}}, location_};
}

void Builder::close() {
  RECUT_CHECK(open_.size() > 1, "a block is open");
  Open done = std::move(open_.back());
  open_.pop_back();
  if (done.skipped) {
    for (Statement& statement : done.block) block().push_back(std::move(statement));
    auto& defined = open_.back().defined;
    defined.insert(defined.end(), done.defined.begin(), done.defined.end());
    return;
  }
  for (const ValueId id : done.defined) visible_[id.index] = false;
  if (auto* loop = std::get_if<Loop>(&done.opener.value)) loop->body = std::move(done.block);
  if (auto* branch = std::get_if<If>(&done.opener.value)) branch->body = std::move(done.block);
  block().push_back(std::move(done.opener));
}

void Builder::close_to(std::size_t depth) {
  while (open_.size() > depth) close();
}

ValueId Builder::constant(DType type, double real) {
  if (type == DType::f32) real = static_cast<float>(real);
  return define(type, Constant{real, 0});
}

ValueId Builder::constant(DType type, std::int64_t integer) {
  if (is_floating(type)) return constant(type, static_cast<double>(integer));
  if (type == DType::i32) integer = static_cast<std::int32_t>(integer);
  if (type == DType::boolean) integer = integer != 0 ? 1 : 0;
  return define(type, Constant{0, integer});
}

ValueId Builder::number(const Index& index) {
  const Index at = simple(index);
  if (at.is_constant()) return constant(DType::i64, at.constant);
  const bool is_value = at.constant == 0 && at.terms.size() == 1 && at.terms[0].factor == 1 &&
                        at.terms[0].atom.kind == AtomKind::value;
  if (is_value) return ValueId(at.terms[0].atom.id);
  const ValueId id = define(DType::i64, IndexNumber{at});
  if (const auto range = ranges_.of(at)) ranges_.set(id, *range);
  return id;
}

ValueId Builder::load(BufferId buffer, const Index& at, ValueId where) {
  const Index position = simple(at);
  count_divisions(position);
  const DType dtype = kernel_[buffer].dtype;
  const ValueId id = define(value_type(dtype), Load{buffer, position, where});
  stored_[id] = dtype;
  return id;
}

ValueId Builder::apply(ScalarOp op, std::vector<ValueId> operands, DType type) {
  return define(type, Apply{op, std::move(operands), DType::none});
}

ValueId Builder::convert(ValueId value, DType type) {
  if (this->type(value) == type) return value;
  return apply(ScalarOp::convert, {value}, type);
}

ValueId Builder::narrow(ValueId value, DType stored) {
  if (const auto known = stored_.find(value); known != stored_.end() && known->second == stored)
    return value;
  const ValueId id = define(type(value), Apply{ScalarOp::narrow, {value}, stored});
  stored_[id] = stored;
  return id;
}

ValueId Builder::check(ValueId value, std::int64_t below) {
  const ValueId id = define(DType::i64, Checked{value, below});
  ranges_.set(id, {0, below - 1});
  return id;
}

void Builder::store(BufferId buffer, const Index& at, ValueId value) {
  const Index position = simple(at);
  count_divisions(position);
  block().push_back({Store{buffer, position, value, {}}, location_});
}

void Builder::combine_into(BufferId buffer, const Index& at, Combine how, ValueId value) {
  block().push_back({Store{buffer, simple(at), value, how}, location_});
}

AccumulatorId Builder::accumulator(const std::string& name, Combine how, ValueId initial,
                                   std::int64_t lanes) {
  const AccumulatorId id(kernel_.accumulators.size());
  kernel_.accumulators.push_back({name, type(initial), how, lanes});
  block().push_back({Declare{id, initial}, location_});
  return id;
}

void Builder::update(AccumulatorId accumulator, ValueId value) {
  block().push_back({Update{accumulator, value, {}}, location_});
}

void Builder::update_product(AccumulatorId accumulator, ValueId a, ValueId b) {
  block().push_back({Update{accumulator, a, b}, location_});
}

ValueId Builder::read(AccumulatorId accumulator) {
  return define(kernel_[accumulator].type, ReadAccumulator{accumulator});
}

void Builder::name(ValueId id, const std::string& name) {
  std::string& own = kernel_.values[id.index].name;
  if (own.empty()) own = name;
}

Kernel Builder::take() {
  RECUT_CHECK(open_.size() == 1, "all blocks are closed");
  kernel_.body = std::move(open_.back().block);
  return std::move(kernel_);
}

ValueId Builder::define(DType type, Expression expression) {
  const ExpressionKey key = key_of(type, expression);
  const auto known = known_.find(key);
  if (is_pure(kernel_, expression) && known != known_.end() && visible_[known->second.index])
    return known->second;
  const ValueId id(kernel_.values.size());
  kernel_.values.push_back({"", type});
  visible_.push_back(true);
  block().push_back({Define{id, std::move(expression)}, location_});
  open_.back().defined.push_back(id);
  known_[key] = id;
  return id;
}

void Builder::count_divisions(const Index& index) {
  for_each_atom(index, [&](const Atom& atom) { divisions_ += atom.of != nullptr ? 1 : 0; });
}

}  // namespace recut::loop
