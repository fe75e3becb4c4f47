#include "gui/app/size_slider.h"

#include <algorithm>
#include <cmath>

namespace recut::gui {
namespace {

constexpr std::int64_t kSizeReach = 16;  // times the traced size
constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

}  // namespace

int SizeRange::position_of(std::int64_t size) const {
  if (most <= least) return 0;
  const double all = std::log(static_cast<double>(most) / static_cast<double>(least));
  const double part =
      std::log(static_cast<double>(std::clamp(size, least, most)) / static_cast<double>(least));
  return static_cast<int>(std::lround(part / all * kSizeStops));
}

std::int64_t SizeRange::size_at(int position) const {
  if (position <= 0) return least;
  if (position >= kSizeStops) return most;
  const double all = std::log(static_cast<double>(most) / static_cast<double>(least));
  const double size = static_cast<double>(least) * std::exp(all * position / kSizeStops);
  return std::clamp<std::int64_t>(std::llround(size), least, most);
}

SizeRange size_range(const BoundSymbol& symbol, std::int64_t traced) {
  SizeRange range;
  range.least = std::max<std::int64_t>(1, symbol.min.value_or(1));
  range.most = std::min(std::max(traced, range.least), kMaxSize / kSizeReach) * kSizeReach;
  range.most = std::max(range.least, std::min(range.most, symbol.max.value_or(range.most)));
  return range;
}

std::int64_t requested_size(const DocumentView& document, const BoundSymbol& symbol) {
  const Dimensions& sizes = document.plan_settings.transforms.dimensions;
  const auto requested = sizes.find(symbol.name);
  return requested == sizes.end() ? symbol.size : requested->second;
}

std::vector<std::vector<BoundSymbol>> symbols_of_one_size(const DocumentView& document,
                                                          const TracedSizes& traced) {
  std::vector<std::vector<BoundSymbol>> groups;
  const auto sizes = [&](const BoundSymbol& symbol) {
    const auto hint = traced.find(symbol.name);
    return std::pair(hint == traced.end() ? symbol.size : hint->second,
                     requested_size(document, symbol));
  };
  for (const BoundSymbol& symbol : document.document->file.symbols) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) {
      return sizes(other.front()) == sizes(symbol);
    });
    if (group == groups.end())
      groups.push_back({symbol});
    else
      group->push_back(symbol);
  }
  return groups;
}

std::string sizes_with(const DocumentView& document, const Dimensions& given) {
  Dimensions sizes = document.plan_settings.transforms.dimensions;
  for (const auto& [name, size] : given) sizes.insert_or_assign(name, size);
  return write_dimensions(sizes);
}

}  // namespace recut::gui
