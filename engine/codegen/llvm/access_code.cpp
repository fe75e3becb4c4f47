// Indices, loads and stores of a kernel's function.
#include <fmt/format.h>

#include "engine/codegen/llvm/kernel_code.h"
#include "engine/codegen/llvm/scalar_code.h"
#include "engine/codegen/llvm/storage_code.h"

namespace recut::llvm_ir {
namespace {

Code i64(std::int64_t number) { return Writer::integer(DType::i64, number); }

// "v8f32", "v8i8": the suffix of an intrinsic's name for a vector of elements in memory.
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

Code KernelCode::index(const loop::Index& index) {
  // Terms that are uniform across lanes are added up as scalars.
  Code same = i64(index.constant), each = i64(0);
  for (const loop::Term& term : index.terms) {
    Code code = atom(term.atom);
    if (term.factor != 1) code = w_.apply("mul", DType::i64, code, i64(term.factor));
    Code& sum = code.lanes == 1 ? same : each;
    sum = sum.text == "0" ? code : w_.apply("add", DType::i64, sum, code);
  }
  return each.lanes == 1 ? same : w_.apply("add", DType::i64, each, same);
}

Code KernelCode::atom(const loop::Atom& atom) {
  switch (atom.kind) {
    case loop::AtomKind::loop: {
      const Code& base = loops_[atom.id];
      if (lanes_ == 1 || atom.id != lane_loop_.index) return base;
      return w_.apply("add", DType::i64, base, Writer::counting(lanes_));
    }
    case loop::AtomKind::value:
      return values_[atom.id];
    default:
      return quotient(index(*atom.of), atom);
  }
}

// Floor division, or its remainder.
Code KernelCode::quotient(const Code& of, const loop::Atom& atom) {
  const bool rest = atom.kind == loop::AtomKind::remainder;
  const auto range = ranges_.of(*atom.of);
  if (range && range->least >= 0)
    return w_.apply(rest ? "urem" : "udiv", DType::i64, of, i64(atom.by));
  const Code left = w_.apply("srem", DType::i64, of, i64(atom.by));
  const Code below = w_.apply("icmp slt", DType::boolean, left, i64(0));
  if (rest) return w_.select(below, w_.apply("add", DType::i64, left, i64(atom.by)), left);
  const Code towards_zero = w_.apply("sdiv", DType::i64, of, i64(atom.by));
  return w_.select(below, w_.apply("sub", DType::i64, towards_zero, i64(1)), towards_zero);
}

bool KernelCode::varies(const loop::Index& index) const {
  bool found = false;
  for_each_atom(index, [&](const loop::Atom& atom) {
    found |= atom.kind == loop::AtomKind::loop && atom.id == lane_loop_.index;
    found |= atom.kind == loop::AtomKind::value && values_[atom.id].lanes > 1;
  });
  return found;
}

KernelCode::Place KernelCode::place(const loop::Index& at) {
  if (lanes_ == 1 || !varies(at)) return {Place::Kind::one, index(at)};
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
  if (!once || varies(rest)) return {Place::Kind::apart, index(at)};
  const Code& first = loops_[lane_loop_.index];
  return {Place::Kind::neighbours, w_.apply("add", DType::i64, index(rest), first)};
}

// A pointer, or a vector of pointers.
std::string KernelCode::address(loop::BufferId buffer, const Code& at) {
  return w_.let(fmt::format("getelementptr inbounds {}, ptr {}, {} {}",
                            memory_type(kernel_[buffer].dtype), begin_of(buffer), type_name(at),
                            at.text));
}

Code KernelCode::code(const loop::Load& load, loop::ValueId value) {
  const DType dtype = kernel_[load.buffer].dtype, type = kernel_[value].type;
  const Code zero = is_floating(type) ? Writer::real(type, 0) : Writer::integer(type, 0);
  if (!load.where.valid()) {
    const Place at = place(load.at);
    const std::int64_t lanes = at.kind == Place::Kind::one ? 1 : lanes_;
    return value_of_memory(w_, dtype, read(load.buffer, at, nullptr), lanes);
  }
  if (kernel_[load.buffer].elements == 0) return zero;
  const Code& where = values_[load.where.index];
  Place at = place(load.at);
  if (at.kind == Place::Kind::one && where.lanes > 1)
    at = {Place::Kind::apart, w_.splat(at.at, lanes_)};
  const std::int64_t lanes = at.kind == Place::Kind::one ? 1 : lanes_;
  // Where the condition is false, element 0 is read, which exists, and then dropped.
  if (at.kind != Place::Kind::neighbours) at.at = w_.select(where, at.at, i64(0));
  const Code found = value_of_memory(w_, dtype, read(load.buffer, at, &where), lanes);
  return w_.select(where, found, zero);
}

std::string KernelCode::read(loop::BufferId buffer, const Place& place, const Code* where) {
  const DType dtype = kernel_[buffer].dtype;
  const std::int64_t align = item_bytes(dtype);
  const std::string at = address(buffer, place.at);
  const std::int64_t lanes = place.kind == Place::Kind::one ? 1 : lanes_;
  const std::string type = type_name(memory_type(dtype), lanes);
  const bool plain =
      place.kind == Place::Kind::one || (place.kind == Place::Kind::neighbours && where == nullptr);
  if (plain) return w_.let(fmt::format("load {}, ptr {}, align {}", type, at, align));
  const bool apart = place.kind == Place::Kind::apart;
  const Code mask = apart ? Writer::integer(DType::boolean, 1, lanes) : w_.splat(*where, lanes);
  const std::string from = apart ? fmt::format("<{} x ptr>", lanes) : "ptr";
  const std::string name =
      apart ? fmt::format("@llvm.masked.gather.{}.v{}p0", memory_suffix(dtype, lanes), lanes)
            : fmt::format("@llvm.masked.load.{}.p0", memory_suffix(dtype, lanes));
  w_.declare(fmt::format("{} {}({}, i32, {}, {})", type, name, from, type_name(mask), type));
  return w_.let(fmt::format("call {} {}({} {}, i32 {}, {} {}, {} zeroinitializer)", type, name,
                            from, at, align, type_name(mask), mask.text, type));
}

void KernelCode::write(loop::BufferId buffer, const Place& place, const Code& value) {
  const DType dtype = kernel_[buffer].dtype;
  const std::int64_t lanes = place.kind == Place::Kind::one ? 1 : lanes_;
  const std::string stored = memory_of_value(w_, dtype, w_.splat(value, lanes));
  const std::string type = type_name(memory_type(dtype), lanes), at = address(buffer, place.at);
  const std::int64_t align = item_bytes(dtype);
  if (place.kind != Place::Kind::apart)
    return w_.put(fmt::format("store {} {}, ptr {}, align {}", type, stored, at, align));
  const std::string name =
      fmt::format("@llvm.masked.scatter.{}.v{}p0", memory_suffix(dtype, lanes), lanes);
  const Code all = Writer::integer(DType::boolean, 1, lanes);
  const std::string to = fmt::format("<{} x ptr>", lanes);
  w_.declare(fmt::format("void {}({}, {}, i32, {})", name, type, to, type_name(all)));
  w_.put(fmt::format("call void {}({} {}, {} {}, i32 {}, {} {})", name, type, stored, to, at, align,
                     type_name(all), all.text));
}

void KernelCode::write_combined(const loop::Store& store) {
  const Place at = place(store.at);
  const DType dtype = kernel_[store.buffer].dtype;
  const Code old = value_of_memory(w_, dtype, read(store.buffer, at, nullptr), 1);
  write(store.buffer, at, combine_code(w_, *store.combine, old, values_[store.value.index]));
}

}  // namespace recut::llvm_ir
