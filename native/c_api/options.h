// The C library's options: JSON objects as requests of the workspace. Unknown keys, wrong types and
// values out of range are diagnostics with the key, the value found and the value expected.
#pragma once

#include "engine/support/result.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/document.h"
#include "engine/workspace/gradients.h"
#include "engine/workspace/mesh_request.h"
#include "engine/workspace/planning.h"

namespace recut::c_api {

struct DifferentiateOptions {
  GradRequest request;
  std::optional<std::vector<std::string>> passes;  // for the graph that it gives
};

struct SweepOptions {
  CurveRequest request;
  bool plans = false;  // each point with its plan
};

struct EmitOptions {
  PlanningRequest planning;
  std::string target = "loop";
};

struct FitOptions {
  OpenOptions open;
  PlanningRequest planning;
  std::int64_t budget_bytes = 0;
  std::vector<std::string> symbols;  // that are one size
  std::int64_t max_size = std::int64_t{1} << 20;
};

// Arguments of an operator in the command's grammar (native/operators/given_arguments.h).
struct CallOptions {
  std::vector<std::string> inputs;    // by position
  std::vector<std::string> settings;  // "alpha=2"
};

// `json` may be null: no options.
Result<OpenOptions> read_open_options(const char* json);
Result<DifferentiateOptions> read_differentiate_options(const char* json);
Result<PlanningRequest> read_plan_options(const char* json);
Result<EmitOptions> read_emit_options(const char* json);
Result<SweepOptions> read_sweep_options(const char* json);
Result<FitOptions> read_fit_options(const char* json);
Result<CallOptions> read_call_options(const char* json);
Result<MeshRequest> read_mesh_options(const char* json);

}  // namespace recut::c_api
