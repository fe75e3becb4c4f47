// A debug bundle, made on a job's thread or by a helper.
#pragma once

#include "engine/workspace/debug_bundle.h"
#include "gui/jobs/worker_requests.h"
#include "gui/jobs/worker_task.h"

namespace recut::gui {

struct BundleTask {
  DebugRequest request;                        // without given values
  std::shared_ptr<const std::string> tensors;  // a file of these (safetensors), which precede the
                                               // values of the graph's file; null: none
  std::string tensors_name;
};

using TakeBundle = std::function<void(JobControl&, Result<DebugBundle>)>;
// The task is found when the job begins; for a helper it must be there.
Job bundle_job(std::string title, const WorkerFile& file, std::shared_ptr<const Document> document,
               std::function<Result<BundleTask>()> task, TakeBundle take);

// The helper's side.
void serve_bundle(const Document& document, Unpacker& unpack, const Send& send);

}  // namespace recut::gui
