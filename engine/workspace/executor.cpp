#include "engine/workspace/executor.h"

namespace recut {

OutputAgreement::OutputAgreement(const Accuracy& accuracy)
    : outputs(accuracy.outputs.size()),
      max_relative_error(recut::max_relative_error(accuracy.outputs)),
      no_f64(accuracy.no_f64) {
  for (const OutputComparison& output : accuracy.outputs) {
    if (output.ill_conditioned) ill_conditioned.push_back(accuracy_text(output));
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
