#include "engine/codegen/cuda/vectorized_access.h"

#include <algorithm>
#include <set>

namespace recut::cuda {
namespace {

constexpr std::int64_t kAccessBytes = 16;

struct StrideInfo {
  AccessStride stride = AccessStride::zero;
  bool aligned = false;  // the first element is aligned to the vector
};

class StrideAnalysis {
 public:
  StrideAnalysis(loop::LoopId loop, std::int64_t size, const loop::Block& body)
      : loop_(loop), size_(size) {
    for (const loop::Statement& statement : body)
      if (const auto* define = std::get_if<loop::Define>(&statement.value))
        inside_.insert(define->value.index);
  }

  StrideInfo of(const loop::Index& index) const {
    StrideInfo sum{AccessStride::zero, index.constant % size_ == 0};
    for (const loop::Term& term : index.terms) {
      StrideInfo one = of(term.atom);
      one.aligned |= term.factor % size_ == 0;
      if (one.stride == AccessStride::unit && term.factor != 1) one.stride = AccessStride::other;
      if (one.stride != AccessStride::zero)
        sum.stride = sum.stride == AccessStride::zero ? one.stride : AccessStride::other;
      sum.aligned &= one.aligned;
    }
    return sum;
  }

 private:
  StrideInfo of(const loop::Atom& atom) const {
    if (atom.kind == loop::AtomKind::loop)
      return atom.id == loop_.index ? StrideInfo{AccessStride::unit, true} : StrideInfo{};
    if (atom.kind == loop::AtomKind::value)
      return {inside_.contains(atom.id) ? AccessStride::other : AccessStride::zero, false};
    const StrideInfo inner = of(*atom.of);
    const bool whole = inner.aligned && atom.by % size_ == 0;
    const bool rest = atom.kind == loop::AtomKind::remainder;
    if (inner.stride == AccessStride::zero) return {AccessStride::zero, rest && whole};
    if (inner.stride == AccessStride::other || !whole) return {AccessStride::other, false};
    return rest ? StrideInfo{AccessStride::unit, true} : StrideInfo{};
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

bool has_unit_stride(const loop::Index& at, const Nest& nest, std::int64_t size) {
  return access_stride(at, nest.loops.back()->variable, size, *nest.body) == AccessStride::unit;
}

void note(const loop::Kernel& kernel, const Nest& nest, std::int64_t size,
          const loop::Statement& statement, Accesses& all) {
  const auto note_bytes = [&](loop::BufferId buffer) {
    all.widest = std::max(all.widest, item_bytes(kernel[buffer].dtype));
  };
  if (const auto* store = std::get_if<loop::Store>(&statement.value)) {
    all.plain &= !store->combine && has_unit_stride(store->at, nest, size);
    all.stored.insert(store->buffer.index);
    return note_bytes(store->buffer);
  }
  if (std::holds_alternative<loop::Update>(statement.value)) return;
  const auto* define = std::get_if<loop::Define>(&statement.value);
  all.plain &=
      define != nullptr && !std::holds_alternative<loop::ReadAccumulator>(define->expression);
  const auto* load = all.plain ? std::get_if<loop::Load>(&define->expression) : nullptr;
  if (load == nullptr) return;
  all.loaded.insert(load->buffer.index);
  const AccessStride stride =
      access_stride(load->at, nest.loops.back()->variable, size, *nest.body);
  all.plain &=
      stride == AccessStride::zero || (stride == AccessStride::unit && !load->where.valid());
  if (stride == AccessStride::unit) note_bytes(load->buffer);
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

AccessStride access_stride(const loop::Index& index, loop::LoopId loop, std::int64_t size,
                           const loop::Block& body) {
  const StrideInfo stride = StrideAnalysis(loop, size, body).of(index);
  return stride.stride == AccessStride::unit && !stride.aligned ? AccessStride::other
                                                                : stride.stride;
}

int count_contiguous_loads(const loop::Block& body, loop::LoopId loop) {
  int count = 0;
  for (const loop::Statement& statement : body) {
    const auto* define = std::get_if<loop::Define>(&statement.value);
    const auto* load = define == nullptr ? nullptr : std::get_if<loop::Load>(&define->expression);
    count +=
        load != nullptr && access_stride(load->at, loop, 1, body) == AccessStride::unit ? 1 : 0;
  }
  return count;
}

int max_vector_width(const loop::Kernel& kernel, const Nest& nest) {
  const std::int64_t extent = kernel[nest.loops.back()->variable].extent;
  for (int size = kMaxVectorWidth; size > 1; size /= 2) {
    if (extent < size || (extent % size != 0 && nest.loops.size() > 1)) continue;
    const Accesses all = accesses_of(kernel, nest, size);
    if (all.plain && !all.stored.empty()) return size;
  }
  return 1;
}

bool fits_vector_width(const loop::Kernel& kernel, const Nest& nest, std::int64_t size) {
  return kernel[nest.loops.back()->variable].extent % size == 0 &&
         accesses_of(kernel, nest, size).plain;
}

}  // namespace recut::cuda
