// Builds a kernel in loop form, as LLVM's IRBuilder builds instructions. Statements go to the
// innermost open block. An expression whose value is visible is not computed again (local CSE), and
// indices are simplified by the ranges of loop variables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/codegen/loop/expression_key.h"
#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/ranges.h"
#include "engine/codegen/loop/simplify.h"

namespace recut::loop {

class Builder {
 public:
  Builder() : open_(1) {}

  BufferId add_buffer(Buffer buffer);
  void set_access(BufferId id, Access access) { kernel_.buffers[id.index].access = access; }

  // Opens a loop and gives its variable. A loop of one iteration is dropped: its variable is 0.
  enum class Order : std::uint8_t { serial, parallel };
  Index open_loop(const std::string& name, std::int64_t extent, Order order = Order::serial,
                  std::int64_t lanes = 1);
  // Opens a loop even for one iteration: scratch buffers belong to an iteration.
  Index open_any_loop(const std::string& name, std::int64_t extent, Order order,
                      std::int64_t lanes = 1);
  void open_if(ValueId condition);
  void close();  // the loop or branch opened last
  std::size_t depth() const { return open_.size(); }
  void close_to(std::size_t depth);

  ValueId constant(DType type, double real);
  ValueId constant(DType type, std::int64_t integer);
  ValueId number(const Index& index);  // as an i64
  ValueId load(BufferId buffer, const Index& at, ValueId where = {});
  ValueId apply(ScalarOp op, std::vector<ValueId> operands, DType type);
  ValueId convert(ValueId value, DType type);   // no-op for its own type
  ValueId narrow(ValueId value, DType stored);  // no-op where it was loaded or narrowed so
  ValueId check(ValueId value, std::int64_t below);
  void store(BufferId buffer, const Index& at, ValueId value);
  void combine_into(BufferId buffer, const Index& at, Combine how, ValueId value);

  AccumulatorId accumulator(const std::string& name, Combine how, ValueId initial,
                            std::int64_t lanes);
  void update(AccumulatorId accumulator, ValueId value);
  void update_product(AccumulatorId accumulator, ValueId a, ValueId b);
  ValueId read(AccumulatorId accumulator);

  Index quotient(const Index& of, std::int64_t by) const { return divide(of, by, ranges_); }
  Index remainder(const Index& of, std::int64_t by) const { return modulo(of, by, ranges_); }
  Index simple(const Index& index) const { return simplify(index, ranges_); }

  // Sets the source location of the following statements, and returns the previous one.
  std::uint32_t set_location(std::uint32_t location) { return std::exchange(location_, location); }

  DType type(ValueId id) const { return kernel_[id].type; }
  // Names a value in the printed text, unless it has a name.
  void name(ValueId id, const std::string& name);
  // True while the block that defines the value is open: SSA dominance.
  bool visible(ValueId id) const { return visible_[id.index]; }
  // The number of quotients and remainders in the indices of loads and stores so far.
  int divisions() const { return divisions_; }

  Kernel& kernel() { return kernel_; }
  Kernel take();  // all blocks are closed

 private:
  struct Open {
    Block block;
    Statement opener;  // the loop or branch that owns the block
    std::vector<ValueId> defined;
    bool skipped = false;  // a loop that runs once
  };
  ValueId define(DType type, Expression expression);
  Block& block() { return open_.back().block; }
  void count_divisions(const Index& index);

  Kernel kernel_;
  Ranges ranges_;
  std::vector<Open> open_;
  std::map<ExpressionKey, ValueId> known_;
  std::vector<bool> visible_;
  std::map<ValueId, DType> stored_;  // values already rounded to a storage dtype
  int divisions_ = 0;
  std::uint32_t location_ = kUnknownLocation;
};

}  // namespace recut::loop
