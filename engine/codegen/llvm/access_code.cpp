// Indices, loads and stores of a kernel's function.
#include <fmt/format.h>

#include "engine/codegen/llvm/kernel_code.h"
#include "engine/codegen/llvm/scalar_code.h"
#include "engine/codegen/llvm/storage_code.h"

namespace recut::llvm_ir {
namespace {

IrValue i64(std::int64_t number) { return IrBuilder::integer(DType::i64, number); }

// The suffix of an intrinsic's name for a vector of elements in memory: "v8f32", "v8i8".
std::string memory_suffix(DType dtype, std::int64_t lanes) {
  const std::string_view element = memory_type(dtype);
  const std::string_view name = element == "double"  ? "f64"
                                : element == "float" ? "f32"
                                : element == "half"  ? "f16"
                                                     : element;
  return fmt::format("v{}{}", lanes, name);
}

}  // namespace

std::string buffer_name(loop::BufferId buffer) { return fmt::format("%b{}", buffer.index); }

IrValue KernelCode::index(const loop::Index& index) {
  // Terms that are uniform across lanes are added up as scalars.
  IrValue same = i64(index.constant), each = i64(0);
  for (const loop::Term& term : index.terms) {
    IrValue code = atom(term.atom);
    if (term.factor != 1) code = ir_.apply("mul", DType::i64, code, i64(term.factor));
    IrValue& sum = code.lanes == 1 ? same : each;
    sum = sum.text == "0" ? code : ir_.apply("add", DType::i64, sum, code);
  }
  return each.lanes == 1 ? same : ir_.apply("add", DType::i64, each, same);
}

IrValue KernelCode::atom(const loop::Atom& atom) {
  switch (atom.kind) {
    case loop::AtomKind::loop: {
      const IrValue& base = loops_[atom.id];
      if (lanes_ == 1 || atom.id != lane_loop_.index) return base;
      return ir_.apply("add", DType::i64, base, IrBuilder::step_vector(lanes_));
    }
    case loop::AtomKind::value:
      return values_[atom.id];
    default:
      return quotient(index(*atom.of), atom);
  }
}

// Floor division, or its remainder.
IrValue KernelCode::quotient(const IrValue& of, const loop::Atom& atom) {
  const bool rest = atom.kind == loop::AtomKind::remainder;
  const auto range = ranges_.of(*atom.of);
  if (range && range->min >= 0)
    return ir_.apply(rest ? "urem" : "udiv", DType::i64, of, i64(atom.by));
  const IrValue left = ir_.apply("srem", DType::i64, of, i64(atom.by));
  const IrValue below = ir_.apply("icmp slt", DType::boolean, left, i64(0));
  if (rest) return ir_.select(below, ir_.apply("add", DType::i64, left, i64(atom.by)), left);
  const IrValue towards_zero = ir_.apply("sdiv", DType::i64, of, i64(atom.by));
  return ir_.select(below, ir_.apply("sub", DType::i64, towards_zero, i64(1)), towards_zero);
}

bool KernelCode::varies(const loop::Index& index) const {
  bool found = false;
  for_each_atom(index, [&](const loop::Atom& atom) {
    found |= atom.kind == loop::AtomKind::loop && atom.id == lane_loop_.index;
    found |= atom.kind == loop::AtomKind::value && values_[atom.id].lanes > 1;
  });
  return found;
}

KernelCode::MemoryAccess KernelCode::classify(const loop::Index& at) {
  if (lanes_ == 1 || !varies(at)) return {MemoryAccess::Kind::scalar, index(at)};
  loop::Index rest;
  rest.constant = at.constant;
  bool once = false;
  for (const loop::Term& term : at.terms) {
    const bool lane = term.atom.kind == loop::AtomKind::loop && term.atom.id == lane_loop_.index;
    if (lane && term.factor == 1)
      once = true;
    else
      rest.terms.push_back(term);
  }
  if (!once || varies(rest)) return {MemoryAccess::Kind::indexed, index(at)};
  const IrValue& first = loops_[lane_loop_.index];
  return {MemoryAccess::Kind::contiguous, ir_.apply("add", DType::i64, index(rest), first)};
}

// A pointer, or a vector of pointers.
std::string KernelCode::address(loop::BufferId buffer, const IrValue& at) {
  return ir_.create(fmt::format("getelementptr inbounds {}, ptr {}, {} {}",
                                memory_type(kernel_[buffer].dtype), base_pointer(buffer),
                                type_name(at), at.text));
}

IrValue KernelCode::code(const loop::Load& load, loop::ValueId value) {
  const DType dtype = kernel_[load.buffer].dtype, type = kernel_[value].type;
  const IrValue zero = is_floating(type) ? IrBuilder::real(type, 0) : IrBuilder::integer(type, 0);
  if (!load.where.valid()) {
    const MemoryAccess at = classify(load.at);
    const std::int64_t lanes = at.kind == MemoryAccess::Kind::scalar ? 1 : lanes_;
    return value_of_memory(ir_, dtype, read(load.buffer, at, nullptr), lanes);
  }
  if (kernel_[load.buffer].elements == 0) return zero;
  const IrValue& where = values_[load.where.index];
  MemoryAccess at = classify(load.at);
  if (at.kind == MemoryAccess::Kind::scalar && where.lanes > 1)
    at = {MemoryAccess::Kind::indexed, ir_.splat(at.at, lanes_)};
  const std::int64_t lanes = at.kind == MemoryAccess::Kind::scalar ? 1 : lanes_;
  // Where the condition is false, element 0 is read, which exists, and then dropped.
  if (at.kind != MemoryAccess::Kind::contiguous) at.at = ir_.select(where, at.at, i64(0));
  const IrValue found = value_of_memory(ir_, dtype, read(load.buffer, at, &where), lanes);
  return ir_.select(where, found, zero);
}

std::string KernelCode::read(loop::BufferId buffer, const MemoryAccess& access,
                             const IrValue* where) {
  const DType dtype = kernel_[buffer].dtype;
  const std::int64_t align = item_bytes(dtype);
  const std::string at = address(buffer, access.at);
  const std::int64_t lanes = access.kind == MemoryAccess::Kind::scalar ? 1 : lanes_;
  const std::string type = type_name(memory_type(dtype), lanes);
  const bool plain = access.kind == MemoryAccess::Kind::scalar ||
                     (access.kind == MemoryAccess::Kind::contiguous && where == nullptr);
  if (plain) return ir_.create(fmt::format("load {}, ptr {}, align {}", type, at, align));
  const bool is_indexed = access.kind == MemoryAccess::Kind::indexed;
  const IrValue mask =
      is_indexed ? IrBuilder::integer(DType::boolean, 1, lanes) : ir_.splat(*where, lanes);
  const std::string from = is_indexed ? fmt::format("<{} x ptr>", lanes) : "ptr";
  const std::string name =
      is_indexed ? fmt::format("@llvm.masked.gather.{}.v{}p0", memory_suffix(dtype, lanes), lanes)
                 : fmt::format("@llvm.masked.load.{}.p0", memory_suffix(dtype, lanes));
  ir_.declare(fmt::format("{} {}({}, i32, {}, {})", type, name, from, type_name(mask), type));
  return ir_.create(fmt::format("call {} {}({} {}, i32 {}, {} {}, {} zeroinitializer)", type, name,
                                from, at, align, type_name(mask), mask.text, type));
}

void KernelCode::write(loop::BufferId buffer, const MemoryAccess& access, const IrValue& value) {
  const DType dtype = kernel_[buffer].dtype;
  const std::int64_t lanes = access.kind == MemoryAccess::Kind::scalar ? 1 : lanes_;
  const std::string stored = memory_of_value(ir_, dtype, ir_.splat(value, lanes));
  const std::string type = type_name(memory_type(dtype), lanes), at = address(buffer, access.at);
  const std::int64_t align = item_bytes(dtype);
  if (access.kind != MemoryAccess::Kind::indexed)
    return ir_.emit(fmt::format("store {} {}, ptr {}, align {}", type, stored, at, align));
  const std::string name =
      fmt::format("@llvm.masked.scatter.{}.v{}p0", memory_suffix(dtype, lanes), lanes);
  const IrValue all = IrBuilder::integer(DType::boolean, 1, lanes);
  const std::string to = fmt::format("<{} x ptr>", lanes);
  ir_.declare(fmt::format("void {}({}, {}, i32, {})", name, type, to, type_name(all)));
  ir_.emit(fmt::format("call void {}({} {}, {} {}, i32 {}, {} {})", name, type, stored, to, at,
                       align, type_name(all), all.text));
}

void KernelCode::write_combined(const loop::Store& store) {
  const MemoryAccess at = classify(store.at);
  const DType dtype = kernel_[store.buffer].dtype;
  const IrValue old = value_of_memory(ir_, dtype, read(store.buffer, at, nullptr), 1);
  write(store.buffer, at, combine_code(ir_, *store.combine, old, values_[store.value.index]));
}

}  // namespace recut::llvm_ir
