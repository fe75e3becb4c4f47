// Statements of a printed forward() (printed_module.h). A statement with a fault is left out, and
// reading goes on in the next line.
#include "engine/input/printed_module.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "engine/input/python_lexer.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::size_t kMaxPrintedFaults = 20;
constexpr std::string_view kAnnotated = "an annotation like \"f32[8, 32][32, 1]cuda:0\"";

// The target of an operator between or before numbers; "" for others.
std::string_view operator_target(std::string_view symbol, bool unary) {
  constexpr std::pair<std::string_view, std::string_view> kTargets[] = {
      {"+", "add"}, {"-", "sub"},  {"*", "mul"}, {"/", "truediv"}, {"//", "floordiv"},
      {"%", "mod"}, {"**", "pow"}, {"<", "lt"},  {"<=", "le"},     {">", "gt"},
      {">=", "ge"}, {"==", "eq"},  {"!=", "ne"}, {"&", "and_"},    {"|", "or_"}};
  if (unary) return symbol == "-" ? "neg" : symbol == "~" ? "invert" : "";
  for (const auto& [text, name] : kTargets)
    if (text == symbol) return name;
  return {};
}

// "torch.ops.aten.mm.default" as fx-joint-graphs have it.
std::string target_of(std::string_view path) {
  constexpr std::string_view kOps = "torch.ops.", kHigher = "torch.ops.higher_order.";
  if (path == "operator.getitem") return "getitem";
  if (path.starts_with(kOps) && !path.starts_with(kHigher)) path.remove_prefix(kOps.size());
  return std::string(path);
}

class StatementReader {
 public:
  StatementReader(std::span<const PrintedLine> lines, PrintedModule& module, Diagnostics& faults)
      : lexer_(lines), values_(lexer_, aliases_), module_(module), faults_(faults) {}

  void read() {
    while (lexer_.peek().kind != PythonKind::end) {
      if (const auto read_one = read_statement(); !read_one) {
        if (faults_.size() < kMaxPrintedFaults) faults_.push_back(read_one.diagnostics().front());
        lexer_.skip_line();
      }
    }
    module_.end = lexer_.place(lexer_.peek());
    settle_parameters();
    if (!returned_ && faults_.empty())
      faults_.push_back(
          {fmt::format("the class {} ends without 'return', expected one: is the text "
                       "cut off?",
                       quote(module_.name)),
           {},
           module_.end.line,
           module_.end.column});
  }

 private:
  Diagnostic fault(const PythonToken& token, std::string message) const {
    const LineColumn place = lexer_.place(token);
    return {std::move(message), {}, place.line, place.column};
  }

  bool at_end() const {
    const PythonToken& token = lexer_.peek();
    return token.kind == PythonKind::line_end || token.kind == PythonKind::end ||
           token.kind == PythonKind::comment || token.is(";");
  }

  Result<Done> end() {
    if (!at_end()) return values_.unexpected(lexer_.peek(), "the end of the statement");
    return Done{};
  }

  Result<Done> read_statement() {
    const PythonToken token = lexer_.take();
    if (token.kind == PythonKind::comment) take_comment(token.text);
    if (token.kind == PythonKind::comment || token.kind == PythonKind::line_end || token.is(";"))
      return Done{};
    if (token.kind != PythonKind::name) return values_.unexpected(token, "a statement");
    if (token.is("pass")) return end();
    if (returned_) return values_.unexpected(token, "no more statements after 'return'");
    if (token.is("def")) return read_signature();
    if (!defined_) return values_.unexpected(token, "'def forward(self, …):'");
    if (token.is("return")) return read_return();
    return read_assignment(token);
  }

  // A comment holds for the nodes below it, up to the next that says where they come from.
  void take_comment(std::string_view text) {
    if (text.find("File: ") != std::string_view::npos) comment_ = text;
    if (text.find("No stacktrace found") != std::string_view::npos) comment_ = {};
  }

