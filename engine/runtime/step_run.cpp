#include "engine/runtime/step_run.h"

#include <algorithm>

namespace recut {

std::vector<Tensor> StepRun::outputs() const {
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < program().outputs.size(); ++i) outputs.push_back(output(i));
  return outputs;
}

std::int64_t end_of_written(std::span<const std::byte> memory, std::byte paint) {
  std::size_t end = memory.size();
  while (end > 0 && memory[end - 1] == paint) --end;
  return static_cast<std::int64_t>(end);
}

}  // namespace recut
