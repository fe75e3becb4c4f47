// recut_emit: the code of a plan's step in a target.
#include <string>

#include "engine/workspace/plan_text.h"
#include "engine/workspace/scheduling.h"
#include "engine/workspace/target_code.h"
#include "native/c_api/attempt.h"
#include "native/c_api/handles.h"
#include "native/c_api/options.h"
#include "native/c_api/watcher.h"

namespace {

using recut::Document;
using recut::ScheduledPlan;
using recut::c_api::attempt;
using recut::c_api::fail;
using recut::c_api::give_text;
using recut::c_api::Watcher;

std::string refusal_of(const ScheduledPlan& scheduled) {
  return scheduled.planned.report.holds() ? arena_over_budget_text(scheduled)
                                          : recut::infeasible_budget_text(scheduled.planned.report);
}

recut_status emit_step(const Document& document, const char* options_json, Watcher& watcher,
                       char** json, char** error) {
  auto options = recut::c_api::read_emit_options(options_json);
  if (!options) return fail(RECUT_BAD_OPTION, options.diagnostics(), error);
  if (const recut_status status = recut::c_api::check_plannable(document, error);
      status != RECUT_OK)
    return status;
  if (watcher.has_cancelled())
    options->planning.limits.stop = [&watcher] { return watcher.should_stop(); };
  watcher.report_progress(0, "planning and scheduling");
  const auto scheduled = schedule_document(document, {options->planning, {}});
  if (watcher.stop_now()) return fail(RECUT_CANCELLED, "cancelled", error);
  if (!scheduled) return fail(RECUT_BAD_OPTION, scheduled.diagnostics(), error);
  if (!scheduled->holds()) return fail(RECUT_NOT_HELD, refusal_of(*scheduled), error);
  const recut::Target& target = *recut::find_target(options->target);
  const auto program = program_for(target, document, *scheduled);
  if (!program) return fail(RECUT_BAD_INPUT, program.diagnostics(), error);
  watcher.report_progress(1, "emitted");
  return give_text(target_code_json(target, document.graph(), *program), json);
}

}  // namespace

recut_status recut_emit(const recut_graph* graph, const char* options_json,
                        const recut_callbacks* callbacks, char** json, char** error) {
  *json = nullptr;
  if (error != nullptr) *error = nullptr;
  return attempt(error, [&] {
    Watcher watcher(callbacks);
    return emit_step(*graph->document, options_json, watcher, json, error);
  });
}