  Result<Done> read_signature() {
    if (defined_) return values_.unexpected(lexer_.peek(), "one function only");
    for (const std::string_view word : {"forward", "("})
      if (const auto there = values_.expect(word); !there) return there;
    defined_ = true;
    lexer_.asides.clear();
    lexer_.mark = 0;
    while (!lexer_.peek().is(")")) {
      const PythonToken name = lexer_.take();
      if (name.kind != PythonKind::name) return values_.unexpected(name, "the name of a parameter");
      std::string_view annotation;
      if (const auto there = read_annotation(annotation); !there) return there;
      if (!name.is("self")) add_placeholder(name, annotation);
      lexer_.mark = module_.nodes.size();
      if (lexer_.peek().is(")")) break;
      if (const auto comma = values_.expect(","); !comma) return comma;
    }
    signature_ = module_.nodes.size();
    for (const PythonLexer::Aside& aside : lexer_.asides)
      if (aside.mark > 0) module_.nodes[aside.mark - 1].comment = aside.text;
    lexer_.take();
    while (!lexer_.peek().is(":") && !at_end()) lexer_.take();
    return values_.expect(":");
  }

  // Parameters are trees or lists if the body names their leaves.
  void settle_parameters() {
    const bool trees = module_.flattened || leaves_;
    std::vector<PrintedNode> kept;
    std::size_t index = 0;
    for (PrintedNode& node : module_.nodes) {
      if (trees && index++ < signature_) continue;
      const bool bare = node.kind == PrintedKind::placeholder && node.annotation.empty();
      if (!bare)
        kept.push_back(std::move(node));
      else if (faults_.size() < kMaxPrintedFaults)
        faults_.push_back({fmt::format("the input {} has no annotation, expected one like "
                                       "\"f32[8, 32][32, 1]cuda:0\"",
                                       quote(node.name)),
                           {},
                           node.place.line,
                           node.place.column});
    }
    module_.nodes = std::move(kept);
  }

  // ": type", quoted or, in older versions, not; nothing where there is no ':'.
  Result<Done> read_annotation(std::string_view& annotation) {
    if (!lexer_.peek().is(":")) return Done{};
    lexer_.take();
    const PythonToken first = lexer_.peek();
    if (first.kind == PythonKind::text) {
      annotation = lexer_.take().text;
      annotation = annotation.substr(1, annotation.size() - 2);
      return Done{};
    }
    if (first.kind != PythonKind::name) return values_.unexpected(first, kAnnotated);
    std::uint32_t to = first.column;
    for (int depth = 0;;) {
      const PythonToken& token = lexer_.peek();
      const bool ends = token.is("=") || token.is(",") || token.is(")") || at_end();
      if (token.line != first.line || (depth == 0 && ends)) break;
      if (token.is("[") || token.is("(")) ++depth;
      if (token.is("]") || token.is(")")) --depth;
      to = token.column + static_cast<std::uint32_t>(token.text.size());
      lexer_.take();
    }
    annotation = lexer_.slice(first.line, first.column, to);
    return Done{};
  }

  void add_placeholder(const PythonToken& name, std::string_view annotation) {
    names_.insert(name.text);
    PrintedNode& node = module_.nodes.emplace_back();
    node.kind = PrintedKind::placeholder;
    node.name = name.text;
    node.target = std::string(name.text);
    node.annotation = annotation;
    node.place = lexer_.place(name);
  }

  // A statement that begins with a name: `x: "f32[]"`, `a, b, = …`, `x = …`, `a = b = None`,
  // `args.clear()`.
  Result<Done> read_assignment(const PythonToken& name) {
    std::string_view annotation;
    if (lexer_.peek().is(",")) {
      module_.flattened = true;
      lexer_.skip_line();
      return Done{};
    }
    if (lexer_.peek().is(".")) return read_clear(name);
    if (const auto there = read_annotation(annotation); !there) return there;
    if (!annotation.empty() && at_end()) {
      leaves_ = true;
      add_placeholder(name, annotation);
      if (lexer_.peek().kind == PythonKind::comment)
        module_.nodes.back().comment = lexer_.peek().text;
      return Done{};
    }
    if (!lexer_.peek().is("=")) return values_.unexpected(lexer_.peek(), "'='");
    lexer_.take();
    if (lexer_.peek().is("None")) return read_none();
    PrintedNode node;
    node.name = name.text;
    node.annotation = annotation;
    node.comment = comment_;
    node.place = lexer_.place(name);
    values_.nodes.clear();
    values_.real = false;
    const auto kept = read_expression(node);
    if (!kept) return kept.diagnostics();
    node.uses = values_.nodes;
    node.real = values_.real;
    if (*kept) {
      names_.insert(node.name);
      module_.nodes.push_back(std::move(node));
    }
    return end();
  }

