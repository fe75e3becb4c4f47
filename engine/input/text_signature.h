// Lines of a graph's signature (engine/ir/graph_signature.h) in the text form, as
// engine/ir/printer.h shows them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/input/text_reader.h"
#include "engine/ir/graph_signature.h"

namespace recut {

class TextSignatureReader : protected TextReader {
 protected:
  using TextReader::TextReader;

  static constexpr std::string_view kSignatureWords[] = {
      "mutation", "tangent_of", "dual_input", "dual_result", "shared_storage", "deterministic"};

  // Reads a line that begins with one of these words; none for any other line.
  std::optional<bool> parse_signature_line(GraphSignature& signature);

  // Sets the signature of a graph that was read as a whole, and reports its faults.
  void finish_signature(GraphSignature signature, Graph& graph);

 private:
  bool parse_index(std::size_t& out);
  bool parse_mutation(GraphSignature& signature);
  bool parse_tangents(GraphSignature& signature);
  bool parse_level(int& level);
  bool parse_dual_input(GraphSignature& signature);
  bool parse_dual_result(GraphSignature& signature);
  bool parse_shared_storage(GraphSignature& signature);
  bool parse_deterministic(GraphSignature& signature);

  Token signature_token_;  // the first such line, for faults
};

}  // namespace recut
