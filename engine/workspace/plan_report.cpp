#include "engine/workspace/plan_report.h"

namespace recut {

const char* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::saved:
      return "saved";
    case MemoryKind::recomputed:
      return "recomputed";
    case MemoryKind::result:
      return "result or gradient";
    case MemoryKind::temporary:
      return "temporary";
  }
  return "";
}

}  // namespace recut