  Result<Done> read_none() {
    lexer_.take();
    return end();
  }

  // `args.clear()` of a boxed call.
  Result<Done> read_clear(const PythonToken& name) {
    for (const std::string_view word : {".", "clear", "(", ")"})
      if (!lexer_.peek().is(word))
        return values_.unexpected(lexer_.peek(),
                                  fmt::format("'{} = …': a statement that Recut reads", name.text));
      else
        lexer_.take();
    return end();
  }

  // False if the statement makes no node.
  Result<bool> read_expression(PrintedNode& node) {
    const PythonToken first = lexer_.peek();
    if (const std::string_view target = operator_target(first.text, true);
        first.kind == PythonKind::symbol && !target.empty()) {
      lexer_.take();
      node.target = fmt::format("_operator.{}", target);
      return read_into(node.arguments);
    }
    if (first.kind != PythonKind::name) return read_operation(node);
    // A name with a dot or a bracket behind it is a call; alone it is an operand.
    const auto path = values_.read_path();
    if (!path) return path.diagnostics();
    if (path->starts_with("self.")) {
      node.kind = PrintedKind::attribute;
      node.target = path->substr(5);
      return true;
    }
    if (lexer_.peek().is("(")) return read_call(node, first, *path);
    if (path->find('.') != std::string::npos)
      return values_.unexpected(first, "a call, an item or an attribute of self");
    if (lexer_.peek().is("[")) return read_item(node, first.text);
    if (lexer_.peek().is("=")) return read_clean_up();
    if (at_end()) {
      const auto known = aliases_.find(first.text);
      aliases_[node.name] = known == aliases_.end() ? first.text : known->second;
      return false;
    }
    append_operand(first.text, node.arguments);
    return read_operator(node);
  }

  void append_operand(std::string_view name, std::string& json) {
    const auto alias = aliases_.find(name);
    values_.nodes.push_back(alias == aliases_.end() ? name : alias->second);
    json += "{\"node\": ";
    append_json_text(values_.nodes.back(), json);
    json += '}';
  }

  Result<bool> read_into(std::string& json) {
    const auto value = values_.read(json);
    return value ? Result<bool>(true) : value.diagnostics();
  }

  // `2 * s`: an operation that begins with a literal.
  Result<bool> read_operation(PrintedNode& node) {
    if (lexer_.peek().kind != PythonKind::number)
      return values_.unexpected(lexer_.peek(), "a call, an item, an operation or an attribute");
    const auto value = values_.read(node.arguments);
    return value ? read_operator(node) : value.diagnostics();
  }

  Result<bool> read_operator(PrintedNode& node) {
    const PythonToken symbol = lexer_.take();
    const std::string_view target = operator_target(symbol.text, false);
    if (symbol.kind != PythonKind::symbol || target.empty())
      return values_.unexpected(symbol, "an operator, a call or an item");
    node.target = fmt::format("_operator.{}", target);
    node.arguments += ',';
    return read_into(node.arguments);
  }

  Result<bool> read_call(PrintedNode& node, const PythonToken& first, const std::string& path) {
    const bool method = path.find('.') != std::string::npos && is_node(first.text);
    if (method || path.starts_with("torch.nn.") || path.starts_with("torch._C."))
      return fault(first, fmt::format("{} is called: this is a graph of Dynamo, expected one of "
                                      "AOTAutograd, which calls torch.ops",
                                      quote(path)));
    lexer_.take();
    node.target = target_of(path);
    const auto call = values_.read_call(node.arguments, node.keywords);
    if (!call) return call.diagnostics();
    if (path == "iter") return false;
    if (path != "next") return true;
    leaves_ = true;
    values_.nodes.clear();
    node.kind = PrintedKind::placeholder;
    node.target = std::string(node.name);
    node.arguments.clear();
    return true;
  }

  bool is_node(std::string_view name) const {
    return names_.count(name) != 0 || aliases_.count(name) != 0;
  }

  Result<bool> read_item(PrintedNode& node, std::string_view of) {
    lexer_.take();
    node.target = "getitem";
    append_operand(of, node.arguments);
    node.arguments += ',';
    const auto index = values_.read(node.arguments);
    if (!index) return index.diagnostics();
    const auto closed = values_.expect("]");
    return closed ? Result<bool>(true) : closed.diagnostics();
  }

