// The contents of the C library's handles, and a check that several calls make.
#pragma once

#include <memory>

#include "engine/workspace/document.h"
#include "engine/workspace/planning.h"
#include "native/c_api/recut.h"

struct recut_graph {
  std::shared_ptr<const recut::Document> document;
};

// A plan names nodes of its document, so both share it.
struct recut_plan {
  std::shared_ptr<const recut::Document> document;
  recut::Planned planned;
};

namespace recut::c_api {

// RECUT_BAD_INPUT and `error` for a sound graph that is too large for any plan.
recut_status check_plannable(const Document& document, char** error);

}  // namespace recut::c_api
