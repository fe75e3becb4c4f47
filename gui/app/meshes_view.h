// The meshes of a number of devices beside each other: the present budget, time and traffic of
// each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/workspace/mesh_comparison.h"
#include "gui/model/document_view.h"

namespace recut::gui {

class App;

// The settings that a comparison was made for.
struct MeshesKey {
  std::int64_t devices = 8;
  std::optional<std::int64_t> memory_bytes;  // of a device, for its inputs and the peak together
  PlanSettings plan_settings;                // without budget, overrides and mesh
  bool operator==(const MeshesKey& o) const {
    return devices == o.devices && memory_bytes == o.memory_bytes &&
           plan_settings == o.plan_settings;
  }
};

struct ComparedMeshes {
  MeshesKey key;
  MeshComparison comparison;
};

// State of the panel, kept for each document, from graph to graph.
struct MeshesView {
  JobId job = 0;
  std::int64_t devices = 8;                     // that were asked for last
  std::shared_ptr<const ComparedMeshes> found;  // the latest; null: none
  Diagnostics faults;                           // why the latest came to nothing
};

// The lists of the mesh panel; the chosen one is the setting "mesh.list".
inline constexpr std::string_view kMeshLists[] = {"tensors", "collectives", "devices", "shapes"};
std::string mesh_list(const App& app);

inline constexpr std::string_view kMeshesMemory = "meshes";
MeshesView& meshes_view(DocumentView& document);

// For the present settings: the budget, and the inputs that a device holds now.
MeshesKey meshes_key(const DocumentView& document, std::int64_t devices);

// Starts the job.
void start_meshes(App& app, DocumentView& document, std::int64_t devices);

}  // namespace recut::gui
