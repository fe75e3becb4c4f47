#include "engine/input/text_signature.h"

#include <fmt/core.h>

#include <utility>

#include "engine/ir/dual_call.h"

namespace recut {

std::optional<bool> TextSignatureReader::parse_signature_line(GraphSignature& signature) {
  const Token token = token_;
  const auto is = [&](std::string_view word) { return token.is(word) && accept(word); };
  std::optional<bool> read;
  if (is("mutation"))
    read = parse_mutation(signature);
  else if (is("tangent_of"))
    read = parse_tangents(signature);
  else if (is("dual_input"))
    read = parse_dual_input(signature);
  else if (is("dual_result"))
    read = parse_dual_result(signature);
  else if (is("shared_storage"))
    read = parse_shared_storage(signature);
  else if (is("deterministic"))
    read = parse_deterministic(signature);
  if (read && signature_token_.text.empty()) signature_token_ = token;
  return read;
}

bool TextSignatureReader::parse_index(std::size_t& out) {
  std::int64_t number = 0;
  if (!parse_whole_number(number)) return false;
  if (number < 0) return fail("a negative number of a result");
  out = static_cast<std::size_t>(number);
  return true;
}

bool TextSignatureReader::parse_mutation(GraphSignature& signature) {
  Mutation mutation;
  if (!parse_index(mutation.result) ||
      !take_text(TokenKind::reference, "an input (%…)", mutation.input))
    return false;
  const bool both = accept("value");
  mutation.metadata = both ? expect("metadata") : accept("metadata");
  if (both && !mutation.metadata) return false;
  mutation.value = both || !mutation.metadata;
  signature.mutations.push_back(std::move(mutation));
  return end_line();
}

bool TextSignatureReader::parse_tangents(GraphSignature& signature) {
  do {
    std::size_t result = 0;
    if (!parse_index(result)) return false;
    signature.tangent_of.push_back(result);
  } while (accept(","));
  return end_line();
}

bool TextSignatureReader::parse_level(int& level) {
  const Token token = token_;
  std::int64_t number = 0;
  if (!expect("level") || !parse_whole_number(number)) return false;
  if (number < 0 || number > kMaxDualLevel)
    return fail_at(token, fmt::format("level {}, expected 0 to {}", number, kMaxDualLevel));
  level = static_cast<int>(number);
  return end_line();
}

bool TextSignatureReader::parse_dual_input(GraphSignature& signature) {
  DualInput dual;
  if (!take_text(TokenKind::reference, "an input (%…)", dual.primal) || !expect(",") ||
      !take_text(TokenKind::reference, "its tangent (%…)", dual.tangent) ||
      !parse_level(dual.level))
    return false;
  signature.dual_inputs.push_back(std::move(dual));
  return true;
}

bool TextSignatureReader::parse_dual_result(GraphSignature& signature) {
  DualResult dual;
  if (!parse_index(dual.primal) || !expect(",") || !parse_index(dual.tangent) ||
      !parse_level(dual.level))
    return false;
  signature.dual_results.push_back(dual);
  return true;
}

bool TextSignatureReader::parse_shared_storage(GraphSignature& signature) {
  std::vector<std::string> group;
  do {
    std::string name;
    if (!take_text(TokenKind::reference, "an input (%…)", name)) return false;
    group.push_back(std::move(name));
  } while (accept(","));
  signature.shared_storages.push_back(std::move(group));
  return end_line();
}

bool TextSignatureReader::parse_deterministic(GraphSignature& signature) {
  signature.deterministic = true;
  return end_line();
}

void TextSignatureReader::finish_signature(GraphSignature signature, Graph& graph) {
  set_signature(graph, std::move(signature));
  if (!diagnostics_.empty()) return;
  for (const std::string& fault : check_signature(graph)) fail_at(signature_token_, fault);
}

}  // namespace recut
