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
  Colour frame;  // around a group of the graph: it has to be seen, unlike `line`
  Colour text, dim, faint;
  Colour saved, recomputed, freed, result;
  Colour selection, conflict;
  Colour differs;                // differences from the baseline
  std::array<Colour, 5> layers;  // of forward, first to last
};

extern const Theme kDark;
extern const Theme kLight;

// Mixes `over` onto `under` by `share`, 0 … 1: a tint that needs no transparency.
Colour mix(Colour under, Colour over, double share);

Colour colour_of(const Theme& theme, MemoryKind kind);
std::string css(Colour colour);  // "#f0b429"

}  // namespace recut::gui
