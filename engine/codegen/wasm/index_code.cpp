// Index arithmetic. A sum is split by the loops that its terms depend on, and each part is computed
// in front of the loops that it is invariant in. Sums that grow with a loop are strength-reduced: a
// local that is increased once an iteration. Engines do neither by themselves.
#include <algorithm>
#include <limits>

#include "engine/codegen/wasm/function_builder.h"
#include "engine/codegen/wasm/kernel_code.h"

namespace recut::wasm {
namespace {

constexpr std::int64_t kIndexCodeMaxI32 = std::numeric_limits<std::int32_t>::max();

// Serializes an index, as a key for value numbering.
void flatten(const loop::Index& index, std::vector<std::int64_t>& out) {
  out.push_back(index.constant);
  out.push_back(static_cast<std::int64_t>(index.terms.size()));
  for (const loop::Term& term : index.terms) {
    out.push_back(term.factor);
    out.push_back(static_cast<std::int64_t>(term.atom.kind));
    out.push_back(term.atom.id);
    out.push_back(term.atom.by);
    if (term.atom.of != nullptr) flatten(*term.atom.of, out);
  }
}

}  // namespace

bool KernelCode::is_lane(const loop::Atom& atom) const {
  return lane_ && atom.kind == loop::AtomKind::loop && atom.id == lane_->variable.index;
}

bool KernelCode::varies(const loop::Atom& atom) const {
  if (atom.of == nullptr)
    return is_lane(atom) || (atom.kind == loop::AtomKind::value && values_[atom.id].is_vector());
  if (step_within_divisor(atom)) return atom.kind == loop::AtomKind::remainder;
  return varies(*atom.of);
}

bool KernelCode::varies(const loop::Index& index) const {
  return std::any_of(index.terms.begin(), index.terms.end(),
                     [&](const loop::Term& term) { return varies(term.atom); });
}

// The stride between lanes, if all lanes of the dividend lie in one block of the divisor. Then the
// quotient is uniform, and the remainder has this stride.
std::optional<std::int64_t> KernelCode::step_within_divisor(const loop::Atom& atom) const {
  if (!lane_ || atom.of == nullptr) return std::nullopt;
  std::int64_t step = 0;
  for (const loop::Term& term : atom.of->terms)
    if (is_lane(term.atom)) step = term.factor;
  if (step <= 0) return std::nullopt;
  // The first lane's number is a multiple of how many there are.
  const std::int64_t span = step * lane_->width;
  bool aligned = atom.by % span == 0 && atom.of->constant % span == 0;
  for (const loop::Term& term : atom.of->terms)
    aligned = aligned && (is_lane(term.atom) || (term.factor % span == 0 && !varies(term.atom)));
  if (!aligned) return std::nullopt;
  return step;
}

bool KernelCode::fits_i32(const loop::Index& index) const {
  const auto range = ranges_.of(index);
  return range && range->within(-kIndexCodeMaxI32, kIndexCodeMaxI32);
}

std::size_t KernelCode::level_of(const loop::Atom& atom) const {
  if (atom.of != nullptr) return level_of(*atom.of);
  const bool loop = atom.kind == loop::AtomKind::loop;
  const WasmValue& code = loop ? loops_[atom.id] : values_[atom.id];
  return one_lane_ && (is_lane(atom) || code.is_vector()) ? fn_.level() : code.level;
}

std::size_t KernelCode::level_of(const loop::Index& index) const {
  std::size_t level = 0;
  for (const loop::Term& term : index.terms) level = std::max(level, level_of(term.atom));
  return level;
}

WasmValue KernelCode::index(const loop::Index& index) {
  if (index.is_constant()) return i32(index.constant);
  const std::size_t level = level_of(index);
  return {DType::i32, 1, {sum_of(std::nullopt, index, level)}, std::nullopt, level};
}

// The sum of the terms up to a level; the constant goes with the outermost of them. With a buffer,
// the sum is an address in bytes.
Local KernelCode::sum_of(std::optional<loop::BufferId> buffer, const loop::Index& at,
                         std::size_t level) {
  loop::Index outside, here;
  for (const loop::Term& term : at.terms)
    (level_of(term.atom) < level ? outside : here).terms.push_back(term);
  (outside.terms.empty() ? here : outside).constant = at.constant;
  const std::int64_t bytes = buffer ? item_bytes(kernel_[*buffer].dtype) : 1;
  FunctionBuilder::Name name{"sum", {buffer ? static_cast<std::int64_t>(buffer->index) : -1}};
  flatten(at, name.second);
  return fn_.once(level, name, [&] {
    if (InductionLoop* induction = induction_of(here, level))
      return strength_reduced_sum(*induction, here.terms.front().factor * bytes,
                                  [&] { push_outside(buffer, outside, here.constant * bytes); });
    push_outside(buffer, outside, here.constant * bytes);
    for (const loop::Term& term : here.terms) {
      fn_.get(scaled(term, bytes, level));
      fn_.emit(Op::i32_add);
    }
    return fn_.pop_to_local(Type::i32);
  });
}

// Pushes the loop-invariant part.
void KernelCode::push_outside(std::optional<loop::BufferId> buffer, const loop::Index& outside,
                              std::int64_t constant) {
  if (!outside.terms.empty())
    fn_.get(sum_of(buffer, outside, level_of(outside)));
  else if (buffer)
    fn_.get(base_of(*buffer));
  else
    return fn_.i32(static_cast<std::int32_t>(constant));
  if (constant == 0) return;
  fn_.i32(static_cast<std::int32_t>(constant));
  fn_.emit(Op::i32_add);
}

// The loop on that level whose induction variable alone the index is a multiple of; else null.
KernelCode::InductionLoop* KernelCode::induction_of(const loop::Index& index, std::size_t level) {
  if (index.terms.size() != 1) return nullptr;
  const loop::Atom& atom = index.terms.front().atom;
  if (atom.kind != loop::AtomKind::loop || atom.of != nullptr) return nullptr;
  if (one_lane_ && is_lane(atom)) return nullptr;
  const WasmValue& number = loops_[atom.id];
  for (InductionLoop& induction : inductions_)
    if (induction.level == level && number.pieces == std::vector<Local>{induction.number})
      return &induction;
  return nullptr;
}

// Strength reduction: a local that is set in front of the loop, to the value that `push_first`
// pushes plus a multiple of the first iteration, and is incremented in every iteration.
template <class Push>
Local KernelCode::strength_reduced_sum(InductionLoop& induction, std::int64_t factor,
                                       Push push_first) {
  const Local sum = fn_.at(induction.level - 1, [&] {
    push_first();
    if (induction.first.known && induction.first.known->integer == 0)
      return fn_.pop_to_local(Type::i32);
    fn_.push(induction.first);
    fn_.i32(static_cast<std::int32_t>(factor));
    fn_.emit(Op::i32_mul);
    fn_.emit(Op::i32_add);
    return fn_.pop_to_local(Type::i32);
  });
  induction.sums.emplace_back(sum, factor * induction.step);
  return sum;
}

// A term in bytes.
Local KernelCode::scaled(const loop::Term& term, std::int64_t bytes, std::size_t level) {
  loop::Index only;
  only.terms.push_back(term);
  FunctionBuilder::Name name{"term", {bytes}};
  flatten(only, name.second);
  return fn_.once(level, name, [&] {
    push_atom(term.atom);
    const std::int64_t factor = term.factor * bytes;
    if (factor != 1) {
      fn_.i32(static_cast<std::int32_t>(factor));
      fn_.emit(Op::i32_mul);
    }
    return fn_.pop_to_local(Type::i32);
  });
}

void KernelCode::push_atom(const loop::Atom& atom) {
  if (atom.of != nullptr) return push_quotient(atom);
  if (atom.kind == loop::AtomKind::value) {
    fn_.push_lane(values_[atom.id], one_lane_.value_or(0));
    return fn_.emit(Op::i32_wrap_i64);
  }
  fn_.push(loops_[atom.id]);
  if (!is_lane(atom) || one_lane_.value_or(0) == 0) return;
  fn_.i32(*one_lane_);
  fn_.emit(Op::i32_add);
}

// Floor division, or its remainder.
void KernelCode::push_quotient(const loop::Atom& atom) {
  const auto range = ranges_.of(*atom.of);
  if (range && range->within(0, kIndexCodeMaxI32) && atom.by <= kIndexCodeMaxI32) {
    fn_.push(index(*atom.of));
    fn_.i32(atom.by);
    return fn_.emit(atom.kind == loop::AtomKind::quotient ? Op::i32_div_u : Op::i32_rem_u);
  }
  push_wide(atom);
  fn_.emit(Op::i32_wrap_i64);
}

// In i64, for any range.
void KernelCode::push_wide(const loop::Index& index) {
  fn_.emit(Op::i64_const, static_cast<std::uint64_t>(index.constant));
  for (const loop::Term& term : index.terms) {
    push_wide(term.atom);
    fn_.emit(Op::i64_const, static_cast<std::uint64_t>(term.factor));
    fn_.emit(Op::i64_mul);
    fn_.emit(Op::i64_add);
  }
}

void KernelCode::push_wide(const loop::Atom& atom) {
  if (atom.kind == loop::AtomKind::value)
    return fn_.push_lane(values_[atom.id], one_lane_.value_or(0));
  if (atom.kind == loop::AtomKind::loop) {
    push_atom(atom);
    return fn_.emit(Op::i64_extend_i32_s);
  }
  const auto by = static_cast<std::uint64_t>(atom.by);
  push_wide(*atom.of);
  const Local of = fn_.pop_to_local(Type::i64);
  fn_.get(of);
  fn_.emit(Op::i64_const, by);
  fn_.emit(Op::i64_rem_s);
  const Local left = fn_.pop_to_local(Type::i64);
  const auto below = [&] {  // 1 where the remainder is negative, as i64
    fn_.get(left);
    fn_.emit(Op::i64_const, 0);
    fn_.emit(Op::i64_lt_s);
    fn_.emit(Op::i64_extend_i32_u);
  };
  if (atom.kind == loop::AtomKind::quotient) {
    fn_.get(of);
    fn_.emit(Op::i64_const, by);
    fn_.emit(Op::i64_div_s);
    below();
    return fn_.emit(Op::i64_sub);
  }
  fn_.get(left);
  below();
  fn_.emit(Op::i64_const, by);
  fn_.emit(Op::i64_mul);
  fn_.emit(Op::i64_add);
}

WasmValue KernelCode::whole_index(const loop::Index& index) {
  if (!fits_i32(index)) {
    push_wide(index);
    return fn_.pop_value(DType::i64);
  }
  return convert_code(fn_, this->index(index), DType::i64);
}

WasmValue KernelCode::narrow_index(const loop::Index& index) {
  return lane_ && varies(index) ? in_steps(index, DType::i32) : this->index(index);
}

WasmValue KernelCode::index_in_lanes(const loop::Index& index) {
  return varies(index) ? in_steps(index, DType::i64) : whole_index(index);
}

// A vector of the index in all lanes: base plus steps if the stride is constant, else lane by lane.
WasmValue KernelCode::in_steps(const loop::Index& index, DType type) {
  const bool wide = type == DType::i64;
  const auto one = [&] { return wide ? whole_index(index) : this->index(index); };
  const auto step = step_of_lanes(index);
  if (!step)
    return fn_.each_lane(type, lane_->width,
                         [&](std::int64_t lane) { for_one_lane(lane, [&] { fn_.push(one()); }); });
  const WasmValue first = one();
  return fn_.vectors(type, lane_->width, [&](std::size_t piece) {
    fn_.push(first, piece);
    push_steps(*step, piece, wide);
    fn_.emit(wide ? Op::i64x2_add : Op::i32x4_add);
  });
}

// Pushes the vector of multiples of a step, for one vector of lanes.
void KernelCode::push_steps(std::int64_t step, std::size_t piece, bool wide) {
  const auto times = [&](std::size_t lane) {
    return static_cast<std::uint64_t>(step * static_cast<std::int64_t>(lane));
  };
  if (wide) return fn_.v128(times(2 * piece), times(2 * piece + 1));
  const auto half = [&](std::size_t lane) {
    return (times(lane) & 0xffffffff) | (times(lane + 1) << 32);
  };
  fn_.v128(half(4 * piece), half(4 * piece + 2));
}

}  // namespace recut::wasm
