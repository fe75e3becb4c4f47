// Labels of boxes. A node has its operator as title and, behind it, the part of its name that says
// more; the path of its group is left out:
//   add_33                                              =>   "add" and "_33"
//   transformer.h.0.attn.weight in transformer.h.0.attn   =>   "weight"
// Repeating operator, path or module would fill a box, which has one size for all names. Names are
// clipped before any search, since files may have names of megabytes.
#include "gui/canvas/box_labels.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/ir/printer.h"
#include "engine/support/units.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxOfName = 512;  // bytes that are looked at

std::string shape_text(const TensorType& type) {
  std::string text;
  for (const std::int64_t side : type.shape)
    text += fmt::format("{}{}", text.empty() ? "" : "×", side);
  return text.empty() ? std::string("scalar") : text;
}

// True if `path` has `part` in it as whole parts.
bool has_run(std::string_view path, std::string_view part) {
  for (std::size_t at = path.find(part); at != std::string_view::npos;
       at = path.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || path[at - 1] == '.') && (end == path.size() || path[end] == '.')) return true;
  }
  return false;
}

// True for names that are only numbered, "primals_7" and "arg_3".
bool is_numbered(std::string_view name) {
  const std::size_t at = name.rfind('_');
  if (at == std::string_view::npos || at == 0 || at + 1 == name.size()) return false;
  return name.substr(at + 1).find_first_not_of("0123456789") == std::string_view::npos &&
         name.find_first_of("./") == std::string_view::npos;
}

BoxLabel label_of_input(const Picture& picture, NodeId node, std::string_view path) {
  const std::string_view name = clipped(picture.graph().node_name(node), kMaxOfName);
  const std::string_view held_as = picture.graph().origin(node).module;
  const std::string_view module = held_as.empty() ? picture.reading_module(node) : held_as;
  BoxLabel label;
  if (!is_numbered(name) || module.empty()) {
    label.title = std::string(clipped(within_path(name, path)));
    label.path = label.title.find('.') != std::string::npos;
    return label;
  }
  label.title = std::string(clipped(within_path(short_module(module), path)));
  label.own = std::string(clipped(name));
  label.path = true;
  return label;
}

// The text of a node that takes one of several outputs: "var_mean[1]".
std::string call_text(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const std::string_view name = operator_label(graph.op(id));
  if (node.operands.empty() || graph[node.operands.front()].outputs.size() < 2 ||
      node.arguments.size() < 2)
    return std::string(name);
  const std::int64_t* output = node.arguments[1].get<std::int64_t>();
  const std::string_view of = operator_label(graph.op(node.operands.front()));
  return output != nullptr ? fmt::format("{}[{}]", of, *output) : std::string(name);
}

}  // namespace

std::string_view clipped(std::string_view name, std::size_t bytes) {
  if (name.size() <= bytes) return name;
  while (bytes > 0 && (static_cast<unsigned char>(name[bytes]) & 0xc0) == 0x80) --bytes;
  return name.substr(0, bytes);
}

std::string label_of(const layout::Group& group) {
  const std::string_view label = short_module(group.label);
  const bool number = group.label.find_first_not_of("0123456789") == std::string::npos;
  const std::string_view path = group.path;
  const std::size_t last = path.rfind('.');
  const bool is_last = last != std::string_view::npos && path.substr(last + 1) == group.label;
  if (!number || !is_last || last == 0) return std::string(clipped(label));
  const std::size_t before = path.rfind('.', last - 1);
  const std::size_t from = before == std::string_view::npos ? 0 : before + 1;
  return std::string(clipped(path.substr(from)));
}

std::vector<std::string> alike_text(const layout::Group& group) {
  if (group.equals < 2) return {};
  const std::string text = fmt::format("1 of {}", format_count(group.equals));
  return {text + " alike", text};
}

std::string name_of(const Picture& picture, const layout::Box& box) {
  if (!box.node.valid()) return label_of(picture.group(box));
  return std::string(clipped(picture.graph().node_name(box.node)));
}

std::string_view operator_label(const Operator& op) {
  std::string_view name = op.packet;
  name.remove_prefix(std::min(name.size(), name.rfind('.') + 1));  // npos + 1 is 0
  const std::size_t first = name.find_first_not_of('_');
  return first == std::string_view::npos ? name : name.substr(first);
}

std::string_view within_path(std::string_view name, std::string_view path) {
  std::string dotted(name);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  const std::size_t from = dotted.find_first_not_of('.');
  if (from == std::string::npos) return name;
  std::size_t cut = from;
  for (std::size_t at = dotted.find('.', from); at != std::string::npos && at + 1 < dotted.size();
       at = dotted.find('.', at + 1)) {
    if (!has_run(path, std::string_view(dotted).substr(from, at - from))) break;
    cut = at + 1;
  }
  return name.substr(cut);
}

BoxLabel box_label(const Picture& picture, const layout::Box& box) {
  if (!box.node.valid()) return {label_of(picture.group(box)), {}, false, false};
  const Graph& graph = picture.graph();
  const std::string_view path = picture.group(box).path;
  if (graph.op(box.node).is(kInput)) return label_of_input(picture, box.node, path);
  BoxLabel label{call_text(graph, box.node), {}, false, false};
  std::string_view own = within_path(clipped(graph.node_name(box.node), kMaxOfName), path);
  const std::size_t first = own.find_first_not_of('_');
  if (first != std::string_view::npos && own.substr(first).rfind(label.title, 0) == 0) {
    const std::string_view rest = own.substr(first + label.title.size());
    label.joined = rest.empty() || rest.front() == '_';
    if (label.joined) own = rest;
  }
  label.own = std::string(clipped(own));
  return label;
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
  if (box.bytes == 0) return {shape_text(node.type())};  // a view of a parameter
  const std::string bytes = format_bytes(box.bytes);
  return {shape_text(node.type()) + " · " + bytes, bytes};
}

std::string call_of(const Graph& graph, NodeId node) {
  const std::string line = print_node(graph, node);
  const std::size_t at = line.find(" = ");
  return at == std::string::npos ? line : line.substr(at + 3);
}

std::vector<std::string> wrapped(const std::string& text, std::size_t letters, std::size_t lines) {
  std::vector<std::string> out;
  std::string_view rest(text);
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
