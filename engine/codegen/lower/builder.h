// Builds a kernel: statements go to the innermost open block, an expression that has a name already
// is not computed again, and indices are simplified by what is known of loops.
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

  // A loop and its variable. Loops that run once are none: their variable is 0.
  enum class Order : std::uint8_t { serial, parallel };
  Index open_loop(const std::string& name, std::int64_t extent, Order order = Order::serial,
                  std::int64_t lanes = 1);
  // The same, a loop even where it runs once: scratch belongs to iterations.
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
  ValueId convert(ValueId value, DType type);   // itself where that is its type
  ValueId narrow(ValueId value, DType stored);  // itself where it was loaded or narrowed so
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

  // Statements are from this note until it is another one's turn. Gives the one before.
  std::uint32_t begin_note(std::uint32_t note) { return std::exchange(note_, note); }

  DType type(ValueId id) const { return kernel_[id].type; }
  // Gives a value its name in the text, where it has none yet.
  void name(ValueId id, const std::string& name);
  // Whether a value's block is still open.
  bool visible(ValueId id) const { return visible_[id.index]; }
  // How many quotients and remainders stand in the indices of loads and stores.
  int divisions() const { return divisions_; }

  Kernel& kernel() { return kernel_; }
  Kernel take();  // all blocks are closed

 private:
  struct Open {
    Block block;
    Statement opener;  // the loop or branch, whose body the block becomes
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
  std::map<ValueId, DType> stored_;  // values that are as memory of a dtype has them
  int divisions_ = 0;
  std::uint32_t note_ = kNoNote;
};

}  // namespace recut::loop
