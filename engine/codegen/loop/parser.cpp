// Recursive descent, one line a statement. A line that fails is skipped, so that one run reports up
// to 20 diagnostics; after a failed block head the parser stops, as it can't tell where the block
// ends. Names are resolved on the way: a use before its definition is a diagnostic here, everything
// about types, bounds and lanes is the verifier's.
#include "engine/codegen/loop/parser.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "engine/codegen/loop/index_reader.h"

namespace recut::loop {
namespace {

constexpr std::size_t kMaxDiagnostics = 20;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;

// The kind of an expression by its first word; any other word is a scalar operator.
enum class ExpressionKind : std::uint8_t { constant, index, load, check, read, accumulator, apply };
ExpressionKind expression_kind(std::string_view word) {
  static const std::map<std::string_view, ExpressionKind> kinds{
      {"constant", ExpressionKind::constant}, {"index", ExpressionKind::index},
      {"load", ExpressionKind::load},         {"check", ExpressionKind::check},
      {"read", ExpressionKind::read},         {"accumulator", ExpressionKind::accumulator}};
  const auto found = kinds.find(word);
  return found == kinds.end() ? ExpressionKind::apply : found->second;
}

class KernelParser : IndexReader {
 public:
  KernelParser(std::string_view text, std::string_view file_name) : IndexReader(text, file_name) {}

  Result<std::vector<Kernel>> run() {
    std::vector<Kernel> kernels;
    skip_empty_lines();
    do {
      kernel_ = Kernel();
      names_.clear();
      if (!parse_kernel()) break;
      kernels.push_back(std::move(kernel_));
      skip_empty_lines();
    } while (token_.kind != TokenKind::end_of_file);
    if (!diagnostics_.empty()) return diagnostics_;
    return kernels;
  }

 private:
  // Kernels and blocks
  // ------------------------------------------------------------------------------

  bool parse_kernel() {
    if (!expect("kernel") ||
        !take_text(TokenKind::string, "the kernel's name in quotes", kernel_.name) || !expect("{"))
      return false;
    return parse_block(kernel_.body, 0);
  }

  // Reads up to the closing brace. A line that fails is skipped. If a block or its head fails, its
  // end can't be told from another's, and parsing stops.
  bool parse_block(Block& block, int depth) {
    for (;;) {
      skip_empty_lines();
      if (accept("}")) return true;
      if (token_.kind == TokenKind::end_of_file)
        return fail("expected '}' at the end of a block, found the end of the file");
      const std::uint32_t line = token_.line;
      if (parse_line(block, depth)) continue;
      if (unrecoverable_ || diagnostics_.size() >= kMaxDiagnostics) return false;
      skip_line(line);
    }
  }

  bool parse_line(Block& block, int depth) {
    if (token_.is("note") || token_.is("buffer")) {
      if (depth > 0 || !block.empty())
        return fail("notes and buffers stand before a kernel's statements");
      return accept("note") ? parse_location() : (advance(), parse_buffer());
    }
    if (accept("for")) return check_block_head(parse_loop(block, depth, false));
    if (accept("parallel")) return check_block_head(parse_loop(block, depth, true));
    if (accept("if")) return check_block_head(parse_if(block, depth));
    if (accept("store")) return parse_store(block);
    if (accept("update")) return parse_update(block);
    return parse_definition(block);
  }

  bool check_block_head(bool done) {
    unrecoverable_ = unrecoverable_ || !done;
    return done;
  }

  bool parse_location() {
    return take_text(TokenKind::string, "a note in quotes", kernel_.locations.emplace_back()) &&
           end_line();
  }

  bool parse_buffer() {
    Buffer buffer;
    const Token token = token_;
    if (!take_text(TokenKind::reference, "a buffer (%name)", buffer.name) || !expect(":") ||
        !parse_dtype(buffer.dtype) || !expect("[") || !parse_count(buffer.elements, 0) ||
        !expect("]"))
      return false;
    if (accept("updated"))
      buffer.access = Access::read_write;
    else if (accept("written"))
      buffer.access = Access::write;
    else if (accept("scratch"))
      buffer.access = Access::scratch;
    else if (!expect("read"))
      return false;
    if (!define(token, {Named::Kind::buffer, count(kernel_.buffers)})) return false;
    kernel_.buffers.push_back(std::move(buffer));
    return end_line();
  }

