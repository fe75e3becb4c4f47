#include "engine/mesh/device_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "engine/ir/collective.h"
#include "engine/support/text.h"
#include "engine/support/typo_correction.h"

namespace recut::mesh {
namespace {

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || !letter(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Result<Done> check_axes(std::span<const MeshAxis> axes) {
  if (axes.empty()) return error("the mesh has no axis, expected at least one, as in 'dp=2,tp=4'");
  std::int64_t ranks = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& [name, size] = axes[i];
    if (!is_identifier(name))
      return error(fmt::format(
          "mesh axis {} has the name {}, expected a letter and then letters, digits or '_'", i,
          quote(name)));
    const auto same = [&](const MeshAxis& axis) { return axis.name == axes[i].name; };
    if (std::any_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), same))
      return error(fmt::format("two mesh axes are named {}; give each its own name", quote(name)));
    if (size < 1)
      return error(fmt::format("mesh axis {} has size {}, expected at least 1", quote(name), size));
    if (size > kMaxRanks / ranks)
      return error(
          fmt::format("the mesh has more than {} ranks, and Recut takes no more", kMaxRanks));
    ranks *= size;
  }
  return Done{};
}

std::int64_t ranks_of(std::span<const MeshAxis> axes) {
  std::int64_t ranks = 1;
  for (const MeshAxis& axis : axes) ranks *= axis.size;
  return ranks;
}

Result<Done> check_ranks(std::span<const std::int64_t> ranks, std::int64_t expected) {
  if (static_cast<std::int64_t>(ranks.size()) != expected)
    return error(fmt::format("the mesh was given {} ranks, expected {}", ranks.size(), expected));
  std::vector<std::int64_t> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0)
    return error(fmt::format("the mesh has rank {}, expected ranks from 0 up", sorted.front()));
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return error(fmt::format("the mesh has rank {} twice, expected each rank once", *twice));
  return Done{};
}

Result<MeshAxis> parse_axis(std::string_view part) {
  const auto failure = [&] {
    return error(
        fmt::format("{} is no mesh axis; write a name and a size, as in 'dp=2,tp=4'", quote(part)));
  };
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return failure();
  MeshAxis axis{std::string(part.substr(0, equals)), 0};
  const std::string_view digits = part.substr(equals + 1);
  const char* end = digits.data() + digits.size();
  const auto [stop, wrong] = std::from_chars(digits.data(), end, axis.size);
  if (digits.empty() || wrong != std::errc() || stop != end) return failure();
  return axis;
}

}  // namespace

Result<DeviceMesh> DeviceMesh::make(std::vector<MeshAxis> axes) {
  if (auto good = check_axes(axes); !good) return good.diagnostics();
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(ranks_of(axes)));
  std::iota(ranks.begin(), ranks.end(), 0);
  return DeviceMesh(std::move(axes), std::move(ranks));
}

Result<DeviceMesh> DeviceMesh::make(std::vector<MeshAxis> axes, std::vector<std::int64_t> ranks) {
  if (auto good = check_axes(axes); !good) return good.diagnostics();
  if (auto good = check_ranks(ranks, ranks_of(axes)); !good) return good.diagnostics();
  return DeviceMesh(std::move(axes), std::move(ranks));
}

Result<DeviceMesh> DeviceMesh::parse(std::string_view text) {
  std::vector<MeshAxis> axes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    auto axis = parse_axis(text.substr(begin, comma - begin));
    if (!axis) return axis.diagnostics();
    axes.push_back(std::move(*axis));
    begin = comma + 1;
  }
  return make(std::move(axes));
}

std::int64_t DeviceMesh::position(const Coordinate& at) const {
  RECUT_CHECK(at.size() == axes_.size(), "a coordinate has an index for each axis");
  std::int64_t position = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    RECUT_CHECK(at[i] >= 0 && at[i] < axes_[i].size, "a coordinate lies in its mesh");
    position = position * axes_[i].size + at[i];
  }
  return position;
}

Coordinate DeviceMesh::coordinate_at(std::int64_t position) const {
  Coordinate at(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    at[i] = position % axes_[i].size;
    position /= axes_[i].size;
  }
  return at;
}

std::optional<std::int64_t> DeviceMesh::position_of(std::int64_t rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end()) return std::nullopt;
  return found - ranks_.begin();
}

