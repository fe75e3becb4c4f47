// Recursive-descent parser of the text form (text.h; grammar in engine/ir/printer.h). One
// definition a line, checked and interned as it is read; after an error the parser continues with
// the next line. A region is a graph within the braces of another one, and is checked against the
// calls that name it once all are read. Explicit draw numbers may collide with numbers assigned to
// earlier calls; the text is then parsed a second time with all explicit numbers reserved.
#include "engine/input/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>

#include "engine/input/text_signature.h"
#include "engine/ir/call.h"
#include "engine/ir/external_operator.h"
#include "engine/ir/node_diagnostic.h"
#include "engine/ir/region_call.h"
#include "engine/ir/region_memory.h"
#include "engine/ir/storage_model.h"
#include "engine/support/typo_correction.h"

namespace recut {
namespace {

constexpr std::size_t kMaxDiagnostics = 20;
constexpr int kMaxListDepth = 32;
constexpr std::size_t kMaxRegionDepth = 32;
constexpr std::string_view kExpectedLine =
    "a definition (%name = …), 'results', 'gradients' or 'region'";

class TextParser : TextSignatureReader {
 public:
  // `reserved` are draw numbers that calls without an explicit one must not get.
  TextParser(std::string_view text, std::string_view file_name, std::set<std::int64_t> reserved)
      : TextSignatureReader(text, file_name), explicit_draws_(std::move(reserved)) {}

  Result<Graph> run() {
    parse_header();
    if (diagnostics_.empty() && parse_body()) {
      skip_empty_lines();
      if (token_.kind != TokenKind::end_of_file)
        fail(fmt::format("expected the end of the file, found {}", found()));
    }
    if (!diagnostics_.empty()) return diagnostics_;
    return std::move(graph_);
  }

  // The explicit draw numbers, if one of them was already assigned to an earlier call; else null.
  const std::set<std::int64_t>* colliding_draws() const {
    return draws_collide_ ? &explicit_draws_ : nullptr;
  }

 private:
  // The graph
  // --------------------------------------------------------------------------------------

  bool parse_header() {
    skip_empty_lines();
    if (!expect("graph") ||
        !take_text(TokenKind::string, "the graph's name in quotes", graph_.name))
      return false;
    return parse_device(graph_.device) && expect("{");
  }

  // To the closing brace; false where the file ends before it, or has too many errors.
  bool parse_body() {
    bool closed = false;  // true if a skipped line ended in "}"
    for (;;) {
      skip_empty_lines();
      if (token_.is("}")) break;
      if (token_.kind == TokenKind::end_of_file) {
        if (!closed) fail("expected '}' at the end of the graph, found the end of the file");
        return false;
      }
      const std::uint32_t line = token_.line;
      closed = !parse_line() && skip_line(line);
      if (diagnostics_.size() >= kMaxDiagnostics) return false;
    }
    if (diagnostics_.empty()) finish_regions();
    finish_signature(std::move(signature_), graph_);
    advance();
    return true;
  }

  bool parse_line() {
    if (accept("results")) return parse_outputs(graph_.results);
    if (accept("gradients")) return parse_outputs(graph_.gradients);
    if (accept("same")) return parse_alias();
    if (accept("region")) return parse_region();
    if (const auto read = parse_signature_line(signature_)) return *read;
    return parse_definition();
  }

  bool parse_outputs(std::vector<NodeId>& out) {
    while (token_.kind != TokenKind::end_of_line && !token_.is("}")) {
      NodeId id;
      if (!accept("none") && !parse_reference(id)) return false;
      out.push_back(id);
      if (!accept(",")) break;
    }
    return end_line();
  }

  bool parse_alias() {
    std::string name;
    const Token token = token_;
    NodeId id;
    if (!take_text(TokenKind::reference, "a name (%…)", name)) return false;
    if (!parse_reference(id)) {
      failed_names_.insert(name);
      return false;
    }
    if (!graph_.add_alias(std::move(name), id))
      return fail_at(token, fmt::format("{} is the name of another node", token.text));
    return end_line();
  }

