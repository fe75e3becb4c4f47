#include "gui/theme.h"

#include <cmath>

#include <fmt/core.h>

namespace recut::gui {

const Theme kDark = {.background = 0x12151a,
                     .panel = 0x181c22,
                     .raised = 0x20252d,
                     .line = 0x2b323c,
                     .frame = 0x616b7a,
                     .text = 0xe7eaf0,
                     .dim = 0x98a2b1,
                     .faint = 0x828d9c,
                     .saved = 0xf0b429,
                     .recomputed = 0xa78bfa,
                     .freed = 0x66717f,
                     .result = 0x58c98a,
                     .selection = 0x4cc2ff,
                     .conflict = 0xff6b6b,
                     .differs = 0xf472b6,
                     .layers = {0x3f6ea8, 0x4a90c2, 0x3fa7a3, 0x5aa873, 0x9aa84a}};

const Theme kLight = {.background = 0xf6f7f9,
                      .panel = 0xffffff,
                      .raised = 0xeef0f3,
                      .line = 0xd9dde3,
                      .frame = 0x868e9b,
                      .text = 0x1b2028,
                      .dim = 0x566170,
                      .faint = 0x626b78,
                      .saved = 0xb27a00,
                      .recomputed = 0x6d4fd6,
                      .freed = 0x8a94a1,
                      .result = 0x1f9157,
                      .selection = 0x0b7fc2,
                      .conflict = 0xd23b3b,
                      .differs = 0xc2257a,
                      .layers = {0x315a8c, 0x3a78a5, 0x318b87, 0x478c5c, 0x808c38}};

Colour mix(Colour under, Colour over, double share) {
  Colour mixed = 0;
  for (const int shift : {0, 8, 16}) {
    const double a = (under >> shift) & 0xff, b = (over >> shift) & 0xff;
    mixed |= static_cast<Colour>(std::lround(a + (b - a) * share)) << shift;
  }
  return mixed;
}

Colour colour_of(const Theme& theme, MemoryKind kind) {
  switch (kind) {
    case MemoryKind::saved:
      return theme.saved;
    case MemoryKind::recomputed:
      return theme.recomputed;
    case MemoryKind::result:
      return theme.result;
    case MemoryKind::temporary:
      return theme.freed;
  }
  return theme.text;
}

std::string css(Colour colour) { return fmt::format("#{:06x}", colour); }

}  // namespace recut::gui
