#include "engine/input/printed_sources.h"

#include <fmt/core.h>

#include <map>
#include <utility>

namespace recut {
namespace {

std::string stream_of(const LogPrefix& prefix, const LogMessage& message) {
  return fmt::format("{} {} {} {}", prefix.rank, prefix.thread, message.compile_id, message.tag);
}

// "===== Joint graph 0 =====" as the name that a trace has for such a graph.
std::string kind_of(std::string_view title, std::string_view tag) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"Joint graph", "aot_joint_graph"},
      {"Forward graph", "aot_forward_graph"},
      {"Backward graph", "aot_backward_graph"},
      {"BEFORE POST GRAD", "before_post_grad_graph"},
      {"AFTER POST GRAD", "inductor_post_grad_graph"}};
  for (const auto& [words, kind] : kKinds)
    if (title.find(words) != std::string_view::npos) return std::string(kind);
  return std::string(tag);
}

// Follows the graphs of all streams at once: each ends before its stream's next title, or a line
// that stands no deeper than the class.
class SourceFinder {
 public:
  explicit SourceFinder(std::string_view text) : text_(text) {}

  std::vector<PrintedSource> find() {
    for (std::size_t at = 0; at < text_.size(); ++line_) {
      begin_ = at;
      const std::string_view whole = take_line(text_, at);
      end_ = std::min(at, text_.size());
      std::deque<std::string> cleaned;
      const std::string_view line = without_colours(whole, cleaned);
      const auto prefix = log_prefix(line);
      const auto message = prefix ? log_message(prefix->rest) : std::nullopt;
      if (message)
        see(message->text, &*prefix, &*message);
      else if (!prefix)
        see(line, nullptr, nullptr);
    }
    make_keys_unique(found_);
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Stream {
    std::size_t open = kNone;  // the graph that its lines belong to
    std::size_t indent = 0;    // of that graph's class
    std::string title;
  };

  void see(std::string_view line, const LogPrefix* prefix, const LogMessage* message) {
    const bool log = message != nullptr;
    Stream& stream = streams_[log ? stream_of(*prefix, *message) : std::string()];
    const std::size_t indent = indent_of(line);
    const auto header = class_header(line);
    if (indent == line.size()) return;
    if (stream.open != kNone && indent > stream.indent) {
      found_[stream.open].end = end_;
      return;
    }
    stream.open = kNone;
    if (log && line.find("=====") != std::string_view::npos) stream.title = line;
    if (!header) return;
    stream.open = found_.size();
    stream.indent = indent;
    PrintedSource& source = found_.emplace_back();
    source.begin = begin_;
    source.end = end_;
    source.line = line_;
    source.kind = std::string(header->name);
    if (log) {
      source.form = PrintedForm::log;
      source.stream = stream_of(*prefix, *message);
      source.compile_id = std::string(message->compile_id);
      source.kind = kind_of(stream.title, message->tag);
      stream.title.clear();
    }
    source.key =
        fmt::format("{}{}{}{}{}", log ? prefix->rank : "", log && !prefix->rank.empty() ? "/" : "",
                    source.compile_id, source.compile_id.empty() ? "" : "/", source.kind);
  }

  std::string_view text_;
  std::vector<PrintedSource> found_;
  std::map<std::string, Stream, std::less<>> streams_;
  std::size_t begin_ = 0, end_ = 0;  // of the line
  std::uint32_t line_ = 1;
};

}  // namespace

void make_keys_unique(std::vector<PrintedSource>& sources) {
  std::map<std::string, std::size_t, std::less<>> times;
  for (PrintedSource& source : sources)
    if (const std::size_t n = ++times[source.key]; n > 1) source.key += fmt::format("#{}", n);
}

const PrintedSource& first_choice(const std::vector<PrintedSource>& sources) {
  for (const std::string_view kind : {"aot_joint_graph", "joint_helper", "inner_f"})
    for (const PrintedSource& source : sources)
      if (source.kind == kind) return source;
  for (const PrintedSource& source : sources)
    if (!source.parts.empty()) return source;
  for (const std::string_view kind : {"aot_forward_graph", "aot_inference_graph"})
    for (const PrintedSource& source : sources)
      if (source.kind == kind) return source;
  return sources.front();
}

std::vector<PrintedSource> find_printed_graphs(std::string_view text) {
  return SourceFinder(text).find();
}

PrintedLines lines_of(std::string_view text, const PrintedSource& source) {
  PrintedLines lines;
  std::uint32_t number = source.line;
  for (std::size_t at = source.begin; at < source.end; ++number) {
    const std::string_view whole = take_line(text, at);
    std::string_view line = without_colours(whole, lines.cleaned);
    const char* const begin = line.data();
    const auto prefix = source.form == PrintedForm::trace ? std::nullopt : log_prefix(line);
    if (source.form == PrintedForm::trace) {
      if (line.starts_with('\t')) line.remove_prefix(1);
    } else if (prefix) {
      const auto message = log_message(prefix->rest);
      if (!message || stream_of(*prefix, *message) != source.stream) continue;
      line = message->text;
    } else if (source.form == PrintedForm::log) {
      continue;
    }
    lines.lines.push_back({line, number, 1 + static_cast<std::uint32_t>(line.data() - begin)});
  }
  return lines;
}

}  // namespace recut
