#include "wasm/page/page_backend.h"

#include <emscripten/emscripten.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "wasm/page/bridge.h"
#include "wasm/page/sample_names.h"

// A page can't wait for a file, so a fetched one comes by a later call of the page's scripts:
//   can_read(sample) ⇒ false, fetch begins;  give_sample ⇒ can_read is true;  read ⇒ bytes, once
// A page can't open the user's files by path. hold() keeps the bytes of given files by name, up to
// 128 MiB, and drops the oldest first. Requests go out through bridge.h; title and cursor go out
// only where they change, since the window sets its cursor in every frame. A picture waits for the
// next frame.

namespace recut::page {
namespace {

constexpr std::size_t kMaxHeldBytes = std::size_t{128} << 20;  // bytes of files

const char* css_of(ImGuiMouseCursor cursor) {
  switch (cursor) {
    case ImGuiMouseCursor_TextInput:
      return "text";
    case ImGuiMouseCursor_ResizeAll:
      return "move";
    case ImGuiMouseCursor_ResizeEW:
      return "ew-resize";
    case ImGuiMouseCursor_ResizeNS:
      return "ns-resize";
    case ImGuiMouseCursor_Hand:
      return "pointer";
    case ImGuiMouseCursor_NotAllowed:
      return "not-allowed";
    default:
      return "default";
  }
}

}  // namespace

void PageBackend::give(gui::InputEvent event) { input_.push_back(std::move(event)); }

std::vector<gui::InputEvent> PageBackend::take_input() { return std::exchange(input_, {}); }

void PageBackend::resize(gui::Extent extent, float scale) {
  screen.resize(extent);
  scale_ = scale;
  give(gui::SizeChanged{});
}

void PageBackend::prefer_dark(bool dark) {
  dark_ = dark;
  give(gui::SizeChanged{});
}

void PageBackend::use_fingers(bool fingers) {
  fingers_ = fingers;
  give(gui::SizeChanged{});
}

void PageBackend::draw(const ImDrawData& data) {
  screen.draw(data);
  if (!picture_.empty()) host_save_canvas(std::exchange(picture_, {}).c_str());
}

Result<Done> PageBackend::save_picture(const std::string& path) {
  picture_ = path;
  return Done{};
}

void PageBackend::set_title(const std::string& title) {
  if (title == title_) return;
  title_ = title;
  host_set_title(title.c_str());
}

void PageBackend::set_cursor(ImGuiMouseCursor cursor) {
  if (cursor == cursor_) return;
  cursor_ = cursor;
  host_set_cursor(css_of(cursor));
}

double PageBackend::now() const { return emscripten_get_now() / 1000; }
void PageBackend::wake() { host_wake(); }

// Starts to fetch a sample that isn't there.
bool PageBackend::can_read(const std::string& path) {
  if (!gui::is_sample(path)) return true;
  const std::string name = gui::sample_name(path);
  const auto found = samples_.find(name);
  if (found != samples_.end()) return found->second.has_value();
  samples_[name] = std::nullopt;
  host_fetch_sample(name.c_str());
  return false;
}

bool PageBackend::has_to_be_given(const std::string& path) const {
  return !gui::is_sample(path) && std::none_of(held_.begin(), held_.end(), [&](const auto& file) {
    return file.first == path;
  });
}

// The reader of a sample keeps its bytes, so they are forgotten here; so is a failure, which the
// next try may not have.
Result<std::string> PageBackend::read(const std::string& path) {
  for (const auto& [name, bytes] : held_)
    if (name == path) return bytes;
  const auto found = gui::is_sample(path) ? samples_.find(gui::sample_name(path)) : samples_.end();
  if (found == samples_.end() || !found->second)
    return Diagnostic{"a page can't read files by their names: open or drop it", path, 0, 0};
  Result<std::string> bytes = std::move(*found->second);
  samples_.erase(found);
  return bytes;
}

void PageBackend::give_sample(const std::string& name, Result<std::string> bytes) {
  samples_[name] = std::move(bytes);
}

void PageBackend::hold(const std::string& name, std::string bytes) {
  held_.erase(std::remove_if(held_.begin(), held_.end(),
                             [&](const auto& file) { return file.first == name; }),
              held_.end());
  held_.emplace_back(name, std::move(bytes));
  std::size_t total = 0;
  for (const auto& file : held_) total += file.second.size();
  while (total > kMaxHeldBytes) {
    total -= held_.front().second.size();
    held_.erase(held_.begin());
  }
}

Result<Done> PageBackend::write(const std::string& path, std::string_view bytes) {
  host_save(path.c_str(), bytes.data(), bytes.size());
  return Done{};
}

std::vector<std::string> PageBackend::samples() const {
  return {std::begin(kSampleNames), std::end(kSampleNames)};
}

bool PageBackend::ask_for_file() {
  host_ask_for_file();
  return true;
}

Result<std::vector<gui::FolderEntry>> PageBackend::list(const std::string& folder) {
  return Diagnostic{"a page can't look into folders", folder, 0, 0};
}

std::optional<std::string> PageBackend::load(const std::string& name) {
  char* text = host_load(name.c_str());
  if (text == nullptr) return std::nullopt;
  std::string kept(text);
  std::free(text);
  return kept;
}

void PageBackend::store(const std::string& name, const std::string& text) {
  host_store(name.c_str(), text.c_str());
}

void PageBackend::set_clipboard(const std::string& text) {
  clipboard_ = text;
  host_copy(text.c_str());
}

}  // namespace recut::page
