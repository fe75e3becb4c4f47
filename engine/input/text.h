// Reads the text form that engine/ir/printer.h describes.
//
// A definition may also leave out its type, which is then inferred:
//   %y = mm(%x, %w)
// A call that draws random numbers without an explicit `draw` gets the next unused number from 0.
#pragma once

#include <string_view>

#include "engine/input/text_lexer.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// The graph, or all errors (at most 20), with line and column. parse and print round-trip:
// parse(print(graph)) prints like graph.
Result<Graph> parse_graph_text(std::string_view text, std::string_view file_name);

// The first token after comments and empty lines.
Token first_token(std::string_view bytes);

// True if the first token is `graph`: the bytes are probably the text form.
bool looks_like_graph_text(std::string_view bytes);

}  // namespace recut
