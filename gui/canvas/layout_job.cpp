// The job that makes a document's picture.
#include <chrono>
#include <cmath>

#include "gui/canvas/canvas.h"

namespace recut::gui {
namespace {

// The nodes nearest to the middle of the screen: something that can be seen is to stay.
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

PictureRequest request_of(const DocumentView& document, const Canvas& canvas) {
  PictureRequest request;
  request.document = document.document;
  request.pass = document.pass;
  request.focus = canvas.focus;
  request.expansion = canvas.expansion;
  request.former = canvas.picture;
  request.anchors = {canvas.anchor, document.selection.node};
  for (const NodeId node : near_middle(canvas)) request.anchors.push_back(node);
  return request;
}

}  // namespace

void start_picture(App& app, DocumentView& document) {
  Canvas& canvas = canvas_of(document.memories);
  const PictureKey key = wanted_key(document, canvas);
  if (canvas.job != 0 && app.jobs.is_alive(canvas.job)) {
    if (key == canvas.key_at_work) return;
    app.jobs.cancel(canvas.job);
  }
  canvas.key_at_work = key;
  Job job;
  job.title = "Laying out " + document.title;
  job.owner = document.serial;
  job.urgent = true;
  job.quiet = true;
  job.part = [&app, key, serial = document.serial, cache = canvas.cache,
              request = request_of(document, canvas)](JobControl& control) {
    const auto began = std::chrono::steady_clock::now();
    SharedPicture picture =
        make_picture(request, *cache, [&] { return control.cancelled().load(); });
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    if (picture == nullptr) return false;
    control.post([&app, key, serial, picture, ms = took.count()] {
      DocumentView* found = app.documents.find(serial);
      if (found == nullptr || found->document != picture->document) return;
      Canvas& target = canvas_of(found->memories);
      target.key = key;
      target.milliseconds = ms;
      take_picture(target, picture);
    });
    return false;
  };
  canvas.job = app.jobs.start(std::move(job));
}

}  // namespace recut::gui
