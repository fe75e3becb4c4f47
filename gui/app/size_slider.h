// The size of a symbol as a slider: the batch, or the sequence, of a graph with symbolic sizes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/input/symbols.h"
#include "gui/model/document_view.h"

namespace recut::gui {

// Whole positions 0 … kSizeStops stand for sizes from `least` to `most`, each as much larger than
// the one before it.
inline constexpr int kSizeStops = 96;
struct SizeRange {
  std::int64_t least = 1, most = 1;

  int position_of(std::int64_t size) const;
  std::int64_t size_at(int position) const;
};

// From the least size that the symbol takes to 16 times the traced one, or its most.
SizeRange size_range(const BoundSymbol& symbol, std::int64_t traced);

// The size that the settings ask for; that of the document's graph where they name none.
std::int64_t requested_size(const DocumentView& document, const BoundSymbol& symbol);

// Symbols that have one slider: equal sizes as traced and now are usually one, as the batch of
// inputs and of labels, and change together. `traced` has the sizes of the file's own hints.
using TracedSizes = std::map<std::string, std::int64_t>;
inline constexpr std::string_view kTracedSizes = "traced sizes";  // kept for each document
std::vector<std::vector<BoundSymbol>> symbols_of_one_size(const DocumentView& document,
                                                          const TracedSizes& traced);

// The sizes of the settings with other ones for these symbols, as the command reads them.
std::string sizes_with(const DocumentView& document, const Dimensions& given);

}  // namespace recut::gui
