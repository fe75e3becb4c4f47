// Commands that spread the document's graph over a device mesh.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "engine/support/text.h"
#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/meshes_view.h"

namespace recut::gui {
namespace {

bool has_graph(const App& app) {
  return app.document() != nullptr && !app.document()->path.empty();
}
bool has_mesh(const App& app) {
  return has_graph(app) && app.document()->plan_settings.transforms.mesh.has_value();
}
bool compares_meshes(const App& app) {
  if (!has_plan(app)) return false;
  const auto* view = find_memory<MeshesView>(app.document()->memories, kMeshesMemory);
  return view != nullptr && app.jobs.is_alive(view->job);
}

Result<Done> set_mesh(App& app, std::string_view argument) {
  auto mesh = read_mesh(argument);
  if (!mesh) return mesh.diagnostics();
  app.document()->plan_settings.transforms.mesh = std::move(*mesh);
  return Done{};
}

Result<Done> remove_mesh(App& app, std::string_view) {
  app.document()->plan_settings.transforms.mesh.reset();
  return Done{};
}

// Takes a compared mesh. A device's memory stays: the budget becomes the bytes that its inputs leave.
Result<Done> take_mesh(App& app, std::string_view argument) {
  auto mesh = read_mesh(argument);
  if (!mesh) return mesh.diagnostics();
  DocumentView& document = *app.document();
  if (const auto found = meshes_view(document).found; found && found->comparison.memory_bytes)
    for (const MeshRow& row : found->comparison.rows) {
      const std::int64_t left = *found->comparison.memory_bytes - row.input_bytes;
      if (row.mesh == mesh->axes && row.preset == mesh->preset && left > 0)
        document.plan_settings.budget_bytes = left;
    }
  document.plan_settings.transforms.mesh = std::move(*mesh);
  return Done{};
}

// Without a number, for as many devices as before.
Result<Done> compare_devices(App& app, std::string_view argument) {
  DocumentView& document = *app.document();
  std::int64_t devices = meshes_view(document).devices;
  if (!argument.empty()) {
    const std::string digits(argument);
    char* end = nullptr;
    devices = std::strtoll(digits.c_str(), &end, 10);
    if (*end != '\0' || devices < 1 || devices > kMaxMeshRanks)
      return error(fmt::format("{} is no number of devices, expected 1 … {}", quote(argument),
                               kMaxMeshRanks));
  }
  start_meshes(app, document, devices);
  app.settings.set("mesh.list", "shapes");
  return app.run("panel.show", "mesh");
}

Result<Done> stop_comparing(App& app, std::string_view) {
  app.jobs.cancel(meshes_view(*app.document()).job);
  return Done{};
}

Result<Done> list_of_mesh(App& app, std::string_view name) {
  if (std::find(std::begin(kMeshLists), std::end(kMeshLists), name) == std::end(kMeshLists))
    return error("the mesh panel lists tensors, collectives, devices or shapes");
  app.settings.set("mesh.list", std::string(name));
  return app.run("panel.show", "mesh");
}
bool lists_of_mesh(const App& app, std::string_view name) { return mesh_list(app) == name; }

Result<Done> toggle_placements(App& app, std::string_view) {
  app.settings.set_flag("graph.placements", !app.settings.flag("graph.placements", true));
  return Done{};
}
bool shows_placements(const App& app, std::string_view) {
  return app.settings.flag("graph.placements", true);
}
bool is_spread(const App& app) { return has_plan(app) && app.document()->mesh != nullptr; }

constexpr Command kMeshRows[] = {
    {"mesh.set", "Spread the graph over a device mesh", "",
     "axes and their presets: dp=2,tp=4 dp=fsdp,tp=tp", has_graph, set_mesh},
    {"mesh.none", "No mesh: plan the whole graph on one device", "", "", has_mesh, remove_mesh},
    {"mesh.compare", "Compare the meshes of a number of devices", "", "devices: 8", has_plan,
     compare_devices},
    {"mesh.take", "", "", "a compared mesh", has_plan, take_mesh},
    {"mesh.stop", "Stop the comparison of meshes", "", "", compares_meshes, stop_comparing},
    {"mesh.list", "List of the mesh panel", "", "tensors, collectives, devices or shapes", has_plan,
     list_of_mesh, "", lists_of_mesh},
    {"mesh.placements", "Colour the graph by placements, or by the plan alone", "", "", is_spread,
     toggle_placements, "", shows_placements},
};

}  // namespace

std::span<const Command> mesh_commands() { return kMeshRows; }

}  // namespace recut::gui
