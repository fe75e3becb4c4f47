#include "engine/mesh/sharding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/support/text.h"

namespace recut::mesh {
namespace {

constexpr Reduction kReductions[] = {Reduction::sum, Reduction::avg, Reduction::product,
                                     Reduction::min, Reduction::max};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const std::string_view digits = trimmed(text);
  std::int64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, wrong] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || wrong != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<int> dimension(std::string_view text) {
  const auto number = whole_number(text);
  if (!number || *number < -1000 || *number > 1000) return std::nullopt;
  return static_cast<int>(*number);
}

// The words between "name(" and ")"; none where the text isn't such a call.
std::optional<std::string_view> inside(std::string_view text, std::string_view name) {
  if (text.substr(0, name.size()) != name) return std::nullopt;
  text.remove_prefix(name.size());
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<ListedPlacement> parse_strided(std::string_view arguments) {
  const std::size_t comma = arguments.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto dim = dimension(arguments.substr(0, comma));
  const auto factor = whole_number(arguments.substr(comma + 1));
  if (!dim || !factor) return std::nullopt;
  return ListedPlacement{Placement::shard(*dim), *factor};
}

std::optional<ListedPlacement> parse_placement(std::string_view text) {
  if (text == "R") return ListedPlacement{};
  if (const auto strided = inside(text, "_S")) return parse_strided(*strided);
  if (const auto shard = inside(text, "S")) {
    const auto dim = dimension(*shard);
    if (!dim) return std::nullopt;
    return ListedPlacement{Placement::shard(*dim)};
  }
  if (const auto kind = inside(text, "P"))
    for (const Reduction reduction : kReductions)
      if (trimmed(*kind) == title(reduction)) return ListedPlacement{Placement::partial(reduction)};
  return std::nullopt;
}

// The end of the placement that begins at `begin`: the next comma outside parentheses.
std::size_t end_of_placement(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (text[i] == ',' && depth <= 0) return i;
  }
  return text.size();
}

// Inserts an axis that stands before all of `order` in the mesh. False where no place in the order
// has the factor.
bool insert_axis(std::vector<int>& order, int axis, std::int64_t factor, const DeviceMesh& mesh) {
  std::int64_t product = 1;
  for (std::size_t place = 0; product <= factor; ++place) {
    if (product == factor) {
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), axis);
      return true;
    }
    if (place == order.size()) return false;
    product *= mesh.axis_size(order[place]);
  }
  return false;
}

// The product of the axes before `axis` in the order and after it in the mesh.
std::int64_t split_factor_of(const std::vector<int>& order, int axis, const DeviceMesh& mesh) {
  std::int64_t factor = 1;
  for (const int other : order) {
    if (other == axis) break;
    if (other > axis) factor *= mesh.axis_size(other);
  }
  return factor;
}

std::string format_one(const ListedPlacement& listed) {
  if (listed.split_factor == 1) return format(listed.placement);
  return fmt::format("_S({}, {})", listed.placement.dim, listed.split_factor);
}

}  // namespace

Result<Sharding> sharding_from(std::span<const ListedPlacement> list, const DeviceMesh& mesh,
                               std::int64_t rank) {
  if (static_cast<int>(list.size()) != mesh.ndim())
    return error(fmt::format("{} has {} placements, expected {}: one for each axis of the mesh {}",
                             format(list), list.size(), mesh.ndim(), format(mesh)));
  Sharding sharding = Sharding::replicated(rank, mesh.ndim());
  for (int axis = mesh.ndim(); axis-- > 0;) {
    const auto& [placement, factor] = list[static_cast<std::size_t>(axis)];
    if (placement.is_partial())
      sharding.partial[static_cast<std::size_t>(axis)] = placement.reduction;
    if (!placement.is_shard()) continue;
    const std::int64_t dim = placement.dim < 0 ? placement.dim + rank : placement.dim;
    if (dim < 0 || dim >= rank)
      return error(fmt::format("{} shards dimension {}, and the tensor has {}", format(list),
                               placement.dim, rank));
    if (!insert_axis(sharding.dims[static_cast<std::size_t>(dim)], axis, factor, mesh))
      return error(fmt::format(
          "{} has the split factor {}, and no order of the axes of {} explains it; redistribute "
          "the tensor to plain shards first",
          format(list), factor, format(mesh)));
  }
  if (auto good = check_sharding(sharding, mesh, rank); !good) return good.diagnostics();
  return sharding;
}

std::vector<ListedPlacement> placements_of(const Sharding& sharding, const DeviceMesh& mesh) {
  std::vector<ListedPlacement> list(static_cast<std::size_t>(mesh.ndim()));
  for (int axis = 0; axis < mesh.ndim(); ++axis) {
    auto& [placement, factor] = list[static_cast<std::size_t>(axis)];
    if (const auto reduction = sharding.partial_of(axis))
      placement = Placement::partial(*reduction);
    if (const auto dim = sharding.dim_of(axis)) {
      placement = Placement::shard(*dim);
      factor = split_factor_of(sharding.dims[static_cast<std::size_t>(*dim)], axis, mesh);
    }
  }
  return list;
}

std::string format(std::span<const ListedPlacement> list) {
  std::string text = "[";
  for (const ListedPlacement& listed : list)
    text += (text.size() > 1 ? ", " : "") + format_one(listed);
  return text + "]";
}

Result<std::vector<ListedPlacement>> parse_placements(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (rest.size() >= 2 && rest.front() == '[' && rest.back() == ']')
    rest = rest.substr(1, rest.size() - 2);
  std::vector<ListedPlacement> list;
  for (std::size_t begin = 0; begin <= rest.size();) {
    const std::size_t end = end_of_placement(rest, begin);
    const std::string_view word = trimmed(rest.substr(begin, end - begin));
    const auto placement = parse_placement(word);
    if (!placement)
      return error(fmt::format(
          "{} is no placement; write R, S(dim), P(sum), P(avg), P(product), P(min), P(max) or "
          "_S(dim, split factor)",
          quote(word)));
    list.push_back(*placement);
    begin = end + 1;
  }
  return list;
}

std::string format(const Sharding& sharding, const DeviceMesh& mesh) {
  return format(placements_of(sharding, mesh));
}

Result<Sharding> parse_sharding(std::string_view text, const DeviceMesh& mesh, std::int64_t rank) {
  const auto list = parse_placements(text);
  if (!list) return list.diagnostics();
  return sharding_from(*list, mesh, rank);
}

}  // namespace recut::mesh
