// The job that makes a canvas's picture.
#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "engine/support/units.h"
#include "gui/canvas/canvas.h"

namespace recut::gui {
namespace {

// The nodes nearest to the middle of the screen, as anchors.
std::vector<NodeId> near_middle(const Canvas& canvas) {
  std::vector<NodeId> near;
  if (canvas.picture == nullptr || canvas.area.empty()) return near;
  const layout::GraphLayout& layout = canvas.picture->layout;
  const View view = canvas.view();
  const layout::Point middle = view.under(view.area().centre());
  const layout::Rect seen = view.visible();
  std::vector<std::pair<float, std::uint32_t>> found;
  for (std::uint32_t b = 0; b < layout.boxes.size(); ++b) {
    const layout::Point c = layout.boxes[b].rect.centre();
    if (layout.boxes[b].node.valid() && seen.contains(c))
      found.emplace_back(std::abs(c.x - middle.x) + std::abs(c.y - middle.y), b);
  }
  std::sort(found.begin(), found.end());
  constexpr std::size_t kEnough = 8;
  for (std::size_t i = 0; i < std::min(kEnough, found.size()); ++i)
    near.push_back(layout.boxes[found[i].second].node);
  return near;
}

PictureRequest request_of(const ShownGraph& shown, NodeId selected, const Canvas& canvas) {
  PictureRequest request;
  request.document = shown.document;
  request.pass = shown.pass;
  request.focus = canvas.focus;
  request.expansion = canvas.expansion;
  request.former = canvas.picture;
  request.anchors = {canvas.anchor, selected};
  for (const NodeId node : near_middle(canvas)) request.anchors.push_back(node);
  return request;
}

}  // namespace

void start_picture(App& app, DocumentView& document, Pane pane, const ShownGraph& shown,
                   NodeId selected) {
  Canvas& canvas = canvas_of(document.memories, pane);
  const PictureKey key = requested_key(shown, canvas);
  if (canvas.job != 0 && app.jobs.is_alive(canvas.job)) {
    if (key == canvas.key_at_work) return;
    app.jobs.cancel(canvas.job);
  }
  canvas.key_at_work = key;
  canvas.started_at = app.backend.now();
  Job job;
  const auto nodes = static_cast<std::int64_t>(shown.graph().order().size());
  job.title = fmt::format("Laying out {} nodes", format_count(nodes));
  job.owner = document.serial;
  job.urgent = job.first = true;
  job.quiet = true;
  job.part = [&app, key, pane, serial = document.serial, cache = canvas.cache,
              request = request_of(shown, selected, canvas)](JobControl& control) {
    const auto began = std::chrono::steady_clock::now();
    SharedPicture picture = make_picture(request, *cache, [&] {
      control.progress(-1, {});  // a frame now and then, which says that it is at work
      return control.cancelled().load();
    });
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    if (picture == nullptr) return false;
    control.post([&app, key, pane, serial, picture, ms = took.count()] {
      DocumentView* found = app.documents.find(serial);
      if (found == nullptr) return;
      Canvas& target = canvas_of(found->memories, pane);
      if (!(target.key_at_work == key)) return;
      target.key = key;
      target.milliseconds = ms;
      take_picture(target, picture);
    });
    return false;
  };
  canvas.job = app.jobs.start(std::move(job));
}

std::string layout_text(const App& app, const Canvas& canvas) {
  constexpr double kSoon = 0.3;  // seconds: a shorter layout isn't reported
  if (canvas.job == 0 || !app.jobs.is_alive(canvas.job)) return {};
  if (canvas.picture != nullptr && app.backend.now() - canvas.started_at < kSoon) return {};
  for (const JobStatus& job : app.jobs.status())
    if (job.id == canvas.job) return job.title + " …";
  return {};
}

}  // namespace recut::gui
