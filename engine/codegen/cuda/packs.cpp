#include "engine/codegen/cuda/packs.h"

#include <algorithm>
#include <set>

namespace recut::cuda {
namespace {

constexpr std::int64_t kAccessBytes = 16;

struct Walk {
  Step step = Step::same;
  bool aligned = false;  // the first element is aligned to the vector
};

class Walks {
 public:
  Walks(loop::LoopId loop, std::int64_t size, const loop::Block& body) : loop_(loop), size_(size) {
    for (const loop::Statement& statement : body)
      if (const auto* define = std::get_if<loop::Define>(&statement.value))
        inside_.insert(define->value.index);
  }

  Walk of(const loop::Index& index) const {
    Walk sum{Step::same, index.constant % size_ == 0};
    for (const loop::Term& term : index.terms) {
      Walk one = of(term.atom);
      one.aligned |= term.factor % size_ == 0;
      if (one.step == Step::next && term.factor != 1) one.step = Step::other;
      if (one.step != Step::same) sum.step = sum.step == Step::same ? one.step : Step::other;
      sum.aligned &= one.aligned;
    }
    return sum;
  }

 private:
  Walk of(const loop::Atom& atom) const {
    if (atom.kind == loop::AtomKind::loop)
      return atom.id == loop_.index ? Walk{Step::next, true} : Walk{};
    if (atom.kind == loop::AtomKind::value)
      return {inside_.contains(atom.id) ? Step::other : Step::same, false};
    const Walk inner = of(*atom.of);
    const bool whole = inner.aligned && atom.by % size_ == 0;
    const bool rest = atom.kind == loop::AtomKind::remainder;
    if (inner.step == Step::same) return {Step::same, rest && whole};
    if (inner.step == Step::other || !whole) return {Step::other, false};
    return rest ? Walk{Step::next, true} : Walk{};
  }

  loop::LoopId loop_;
  std::int64_t size_;
  std::set<std::uint32_t> inside_;
};

// A summary of the accesses of a body.
struct Accesses {
  bool plain = true;        // nothing that forbids vectors
  std::int64_t widest = 1;  // bytes of an element
  std::set<std::uint32_t> loaded, stored;
};

bool is_next(const loop::Index& at, const Nest& nest, std::int64_t size) {
  return step_of(at, nest.loops.back()->variable, size, *nest.body) == Step::next;
}

void note(const loop::Kernel& kernel, const Nest& nest, std::int64_t size,
          const loop::Statement& statement, Accesses& all) {
  const auto meet = [&](loop::BufferId buffer) {
    all.widest = std::max(all.widest, item_bytes(kernel[buffer].dtype));
  };
  if (const auto* store = std::get_if<loop::Store>(&statement.value)) {
    all.plain &= !store->combine && is_next(store->at, nest, size);
    all.stored.insert(store->buffer.index);
    return meet(store->buffer);
  }
  if (std::holds_alternative<loop::Update>(statement.value)) return;
  const auto* define = std::get_if<loop::Define>(&statement.value);
  all.plain &=
      define != nullptr && !std::holds_alternative<loop::ReadAccumulator>(define->expression);
  const auto* load = all.plain ? std::get_if<loop::Load>(&define->expression) : nullptr;
  if (load == nullptr) return;
  all.loaded.insert(load->buffer.index);
  const Step step = step_of(load->at, nest.loops.back()->variable, size, *nest.body);
  all.plain &= step == Step::same || (step == Step::next && !load->where.valid());
  if (step == Step::next) meet(load->buffer);
}

Accesses accesses_of(const loop::Kernel& kernel, const Nest& nest, std::int64_t size) {
  Accesses all;
  for (const loop::Statement& statement : *nest.body) note(kernel, nest, size, statement, all);
  all.plain &= std::none_of(all.stored.begin(), all.stored.end(),
                            [&](std::uint32_t b) { return all.loaded.contains(b); });
  all.plain &= size * all.widest <= kAccessBytes;
  return all;
}

}  // namespace

Step step_of(const loop::Index& index, loop::LoopId loop, std::int64_t size,
             const loop::Block& body) {
  const Walk walk = Walks(loop, size, body).of(index);
  return walk.step == Step::next && !walk.aligned ? Step::other : walk.step;
}

int loads_of_neighbours(const loop::Block& body, loop::LoopId loop) {
  int count = 0;
  for (const loop::Statement& statement : body) {
    const auto* define = std::get_if<loop::Define>(&statement.value);
    const auto* load = define == nullptr ? nullptr : std::get_if<loop::Load>(&define->expression);
    count += load != nullptr && step_of(load->at, loop, 1, body) == Step::next ? 1 : 0;
  }
  return count;
}

int pack_size(const loop::Kernel& kernel, const Nest& nest) {
  const std::int64_t extent = kernel[nest.loops.back()->variable].extent;
  for (int size = kMostOfPack; size > 1; size /= 2) {
    if (extent < size || (extent % size != 0 && nest.loops.size() > 1)) continue;
    const Accesses all = accesses_of(kernel, nest, size);
    if (all.plain && !all.stored.empty()) return size;
  }
  return 1;
}

bool fits_pack(const loop::Kernel& kernel, const Nest& nest, std::int64_t size) {
  return kernel[nest.loops.back()->variable].extent % size == 0 &&
         accesses_of(kernel, nest, size).plain;
}

}  // namespace recut::cuda
