#include "gui/app/opening.h"

namespace recut::gui {

// The default strategy plans call by call, which isn't for the fused model.
PlanningRequest plain_step(const Wishes& wishes) {
  PlanningRequest request;
  request.strategy = wishes.cost_model == "fused" ? "peak" : "default";
  request.device = wishes.device;
  request.cost_model = wishes.cost_model;
  return request;
}

Opening::Opening(const std::string& path, std::shared_ptr<const std::string> bytes, Wishes wishes)
    : wishes_(std::move(wishes)) {
  opener_.emplace(*bytes, path, OpenOptions{});
  opened_.bytes = std::move(bytes);
}

bool Opening::step() {
  if (opener_) {
    if (!opener_->step()) take_document();
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
  if (document)
    opened_.document = std::make_shared<const Document>(std::move(*document));
  else
    faults_ = document.diagnostics();
}

void Opening::find_basis() {
  auto basis = plan_basis(opened_.document, wishes_.device, wishes_.cost_model);
  if (basis)
    opened_.basis = std::make_shared<const PlanBasis>(std::move(*basis));
  else
    faults_ = basis.diagnostics();
}

void Opening::plan_start() {
  auto start = make_plan_view(*opened_.basis, plain_step(wishes_));
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
