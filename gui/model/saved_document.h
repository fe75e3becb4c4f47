// The saved state of an open document: one small JSON value, a part of the workspace file and of
// links. Reading skips damaged parts, and knows no graph: unknown node names are found when the
// document is open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/document_view.h"
#include "gui/model/loose_json.h"

namespace recut::gui {

// The view of the graph: the memory "saved-view" of a document, which the canvas keeps and begins
// from.
struct SavedView {
  struct Camera {
    double x = 0, y = 0, zoom = 1;  // as canvas/camera.h has them
    bool operator==(const Camera& o) const { return x == o.x && y == o.y && zoom == o.zoom; }
  };
  std::optional<Camera> camera;                    // none: as at first
  std::optional<std::vector<std::uint64_t>> open;  // groups by their keys; none: as at first
  bool operator==(const SavedView& o) const { return camera == o.camera && open == o.open; }
};

inline constexpr std::string_view kSavedView = "saved-view";

struct SavedDocument {
  std::string path;
  PlanSettings plan_settings;
  std::string selected;             // by name
  std::optional<std::size_t> pass;  // that is shown; none: the last
  SavedView view;
};

Json json_of(const SavedDocument& document);
SavedDocument document_of(const Json& json);

// Writes a saved document as a line of text; a text that is no JSON object reads as a document
// without a path.
std::string write_document(const SavedDocument& document);
SavedDocument read_document(std::string_view text);

SavedDocument saved_of(const DocumentView& document);
// Gives a document that was just added its saved state.
void restore(DocumentView& document, const SavedDocument& saved);

}  // namespace recut::gui