  // region "body" on cpu { … }: read as a graph, while the outer one waits.
  bool parse_region() {
    const Token token = token_;
    Graph region;
    region.device = graph_.device;
    if (!take_text(TokenKind::string, "the region's name in quotes", region.name) ||
        !parse_device(region.device) || !expect("{"))
      return false;
    if (++region_depth_ > kMaxRegionDepth)
      return fail_at(token, fmt::format("regions nested deeper than {}", kMaxRegionDepth));
    std::swap(graph_, region);
    auto outer_calls = std::exchange(external_calls_, {});
    auto outer_regions = std::exchange(regions_, {});
    auto outer_failed = std::exchange(failed_names_, {});
    auto outer_signature = std::exchange(signature_, {});
    const bool whole = parse_body();
    std::swap(graph_, region);
    external_calls_ = std::move(outer_calls);
    regions_ = std::move(outer_regions);
    failed_names_ = std::move(outer_failed);
    signature_ = std::move(outer_signature);
    --region_depth_;
    if (!whole || !end_line()) return false;
    regions_.push_back(token);
    if (graph_.add_region(token.text, std::move(region))) return true;
    return fail_at(token, fmt::format("the graph has two regions '{}'", token.text));
  }

  // Regions stand below the calls that name them: both are compared, and a call gets its region's
  // memory, at the graph's end.
  void finish_regions() {
    const auto names = named_regions(graph_);
    for (const Token& region : regions_)
      if (std::find(names.begin(), names.end(), region.text) == names.end())
        fail_at(region, fmt::format("no external call names the region '{}'", region.text));
    if (const auto counted = check_total_bytes(graph_); region_depth_ > 0 && !counted)
      fail(counted.diagnostics().front().message);
    Measurements measurements;
    for (const auto& [token, id] : external_calls_) {
      for (const std::string& message : check_regions(graph_, id))
        fail_at(token, node_diagnostic(graph_, id, message).message);
      Measurement memory;
      memory.workspace_bytes = region_bytes(graph_, id);
      if (memory.workspace_bytes > 0) measurements.add(id, memory);
    }
    if (measurements.any()) graph_.measured = std::make_shared<const Measurements>(measurements);
  }

  bool parse_definition() {
    const Token token = token_;
    std::string name;
    if (token_.kind == TokenKind::word) return fail_line();
    if (!take_text(TokenKind::reference, kExpectedLine, name) || !expect("=")) {
      if (!name.empty()) failed_names_.insert(name);
      return false;
    }
    const bool taken = graph_.find(name).valid();
    if (taken) fail_at(token, fmt::format("%{} is defined twice", name));
    if (!taken && parse_call(token, name)) return true;
    failed_names_.insert(name);
    return false;
  }

  bool fail_line() {
    TypoCorrection near(token_.text);
    for (const char* word : {"results", "gradients", "same", "region"}) near.consider(word);
    for (const std::string_view word : kSignatureWords) near.consider(word);
    return fail(
        fmt::format("expected {}, found '{}'{}", kExpectedLine, token_.text, near.suggestion()));
  }

  bool parse_call(const Token& token, const std::string& name) {
    std::string word;
    const Token operator_token = token_;
    if (!take_text(TokenKind::word, "an operator", word)) return false;
    if (word == "input") return parse_input(InputKind::input, name);
    if (word == "parameter") return parse_input(InputKind::parameter, name);
    if (word == "tangent") return parse_input(InputKind::tangent, name);
    if (word == "constant") return parse_constant(name);
    if (word == "external" && token_.kind == TokenKind::word) return parse_external(token, name);
    const Operator* op = find_operator_by_name(word);
    if (op == nullptr || op->is(kInput))
      return fail_unknown_operator(operator_token, {"input", "parameter", "tangent", "constant"});
    std::vector<Argument> arguments(op->parameters.size());
    const auto parse_one = [&](std::size_t i) {
      const bool word = token_.kind == TokenKind::word && !is_value_keyword(token_.text);
      return word ? fail_argument(*op) : parse_argument(arguments[i], 0);
    };
    if (!parse_arguments(*op, parse_one)) return false;
    return finish_call(token, name, *op, std::move(arguments));
  }

