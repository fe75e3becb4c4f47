// The commands that debug bundles repeat, as words. The command line and the window make the same
// ones of a planning request.
#pragma once

#include <string>
#include <vector>

#include "engine/workspace/debug_bundle.h"

namespace recut {

// The sign of a failed `recut run --check` and `recut eval --check` in their output.
inline constexpr const char* kFailedRun = "DIFFERS|NOT AS PLANNED|NOT the planned";

// A command whose plan options a request becomes: "run", its option for the profile that prices the
// plan, and its usual cost model.
struct PlanCommand {
  const char* name;
  const char* profile;
  const char* cost_model;
};
inline constexpr PlanCommand kRunCommand{"run", "--profile", "fused"};
inline constexpr PlanCommand kCompileCommand{"compile", "--profile", "fused"};
inline constexpr PlanCommand kEvalCommand{"eval", "--device", "eager"};

// The options that repeat a plan on a bundle's graph, such as {"--budget", "50%"}. Usual settings
// are left out, and so is the profile.
std::vector<std::string> plan_words(const PlanCommand& command, const PlanningRequest& request);

// All of these set `request.rerun` by the request's plan, seed and data. `profile` prices the plan:
// a name or a path, whose file goes into the bundle; "": the command's own. `more`: further words.
// They fail if the profile can't be read; the rerun then has none.

// Runs the step as machine code, and compares it with the interpreter.
Result<Done> rerun_by_run(DebugRequest& request, const std::string& profile,
                          const std::vector<std::string>& more = {});
// Interprets the plan and measures its peak. `check`: compares its outputs with given ones, which
// are data.
Result<Done> rerun_by_eval(DebugRequest& request, const std::string& profile, bool check,
                           const std::vector<std::string>& more = {});
// Finds the pass that changes values, on drawn inputs. Passes that only this document has, such as
// the user's rules, become a note.
void rerun_by_bisect(DebugRequest& request, const Document& document);

// Bisects by named passes: `graph` is a file of the bundle, `check` the words of the check.
void rerun_by_bisect(DebugRequest& request, const std::string& graph,
                     const std::vector<std::string>& passes, const std::vector<std::string>& check);

}  // namespace recut
