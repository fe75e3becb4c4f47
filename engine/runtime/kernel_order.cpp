#include "engine/runtime/kernel_order.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/codegen/loop/printer.h"

namespace recut {

std::vector<loop::Kernel> order_kernels(Program& program) {
  std::vector<std::pair<std::string, std::uint32_t>> order;
  for (std::uint32_t k = 0; k < program.kernels.size(); ++k)
    order.emplace_back(print(without_names(program.kernels[k])), k);
  std::sort(order.begin(), order.end());
  std::vector<loop::Kernel> kernels, unnamed;
  std::vector<std::uint32_t> moved(order.size());
  for (const auto& [text, k] : order) {
    moved[k] = static_cast<std::uint32_t>(kernels.size());
    kernels.push_back(std::move(program.kernels[k]));
    unnamed.push_back(without_names(kernels.back()));
  }
  program.kernels = std::move(kernels);
  for (Launch& launch : program.launches)
    if (!launch.library) launch.kernel = moved[launch.kernel];
  return unnamed;
}

}  // namespace recut