  // A call whose operator Recut doesn't know: external mine.scale(%x, 3, mode="a") : f32[4]
  bool parse_external(const Token& token, const std::string& name) {
    ExternalSignature signature;
    if (!take_text(TokenKind::word, "the name of an operator", signature.target)) return false;
    std::vector<Argument> arguments;
    Argument draw;
    if (!parse_external_arguments(signature, arguments, draw)) return false;
    if (!token_.is(":")) return fail("expected ':' and the types of an external call");
    advance();
    signature.several = token_.is("(");
    const auto op = external_operator(signature);
    if (!op) return fail_at(token, op.diagnostics().front().message);
    arguments.push_back(std::move(draw));
    number_draw(**op, arguments);
    std::vector<TensorType> types;
    Origin origin{name, {}, -1};
    if (!parse_types(**op, types) || !parse_origin(origin) || !end_line()) return false;
    if (!signature.several && !types.front().exists())
      return fail_at(token, "an external call without a value");
    external_calls_.emplace_back(
        token, graph_.append((*op)->op, std::move(arguments), std::move(types), std::move(origin)));
    return true;
  }

  // True if '=' follows the token: the argument's name may be a word that is a value elsewhere.
  bool is_named() const {
    TextLexer ahead = lexer_;
    return ahead.next().is("=");
  }

  bool parse_external_arguments(ExternalSignature& signature, std::vector<Argument>& arguments,
                                Argument& draw) {
    if (!expect("(")) return false;
    while (!token_.is(")")) {
      std::string keyword;
      if (token_.kind == TokenKind::word && (!is_value_keyword(token_.text) || is_named())) {
        keyword = token_.text;
        advance();
        if (!expect("=")) return false;
      } else if (!signature.keywords.empty()) {
        return fail("an argument by position after one by name");
      }
      Argument argument;
      if (!parse_argument(argument, 0)) return false;
      if (keyword == "draw") {
        draw = std::move(argument);
      } else {
        arguments.push_back(std::move(argument));
        if (keyword.empty())
          ++signature.positional;
        else
          signature.keywords.push_back(keyword);
      }
      if (!accept(",")) break;
    }
    return expect(")");
  }

  bool parse_input(InputKind kind, const std::string& name) {
    TensorType type;
    Origin origin{name, {}, -1};
    if (!parse_type(type) || !parse_origin(origin) || !end_line()) return false;
    graph_.add_input(kind, std::move(type), std::move(origin));
    return true;
  }

  bool parse_constant(const std::string& name) {
    TensorType type;
    Origin origin{name, {}, -1};
    if (!parse_type(type) || !parse_origin(origin) || !end_line()) return false;
    graph_.add_constant(std::move(type), std::move(origin));
    return true;
  }

  bool finish_call(const Token& token, const std::string& name, const Operator& op,
                   std::vector<Argument> arguments) {
    const Call::TypesOf types_of = [this](NodeId id) { return graph_.pool().types_of(id); };
    const Diagnostics wrong = check_arguments(op, arguments, types_of);
    if (!wrong.empty()) return fail_at(token, wrong.front().message);
    number_draw(op, arguments);
    std::vector<TensorType> recorded;
    const bool typed = accept(":");
    if (typed && !parse_types(op, recorded)) return false;
    Origin origin{name, {}, -1};
    if (!parse_origin(origin) || !end_line()) return false;
    const bool unchecked = op.is(kDataDependent) ||
                           dtype_without_arithmetic(arguments, recorded, types_of) != DType::none;
    if (!(typed && unchecked)) {
      auto inferred = infer_types(op, arguments, types_of);
      if (!inferred) return fail_at(token, inferred.diagnostics().front().message);
      if (typed && !agree(token, op, recorded, *inferred)) return false;
      if (!typed) recorded = std::move(*inferred);
    }
    graph_.append(op.op, std::move(arguments), std::move(recorded), std::move(origin));
    return true;
  }

  // Two calls are two draws, unless the text gives them one number.
  void number_draw(const Operator& op, std::vector<Argument>& arguments) {
    const auto position = op.is(kImpure) ? op.parameter("draw") : std::nullopt;
    if (!position) return;
    Argument& draw = arguments[*position];
    if (const auto number = Scalar::from(draw)) {
      draws_collide_ = draws_collide_ || assigned_draws_.count(number->integer) != 0;
      explicit_draws_.insert(number->integer);
      return;
    }
    while (explicit_draws_.count(next_draw_) != 0) ++next_draw_;
    assigned_draws_.insert(next_draw_);
    draw = next_draw_++;
  }

