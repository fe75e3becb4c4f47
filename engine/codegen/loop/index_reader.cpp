#include "engine/codegen/loop/index_reader.h"

#include <fmt/core.h>

namespace recut::loop {
namespace {

constexpr int kMaxIndexDepth = 32;
constexpr std::size_t kMaxTerms = 64;

std::string_view kind_name(Named::Kind kind) {
  switch (kind) {
    case Named::Kind::buffer:
      return "a buffer";
    case Named::Kind::loop:
      return "a loop variable";
    case Named::Kind::value:
      return "a value";
    case Named::Kind::accumulator:
      return "an accumulator";
  }
  return "";
}

}  // namespace

bool IndexReader::define(const Token& token, Named named) {
  if (names_.emplace(token.text, named).second) return true;
  return fail_at(token, fmt::format("%{} is defined twice", token.text));
}

bool IndexReader::parse_name(Named::Kind kind, std::uint32_t& out) {
  if (token_.kind != TokenKind::reference)
    return fail(fmt::format("expected {} (%name), found {}", kind_name(kind), found()));
  const auto named = names_.find(token_.text);
  if (named == names_.end())
    return fail(fmt::format("%{} is not defined before this line", token_.text));
  if (named->second.kind != kind)
    return fail(fmt::format("expected {}, but %{} is {}", kind_name(kind), token_.text,
                            kind_name(named->second.kind)));
  out = named->second.id;
  advance();
  return true;
}

bool IndexReader::parse_sum(Index& out, int depth) {
  out = Index();
  std::size_t terms = 0;
  do {
    if (++terms > kMaxTerms) return fail(fmt::format("a sum of more than {} terms", kMaxTerms));
    Index term;
    if (!parse_term(term, depth)) return false;
    out = out + term;
  } while (accept("+"));
  return true;
}

bool IndexReader::parse_term(Index& out, int depth) {
  if (token_.kind != TokenKind::number) return parse_atom(out, depth);
  std::int64_t number = 0;
  if (!parse_whole_number(number)) return false;
  out = Index(number);
  if (!accept("*")) return true;
  if (!parse_atom(out, depth)) return false;
  out = number * out;
  return true;
}

bool IndexReader::parse_atom(Index& out, int depth) {
  const bool is_quotient = token_.is("div");
  if (!is_quotient && !token_.is("mod")) {
    const auto named = names_.find(token_.text);
    if (token_.kind == TokenKind::reference && named != names_.end() &&
        named->second.kind == Named::Kind::loop) {
      out = Index(LoopId(named->second.id));
      advance();
      return true;
    }
    ValueId value;
    if (!parse_value(value)) return false;
    out = Index(value);
    return true;
  }
  if (depth >= kMaxIndexDepth)
    return fail(fmt::format("an index nested deeper than {}", kMaxIndexDepth));
  advance();
  Index of;
  std::int64_t by = 0;
  if (!expect("(") || !parse_sum(of, depth + 1) || !expect(",")) return false;
  const Token token = token_;
  if (!parse_whole_number(by) || !expect(")")) return false;
  if (by <= 0) return fail_at(token, "an index is divided by a positive number");
  out = is_quotient ? quotient(std::move(of), by) : remainder(std::move(of), by);
  return true;
}

}  // namespace recut::loop
