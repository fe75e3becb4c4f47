#include "gui/model/documents.h"

#include "gui/backend/paths.h"

#include <algorithm>

namespace recut::gui {
namespace {

constexpr std::size_t kDocumentsMaxRecent = 12;

}  // namespace

DocumentView& Documents::add(std::string path, std::shared_ptr<const std::string> bytes) {
  auto document = std::make_unique<DocumentView>();
  document->serial = ++last_;
  document->title = file_name(path);
  document->path = std::move(path);
  document->bytes = std::move(bytes);
  front_ = document->serial;
  all_.push_back(std::move(document));
  return *all_.back();
}

void Documents::close(int serial) {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& document) { return document->serial == serial; });
  if (found == all_.end()) return;
  const auto next = all_.erase(found);
  if (front_ != serial) return;
  front_ = all_.empty() ? 0 : next == all_.end() ? all_.back()->serial : (*next)->serial;
}

void Documents::show(int serial) {
  if (find(serial) != nullptr) front_ = serial;
}

DocumentView* Documents::find(int serial) const {
  for (const auto& document : all_)
    if (document->serial == serial) return document.get();
  return nullptr;
}

DocumentView* Documents::find_path(const std::string& path) const {
  for (const auto& document : all_)
    if (document->path == path) return document.get();
  return nullptr;
}

DocumentView* Documents::find_lacking(const std::string& path) const {
  for (const auto& document : all_) {
    const bool waits = document->state == DocumentState::waiting;
    if (!waits && document->state != DocumentState::failed) continue;
    const bool by_name = waits || !document->link.empty();
    if (document->path == path || (by_name && is_same_file(document->path, path)))
      return document.get();
  }
  return nullptr;
}

DocumentView* Documents::neighbour(int by) const {
  const auto count = static_cast<int>(all_.size());
  for (int i = 0; i < count; ++i)
    if (all_[static_cast<std::size_t>(i)]->serial == front_)
      return all_[static_cast<std::size_t>(((i + by) % count + count) % count)].get();
  return nullptr;
}

void Documents::remember(const std::string& path) {
  recent_.erase(std::remove(recent_.begin(), recent_.end(), path), recent_.end());
  recent_.insert(recent_.begin(), path);
  if (recent_.size() > kDocumentsMaxRecent) recent_.pop_back();
}

}  // namespace recut::gui