  bool parse_loop(Block& block, int depth, bool parallel) {
    Loop loop;
    loop.parallel = parallel;
    LoopVariable variable;
    const Token token = token_;
    if (!take_text(TokenKind::reference, "a loop variable (%name)", variable.name) ||
        !expect("in") || !parse_range(variable.extent) || !parse_lanes(loop.lanes) || !expect("{"))
      return false;
    loop.variable = LoopId(kernel_.loops.size());
    if (!define(token, {Named::Kind::loop, loop.variable.index})) return false;
    kernel_.loops.push_back(std::move(variable));
    return parse_body(loop.body, depth) && add(block, std::move(loop));
  }

  bool parse_if(Block& block, int depth) {
    If branch;
    return parse_value(branch.condition) && expect("{") && parse_body(branch.body, depth) &&
           add(block, std::move(branch));
  }

  bool parse_body(Block& body, int depth) {
    if (depth + 1 >= kMaxNestDepth)
      return fail(fmt::format("blocks nested deeper than {}", kMaxNestDepth));
    return parse_block(body, depth + 1) && end_line();
  }

  // Statements
  // ------------------------------------------------------------------------------------

  bool parse_store(Block& block) {
    Store store;
    if (token_.kind == TokenKind::word) {
      Combine combine{};
      if (!parse_combine(combine)) return false;
      store.combine = combine;
    }
    return parse_element(store.buffer, store.at) && expect(",") && parse_value(store.value) &&
           end_line() && add(block, std::move(store));
  }

  bool parse_update(Block& block) {
    Update update;
    return parse_accumulator(update.accumulator) && expect(",") && parse_value(update.value) &&
           (!accept("*") || parse_value(update.times)) && end_line() && add(block, update);
  }

  bool parse_definition(Block& block) {
    const Token token = token_;
    std::string name;
    DType type = DType::none;
    if (!take_text(TokenKind::reference, "a statement", name) || !expect(":") ||
        !parse_dtype(type) || !expect("="))
      return false;
    const Token word = token_;
    std::string text;
    if (!take_text(TokenKind::word, "an operator", text)) return false;
    const ExpressionKind kind = expression_kind(text);
    if (kind == ExpressionKind::accumulator)
      return parse_accumulator_declaration(block, token, type);
    Define definition;
    definition.value = ValueId(kernel_.values.size());
    const bool parsed = parse_expression(kind, word, type, definition.expression);
    // Defined even after a failure, so that its uses don't cause further diagnostics.
    if (!define(token, {Named::Kind::value, definition.value.index})) return false;
    kernel_.values.push_back({name, type});
    return parsed && end_line() && add(block, std::move(definition));
  }

  bool parse_accumulator_declaration(Block& block, const Token& token, DType type) {
    Declare declare;
    Accumulator accumulator{token.text, type, Combine::add, 1};
    if (!parse_combine(accumulator.combine) || !expect("from") || !parse_value(declare.initial) ||
        !parse_lanes(accumulator.lanes))
      return false;
    declare.accumulator = AccumulatorId(kernel_.accumulators.size());
    if (!define(token, {Named::Kind::accumulator, declare.accumulator.index})) return false;
    kernel_.accumulators.push_back(std::move(accumulator));
    return end_line() && add(block, declare);
  }

  // Expressions
  // -----------------------------------------------------------------------------------

  bool parse_expression(ExpressionKind kind, const Token& word, DType type, Expression& out) {
    switch (kind) {
      case ExpressionKind::constant:
        return parse_constant(type, out.emplace<Constant>());
      case ExpressionKind::index:
        return parse_index(out.emplace<IndexNumber>().index);
      case ExpressionKind::load: {
        auto& load = out.emplace<Load>();
        return parse_element(load.buffer, load.at) && (!accept("where") || parse_value(load.where));
      }
      case ExpressionKind::check: {
        auto& checked = out.emplace<Checked>();
        return parse_value(checked.value) && expect("in") && parse_range(checked.below);
      }
      case ExpressionKind::read:
        return parse_accumulator(out.emplace<ReadAccumulator>().accumulator);
      default:
        return parse_apply(word, out.emplace<Apply>());
    }
  }