  // Shape and dtype must agree with the shape rule; layout and device are the file's.
  bool agree(const Token& token, const Operator& op, const std::vector<TensorType>& recorded,
             const std::vector<TensorType>& inferred) {
    if (recorded.size() != inferred.size())
      return fail_at(token, fmt::format("{} gives {} outputs, found {} types", op.name,
                                        inferred.size(), recorded.size()));
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      if (!recorded[i].exists() && op.multiple_outputs()) continue;
      if (recorded[i].dtype == inferred[i].dtype && recorded[i].shape == inferred[i].shape)
        continue;
      return fail_at(token, fmt::format("{} gives {}, found {}", op.name, format(inferred[i]),
                                        format(recorded[i])));
    }
    return true;
  }

  // Arguments
  // --------------------------------------------------------------------------------------

  bool parse_argument(Argument& out, int depth) {
    if (token_.kind == TokenKind::reference) {
      NodeId id;
      if (!parse_reference(id)) return false;
      out = id;
      return true;
    }
    if (token_.kind == TokenKind::number) return parse_number(out);
    if (token_.kind == TokenKind::string) {
      out = token_.text;
      advance();
      return true;
    }
    if (token_.is("[")) return parse_list(out, depth);
    if (token_.kind == TokenKind::word && is_value_keyword(token_.text))
      return parse_value_keyword(out);
    return fail(fmt::format("expected an argument, found {}", found()));
  }

  // Reports a word that is neither a parameter of the operator nor a literal.
  bool fail_argument(const Operator& op) {
    TypoCorrection near(token_.text);
    std::string names;
    for (const Parameter& parameter : op.parameters) {
      near.consider(parameter.name);
      names += fmt::format("{}{}", names.empty() ? "" : ", ", parameter.name);
    }
    for (const char* value : {"none", "true", "false"}) near.consider(value);
    return fail(fmt::format("expected an argument of {} ({}), found '{}'{}", op.name, names,
                            token_.text, near.suggestion()));
  }

  bool parse_list(Argument& out, int depth) {
    if (depth >= kMaxListDepth)
      return fail(fmt::format("lists nested deeper than {}", kMaxListDepth));
    advance();
    ArgumentList items;
    while (!token_.is("]")) {
      Argument item;
      if (!parse_argument(item, depth + 1)) return false;
      items.push_back(std::move(item));
      if (!accept(",")) break;
    }
    out = std::move(items);
    return expect("]");
  }

  bool parse_reference(NodeId& out) {
    if (token_.kind != TokenKind::reference)
      return fail(fmt::format("expected a node (%name), found {}", found()));
    out = graph_.find(token_.text);
    if (!out.valid()) {
      // A failed definition was reported before; its uses are not reported again.
      if (failed_names_.count(token_.text) != 0) return false;
      TypoCorrection near(token_.text);
      for (const NodeId id : graph_.order()) near.consider(graph_.node_name(id));
      return fail(
          fmt::format("%{} is not defined before this line{}", token_.text, near.suggestion()));
    }
    advance();
    return true;
  }

  Graph graph_;  // the innermost one
  std::vector<std::pair<Token, NodeId>> external_calls_;
  std::vector<Token> regions_;  // names
  std::size_t region_depth_ = 0;
  std::set<std::string> failed_names_;
  GraphSignature signature_;
  std::set<std::int64_t> explicit_draws_, assigned_draws_;
  std::int64_t next_draw_ = 0;
  bool draws_collide_ = false;
};

}  // namespace

Result<Graph> parse_graph_text(std::string_view text, std::string_view file_name) {
  TextParser parser(text, file_name, {});
  auto graph = parser.run();
  const std::set<std::int64_t>* taken = parser.colliding_draws();
  return taken == nullptr ? std::move(graph) : TextParser(text, file_name, *taken).run();
}

Token first_token(std::string_view bytes) {
  TextLexer lexer(bytes.substr(0, 1 << 16));
  Token token = lexer.next();
  while (token.kind == TokenKind::end_of_line) token = lexer.next();
  return token;
}

bool looks_like_graph_text(std::string_view bytes) { return first_token(bytes).is("graph"); }

}  // namespace recut
