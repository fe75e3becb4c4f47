// Code generation for one function: the statements of a kernel's stage.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/ranges.h"
#include "engine/codegen/wasm/arithmetic_code.h"
#include "engine/codegen/wasm/scalar_code.h"
#include "engine/codegen/wasm/storage_code.h"

namespace recut::wasm {

// A stage's parameters, in their order.
enum Parameter : Local { kBuffers, kFirst, kLast, kSeed, kFault, kScratch, kParameters };

// The largest and smallest number of iterations that run as vectors: two or one v128 of f32.
inline constexpr std::int64_t kWidest = 8, kNarrowest = 4;

class KernelCode {
 public:
  // Appends the messages of runtime errors to `faults`.
  KernelCode(const loop::Kernel& kernel, Writer& writer, const Host& host,
             std::vector<std::string>& faults);

  // Statements in order.
  void block(const loop::Block& block);
  // The loop's iterations from the stage's `first` to its `last`.
  void part(const loop::Loop& loop);

  // Bytes of scratch that the function uses.
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  // The partials of an accumulator: in locals, or in scratch.
  struct Partials {
    std::int64_t lanes = 1;
    Code held;                         // in locals
    std::optional<std::int64_t> room;  // in scratch
    bool in_memory = false;            // the current location
  };
  // An open loop, and its strength-reduced sums: each is set in front of the loop and increased by
  // a constant in every iteration.
  struct Counting {
    Local number = 0;
    Code first;
    std::int64_t step = 1;
    std::size_t level = 0;  // of its body
    std::vector<std::pair<Local, std::int64_t>> sums;
  };
  // The offset of an unrolled copy of a loop's body from the induction variable, in iterations.
  struct Ahead {
    loop::LoopId variable;
    std::int64_t by = 0;
  };
  // The neighbouring iterations that run as a vector, from the loop's variable on.
  struct LaneLoop {
    loop::LoopId variable;
    std::int64_t width = 1;  // how many
    Code partial;            // the partial of the first lane, as i32
  };

  void execute(const loop::Define& define);
  void execute(const loop::Store& store);
  void execute(const loop::Declare& declare);
  void execute(const loop::Update& update);
  void execute(const loop::Loop& loop);
  void execute(const loop::If& branch);

  Code code(const loop::Constant& constant, loop::ValueId value);
  Code code(const loop::IndexNumber& number, loop::ValueId value);
  Code code(const loop::Load& load, loop::ValueId value);
  Code code(const loop::Apply& apply, loop::ValueId value);
  Code code(const loop::Checked& checked, loop::ValueId value);
  Code code(const loop::ReadAccumulator& read, loop::ValueId value);

  // Loops, between bounds of i32.
  void range(const loop::Loop& loop, const Code& first, const Code& last);
  void in_lanes(const loop::Loop& loop, const Code& first, const Code& last);
  void left_over(const loop::Loop& loop, std::int64_t first, std::int64_t last);
  void one_by_one(const loop::Loop& loop, const Code& first, const Code& last);
  void unrolled(const loop::Loop& loop, const Code& first, const Code& last);
  template <class Body>
  void counted(const Code& first, const Code& last, std::int64_t step, Body body);
  void at_once(const loop::Loop& loop, std::int64_t width, const Code& first, const Code& partial);
  Code sum(const Code& a, const Code& b);

  // Indices: in i32, whose arithmetic wraps around like that of addresses, or in i64.
  Code index(const loop::Index& index);
  Code whole_index(const loop::Index& index);
  Code index_in_lanes(const loop::Index& index);
  Code narrow_index(const loop::Index& index);
  Code in_steps(const loop::Index& index, DType type);
  void push_steps(std::int64_t step, std::size_t piece, bool wide);
  Local sum_of(std::optional<loop::BufferId> buffer, const loop::Index& at, std::size_t level);
  Local scaled(const loop::Term& term, std::int64_t bytes, std::size_t level);
  void push_outside(std::optional<loop::BufferId> buffer, const loop::Index& outside,
                    std::int64_t constant);
  Counting* counting_of(const loop::Index& index, std::size_t level);
  void grow(Local sum, std::int64_t by);
  void push_end_of(const Counting& counting, std::int64_t last);
  template <class Push>
  Local sum_along(Counting& counting, std::int64_t factor, Push push_first);
  void push_atom(const loop::Atom& atom);
  void push_quotient(const loop::Atom& atom);
  void push_wide(const loop::Index& index);
  void push_wide(const loop::Atom& atom);
  std::size_t level_of(const loop::Atom& atom) const;
  std::size_t level_of(const loop::Index& index) const;
  bool fits_i32(const loop::Index& index) const;
  bool varies(const loop::Atom& atom) const;
  bool varies(const loop::Index& index) const;
  std::optional<std::int64_t> step_in_block(const loop::Atom& atom) const;
  bool is_lane(const loop::Atom& atom) const;
  std::optional<std::int64_t> step_of_lanes(const loop::Index& index) const;

  // Loads and stores.
  bool fills(const loop::Loop& loop) const;
  void fill(const loop::Loop& loop, const Code& first, const Code& last);
  Local begin_of(loop::BufferId id);
  Address address(loop::BufferId buffer, const loop::Index& at);
  Address plain_address(loop::BufferId buffer, const loop::Index& at);
  bool is_neighbours(const loop::Index& at) const;
  template <class Body>
  void for_one_lane(std::int64_t lane, Body body);
  Code load_where(const loop::Load& load, DType type);
  Code lanes_where(const loop::Load& load, DType type);
  void push_all(const Code& where);
  Code load_apart(const loop::Load& load, DType type);
  Code load_safely(const loop::Load& load, const Code& where);

  // Accumulators.
  void hold(const Code& held, const Code& value);
  Address room_of(loop::AccumulatorId id, const Code& lane);
  bool stays_in_memory(loop::AccumulatorId id) const;
  void move(const std::vector<loop::AccumulatorId>& all, bool to_memory);
  std::vector<loop::AccumulatorId> updated_partials(const loop::Loop& loop) const;
  void update_held(const loop::Update& update, const Code& held);
  Code updated(const loop::Update& update, const Code& partial, std::int64_t first);
  Code combined(const loop::Accumulator& accumulator, std::vector<Code> parts);

  std::int64_t reserve(std::int64_t bytes);
  void tell(const Code& bad, std::string message);

  const loop::Kernel& kernel_;
  Writer& w_;
  const Host& host_;
  std::vector<std::string>& faults_;
  loop::Ranges ranges_;
  std::vector<Code> loops_, values_;
  const std::vector<bool> narrow_;  // by value: i64 that is i32 here (narrow_numbers.h)
  std::vector<std::optional<std::int64_t>> rooms_;  // of scratch buffers, by buffer
  std::vector<Partials> partials_;                  // by accumulator
  std::optional<LaneLoop> lane_;
  std::optional<std::int64_t> one_lane_;  // of lane_, while lanes are processed one by one
  std::optional<Ahead> ahead_;
  std::vector<Counting> countings_;  // from the outermost loop on
  Code iteration_;                   // of the innermost loop with lanes, in scalar code
  std::int64_t scratch_bytes_ = 0;
};

template <class Body>
void KernelCode::for_one_lane(std::int64_t lane, Body body) {
  w_.open();
  one_lane_ = lane;
  body();
  one_lane_.reset();
  w_.append(w_.close());
}

}  // namespace recut::wasm
