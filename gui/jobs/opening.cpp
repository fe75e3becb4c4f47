#include "gui/jobs/opening.h"

#include "engine/workspace/sharded_document.h"

namespace recut::gui {

// The default strategy plans call by call, which isn't for the fused model.
PlanningRequest plain_step(const PlanSettings& plan_settings) {
  PlanningRequest request;
  request.strategy = plan_settings.cost_model == "fused" ? "peak" : "default";
  request.device = plan_settings.device;
  request.cost_model = plan_settings.cost_model;
  request.limits.effort = plan_settings.effort;
  return request;
}

Opening::Opening(Backend& backend, const std::string& path,
                 std::shared_ptr<const std::string> bytes, PlanSettings plan_settings)
    : backend_(backend), path_(path) {
  opened_.plan_settings = std::move(plan_settings);
  opened_.bytes = std::move(bytes);
}

// True if there is more to do with the opener that it makes.
bool Opening::begin() {
  begun_ = true;
  auto options = options_of(opened_.plan_settings.transforms);
  if (!options) {
    faults_ = options.diagnostics();
    return false;
  }
  auto model =
      backend_.read_model(path_, *opened_.bytes, opened_.plan_settings.transforms.dimensions);
  if (model && !*model) {
    faults_ = model->diagnostics();
    return false;
  }
  if (!model) {
    opener_.emplace(*opened_.bytes, path_, std::move(*options));
    return true;
  }
  opener_.emplace("", path_, std::move(*options));
  return opener_->begin_passes(std::move(**model));
}

bool Opening::step() {
  if (!begun_) {
    if (!begin() && opener_) take_document();
  } else if (opener_) {
    if (!opener_->step()) take_document();
  } else if (whole_ && !module_) {
    place();
  } else if (whole_ && !sharded_) {
    shard();
  } else if (whole_) {
    take_rank();
  } else if (!opened_.basis) {
    find_basis();
  } else {
    plan_start();
  }
  return faults_.empty() && !opened_.start;
}

void Opening::take_document() {
  auto document = opener_->take();
  opener_.reset();
  if (!document) {
    faults_ = document.diagnostics();
    return;
  }
  auto& taken = opened_.plan_settings.transforms.mesh ? whole_ : opened_.document;
  taken = std::make_shared<const Document>(std::move(*document));
}

void Opening::place() {
  auto module = place_on_mesh(whole_->graph(), request_of(*opened_.plan_settings.transforms.mesh));
  if (module)
    module_.emplace(std::move(*module));
  else
    faults_ = module.diagnostics();
}

void Opening::shard() {
  auto sharded = mesh::shard(*module_);
  if (sharded)
    sharded_ = std::move(*sharded);
  else
    faults_ = sharded.diagnostics();
}

// Rank 0 has the largest part of every value (spmd_graph.h).
void Opening::take_rank() {
  auto rank = shard_document(*whole_, *module_, *sharded_, 0, path_);
  if (!rank) {
    faults_ = rank.diagnostics();
    return;
  }
  opened_.document = std::make_shared<const Document>(std::move(*rank));
  opened_.mesh = mesh_view_of(*opened_.plan_settings.transforms.mesh, whole_, *module_, *sharded_,
                              opened_.document->graph());
  sharded_.reset();
  module_.reset();
  whole_.reset();
}

void Opening::find_basis() {
  auto basis =
      plan_basis(opened_.document, opened_.plan_settings.device, opened_.plan_settings.cost_model);
  if (basis)
    opened_.basis = std::make_shared<const PlanBasis>(std::move(*basis));
  else
    faults_ = basis.diagnostics();
}

void Opening::plan_start() {
  auto start = make_plan_view(*opened_.basis, plain_step(opened_.plan_settings));
  if (start)
    opened_.start = std::move(*start);
  else
    faults_ = start.diagnostics();
}

Result<Opening::Opened> Opening::take() {
  if (!faults_.empty()) return faults_;
  return std::move(opened_);
}

}  // namespace recut::gui
