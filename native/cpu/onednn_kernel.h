// One library kernel as a sequence of oneDNN primitives: how operands are bound to them, with
// reorders around a primitive that chooses its layouts, and one scratch for these and for the
// primitives' own memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/codegen/library/library_call.h"
#include "native/cpu/onednn_attention.h"

namespace recut::cpu::onednn {

using dnnl::memory;

constexpr auto kReal = memory::data_type::f32;

// A graph's tensor: its location and layout.
struct OperandView {
  std::size_t buffer = 0;
  std::int64_t offset = 0;  // bytes
  memory::desc form;
};

OperandView view_of(const library::Operand& operand, const memory::dims& shape,
                    const memory::dims& strides);
OperandView view_of(const library::Operand& operand);

// The layout that the primitive chooses.
memory::desc any(const OperandView& g);

// One primitive with its memory. Its code is made just before it runs; its description already
// tells whether there is any.
struct PrimitiveCall {
  enum class Place : std::uint8_t { buffer, scratch, packed };
  struct Argument {
    memory where;
    Place place = Place::buffer;
    std::size_t buffer = 0;
    std::int64_t offset = 0;  // bytes
  };
  std::function<dnnl::primitive()> code;
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
  std::vector<dnnl_exec_arg_t> names;
  bool packs = false;  // reorders a constant operand: once

  void make() { primitive = code(); }
  void run(const dnnl::stream& stream, void* const* buffers, std::byte* scratch,
           std::byte* packed) const;
};

// Clamps a dense result where it lies. oneDNN's own post-ops make a bound of a NaN.
struct ClampCall {
  std::size_t buffer = 0;
  std::int64_t offset = 0, count = 0;  // elements
  float low = 0, high = 0;             // infinite where there is none
  int threads = 1;

  void make() {}
  void run(void* const* buffers) const;
};

using Action = std::variant<PrimitiveCall, AttentionCall, ClampCall>;

// The primitives of one kernel, in order.
struct KernelPrimitives {
  std::vector<Action> actions;
  std::int64_t scratch_bytes = 0, packed_bytes = 0;
  bool single_threaded = false;  // runs on one thread
};

// Operands that are read are reordered before the primitive, those written after it.
struct NamedOperand {
  int name;
  OperandView tensor;
  memory::desc preferred;
  bool written = false;
};

class KernelPreparation {
 public:
  // `constant`: by buffer, whether it keeps its value; empty: none.
  explicit KernelPreparation(const dnnl::engine& engine, std::vector<bool> constant = {});

  // The primitives' descriptions. Throws dnnl::error where oneDNN has no code for a call.
  KernelPrimitives run(const library::Kernel& kernel);

  const dnnl::engine& engine() const { return engine_; }
  const dnnl::primitive_attr& attributes() const { return attributes_; }
  bool is_constant(std::size_t buffer) const { return !constant_.empty() && constant_[buffer]; }

  void copy(const OperandView& from, const OperandView& to) {
    reorder(argument(from), argument(to));
  }
  void clamp(const library::Operand& result, std::optional<double> low, std::optional<double> high);

  template <class Primitive, class Description>
  void add(const Description& description, const std::vector<NamedOperand>& tensors) {
    add([description] { return dnnl::primitive(Primitive(description)); },
        description.scratchpad_desc(), tensors);
  }

 private:
  using Place = PrimitiveCall::Place;
  using Code = std::function<dnnl::primitive()>;
  using NamedArguments = std::vector<std::pair<int, PrimitiveCall::Argument>>;

  // The memory of a primitive's operand: the graph's own, or another in the primitive's layout.
  struct BoundOperand {
    PrimitiveCall::Argument argument;
    std::optional<OperandView> original;  // set where the operand is reordered
  };

  std::int64_t take(std::int64_t bytes);
  PrimitiveCall::Argument argument(const OperandView& g) const;
  PrimitiveCall::Argument scratch(const memory::desc& form);
  PrimitiveCall::Argument packed(const memory::desc& form);
  BoundOperand bind(const OperandView& g, const memory::desc& preferred);
  PrimitiveCall& push(Code code, NamedArguments arguments);
  PrimitiveCall& reorder(const PrimitiveCall::Argument& from, const PrimitiveCall::Argument& to);
  void add(Code code, const memory::desc& scratchpad, const std::vector<NamedOperand>& tensors);
  void add_product(const library::MatrixProduct& p);

  const dnnl::engine& engine_;
  std::vector<bool> constant_;
  dnnl::primitive_attr attributes_;
  KernelPrimitives sequence_;
  std::int64_t used_ = 0;  // bytes of scratch, by this call
};

// True for f32 convolutions with an epilogue whose result is dense. An addend has to be channels
// last, with input and output.
bool supports_epilogue(const library::Kernel& kernel);

// Adds the primitives of a convolution or of one of its gradients.
void add_convolution(KernelPreparation& kernel, const library::Convolution& c);

}  // namespace recut::cpu::onednn
