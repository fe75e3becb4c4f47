#include "engine/support/address_space.h"

#ifdef __EMSCRIPTEN__
#include <emscripten/heap.h>
#endif

namespace recut {

std::optional<std::int64_t> address_space_bytes() {
#ifdef __EMSCRIPTEN__
  return static_cast<std::int64_t>(emscripten_get_heap_max());
#else
  return std::nullopt;
#endif
}

}  // namespace recut
