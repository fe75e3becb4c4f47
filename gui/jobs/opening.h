// Opens a file as the window needs it, in steps of some milliseconds: the document, the common
// basis of its plans, and the baseline step.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/mesh/spmd/sharded_graph.h"
#include "engine/workspace/open_document.h"
#include "gui/backend/backend.h"
#include "gui/model/document_view.h"

namespace recut::gui {

// The planning request of a document's first plan, which recomputes nothing.
PlanningRequest plain_step(const PlanSettings& plan_settings);

class Opening {
 public:
  struct Opened {
    PlanSettings plan_settings;  // that it was opened for
    std::shared_ptr<const std::string> bytes;
    std::shared_ptr<const Document> document;
    SharedMeshView mesh;  // that the document is a rank of; null: of none
    std::shared_ptr<const PlanBasis> basis;
    SharedPlanView start;
  };

  // `backend` reads files that only its platform can read; it outlives the opening.
  Opening(Backend& backend, const std::string& path, std::shared_ptr<const std::string> bytes,
          PlanSettings plan_settings);

  bool step();            // true where there is more to do
  Result<Opened> take();  // once there is none

 private:
  bool begin();
  void take_document();
  void place();
  void shard();
  void take_rank();
  void find_basis();
  void plan_start();

  Backend& backend_;
  const std::string path_;
  bool begun_ = false;
  std::optional<DocumentOpener> opener_;  // until there is a document
  // Of a document over a mesh, until there is that of a rank.
  std::shared_ptr<const Document> whole_;
  std::optional<mesh::DistributedModule> module_;
  std::optional<mesh::ShardedGraph> sharded_;
  Opened opened_;
  Diagnostics faults_;
};

}  // namespace recut::gui
