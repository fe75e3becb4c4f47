#include "gui/app/measured_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/input/bytes.h"
#include "engine/support/units.h"
#include "gui/app/app.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

// True if the name, packed or not, is one of graphs or of their companion files: these aren't read
// as snapshots.
bool has_other_name(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  for (const std::string_view ending :
       {".json", ".recut", ".pt2", ".onnx", ".rules", ".safetensors"})
    if (path.ends_with(ending)) return true;
  return is_sample(path);
}

void take_snapshot(App& app, int serial, const std::string& path,
                   const Result<MemorySnapshot>& snapshot) {
  DocumentView* document = app.documents.find(serial);
  if (document == nullptr || measured_view(*document).path != path) return;
  MeasuredView& view = measured_view(*document);
  view.job = 0;
  if (snapshot) {
    view.snapshot = std::make_shared<const MemorySnapshot>(*snapshot);
    return;
  }
  view = {};
  app.say(format(snapshot.diagnostics().front()), true);
}

void take_memory_comparison(App& app, int serial, const SharedPlanView& plan,
                            const Result<MemoryComparison>& comparison) {
  DocumentView* document = app.documents.find(serial);
  if (document == nullptr) return;
  MeasuredView& view = measured_view(*document);
  view.job = 0;
  if (!comparison) {
    view = {};
    return app.say(format(comparison.diagnostics().front()), true);
  }
  const bool first = view.comparison == nullptr;
  view.comparison = std::make_shared<const MemoryComparison>(*comparison);
  view.plan = plan;
  if (!first) return;
  app.say(fmt::format("{}: {}", file_name(view.path), comparison_summary(*comparison)));
  for (const std::string& note : comparison->notes) app.say(note);
}

}  // namespace

MeasuredView& measured_view(DocumentView& document) {
  return memory_of<MeasuredView>(document.memories, kMeasuredView);
}

const MemoryComparison* shown_memory_comparison(const DocumentView& document) {
  const auto* view = find_memory<MeasuredView>(document.memories, kMeasuredView);
  const bool shown = view != nullptr && view->comparison && view->plan == document.shown;
  return shown ? view->comparison.get() : nullptr;
}

bool wants_memory_comparison(const App& app, const DocumentView& document) {
  const auto* view = find_memory<MeasuredView>(document.memories, kMeasuredView);
  return view != nullptr && view->snapshot && document.shown && view->plan != document.shown &&
         !app.jobs.is_alive(view->job);
}

bool is_snapshot(const App& app, const std::string& path,
                 const std::shared_ptr<const std::string>& bytes) {
  if (bytes) return looks_like_memory_snapshot(*bytes);
  if (has_other_name(path)) return false;
  const auto read = app.backend.read(path);
  return read && looks_like_memory_snapshot(*read);
}

void open_snapshot(App& app, DocumentView& document, const std::string& path,
                   std::shared_ptr<const std::string> bytes) {
  MeasuredView& view = measured_view(document);
  app.jobs.cancel(view.job);
  view = {};
  view.path = path;
  Job job;
  job.title = fmt::format("Reading {}", file_name(path));
  job.owner = document.serial;
  job.urgent = true;
  job.part = [&app, serial = document.serial, path, bytes = std::move(bytes)](JobControl& control) {
    const Result<std::string> read = bytes ? Result<std::string>(*bytes) : app.backend.read(path);
    auto snapshot = read ? read_memory_snapshot(*read, file_name(path))
                         : Result<MemorySnapshot>(read.diagnostics());
    control.post([&app, serial, path, snapshot = std::move(snapshot)] {
      take_snapshot(app, serial, path, snapshot);
    });
    return false;
  };
  view.job = app.jobs.start(std::move(job));
}

void start_memory_comparison(App& app, DocumentView& document) {
  MeasuredView& view = measured_view(document);
  Job job;
  job.title = fmt::format("Comparing {}", file_name(view.path));
  job.owner = document.serial;
  job.urgent = true;
  job.quiet = view.comparison != nullptr;
  job.part = [&app, serial = document.serial, graph = document.document, plan = document.shown,
              snapshot = view.snapshot, name = file_name(view.path)](JobControl& control) {
    auto comparison = compare_memory(*snapshot, name, planned_memory(*graph, plan->planned));
    control.post([&app, serial, plan, comparison = std::move(comparison)] {
      take_memory_comparison(app, serial, plan, comparison);
    });
    return false;
  };
  view.job = app.jobs.start(std::move(job));
}

void close_snapshot(App& app, DocumentView& document) {
  app.jobs.cancel(measured_view(document).job);
  measured_view(document) = {};
}

std::string comparison_summary(const MemoryComparison& comparison) {
  return fmt::format("measured +{}, planned +{}", format_bytes(comparison.measured_rise()),
                     format_bytes(comparison.planned_peak));
}

std::int64_t measured_at(const MemoryComparison& comparison, std::size_t step) {
  const auto& points = comparison.measured;
  const auto from = static_cast<double>(step), to = from + 1;
  const auto first =
      std::lower_bound(points.begin(), points.end(), from,
                       [](const MemoryPoint& point, double at) { return point.step < at; });
  std::int64_t most = first == points.begin() ? 0 : std::prev(first)->bytes;
  for (auto point = first; point != points.end() && point->step < to; ++point)
    most = point == first ? point->bytes : std::max(most, point->bytes);
  return most;
}

}  // namespace recut::gui
