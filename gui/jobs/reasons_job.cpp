#include "gui/jobs/reasons_job.h"

#include <optional>
#include <utility>

namespace recut::gui {
namespace {

// Steps and storages that a part of the job visits: some milliseconds in a page.
constexpr std::size_t kStepsAPart = 8192;
// The reasons' share of the work; the change of the plans is the rest.
constexpr double kShareOfReasons = 0.7;

class ReasonsWork {
 public:
  ReasonsWork(SharedPlanView shown, AnsweredPlan before, AnsweredPlan answered)
      : shown_(std::move(shown)),
        before_(std::move(before)),
        answered_(std::move(answered)),
        finder_(*shown_->document, shown_->request, shown_->planned) {}

  // Runs one part of the job; true if parts are left.
  bool step() {
    if (!found_.reasons) {
      if (!finder_.step(kStepsAPart)) keep_reasons();
      return !found_.reasons || before_.plan;
    }
    if (!difference_) {
      difference_ = difference_between(before_, answered_);
      return true;
    }
    if (!users_) {
      users_.emplace(answered_.plan->graph());
      return true;
    }
    found_.change = std::make_shared<const PlanChange>(before_, answered_, std::move(*difference_),
                                                       std::move(*users_));
    return false;
  }

  double share() const {
    if (!before_.plan) return finder_.share();
    const double change = (difference_ ? 0.5 : 0) + (users_ ? 0.5 : 0);
    return kShareOfReasons * finder_.share() + (1 - kShareOfReasons) * change;
  }

  FoundReasons take() { return std::move(found_); }

 private:
  // The objects that the reasons look at live as long as they do.
  void keep_reasons() {
    found_.reasons = {finder_.take().release(),
                      [shown = shown_](const Reasons* mine) { delete mine; }};
  }

  const SharedPlanView shown_;
  const AnsweredPlan before_, answered_;
  ReasonFinder finder_;
  std::optional<PlanDifference> difference_;
  std::optional<Users> users_;
  FoundReasons found_;
};

}  // namespace

Job reasons_job(SharedPlanView shown, AnsweredPlan before, AnsweredPlan answered,
                std::function<void(JobControl&, FoundReasons)> take) {
  Job job{"Finding reasons", 0, true, true, {}};
  auto work =
      std::make_shared<ReasonsWork>(std::move(shown), std::move(before), std::move(answered));
  job.part = [work, take = std::move(take)](JobControl& control) {
    const bool more = work->step();
    control.progress(work->share(), {});
    if (!more) take(control, work->take());
    return more;
  };
  return job;
}

}  // namespace recut::gui
