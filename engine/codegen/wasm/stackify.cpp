// Stackification, as LLVM's WebAssemblyRegStackify does it: the builder keeps every value in a
// local, and this removes the locals whose value can stay on the operand stack.
//
//   local.set a; local.get a              =>   (nothing), or local.tee a if a is read again
//   local.get a; local.set b ... get b    =>   ... get a    (copy propagation)
//   set a ... get a; set b                =>   set b ...    (a is used once)
//
// All three look only within one straight line of instructions, up to the next block boundary, so
// no data flow analysis is needed, and the order of evaluation stays. Near linear in the
// instructions.
#include "engine/codegen/wasm/stackify.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace recut::wasm {
namespace {

constexpr std::size_t kStackifyNever = std::numeric_limits<std::size_t>::max();

bool is_get(const Instruction& one) { return one.op == Op::local_get; }
bool is_set(const Instruction& one) { return one.op == Op::local_set; }
bool is_constant(const Instruction& one) {
  return one.op == Op::i32_const || one.op == Op::i64_const || one.op == Op::f32_const ||
         one.op == Op::f64_const || one.op == Op::v128_const;
}
bool is_control(const Instruction& one) {
  return one.op == Op::loop || one.op == Op::if_ || one.op == Op::else_ || one.op == Op::end ||
         one.op == Op::br_if;
}

bool commutes(Op op) {
  constexpr Op kOps[] = {Op::i32_add,   Op::i32_mul,   Op::i64_add,   Op::i64_mul,
                         Op::f32_add,   Op::f32_mul,   Op::f64_add,   Op::f64_mul,
                         Op::i32x4_add, Op::i32x4_mul, Op::i64x2_add, Op::i64x2_mul,
                         Op::f32x4_add, Op::f32x4_mul, Op::f64x2_add, Op::f64x2_mul};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

class Stackifier {
 public:
  Stackifier(std::vector<Instruction> body, std::size_t locals)
      : body_(std::move(body)), gets_(locals), sets_(locals), dropped_(body_.size()) {
    for (const Instruction& one : body_) {
      if (is_get(one)) ++gets_[one.low];
      if (is_set(one)) ++sets_[one.low];
    }
  }

  std::vector<Instruction> run() {
    forward_sets();
    propagate_copies();
    return stackified();
  }

 private:
  bool has_one_use(std::uint64_t local) const { return gets_[local] == 1 && sets_[local] == 1; }
  bool is_copy(std::size_t at) const {
    return at + 1 < body_.size() && is_get(body_[at]) && is_set(body_[at + 1]) &&
           body_[at].low != body_[at + 1].low;
  }
  void drop_copy(std::size_t at) {
    dropped_[at] = dropped_[at + 1] = 1;
    --gets_[body_[at].low];
    --sets_[body_[at + 1].low];
  }

  // set %a ... get %a, set %b  =>  set %b ..., if nothing in between uses %b.
  void forward_sets() {
    struct Behind {
      std::size_t use = 0, set = 0;  // the last of each; 0: none
    };
    std::vector<Behind> behind(gets_.size());
    std::size_t line = 0;  // the start of the current straight line
    for (std::size_t at = 0; at < body_.size(); ++at) {
      if (is_control(body_[at])) line = at + 1;
      if (!is_get(body_[at]) && !is_set(body_[at])) continue;
      if (is_copy(at) && has_one_use(body_[at].low)) {
        const std::uint64_t from = body_[at].low, to = body_[at + 1].low;
        const std::size_t made = behind[from].set;
        if (made > line && behind[to].use < made) {
          body_[made - 1].low = to;
          drop_copy(at);
          --sets_[from];
          ++sets_[to];
          behind[to] = {made, made};
          ++at;
          continue;
        }
      }
      behind[body_[at].low].use = at + 1;
      if (is_set(body_[at])) behind[body_[at].low].set = at + 1;
    }
  }

  // get %a, set %b ... get %b  =>  ... get %a, if %a isn't set before the last of them.
  void propagate_copies() {
    std::vector<std::size_t> next_set(gets_.size(), kStackifyNever), last_get(gets_.size(), 0),
        known_gets(gets_.size(), 0);  // in the rest of the line
    std::vector<std::uint64_t> seen;
    for (std::size_t at = body_.size(); at-- > 0;) {
      if (dropped_[at] != 0) continue;
      if (is_control(body_[at])) {
        for (const std::uint64_t local : seen)
          next_set[local] = kStackifyNever, last_get[local] = 0, known_gets[local] = 0;
        seen.clear();
        continue;
      }
      if (!is_get(body_[at]) && !is_set(body_[at])) continue;
      const std::uint64_t local = body_[at].low;
      seen.push_back(local);
      if (is_get(body_[at])) {
        ++known_gets[local];
        last_get[local] = std::max(last_get[local], at);
        continue;
      }
      const bool all_here = sets_[local] == 1 && known_gets[local] == gets_[local];
      if (at > 0 && dropped_[at - 1] == 0 && is_copy(at - 1) && all_here &&
          last_get[local] < next_set[body_[at - 1].low])
        replace_reads(at - 1, last_get[local]);
      next_set[local] = at;
    }
  }

  void replace_reads(std::size_t copy, std::size_t last) {
    const std::uint64_t from = body_[copy].low, to = body_[copy + 1].low;
    for (std::size_t at = copy + 2; at <= last; ++at)
      if (is_get(body_[at]) && body_[at].low == to && dropped_[at] == 0) body_[at].low = from;
    gets_[from] += gets_[to];
    gets_[to] = 0;
    drop_copy(copy);
  }

  std::vector<Instruction> stackified() {
    std::vector<Instruction> out;
    out.reserve(body_.size());
    for (std::size_t at = 0; at < body_.size(); ++at) {
      if (dropped_[at] != 0) continue;
      const Instruction& one = body_[at];
      if (is_set(one) && gets_[one.low] == 0 && !out.empty() &&
          (is_constant(out.back()) || is_get(out.back())))
        out.pop_back();
      else if (!fold_into_tee(out, one) && !fold_commuted(out, one))
        out.push_back(one);
    }
    return out;
  }

  // set %a, get %a  =>  nothing, or tee %a.
  bool fold_into_tee(std::vector<Instruction>& out, const Instruction& one) const {
    if (!is_get(one) || out.empty() || !is_set(out.back()) || out.back().low != one.low)
      return false;
    if (has_one_use(one.low))
      out.pop_back();
    else
      out.back().op = Op::local_tee;
    return true;
  }

  // set %a, get %b, get %a, add  =>  get %b, add.
  bool fold_commuted(std::vector<Instruction>& out, const Instruction& one) const {
    const std::size_t end = out.size();
    if (end < 3 || !commutes(one.op) || !is_get(out[end - 1]) || !is_set(out[end - 3]))
      return false;
    if (!is_get(out[end - 2]) && !is_constant(out[end - 2])) return false;
    const std::uint64_t local = out[end - 1].low;
    if (out[end - 3].low != local || !has_one_use(local)) return false;
    out.erase(out.end() - 3);
    out.back() = one;
    return true;
  }

  std::vector<Instruction> body_;
  std::vector<std::size_t> gets_, sets_;  // by local
  std::vector<std::uint8_t> dropped_;     // by instruction: 1 if it is removed
};

}  // namespace

std::vector<Instruction> stackify(std::vector<Instruction> body, std::size_t locals) {
  return Stackifier(std::move(body), locals).run();
}

}  // namespace recut::wasm
