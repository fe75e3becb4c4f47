// Code generation for one function: the statements of a kernel's stage.
#pragma once

#include <string>
#include <vector>

#include "engine/codegen/llvm/ir_builder.h"
#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::llvm_ir {

// The name of the function's parameter for a buffer.
std::string buffer_name(loop::BufferId buffer);

class KernelCode {
 public:
  // Appends the messages of runtime errors to `faults`.
  KernelCode(const loop::Kernel& kernel, IrBuilder& builder, std::vector<std::string>& faults);

  // Statements in order.
  void block(const loop::Block& block);
  // Iterations %first to %last of a loop.
  void partial_loop(const loop::Loop& loop);

 private:
  struct Partials {
    std::string pointer;
    std::int64_t lanes = 1;
  };
  // The address of an access: one element, contiguous elements from one on, or an index for each
  // lane.
  struct MemoryAccess {
    enum class Kind : std::uint8_t { scalar, contiguous, indexed } kind = Kind::scalar;
    IrValue at;
  };

  void execute(const loop::Define& define);
  void execute(const loop::Store& store);
  void execute(const loop::Declare& declare);
  void execute(const loop::Update& update);
  void execute(const loop::Loop& loop);
  void execute(const loop::If& branch);

  IrValue code(const loop::Constant& constant, loop::ValueId value);
  IrValue code(const loop::IndexNumber& number, loop::ValueId value);
  IrValue code(const loop::Load& load, loop::ValueId value);
  IrValue code(const loop::Apply& apply, loop::ValueId value);
  IrValue code(const loop::Checked& checked, loop::ValueId value);
  IrValue code(const loop::ReadAccumulator& read, loop::ValueId value);

  void split_loop(const loop::Loop& loop, const IrValue& first, const IrValue& last,
                  bool needs_epilogue);
  void vector_loop(const loop::Loop& loop, const IrValue& first, const IrValue& last);
  void scalar_loop(const loop::Loop& loop, const IrValue& first, const IrValue& last);
  template <class Body>
  void counted_loop(const IrValue& first, const IrValue& last, std::int64_t step, Body body);

  IrValue index(const loop::Index& index);
  IrValue atom(const loop::Atom& atom);
  IrValue quotient(const IrValue& of, const loop::Atom& atom);
  bool varies(const loop::Index& index) const;
  MemoryAccess classify(const loop::Index& at);
  const std::string& base_pointer(loop::BufferId id);
  std::string address(loop::BufferId buffer, const IrValue& at);
  std::string read(loop::BufferId buffer, const MemoryAccess& access, const IrValue* where);
  void write(loop::BufferId buffer, const MemoryAccess& access, const IrValue& value);
  void write_combined(const loop::Store& store);

  IrValue load_partials(const Partials& partials, const loop::Accumulator& accumulator);
  IrValue updated(const loop::Update& update, const IrValue& partial);
  void update_scalar(const Partials& partials, const loop::Update& update);
  void report_fault(const IrValue& bad, std::string message);

  const loop::Kernel& kernel_;
  IrBuilder& ir_;
  std::vector<std::string>& faults_;
  loop::Ranges ranges_;
  std::vector<std::string> buffers_;  // base pointers; empty: scratch that isn't allocated yet
  std::vector<IrValue> loops_, values_;
  std::vector<Partials> partials_;  // by accumulator
  std::int64_t lanes_ = 1;          // 1: scalar code
  loop::LoopId lane_loop_;          // the loop whose neighbouring iterations are the lanes
  IrValue iteration_;               // of the innermost loop with lanes, in scalar code
};

}  // namespace recut::llvm_ir
