#include "engine/mesh/placement.h"

#include <fmt/format.h>

namespace recut::mesh {

const char* title(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return "sum";
    case Reduction::avg:
      return "avg";
    case Reduction::product:
      return "product";
    case Reduction::min:
      return "min";
    case Reduction::max:
      return "max";
  }
  return "";
}

std::string format(Placement placement) {
  if (placement.is_shard()) return fmt::format("S({})", placement.dim);
  if (placement.is_partial()) return fmt::format("P({})", title(placement.reduction));
  return "R";
}

}  // namespace recut::mesh
