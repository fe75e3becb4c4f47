// Code generation for one function: the statements of a kernel's stage.
#pragma once

#include <string>
#include <vector>

#include "engine/codegen/llvm/code.h"
#include "engine/codegen/loop/kernel.h"
#include "engine/codegen/loop/ranges.h"

namespace recut::llvm_ir {

// The name of the function's parameter for a buffer.
std::string buffer_name(loop::BufferId buffer);

class KernelCode {
 public:
  // Appends the messages of runtime errors to `faults`.
  KernelCode(const loop::Kernel& kernel, Writer& writer, std::vector<std::string>& faults);

  // Statements in order.
  void block(const loop::Block& block);
  // Iterations %first to %last of a loop.
  void part(const loop::Loop& loop);

 private:
  struct Partials {
    std::string room;
    std::int64_t lanes = 1;
  };
  // The address of an access: one element, contiguous elements from one on, or an index for each
  // lane.
  struct Place {
    enum class Kind : std::uint8_t { one, neighbours, apart } kind = Kind::one;
    Code at;
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

  void range(const loop::Loop& loop, const Code& first, const Code& last, bool may_have_rest);
  void in_lanes(const loop::Loop& loop, const Code& first, const Code& last);
  void one_by_one(const loop::Loop& loop, const Code& first, const Code& last);
  template <class Body>
  void counted(const Code& first, const Code& last, std::int64_t step, Body body);

  Code index(const loop::Index& index);
  Code atom(const loop::Atom& atom);
  Code quotient(const Code& of, const loop::Atom& atom);
  bool varies(const loop::Index& index) const;
  Place place(const loop::Index& at);
  const std::string& begin_of(loop::BufferId id);
  std::string address(loop::BufferId buffer, const Code& at);
  std::string read(loop::BufferId buffer, const Place& place, const Code* where);
  void write(loop::BufferId buffer, const Place& place, const Code& value);
  void write_combined(const loop::Store& store);

  Code load_partials(const Partials& partials, const loop::Accumulator& accumulator);
  Code updated(const loop::Update& update, const Code& partial);
  void update_one(const Partials& partials, const loop::Update& update);
  void tell(const Code& bad, std::string message);

  const loop::Kernel& kernel_;
  Writer& w_;
  std::vector<std::string>& faults_;
  loop::Ranges ranges_;
  std::vector<std::string> buffers_;  // base pointers; empty: scratch that isn't allocated yet
  std::vector<Code> loops_, values_;
  std::vector<Partials> partials_;  // by accumulator
  std::int64_t lanes_ = 1;          // 1: scalar code
  loop::LoopId lane_loop_;          // the loop whose neighbouring iterations are the lanes
  Code iteration_;                  // of the innermost loop with lanes, in scalar code
};

}  // namespace recut::llvm_ir
