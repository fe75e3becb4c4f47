// A trace (TORCH_TRACE) is a log whose records are JSON objects, each followed by a payload on
// lines that begin with a tab. Graphs are payloads, and symbols are records `create_symbol`:
//   V1128 … {"aot_joint_graph": {}, "frame_id": 0, "frame_compile_id": 0}   =>   the graph with
//       class joint_helper(torch.nn.Module): …                          key 0/0/aot_joint_graph
// A trace may have gigabytes of other records. So a record is parsed only if its payload is a graph
// or its first key is one of interest; all else is skipped by line. Cost: one pass over the bytes.
#include "engine/input/torch_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "engine/input/json.h"
#include "engine/input/symbolic_number.h"

namespace recut {
namespace {

constexpr int kLinesToSee = 64;  // a trace may begin with lines of other origin
constexpr std::size_t kMaxRecordValues = std::size_t{1} << 20;

// Members of a record that say which compilation it is of.
constexpr std::array<std::string_view, 7> kAbout = {
    "frame_id", "frame_compile_id", "attempt", "compiled_autograd_id",
    "rank",     "has_payload",      "process"};

bool is_about(std::string_view key) {
  return std::find(kAbout.begin(), kAbout.end(), key) != kAbout.end();
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return negative ? -number : number;
}

// A SymFloat's value, "3.141592653589793".
std::optional<double> real_of(std::string_view text) {
  const auto number = read_symbolic_number(
      text, [](std::string_view) { return Result<SymbolicNumber>(error("a symbol")); });
  const double* real = number ? std::get_if<double>(&*number) : nullptr;
  return real == nullptr ? std::nullopt : std::optional(*real);
}

// "[2, int_oo]": an end that is no number is unbounded.
void read_range(std::string_view range, Symbol& symbol) {
  const std::size_t open = range.find('['), comma = range.find(", ", open), close = range.find(']');
  if (open == std::string_view::npos || comma == std::string_view::npos ||
      close == std::string_view::npos || close < comma)
    return;
  symbol.min = integer_of(range.substr(open + 1, comma - open - 1));
  symbol.max = integer_of(range.substr(comma + 2, close - comma - 2));
}

// One record's object.
class Record {
 public:
  explicit Record(JsonValue root) {
    for (const JsonMember member : root.items()) {
      if (!is_about(member.key) && kind_.empty()) {
        kind_ = std::string(member.key);
        body_ = member.value;
      }
      if (member.key == "frame_id") frame_ = member.value;
      if (member.key == "frame_compile_id") compile_ = member.value;
      if (member.key == "attempt") attempt_ = member.value;
      if (member.key == "compiled_autograd_id") autograd_ = member.value;
    }
    if (kind_ == "artifact" || kind_ == "graph_dump")
      if (const auto name = text_of("name"); !name.empty()) kind_ = std::string(name);
  }

  const std::string& kind() const { return kind_; }

  std::string compile_id() const {
    if (!frame_.is(JsonKind::integer) || !compile_.is(JsonKind::integer)) return "";
    std::string id;
    if (autograd_.is(JsonKind::integer)) id = fmt::format("!{}/", autograd_.integer());
    id += fmt::format("{}/{}", frame_.integer(), compile_.integer());
    if (attempt_.is(JsonKind::integer) && attempt_.integer() != 0)
      id += fmt::format("_{}", attempt_.integer());
    return id;
  }

  // A member of the body, where that is a text.
  std::string_view text_of(std::string_view key) const {
    if (!body_.is(JsonKind::object)) return {};
    for (const JsonMember member : body_.items())
      if (member.key == key && member.value.is(JsonKind::text)) return member.value.text();
    return {};
  }

 private:
  std::string kind_;
  JsonValue body_, frame_, compile_, attempt_, autograd_;
};

// The key of a record's first member, without reading on.
std::string_view first_key(std::string_view object) {
  const std::size_t open = object.find('"');
  if (open == std::string_view::npos) return {};
  const std::size_t close = object.find('"', open + 1);
  if (close == std::string_view::npos) return {};
  return object.substr(open + 1, close - open - 1);
}

class TraceReader {
 public:
  explicit TraceReader(std::string_view text) : text_(text) {}

  TorchTrace read() {
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::string_view line = take_line(text_, at);
      ++line_;
      const auto prefix = log_prefix(line);
      if (!prefix || !prefix->rest.starts_with('{')) continue;
      ++trace_.records;
      const Payload payload = take_payload(at);
      const std::string_view key = first_key(prefix->rest);
      if (payload.graph || key == "create_symbol" || is_about(key)) see(prefix->rest, payload);
    }
    make_keys_unique(trace_.graphs);
    return std::move(trace_);
  }

 private:
  struct Payload {
    std::size_t begin = 0, end = 0;
    std::uint32_t line = 0;
    bool graph = false;
  };

  Payload take_payload(std::size_t& at) {
    Payload payload{at, at, line_ + 1, false};
    while (at < text_.size() && text_[at] == '\t') {
      const std::string_view line = take_line(text_, at);
      ++line_;
      at = std::min(at, text_.size());
      if (payload.end == payload.begin) payload.graph = class_header(line).has_value();
      payload.end = at;
    }
    return payload;
  }

  void see(std::string_view object, const Payload& payload) {
    const auto document = parse_json(object, "", {}, kMaxRecordValues);
    if (!document || !document->root().is(JsonKind::object)) {
      ++trace_.damaged;
      return;
    }
    const Record record(document->root());
    if (record.kind() == "create_symbol") return add_symbol(record);
    if (!payload.graph) return;
    PrintedSource& graph = trace_.graphs.emplace_back();
    graph.kind = record.kind();
    graph.compile_id = record.compile_id();
    graph.key = graph.compile_id + (graph.compile_id.empty() ? "" : "/") + graph.kind;
    graph.form = PrintedForm::trace;
    graph.begin = payload.begin;
    graph.end = payload.end;
    graph.line = payload.line;
  }

  void add_symbol(const Record& record) {
    const std::string_view name = record.text_of("symbol");
    if (name.empty()) return;
    Symbol symbol;
    const std::string_view value = record.text_of("val");
    symbol.hint = integer_of(value);
    if (!symbol.hint) symbol.real = real_of(value);
    read_range(record.text_of("vr"), symbol);
    trace_.symbols[record.compile_id()].insert_or_assign(std::string(name), symbol);
  }

  std::string_view text_;
  TorchTrace trace_;
  std::uint32_t line_ = 0;  // lines taken so far
};

}  // namespace

std::map<std::string, Symbol, std::less<>> TorchTrace::symbols_of(
    std::string_view compile_id) const {
  std::map<std::string, Symbol, std::less<>> known;
  if (const auto own = symbols.find(compile_id); own != symbols.end()) known = own->second;
  for (const auto& [id, others] : symbols) known.insert(others.begin(), others.end());
  return known;
}

bool looks_like_torch_trace(std::string_view text) {
  std::size_t at = 0;
  for (int i = 0; i < kLinesToSee && at < text.size(); ++i) {
    const auto prefix = log_prefix(take_line(text, at));
    if (prefix && prefix->rest.starts_with("{\"")) return true;
  }
  return false;
}

TorchTrace read_torch_trace(std::string_view text) { return TraceReader(text).read(); }

}  // namespace recut
