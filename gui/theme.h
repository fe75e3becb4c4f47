// The colours that everything draws with. Colour says role; shape says it again.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/workspace/plan_report.h"

namespace recut::gui {

using Colour = std::uint32_t;  // 0xrrggbb

struct Theme {
  Colour background, panel, raised, line;
  Colour text, dim, faint;
  Colour saved, recomputed, freed, result;
  Colour selection, conflict;
};

extern const Theme kDark;
extern const Theme kLight;

Colour colour_of(const Theme& theme, MemoryKind kind);
std::string css(Colour colour);  // "#f0b429"

}  // namespace recut::gui
