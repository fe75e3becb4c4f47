#include "engine/runtime/kernel_order.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/codegen/loop/printer.h"

namespace recut {
namespace {

// Sorts kernels by their texts without names. Returns the new position of each.
template <class Kernel>
std::vector<std::uint32_t> sort_by_text(std::vector<Kernel>& kernels) {
  std::vector<std::pair<std::string, std::uint32_t>> order;
  for (std::uint32_t k = 0; k < kernels.size(); ++k)
    order.emplace_back(print(strip_names(kernels[k])), k);
  std::sort(order.begin(), order.end());
  std::vector<Kernel> sorted;
  std::vector<std::uint32_t> moved(order.size());
  for (const auto& [text, k] : order) {
    moved[k] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(kernels[k]));
  }
  kernels = std::move(sorted);
  return moved;
}

}  // namespace

void order_kernels(Program& program) {
  const std::vector<std::uint32_t> loops = sort_by_text(program.kernels);
  const std::vector<std::uint32_t> library = sort_by_text(program.library);
  for (Launch& launch : program.launches)
    launch.kernel = (launch.library ? library : loops)[launch.kernel];
}

}  // namespace recut
