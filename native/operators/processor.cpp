#include "native/operators/processor.h"

#include <algorithm>

namespace recut::operators {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kLevels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
constexpr std::size_t kUsual = 2;

// The highest level of this machine. The features named are those of a level that no processor has
// without its other ones.
std::size_t own_level() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return 0;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2"))
    return 1;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl"))
    return 2;
  return 3;
}
#else
constexpr std::string_view kLevels[] = {"generic"};
constexpr std::size_t kUsual = 0;

std::size_t own_level() { return 0; }
#endif

}  // namespace

std::span<const std::string_view> processor_levels() { return kLevels; }
std::string_view default_processor() { return kLevels[kUsual]; }

bool runs_here(std::string_view processor) {
  const auto* const level = std::find(std::begin(kLevels), std::end(kLevels), processor);
  return level != std::end(kLevels) &&
         static_cast<std::size_t>(level - std::begin(kLevels)) <= own_level();
}

}  // namespace recut::operators
