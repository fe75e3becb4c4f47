#include "gui/canvas/words.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/printer.h"
#include "engine/support/units.h"

namespace recut::gui {
namespace {

std::string shape_words(const TensorType& type) {
  std::string words;
  for (const std::int64_t side : type.shape)
    words += fmt::format("{}{}", words.empty() ? "" : "×", side);
  return words.empty() ? std::string("scalar") : words;
}

}  // namespace

std::string_view clipped(std::string_view name, std::size_t bytes) {
  if (name.size() <= bytes) return name;
  while (bytes > 0 && (static_cast<unsigned char>(name[bytes]) & 0xc0) == 0x80) --bytes;
  return name.substr(0, bytes);
}

std::string label_of(const layout::Group& group) {
  const bool number = group.label.find_first_not_of("0123456789") == std::string::npos;
  const std::string_view path = group.path;
  const std::size_t last = path.rfind('.');
  const bool is_last = last != std::string_view::npos && path.substr(last + 1) == group.label;
  if (!number || !is_last || last == 0) return std::string(clipped(group.label));
  const std::size_t before = path.rfind('.', last - 1);
  const std::size_t from = before == std::string_view::npos ? 0 : before + 1;
  return std::string(clipped(path.substr(from)));
}

std::string title_of(const layout::Group& group) {
  const std::string label = label_of(group);
  return group.equals > 1 ? fmt::format("{} × {}", label, group.equals) : label;
}

std::string name_of(const Picture& picture, const layout::Box& box) {
  if (!box.node.valid()) return title_of(picture.group(box));
  return std::string(clipped(picture.graph().node_name(box.node)));
}

std::vector<std::string> details_of(const Picture& picture, const layout::Box& box,
                                    std::int64_t saved_bytes) {
  if (!box.node.valid()) {
    const std::string nodes =
        box.nodes == 1 ? std::string("1 node") : fmt::format("{} nodes", format_count(box.nodes));
    if (box.side != layout::Side::forward || saved_bytes <= 0) return {nodes};
    const std::string bytes = format_bytes(saved_bytes) + " saved";
    return {nodes + " · " + bytes, bytes};
  }
  const Node& node = picture.graph()[box.node];
  if (node.outputs.empty()) return {};
  if (box.bytes == 0) return {shape_words(node.type())};  // a view of a parameter
  const std::string bytes = format_bytes(box.bytes);
  return {shape_words(node.type()) + " · " + bytes, bytes};
}

std::string call_of(const Graph& graph, NodeId node) {
  const std::string line = print_node(graph, node);
  const std::size_t at = line.find(" = ");
  return at == std::string::npos ? line : line.substr(at + 3);
}

std::vector<std::string> wrapped(const std::string& words, std::size_t letters, std::size_t lines) {
  std::vector<std::string> out;
  std::string_view rest(words);
  while (!rest.empty() && out.size() < lines) {
    if (rest.size() <= letters) {
      out.emplace_back(rest);
      break;
    }
    std::size_t at = out.size() + 1 < lines ? rest.rfind(' ', letters) : std::string_view::npos;
    if (at == std::string_view::npos || at == 0) at = clipped(rest, letters).size();
    if (at == 0) at = std::min<std::size_t>(rest.size(), 4);
    out.emplace_back(rest.substr(0, at));
    rest.remove_prefix(at);
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (out.size() == lines && !rest.empty()) out.back() += "…";
  }
  return out;
}

}  // namespace recut::gui