  // The rest of `a = b = None`, after b.
  Result<bool> read_clean_up() {
    while (lexer_.peek().is("=")) {
      lexer_.take();
      if (lexer_.peek().kind != PythonKind::name)
        return values_.unexpected(lexer_.peek(), "'None'");
      lexer_.take();
    }
    return false;
  }

  Result<Done> read_return() {
    returned_ = true;
    lexer_.asides.clear();
    lexer_.mark = 0;
    const PythonToken first = lexer_.peek();
    if (first.is("pytree") || first.is("torch")) {
      const auto path = values_.read_path();
      if (!path) return path.diagnostics();
      if (!path->ends_with("tree_unflatten") || !lexer_.peek().is("("))
        return values_.unexpected(first, "'pytree.tree_unflatten(…)' or the outputs");
      lexer_.take();
      if (const auto outputs = read_outputs(); !outputs) return outputs;
      while (!lexer_.peek().is(")") && !at_end()) lexer_.take();
      return values_.expect(")");
    }
    if (const auto outputs = read_outputs(); !outputs) return outputs;
    return end();
  }

  // [a, b], (a, b), or one value.
  Result<Done> read_outputs() {
    const bool list = lexer_.peek().is("[") || lexer_.peek().is("(");
    const std::string_view close = lexer_.peek().is("[") ? "]" : ")";
    if (list) lexer_.take();
    while (!list || !lexer_.peek().is(close)) {
      PrintedOutput output;
      values_.nodes.clear();
      if (const auto value = values_.read(output.json); !value) return value;
      const bool reference = output.json.starts_with("{\"node\"");
      if (reference) output.node = values_.nodes.back();
      module_.outputs.push_back(std::move(output));
      ++lexer_.mark;
      if (!lexer_.peek().is(",")) {
        if (!list) break;
        if (!lexer_.peek().is(close))
          return values_.unexpected(lexer_.peek(), fmt::format("',' or '{}'", close));
        continue;
      }
      lexer_.take();
      if (!list && at_end()) break;
    }
    if (list) lexer_.take();
    for (const PythonLexer::Aside& aside : lexer_.asides)
      if (aside.mark > 0 && aside.mark <= module_.outputs.size())
        module_.outputs[aside.mark - 1].comment = aside.text;
    return Done{};
  }

  PythonLexer lexer_;
  std::map<std::string_view, std::string_view> aliases_;
  PythonValues values_;
  std::unordered_set<std::string_view> names_;  // of the nodes; looked up only
  PrintedModule& module_;
  Diagnostics& faults_;
  std::string_view comment_;
  std::size_t signature_ = 0;  // placeholders of the signature
  bool defined_ = false, returned_ = false;
  bool leaves_ = false;  // placeholders stand in the body
};

// Reads a class of `lines`, and gives the number of lines that belong to it.
std::size_t read_module(std::span<const PrintedLine> lines, int depth, PrintedModule& module,
                        Diagnostics& faults) {
  const auto header = class_header(lines[0].text);
  module.name = header->name;
  module.place = {lines[0].line, lines[0].column + static_cast<std::uint32_t>(header->indent)};
  std::size_t body = lines.size(), next = 1;
  while (next < lines.size()) {
    const std::string_view text = lines[next].text;
    const std::size_t indent = indent_of(text);
    if (indent < text.size() && indent <= header->indent) break;
    if (!class_header(text)) {
      ++next;
      continue;
    }
    body = std::min(body, next);
    if (depth == kMaxNestedGraphs) {
      if (faults.size() < kMaxPrintedFaults)
        faults.push_back({fmt::format("graphs are nested more than {} deep", kMaxNestedGraphs),
                          {},
                          lines[next].line,
                          lines[next].column});
      return next;
    }
    next += read_module(lines.subspan(next), depth + 1, module.nested.emplace_back(), faults);
  }
  StatementReader(lines.subspan(1, std::min(body, next) - 1), module, faults).read();
  return next;
}

}  // namespace

PrintedModule read_printed_module(std::span<const PrintedLine> lines, Diagnostics& faults) {
  PrintedModule module;
  read_module(lines, 0, module, faults);
  return module;
}

}  // namespace recut
