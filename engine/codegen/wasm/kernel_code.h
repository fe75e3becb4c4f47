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
inline constexpr std::int64_t kMaxWidth = 8, kMinWidth = 4;

class KernelCode {
 public:
  // Appends the messages of runtime errors to `faults`.
  KernelCode(const loop::Kernel& kernel, FunctionBuilder& builder, const Host& host,
             std::vector<std::string>& faults);

  // Statements in order.
  void block(const loop::Block& block);
  // The loop's iterations from the stage's `first` to its `last`.
  void partial_loop(const loop::Loop& loop);

  // Bytes of scratch that the function uses.
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  // The partials of an accumulator: in locals, or in scratch.
  struct Partials {
    std::int64_t lanes = 1;
    WasmValue held;                              // in locals
    std::optional<std::int64_t> scratch_offset;  // in scratch
    bool in_memory = false;                      // the current location
  };
  // An open loop, and its strength-reduced sums: each is set in front of the loop and increased by
  // a constant in every iteration.
  struct InductionLoop {
    Local number = 0;
    WasmValue first;
    std::int64_t step = 1;
    std::size_t level = 0;  // of its body
    std::vector<std::pair<Local, std::int64_t>> sums;
  };
  // The offset of an unrolled copy of a loop's body from the induction variable, in iterations.
  struct UnrollOffset {
    loop::LoopId variable;
    std::int64_t by = 0;
  };
  // The neighbouring iterations that run as a vector, from the loop's variable on.
  struct LaneLoop {
    loop::LoopId variable;
    std::int64_t width = 1;  // how many
    WasmValue partial;       // the partial of the first lane, as i32
  };

  void execute(const loop::Define& define);
  void execute(const loop::Store& store);
  void execute(const loop::Declare& declare);
  void execute(const loop::Update& update);
  void execute(const loop::Loop& loop);
  void execute(const loop::If& branch);

  WasmValue code(const loop::Constant& constant, loop::ValueId value);
  WasmValue code(const loop::IndexNumber& number, loop::ValueId value);
  WasmValue code(const loop::Load& load, loop::ValueId value);
  WasmValue code(const loop::Apply& apply, loop::ValueId value);
  WasmValue code(const loop::Checked& checked, loop::ValueId value);
  WasmValue code(const loop::ReadAccumulator& read, loop::ValueId value);

  // Loops, between bounds of i32.
  void split_loop(const loop::Loop& loop, const WasmValue& first, const WasmValue& last);
  void vector_loop(const loop::Loop& loop, const WasmValue& first, const WasmValue& last);
  void epilogue_loop(const loop::Loop& loop, std::int64_t first, std::int64_t last);
  void scalar_loop(const loop::Loop& loop, const WasmValue& first, const WasmValue& last);
  void unrolled_loop(const loop::Loop& loop, const WasmValue& first, const WasmValue& last);
  template <class Body>
  void counted_loop(const WasmValue& first, const WasmValue& last, std::int64_t step, Body body);
  void vector_body(const loop::Loop& loop, std::int64_t width, const WasmValue& first,
                   const WasmValue& partial);
  WasmValue sum(const WasmValue& a, const WasmValue& b);

  // Indices: in i32, whose arithmetic wraps around like that of addresses, or in i64.
  WasmValue index(const loop::Index& index);
  WasmValue whole_index(const loop::Index& index);
  WasmValue index_in_lanes(const loop::Index& index);
  WasmValue narrow_index(const loop::Index& index);
  WasmValue in_steps(const loop::Index& index, DType type);
  void push_steps(std::int64_t step, std::size_t piece, bool wide);
  Local sum_of(std::optional<loop::BufferId> buffer, const loop::Index& at, std::size_t level);
  Local scaled(const loop::Term& term, std::int64_t bytes, std::size_t level);
  void push_outside(std::optional<loop::BufferId> buffer, const loop::Index& outside,
                    std::int64_t constant);
  InductionLoop* induction_of(const loop::Index& index, std::size_t level);
  void increment(Local sum, std::int64_t by);
  void push_end_of(const InductionLoop& induction, std::int64_t last);
  template <class Push>
  Local strength_reduced_sum(InductionLoop& induction, std::int64_t factor, Push push_first);
  void push_atom(const loop::Atom& atom);
  void push_quotient(const loop::Atom& atom);
  void push_wide(const loop::Index& index);
  void push_wide(const loop::Atom& atom);
  std::size_t level_of(const loop::Atom& atom) const;
  std::size_t level_of(const loop::Index& index) const;
  bool fits_i32(const loop::Index& index) const;
  bool varies(const loop::Atom& atom) const;
  bool varies(const loop::Index& index) const;
  std::optional<std::int64_t> step_within_divisor(const loop::Atom& atom) const;
  bool is_lane(const loop::Atom& atom) const;
  std::optional<std::int64_t> step_of_lanes(const loop::Index& index) const;

  // Loads and stores.
  bool is_fill(const loop::Loop& loop) const;
  void fill(const loop::Loop& loop, const WasmValue& first, const WasmValue& last);
  Local base_of(loop::BufferId id);
  Address address(loop::BufferId buffer, const loop::Index& at);
  Address plain_address(loop::BufferId buffer, const loop::Index& at);
  bool is_contiguous(const loop::Index& at) const;
  template <class Body>
  void for_one_lane(std::int64_t lane, Body body);
  WasmValue load_masked(const loop::Load& load, DType type);
  WasmValue load_masked_lanes(const loop::Load& load, DType type);
  void push_all_true(const WasmValue& where);
  WasmValue gather(const loop::Load& load, DType type);
  WasmValue load_masked_scalar(const loop::Load& load, const WasmValue& where);

  // Accumulators.
  void hold(const WasmValue& held, const WasmValue& value);
  Address partial_address(loop::AccumulatorId id, const WasmValue& lane);
  bool stays_in_memory(loop::AccumulatorId id) const;
  void spill_or_reload(const std::vector<loop::AccumulatorId>& all, bool to_memory);
  std::vector<loop::AccumulatorId> updated_partials(const loop::Loop& loop) const;
  void update_held(const loop::Update& update, const WasmValue& held);
  WasmValue updated(const loop::Update& update, const WasmValue& partial, std::int64_t first);
  WasmValue combined(const loop::Accumulator& accumulator, std::vector<WasmValue> parts);

  std::int64_t reserve(std::int64_t bytes);
  void report_fault(const WasmValue& bad, std::string message);

  const loop::Kernel& kernel_;
  FunctionBuilder& fn_;
  const Host& host_;
  std::vector<std::string>& faults_;
  loop::Ranges ranges_;
  std::vector<WasmValue> loops_, values_;
  const std::vector<bool> narrow_;  // by value: i64 that is i32 here (index_narrowing.h)
  std::vector<std::optional<std::int64_t>> scratch_offsets_;  // of scratch buffers, by buffer
  std::vector<Partials> partials_;                            // by accumulator
  std::optional<LaneLoop> lane_;
  std::optional<std::int64_t> one_lane_;  // of lane_, while lanes are processed one by one
  std::optional<UnrollOffset> unroll_offset_;
  std::vector<InductionLoop> inductions_;  // from the outermost loop on
  WasmValue iteration_;                    // of the innermost loop with lanes, in scalar code
  std::int64_t scratch_bytes_ = 0;
};

template <class Body>
void KernelCode::for_one_lane(std::int64_t lane, Body body) {
  fn_.open();
  one_lane_ = lane;
  body();
  one_lane_.reset();
  fn_.append(fn_.close());
}

}  // namespace recut::wasm
