#include "gui/app/meshes_view.h"

#include <fmt/core.h>

#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/jobs/worker_requests.h"

namespace recut::gui {
namespace {

std::int64_t input_bytes(const DocumentView& document) {
  if (document.mesh) return document.mesh->input_bytes();
  const Graph& graph = document.graph();
  std::int64_t sum = 0;
  for (const NodeId id : graph.order())
    if (graph.op(id).is(kInput)) sum += byte_size(graph.type(id));
  return sum;
}

}  // namespace

std::string mesh_list(const App& app) {
  return app.settings.text("mesh.list", std::string(kMeshLists[0]));
}

MeshesView& meshes_view(DocumentView& document) {
  return memory_of<MeshesView>(document.memories, kMeshesMemory);
}

MeshesKey meshes_key(const DocumentView& document, std::int64_t devices) {
  MeshesKey key{devices, std::nullopt, document.plan_settings};
  if (const std::int64_t budget = document.plan_settings.budget_bytes; budget > 0)
    key.memory_bytes = budget + input_bytes(document);
  key.plan_settings.budget_bytes = 0;
  key.plan_settings.overrides = {};  // they name calls of one graph
  key.plan_settings.transforms.mesh.reset();
  return key;
}

void start_meshes(App& app, DocumentView& document, std::int64_t devices) {
  MeshesView& view = meshes_view(document);
  app.jobs.cancel(view.job);
  view.faults.clear();
  view.devices = devices;
  const MeshesKey key = meshes_key(document, devices);
  MeshComparisonRequest request;
  request.devices = devices;
  request.memory_bytes = key.memory_bytes;
  request.planning = request_of(key.plan_settings);
  const auto take = [&app, serial = document.serial, key](JobControl& control,
                                                          Result<MeshComparison> compared) {
    control.post([&app, serial, key, compared = std::move(compared)] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      MeshesView& view = meshes_view(*document);
      if (compared)
        view.found = std::make_shared<const ComparedMeshes>(ComparedMeshes{key, *compared});
      else
        view.faults = compared.diagnostics();
    });
  };
  const auto whole = document.mesh ? document.mesh->whole : document.document;
  view.job = app.jobs.start(comparing_job(fmt::format("Meshes of {}", document.title),
                                          helper_file(document), whole, request, take));
}

}  // namespace recut::gui