  bool parse_constant(DType type, Constant& out) {
    const Token token = token_;
    Argument number;
    const bool word = token_.kind == TokenKind::word && is_value_keyword(token_.text);
    if (!word && token_.kind != TokenKind::number)
      return fail(fmt::format("expected a number, found {}", found()));
    if (!(word ? parse_value_keyword(number) : parse_number(number))) return false;
    const auto* real = number.get<double>();
    const auto* whole = number.get<std::int64_t>();
    const auto* truth = number.get<bool>();
    if (type == DType::boolean ? truth == nullptr
                               : whole == nullptr && (real == nullptr || !is_floating(type)))
      return fail_at(token,
                     fmt::format("'{}' is no constant of type {}", token.text, short_name(type)));
    if (truth != nullptr) out.integer = *truth ? 1 : 0;
    if (whole != nullptr && is_floating(type)) out.real = static_cast<double>(*whole);
    if (whole != nullptr && !is_floating(type)) out.integer = *whole;
    if (real != nullptr) out.real = *real;
    return true;
  }

  bool parse_apply(const Token& word, Apply& out) {
    const ScalarOperator* op = find_scalar_operator(word.text);
    if (op == nullptr) return fail_at(word, fmt::format("unknown operator '{}'", word.text));
    out.op = op->op;
    if (op->op == ScalarOp::narrow && !parse_dtype(out.stored)) return false;
    if (op->operands() == 0) return true;
    do {
      if (!parse_value(out.operands.emplace_back())) return false;
    } while (accept(","));
    return true;
  }

  bool parse_combine(Combine& out) {
    const auto combine = find_combine(token_.text);
    if (token_.kind != TokenKind::word || !combine)
      return fail(fmt::format("expected add, mul, max, min, and or or, found {}", found()));
    out = *combine;
    advance();
    return true;
  }

  bool parse_range(std::int64_t& end) {
    const std::string text = token_.text;
    if (token_.kind != TokenKind::number || text.substr(0, 3) != "0.." || text.size() < 4 ||
        text.size() > 3 + 18 || text.find_first_not_of("0123456789", 3) != std::string::npos)
      return fail(fmt::format("expected a range 0..n, found {}", found()));
    end = std::stoll(text.substr(3));
    if (end > kMaxElements) return fail(fmt::format("a range of more than {}", kMaxElements));
    advance();
    return true;
  }

  bool parse_lanes(std::int64_t& lanes) { return !accept("lanes") || parse_count(lanes, 1); }

  bool parse_count(std::int64_t& out, std::int64_t least) {
    const Token token = token_;
    if (!parse_whole_number(out)) return false;
    if (out < least || out > kMaxElements)
      return fail_at(token, fmt::format("expected {} to {}, found {}", least, kMaxElements, out));
    return true;
  }

  bool parse_dtype(DType& out) {
    const auto dtype = dtype_from_short_name(token_.text);
    if (token_.kind != TokenKind::word || !dtype || *dtype == DType::none)
      return fail(fmt::format("expected a dtype, found {}", found()));
    out = *dtype;
    advance();
    return true;
  }

  bool parse_element(BufferId& buffer, Index& at) {
    return parse_buffer_name(buffer) && expect("[") && parse_index(at) && expect("]");
  }

  template <class Parts>
  static std::uint32_t count(const Parts& parts) {
    return static_cast<std::uint32_t>(parts.size());
  }

  template <class S>
  static bool add(Block& block, S&& statement) {
    block.push_back({std::forward<S>(statement)});
    return true;
  }

  Kernel kernel_;
  bool unrecoverable_ = false;
};

}  // namespace

Result<std::vector<Kernel>> parse_kernels(std::string_view text, std::string_view file_name) {
  return KernelParser(text, file_name).run();
}

}  // namespace recut::loop
