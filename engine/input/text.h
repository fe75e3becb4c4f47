// Reads the text form that engine/ir/printer.h describes.
//
// Beyond what the printer writes, a definition may leave out its type, which is then inferred:
//   %y = mm(%x, %w)
// A call that draws random numbers and says no `draw` has one of its own, counted from 0 on past
// those that the text says.
#pragma once

#include <string_view>

#include "engine/input/text_lexer.h"
#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

// The graph, or every fault found (at most 20), with line and column. parse(print(graph)) prints as
// graph does.
Result<Graph> parse_graph_text(std::string_view text, std::string_view file_name);

// The first word or sign, comments and empty lines passed over.
Token first_word(std::string_view bytes);

// Whether bytes look like the text form: the first word is `graph`, comments passed over.
bool looks_like_graph_text(std::string_view bytes);

}  // namespace recut
