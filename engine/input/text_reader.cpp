// Token handling and grammar shared by the parsers of the text form (text_reader.h): arguments,
// literals, types, devices and origins. No backtracking: one token of lookahead decides.
#include "engine/input/text_reader.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>

#include "engine/support/typo_correction.h"

namespace recut {

bool TextReader::fail_at(const Token& token, std::string message) {
  if (token.kind == TokenKind::bad) message = token.text;
  diagnostics_.push_back({std::move(message), std::string(file_name_), token.line, token.column});
  return false;
}

std::string TextReader::found() const {
  switch (token_.kind) {
    case TokenKind::end_of_line:
      return "the end of the line";
    case TokenKind::end_of_file:
      return "the end of the file";
    case TokenKind::reference:
      return fmt::format("%{}", token_.text);
    default:
      return fmt::format("'{}'", token_.text);
  }
}

bool TextReader::fail_unknown_operator(const Token& token,
                                       std::initializer_list<std::string_view> others) {
  TypoCorrection near(token.text);
  for (const std::string_view other : others) near.consider(other);
  for (const Operator& op : all_operators())
    if (!op.is(kInput)) {
      near.consider(op.name);
      near.consider(std::string_view(op.name).substr(0, op.name.find('.')), op.name);  // "mul"
    }
  return fail_at(token, fmt::format("unknown operator '{}'{}", token.text, near.suggestion()));
}

bool TextReader::expect(std::string_view symbol) {
  if (!token_.is(symbol)) return fail(fmt::format("expected '{}', found {}", symbol, found()));
  advance();
  return true;
}

bool TextReader::accept(std::string_view symbol) {
  if (!token_.is(symbol)) return false;
  advance();
  return true;
}

bool TextReader::take_text(TokenKind kind, std::string_view what, std::string& out) {
  if (token_.kind != kind) return fail(fmt::format("expected {}, found {}", what, found()));
  out = token_.text;
  advance();
  return true;
}

bool TextReader::end_line() {
  if (token_.kind == TokenKind::end_of_file || token_.is("}")) return true;
  if (token_.kind != TokenKind::end_of_line)
    return fail(fmt::format("expected the end of the line, found {}", found()));
  advance();
  return true;
}

bool TextReader::skip_line(std::uint32_t line) {
  bool closes = false;
  while (token_.line == line && token_.kind != TokenKind::end_of_line &&
         token_.kind != TokenKind::end_of_file) {
    closes = token_.is("}");
    advance();
  }
  return closes;
}

void TextReader::skip_empty_lines() {
  while (token_.kind == TokenKind::end_of_line) advance();
}

bool TextReader::parse_arguments(const Operator& op,
                                 const std::function<bool(std::size_t)>& parse_one) {
  if (!expect("(")) return false;
  std::vector<bool> given(op.parameters.size());
  std::size_t position = 0;
  bool named = false;
  while (!token_.is(")")) {
    const Token token = token_;
    std::size_t index = position++;
    if (token_.kind == TokenKind::word && op.parameter(token_.text) &&
        !is_value_keyword(token_.text)) {
      index = *op.parameter(token_.text);
      named = true;
      advance();
      if (!expect("=")) return false;
    } else if (named) {
      return fail("an argument by position after one by name");
    }
    if (index >= given.size())
      return fail_at(token,
                     fmt::format("{} takes {} arguments, found more", op.name, given.size()));
    if (given[index])
      return fail_at(token, fmt::format("argument '{}' is given twice", op.parameters[index].name));
    given[index] = true;
    if (!parse_one(index)) return false;
    if (!accept(",")) break;
  }
  return expect(")");
}

bool TextReader::is_value_keyword(std::string_view word) {
  return word == "none" || word == "true" || word == "false" || word == "inf" || word == "nan" ||
         dtype_from_short_name(word).has_value();
}

bool TextReader::parse_value_keyword(Argument& out) {
  const std::string& word = token_.text;
  if (word == "none")
    out = None{};
  else if (word == "true" || word == "false")
    out = word == "true";
  else if (word == "inf" || word == "nan")
    out = std::strtod(word.c_str(), nullptr);
  else
    out = *dtype_from_short_name(word);
  advance();
  return true;
}

bool TextReader::parse_number(Argument& out) {
  const std::string& digits = token_.text;
  char* end = nullptr;
  errno = 0;
  if (digits.find_first_of(".eEin") == std::string::npos) {
    const long long value = std::strtoll(digits.c_str(), &end, 10);
    if (errno == ERANGE) return fail(fmt::format("{} does not fit in 64 bits", digits));
    out = static_cast<std::int64_t>(value);
  } else {
    out = std::strtod(digits.c_str(), &end);
  }
  if (end == digits.c_str() || *end != '\0')
    return fail(fmt::format("'{}' is not a number", digits));
  advance();
  return true;
}

bool TextReader::parse_types(const Operator& op, std::vector<TensorType>& out) {
  if (!op.multiple_outputs()) return parse_type(out.emplace_back());
  if (!expect("(")) return false;
  while (!token_.is(")")) {
    if (!parse_type(out.emplace_back())) return false;
    if (!accept(",")) break;
  }
  return expect(")");
}

bool TextReader::parse_type(TensorType& out) {
  const Token token = token_;
  std::string word;
  if (!take_text(TokenKind::word, "a type such as f32[2, 3]", word)) return false;
  if (word == "none") return true;
  const auto dtype = dtype_from_short_name(word);
  if (!dtype) {
    TypoCorrection near(word);
    for (std::size_t i = 0; i < kDTypes; ++i) near.consider(short_name(static_cast<DType>(i)));
    return fail_at(token, fmt::format("unknown dtype '{}'{}", word, near.suggestion()));
  }
  out.dtype = *dtype;
  if (!parse_integers("[", "]", out.shape)) return false;
  const auto sound = check_size(out);
  if (!sound) return fail_at(token, sound.diagnostics().front().message);
  out.strides = contiguous_strides(out.shape);
  if (token_.is("{")) {
    out.strides.clear();
    if (!parse_integers("{", "}", out.strides)) return false;
    if (out.strides.size() != out.shape.size())
      return fail_at(
          token, fmt::format("{} strides for {} dimensions", out.strides.size(), out.shape.size()));
  }
  return parse_device(out.device);
}

bool TextReader::parse_device(std::string& out) {
  if (!accept("on")) return true;
  const TokenKind kind = token_.kind == TokenKind::string ? TokenKind::string : TokenKind::word;
  return take_text(kind, "a device", out);
}

bool TextReader::parse_integers(std::string_view open, std::string_view close,
                                std::vector<std::int64_t>& out) {
  if (!expect(open)) return false;
  while (!token_.is(close)) {
    std::int64_t value = 0;
    if (!parse_whole_number(value)) return false;
    out.push_back(value);
    if (!accept(",")) break;
  }
  return expect(close);
}

// @"module" #7 checkpoint MUST_SAVE 2
bool TextReader::parse_origin(Origin& origin) {
  if (accept("@") && !take_text(TokenKind::string, "a module path in quotes", origin.module))
    return false;
  if (accept("#") && !parse_whole_number(origin.seq_nr)) return false;
  if (!accept("checkpoint")) return true;
  const Token token = token_;
  std::string name;
  if (!take_text(TokenKind::word, "a checkpoint policy", name)) return false;
  const auto policy = find_checkpoint_policy(name);
  if (!policy)
    return fail_at(token, fmt::format("expected MUST_SAVE, PREFER_SAVE, PREFER_RECOMPUTE or "
                                      "MUST_RECOMPUTE, found {}",
                                      token.text));
  origin.policy = *policy;
  return token_.kind != TokenKind::number || parse_whole_number(origin.checkpoint_region);
}

bool TextReader::parse_whole_number(std::int64_t& out) {
  const Token token = token_;
  Argument number;
  if (token_.kind != TokenKind::number)
    return fail(fmt::format("expected a whole number, found {}", found()));
  if (!parse_number(number)) return false;
  const auto* value = number.get<std::int64_t>();
  if (value == nullptr)
    return fail_at(token, fmt::format("expected a whole number, found {}", token.text));
  out = *value;
  return true;
}

}  // namespace recut
