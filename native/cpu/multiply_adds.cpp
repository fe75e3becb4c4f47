#include "native/cpu/multiply_adds.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "engine/support/clock.h"
#include "native/cpu/jit.h"

namespace recut::cpu {
namespace {

using Rounds = void (*)(std::int64_t rounds, void* numbers);

// Enough independent chains for two units with a latency of five, and few enough that all stay in
// sixteen registers.
constexpr int kChains = 10;
constexpr std::array kVectorBytes = {16, 32, 64};
constexpr std::size_t kMaxVectorBytes = 64;
constexpr std::int64_t kRounds = 100'000;

// The loop form has no fused multiply-add, since its bits are those of a multiplication and an
// addition; so this is LLVM IR of its own. The chains read their start from memory and write their
// end to it, so that no compiler folds them.
std::string chains_of(const std::string& vector, const std::string& suffix, int vector_bytes) {
  std::string begin, phis, steps, end;
  for (int i = 0; i < kChains; ++i) {
    begin += fmt::format(
        "  %at{0} = getelementptr i8, ptr %numbers, i64 {1}\n  %x{0} = load {2}, ptr %at{0}, align "
        "4\n",
        i, i * vector_bytes, vector);
    phis += fmt::format("  %y{0} = phi {1} [ %x{0}, %entry ], [ %z{0}, %loop ]\n", i, vector);
    steps +=
        fmt::format("  %z{0} = call {1} @llvm.fmuladd.{2}({1} %y{0}, {1} %factor, {1} %summand)\n",
                    i, vector, suffix);
    end += fmt::format("  store {1} %z{0}, ptr %at{0}, align 4\n", i, vector);
  }
  return fmt::format(
      "define void @chains_{1}(i64 %rounds, ptr %numbers) #{1} {{\nentry:\n"
      "  %factor = load {0}, ptr %numbers, align 4\n"
      "  %summand = load {0}, ptr %numbers, align 4\n{2}"
      "  br label %loop\nloop:\n  %k = phi i64 [ 0, %entry ], [ %next, %loop ]\n{3}{4}"
      "  %next = add i64 %k, 1\n  %more = icmp slt i64 %next, %rounds\n"
      "  br i1 %more, label %loop, label %end\nend:\n{5}  ret void\n}}\n"
      "declare {0} @llvm.fmuladd.{6}({0}, {0}, {0})\n"
      "attributes #{1} = {{ \"min-legal-vector-width\"=\"{7}\" }}\n",
      vector, vector_bytes, begin, phis, steps, end, suffix, 8 * vector_bytes);
}

// The best rate of one vector width, in operations per second.
double best_rate(Rounds chains, double operations_a_round, const Threads& threads, double seconds) {
  const int count = threads.count();
  std::vector<std::array<std::byte, kChains * kMaxVectorBytes>> numbers(
      static_cast<std::size_t>(count));
  const auto work = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      chains(kRounds, numbers[static_cast<std::size_t>(i)].data());
  };
  double best = 0;
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point began = Clock::now();
    threads.run(count, 1, work);
    best = std::max(best, operations_a_round * count * kRounds / seconds_since(began));
  } while (seconds_since(start) < seconds);
  return best;
}

}  // namespace

Result<double> multiply_adds_per_second(DType dtype, const Threads& threads, double seconds) {
  const bool narrow = dtype == DType::f32;
  const int item = narrow ? 4 : 8;
  std::string text;
  for (const int bytes : kVectorBytes)
    text += chains_of(fmt::format("<{} x {}>", bytes / item, narrow ? "float" : "double"),
                      fmt::format("v{}f{}", bytes / item, 8 * item), bytes);
  const auto jit = Jit::compile(text);
  if (!jit) return jit.diagnostics();
  double best = 0;
  for (const int bytes : kVectorBytes) {
    const auto chains = reinterpret_cast<Rounds>(jit->find(fmt::format("chains_{}", bytes)));
    best = std::max(best, best_rate(chains, 2.0 * kChains * bytes / item, threads,
                                    seconds / static_cast<double>(kVectorBytes.size())));
  }
  return best;
}

}  // namespace recut::cpu