std::optional<Coordinate> DeviceMesh::coordinate_of(std::int64_t rank) const {
  const auto found = position_of(rank);
  if (!found) return std::nullopt;
  return coordinate_at(*found);
}

Result<int> DeviceMesh::axis(std::string_view name) const {
  TypoCorrection near(name);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return static_cast<int>(i);
    near.consider(axes_[i].name);
  }
  return error(
      fmt::format("the mesh {} has no axis {}{}", format(*this), quote(name), near.suggestion()));
}

std::vector<std::vector<std::int64_t>> DeviceMesh::lines(int axis) const {
  RECUT_CHECK(axis >= 0 && axis < ndim(), "an axis of the mesh");
  std::int64_t stride = 1;
  for (int i = axis + 1; i < ndim(); ++i) stride *= axis_size(i);
  std::vector<std::vector<std::int64_t>> lines;
  for (std::int64_t first = 0; first < size(); ++first) {
    if (first / stride % axis_size(axis) != 0) continue;
    auto& line = lines.emplace_back();
    for (std::int64_t i = 0; i < axis_size(axis); ++i) line.push_back(first + i * stride);
  }
  return lines;
}

std::vector<std::vector<std::int64_t>> DeviceMesh::groups(int axis) const {
  auto groups = lines(axis);
  for (auto& group : groups)
    for (std::int64_t& member : group) member = ranks_[static_cast<std::size_t>(member)];
  return groups;
}

Result<std::vector<DeviceMesh>> DeviceMesh::submeshes(std::span<const std::string> names) const {
  if (names.empty()) return error("a submesh was asked for without axes, expected at least one");
  std::vector<int> kept;
  for (const std::string& name : names) {
    const auto found = axis(name);
    if (!found) return found.diagnostics();
    if (!kept.empty() && *found <= kept.back())
      return error(
          fmt::format("axis {} stands after {}, expected the order of the mesh {}", quote(name),
                      quote(axes_[static_cast<std::size_t>(kept.back())].name), format(*this)));
    kept.push_back(*found);
  }
  std::vector<MeshAxis> axes;
  for (const int i : kept) axes.push_back(axes_[static_cast<std::size_t>(i)]);
  // Positions with equal coordinates on the other axes, by the first of them.
  std::vector<std::vector<std::int64_t>> members(ranks_.size());
  for (std::int64_t p = 0; p < size(); ++p) {
    Coordinate first = coordinate_at(p);
    for (const int i : kept) first[static_cast<std::size_t>(i)] = 0;
    members[static_cast<std::size_t>(position(first))].push_back(
        ranks_[static_cast<std::size_t>(p)]);
  }
  std::vector<DeviceMesh> meshes;
  for (auto& ranks : members)
    if (!ranks.empty()) meshes.push_back(DeviceMesh(axes, std::move(ranks)));
  return meshes;
}

Result<DeviceMesh> DeviceMesh::submesh(std::span<const std::string> names,
                                       std::int64_t rank) const {
  auto all = submeshes(names);
  if (!all) return all.diagnostics();
  for (DeviceMesh& mesh : *all)
    if (mesh.position_of(rank)) return std::move(mesh);
  return error(fmt::format("rank {} is outside the mesh {}", rank, format(*this)));
}

Result<DeviceMesh> DeviceMesh::flatten(std::string name) const {
  return make({{std::move(name), size()}}, ranks_);
}

Result<Done> DeviceMesh::check_world(std::int64_t world) const {
  const std::int64_t last = *std::max_element(ranks_.begin(), ranks_.end());
  if (last < world) return Done{};
  return error(fmt::format(
      "the mesh {} needs rank {}, and there are {} ranks; start more, or take a smaller mesh",
      format(*this), last, world));
}

std::string format(const DeviceMesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes())
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, axis.size);
  for (std::int64_t p = 0; p < mesh.size(); ++p)
    if (mesh.ranks()[static_cast<std::size_t>(p)] != p)
      return fmt::format(
          "{} of ranks {}", text,
          fmt::join(mesh.ranks().subspan(0, std::min<std::size_t>(mesh.ranks().size(), 16)), ", "));
  return text;
}

}  // namespace recut::mesh
