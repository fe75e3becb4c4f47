// From a scene to its layout: the inner layouts of groups, boxes, edges and routes, in this order.
#pragma once

#include <optional>

#include "gui/layout/graph_layout.h"
#include "gui/layout/scene.h"

namespace recut::gui::layout {

// Lays the scene out; nullopt if options.stop returned true. `cache` is the caller's, one a thread.
std::optional<GraphLayout> lay_out(const Scene& scene, const Expansion& expansion,
                                   LayoutCache& cache, const LayoutOptions& options = {});

}  // namespace recut::gui::layout
