#include "gui/jobs/bundle_job.h"

#include "gui/jobs/worker_request_fields.h"

namespace recut::gui {

template <class Pack>
void fields(Pack& pack, BundleFile& f) {
  pack(f.path, f.bytes, f.executable);
}
template <class Pack>
void fields(Pack& pack, DebugBundle& b) {
  pack(b.files, b.notes);
}
template <class Pack>
void fields(Pack& pack, RerunCommand& r) {
  pack(r.words, r.failure);
}
template <class Pack>
void fields(Pack& pack, DebugRequest& r) {
  pack(r.scheduling.planning, r.seed, r.with_data, r.profile, r.rerun, r.notes, r.finding);
}
inline void fields(Packer& pack, BundleTask& t) {
  pack(t.request, t.tensors ? std::optional(*t.tensors) : std::nullopt, t.tensors_name);
}
inline void fields(Unpacker& unpack, BundleTask& t) {
  std::optional<std::string> tensors;
  unpack(t.request, tensors, t.tensors_name);
  if (tensors) t.tensors = std::make_shared<const std::string>(std::move(*tensors));
}

namespace {

constexpr const char* kBundleProgress = "planning and writing code";

Result<DebugBundle> make_bundle(const Document& document, const BundleTask& task,
                                const std::atomic<bool>* cancel) {
  std::vector<NamedTensor> given;
  if (task.tensors) {
    auto tensors = parse_safetensors(*task.tensors, task.tensors_name);
    if (!tensors) return tensors.diagnostics();
    given = std::move(*tensors);
  }
  const std::vector<NamedTensor>& own = document.file.tensors;
  given.insert(given.end(), own.begin(), own.end());
  DebugRequest request = task.request;
  request.given = given;
  request.scheduling.planning.limits.cancel = cancel;
  return debug_bundle(document, request);
}

}  // namespace

Job bundle_job(std::string title, const WorkerFile& file, std::shared_ptr<const Document> document,
               std::function<Result<BundleTask>()> task, TakeBundle take) {
  Job job{std::move(title), file.serial, false, false, {}};
  job.part = [document, task, take](JobControl& control) {
    control.progress(-1, kBundleProgress);
    const auto found = task();
    take(control, found ? make_bundle(*document, *found, &control.cancelled())
                        : Result<DebugBundle>(found.diagnostics()));
    return false;
  };
  job.worker_request = std::make_shared<WorkerRequest>(
      WorkerRequest{file,
                    [transforms = file.transforms, task] {
                      return packed(transforms, Task::bundle, task().value());
                    },
                    reply_taker<DebugBundle>(take), fall_taker(take)});
  return job;
}

void serve_bundle(const Document& document, Unpacker& unpack, const Send& send) {
  send(packed(Reply::progress, -1.0, std::string(kBundleProgress)));
  send(packed(Reply::all, make_bundle(document, unpack.get<BundleTask>(), nullptr)));
}

}  // namespace recut::gui
