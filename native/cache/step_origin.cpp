#include "native/cache/step_origin.h"

namespace recut::cache {

std::string_view name_of(StepOrigin origin) {
  switch (origin) {
    case StepOrigin::compiled:
      return "nothing";
    case StepOrigin::kernels_found:
      return "kernels";
    case StepOrigin::found:
      return "step";
  }
  return "";
}

}  // namespace recut::cache
