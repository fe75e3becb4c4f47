// Fills documents in: opens them, plans for their settings and draws their curve, all of it as
// jobs. Known plans are shown in the same frame; better ones come when they are found.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gui/backend/backend.h"
#include "gui/backend/jobs.h"
#include "gui/jobs/opening.h"
#include "gui/model/document_view.h"

namespace recut::gui {

class Planner {
 public:
  // `find`: a document by its serial number, null once it is closed. `say`: shows a message to the
  // user. `choose_graph`: a file of several graphs was opened, and none was named.
  struct Callbacks {
    std::function<DocumentView*(int serial)> find;
    std::function<void(const std::string& text, bool fault)> say;
    std::function<void(const DocumentView& document)> choose_graph;
  };
  Planner(Backend& backend, Jobs& jobs, Callbacks callbacks)
      : backend_(backend), jobs_(jobs), callbacks_(std::move(callbacks)) {}

  // Reads the file (or document.bytes where they are there), runs the passes, plans without
  // recomputation; then the document is ready and the curve begins. A file that its user has to
  // give is waited for.
  void open(DocumentView& document);

  // Called after a command changed the plan settings. Shows the plan made for them if there is one,
  // else the best known plan, now, and starts jobs for the rest. With other transform settings, the
  // shown plan stays until the new graph and its first plan are there.
  void plan_settings_changed(DocumentView& document, const PlanSettings& before);

  // Plans the whole curve, again if there is one already.
  void sweep(DocumentView& document);

  // Once a tick: starts the plan for a budget that has rested for a moment; and once all else is
  // done, makes the schedule of the shown plan, whose arena is shown beside the peak.
  void tick(DocumentView& document);

  // True if the schedule of the shown plan must be requested: it isn't there, nor at work with its
  // user waiting, nor known to be impossible.
  bool wants_schedule(const DocumentView& document) const;
  // Starts the scheduling job for a panel that shows kernels.
  void schedule(DocumentView& document);

 private:
  using OnDocument = std::function<void(DocumentView&)>;
  OnDocument known_plan(SharedPlanView plan) const;
  void post(JobControl& control, int serial, OnDocument message) const;
  bool can_open(const DocumentView& document) const;
  void start_opening(DocumentView& document, std::string title);
  void post_opened(JobControl& control, int serial, Opening::Opened opened);
  void post_fault(JobControl& control, int serial, OpeningFault fault) const;
  void take_opened(DocumentView& document, Opening::Opened opened);
  void take_fault(DocumentView& document, OpeningFault fault) const;
  void transform(DocumentView& document);
  void take_transformed(DocumentView& document, Opening::Opened opened);
  void new_problem(DocumentView& document);
  void show_best(DocumentView& document) const;
  void plan(DocumentView& document);
  void guess_again(DocumentView& document, const PlanView& plan);
  void view_points(DocumentView& document, std::shared_ptr<const Curve> curve);
  std::shared_ptr<const Curve> prepared(const DocumentView& document) const;
  void give_reasons(DocumentView& document);
  void take_change(DocumentView& document, const std::shared_ptr<const PlanChange>& change) const;
  void weigh(DocumentView& document);
  void schedule_at_leisure(DocumentView& document);
  void start_schedule(DocumentView& document, bool awaited);
  void opened(DocumentView& document);
  void begin_planning(DocumentView& document);
  void show_pending(DocumentView& document) const;

  Backend& backend_;
  Jobs& jobs_;
  Callbacks callbacks_;
};

}  // namespace recut::gui
