// Memory accesses: elements, vectorized accesses, and atomic read-modify-writes.
#include <fmt/format.h>

#include "engine/codegen/cuda/index_code.h"
#include "engine/codegen/cuda/kernel_code.h"
#include "engine/codegen/cuda/scalar_code.h"
#include "engine/codegen/cuda/vectorized_access.h"

namespace recut::cuda {
namespace {

bool contains(const loop::Index& index, loop::LoopId id) {
  bool found = false;
  for_each_atom(index, [&](const loop::Atom& atom) {
    found |= atom.kind == loop::AtomKind::loop && atom.id == id.index;
  });
  return found;
}

// True if the body uses the variable for anything but vectorized accesses.
bool needs_variable(const loop::Block& body, loop::LoopId id,
                    const std::map<const void*, std::string>& vectors) {
  for (const loop::Statement& statement : body) {
    const auto* define = std::get_if<loop::Define>(&statement.value);
    if (define == nullptr) continue;
    const auto* load = std::get_if<loop::Load>(&define->expression);
    if (load != nullptr && !vectors.contains(load) && contains(load->at, id)) return true;
    const auto* number = std::get_if<loop::IndexNumber>(&define->expression);
    if (number != nullptr && contains(number->index, id)) return true;
  }
  return false;
}

}  // namespace

std::string KernelCode::index(const loop::Index& index) {
  const AtomText text = [&](const loop::Atom& atom) {
    return atom.kind == loop::AtomKind::loop ? variable(loop::LoopId(atom.id))
                                             : value(loop::ValueId(atom.id));
  };
  return index_code(index, ranges_, text, context_.helpers);
}

std::string KernelCode::element(loop::BufferId buffer, const loop::Index& at) {
  return fmt::format("{}[{}]", names_.of(buffer), index(at));
}

std::string KernelCode::combined_store(const loop::Store& store) {
  const DType dtype = kernel_[store.buffer].dtype, type = kernel_[store.value].type;
  const bool alone = mapping_.count == 1 && mapping_.group == 1;
  if (loop::is_reassociable(type) && !alone) return atomic_store(store);
  const std::string at = element(store.buffer, store.at);
  const std::string made =
      combine_code(*store.combine, type, value_of_memory(dtype, at, context_.helpers),
                   value(store.value), context_.helpers);
  return fmt::format("{} = {};", at, memory_of_value(dtype, made, context_.helpers));
}

std::string KernelCode::atomic_store(const loop::Store& store) {
  const DType dtype = kernel_[store.buffer].dtype, type = kernel_[store.value].type;
  const std::string at = element(store.buffer, store.at);
  if (*store.combine == loop::Combine::add && dtype == DType::i32)
    return fmt::format("atomicAdd(&{}, {});", at, value(store.value));
  if (*store.combine == loop::Combine::add && dtype == DType::i64)
    return fmt::format(
        "atomicAdd(reinterpret_cast<unsigned long long*>(&{}), (unsigned long long){});", at,
        value(store.value));
  const std::string old = fmt::format("({})", value_of_memory(dtype, "old", context_.helpers));
  const std::string made =
      combine_code(*store.combine, type, old, value(store.value), context_.helpers);
  const std::string memory = memory_type_name(dtype);
  return fmt::format("{}(&{}, [=]({} old) {{ return {}; }});",
                     context_.helpers.use("atomic_combine"), at, memory,
                     memory_of_value(dtype, made, context_.helpers));
}

// The body of a nest whose last loop is vectorized, with a scalar remainder.
void KernelCode::vectorized_body(const Nest& nest, int size) {
  const loop::LoopId id = nest.loops.back()->variable;
  const std::int64_t extent = kernel_[id].extent;
  const std::string first = variable(id);
  const std::string one = names_.fresh(first);
  const std::vector<std::string> values = values_;
  const bool rest = extent % size != 0;
  if (rest) text_.open(fmt::format("if ({} + {} <= {})", first, size, extent));
  vector_accesses(nest, size, one);
  if (!rest) return;
  text_.close();
  values_ = values;
  loops_[id.index] = one;
  text_.open(fmt::format("else for ({0} {1} = {2}; {1} < {3}; ++{1})", int_type_name(extent), one,
                         first, extent));
  block(*nest.body);
  text_.close();
}

// `one`: the name of the variable within the vector.
void KernelCode::vector_accesses(const Nest& nest, int size, const std::string& one) {
  const loop::LoopId id = nest.loops.back()->variable;
  const loop::Block& body = *nest.body;
  const std::string first = variable(id);
  std::vector<std::string> stores;
  const auto name_vector = [&](loop::BufferId buffer, const loop::Index& at, const void* access,
                               bool loads) {
    const std::string name = names_.fresh(names_.of(buffer) + "_vector");
    const std::string type =
        fmt::format("AlignedVector<{}, {}>", memory_type_name(kernel_[buffer].dtype), size);
    const std::string pointer =
        fmt::format("reinterpret_cast<{}{}*>({} + {})", loads ? "const " : "", type,
                    names_.of(buffer), index(at));
    context_.helpers.use("AlignedVector");
    text_.line(loads ? fmt::format("const {} {} = *{};", type, name, pointer)
                     : fmt::format("{} {};", type, name));
    if (!loads) stores.push_back(fmt::format("*{} = {};", pointer, name));
    replaced_[access] = name + ".of[lane]";
  };
  for (const loop::Statement& statement : body) {
    const std::uint32_t around = text_.set_location(statement.location);
    if (const auto* store = std::get_if<loop::Store>(&statement.value))
      name_vector(store->buffer, store->at, store, false);
    const auto* define = std::get_if<loop::Define>(&statement.value);
    const auto* load = define == nullptr ? nullptr : std::get_if<loop::Load>(&define->expression);
    if (load != nullptr && access_stride(load->at, id, size, body) == AccessStride::unit)
      name_vector(load->buffer, load->at, load, true);
    text_.set_location(around);
  }
  text_.line("#pragma unroll");
  text_.open(fmt::format("for (int lane = 0; lane < {}; ++lane)", size));
  if (needs_variable(body, id, replaced_))
    text_.line(
        fmt::format("const {} {} = {} + lane;", int_type_name(kernel_[id].extent), one, first));
  loops_[id.index] = one;
  block(body);
  loops_[id.index] = first;
  text_.close();
  for (const std::string& store : stores) text_.line(store);
  replaced_.clear();
}

}  // namespace recut::cuda
