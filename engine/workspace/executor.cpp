#include "engine/workspace/executor.h"

namespace recut {

OutputAgreement::OutputAgreement(std::span<const OutputComparison> compared)
    : outputs(compared.size()), max_relative_error(recut::max_relative_error(compared)) {
  for (const OutputComparison& output : compared) {
    by_rounding += output.is_rounding() ? 1 : 0;
    if (!output.ok() && problem.empty())
      problem =
          (output.gradient ? "gradient of " : "") + output.name + ": " + output.comparison.problem;
  }
}

ProgramOptions KernelLibrary::options() const {
  ProgramOptions options;
  options.library = !name.empty();
  options.library_takes = takes;
  options.lower = lower;
  return options;
}

}  // namespace recut
