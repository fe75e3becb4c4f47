#include "engine/mesh/rank_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/ir/call.h"
#include "engine/ir/collective.h"
#include "engine/mesh/blocks.h"
#include "engine/mesh/reduce_ranks.h"
#include "engine/support/text.h"

namespace recut::mesh {
namespace {

using Members = std::span<const RankCall>;
using Outputs = Result<std::vector<Tensor>>;  // one tensor of each member

std::string type_text(const Tensor& tensor) {
  return fmt::format("{}{}", short_name(tensor.dtype), format_shape(tensor.shape));
}

// A member's argument, read as its call's schema has it.
template <class Read>
auto read(const RankCall& member, Read&& reader) {
  const Graph& graph = *member.graph;
  const Call::TypesOf types_of = [&graph](NodeId id) { return graph.pool().types_of(id); };
  return reader(Call(graph.op(member.node), graph[member.node].arguments, types_of));
}

std::int64_t integer_of(const RankCall& member, std::string_view parameter) {
  return read(member, [&](const Call& call) { return call.integer(parameter); });
}

std::vector<std::int64_t> integers_of(const RankCall& member, std::string_view parameter) {
  return read(member, [&](const Call& call) { return call.integers(parameter); });
}

std::string text_of(const RankCall& member, std::string_view parameter) {
  return read(member, [&](const Call& call) { return std::string(call.text(parameter)); });
}

Diagnostic about(const RankCall& member, std::string_view message) {
  return error(fmt::format("{}: {}", place_of(member), message));
}

// The tensors that the members give at one place of their lists.
std::vector<Tensor> tensors_at(Members members, std::size_t input) {
  std::vector<Tensor> tensors;
  for (const RankCall& member : members) tensors.push_back(member.inputs[input]);
  return tensors;
}

// An argument that all members have to give alike.
Result<Done> check_alike(Members members, std::string_view parameter) {
  const auto argument = [&](const RankCall& member) {
    return read(member, [&](const Call& call) { return call.argument(parameter); });
  };
  const RankCall& first = members.front();
  for (const RankCall& member : members)
    if (!(argument(member) == argument(first)))
      return about(member, fmt::format("its {} isn't that of {}, expected the same on all ranks",
                                       parameter, place_of(first)));
  return Done{};
}

Result<Done> check_types(Members members, std::size_t input) {
  const RankCall& first = members.front();
  for (const RankCall& member : members) {
    const Tensor &own = member.inputs[input], &expected = first.inputs[input];
    if (own.dtype != expected.dtype || own.shape != expected.shape)
      return about(member, fmt::format("it gives {}, expected {} as {} gives", type_text(own),
                                       type_text(expected), place_of(first)));
  }
  return Done{};
}

Result<Done> check_group_size(Members members) {
  for (const RankCall& member : members) {
    const auto size = read(member, [](const Call& call) { return group_size(call); });
    if (size && *size != static_cast<std::int64_t>(members.size()))
      return about(member, fmt::format("it is a call of {} ranks, and its group {} has {}", *size,
                                       quote(text_of(member, "group_name")), members.size()));
  }
  return Done{};
}

Result<Tensor> reduced(Members members, std::size_t input) {
  if (auto alike = check_alike(members, "reduce_op"); !alike) return alike.diagnostics();
  const auto reduction = find_rank_reduction(text_of(members.front(), "reduce_op"));
  RECUT_CHECK(reduction.has_value(), "the shape rule refuses unknown reductions");
  const std::vector<Tensor> tensors = tensors_at(members, input);
  if (const auto why = why_not_reduced(*reduction, tensors.front().dtype))
    return about(members.front(), *why);
  return reduce_ranks(tensors, *reduction);
}

Outputs all_reduce(Members members, std::size_t input) {
  const auto sum = reduced(members, input);
  if (!sum) return sum.diagnostics();
  return std::vector<Tensor>(members.size(), *sum);
}

Outputs all_gather(Members members, std::size_t input) {
  return std::vector<Tensor>(members.size(), concatenate(tensors_at(members, input), 0));
}

// Equal parts of a dimension, one for each member.
Outputs parts_of(Members members, const Tensor& whole, std::int64_t dim) {
  const auto n = static_cast<std::int64_t>(members.size());
  const std::int64_t size = whole.shape[static_cast<std::size_t>(dim)];
  if (size % n != 0)
    return about(members.front(),
                 fmt::format("{} elements of dimension {} can't be parted among {} "
                             "ranks; pad the tensor",
                             size, dim, n));
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < n; ++i)
    parts.push_back(narrow(whole, dim, {i * (size / n), size / n}));
  return parts;
}

Outputs reduce_scatter(Members members, std::size_t input) {
  const auto sum = reduced(members, input);
  if (!sum) return sum.diagnostics();
  return parts_of(members, *sum, 0);
}

Outputs broadcast_from_source(Members members, std::size_t input) {
  if (auto alike = check_alike(members, "src"); !alike) return alike.diagnostics();
  const std::int64_t source = integer_of(members.front(), "src");
  if (source < 0 || source >= static_cast<std::int64_t>(members.size()))
    return about(members.front(), fmt::format("its source is rank {} of the group, which has {}",
                                              source, members.size()));
  const Tensor value = extract(
      members[static_cast<std::size_t>(source)].inputs[input],
      {Shape(members.front().inputs[input].shape.size(), 0), members.front().inputs[input].shape});
  return std::vector<Tensor>(members.size(), value);
}

// Rows of all members are alike, whatever their number.
Result<Done> check_rows(Members members, std::size_t input) {
  const auto row_of = [&](const RankCall& member) {
    const Shape& shape = member.inputs[input].shape;
    return shape.empty() ? shape : Shape(shape.begin() + 1, shape.end());
  };
  const RankCall& first = members.front();
  for (const RankCall& member : members)
    if (member.inputs[input].dtype != first.inputs[input].dtype || row_of(member) != row_of(first))
      return about(member, fmt::format("it gives {}, and {} gives {}; all rows have one type",
                                       type_text(member.inputs[input]), place_of(first),
                                       type_text(first.inputs[input])));
  return Done{};
}

// A member sends as many rows to another as that one expects.
Result<Done> check_splits(Members members, std::size_t input) {
  for (std::size_t from = 0; from < members.size(); ++from) {
    const auto sent = integers_of(members[from], "input_split_sizes");
    const Shape& shape = members[from].inputs[input].shape;
    if (sent.size() != members.size() || shape.empty() ||
        std::accumulate(sent.begin(), sent.end(), std::int64_t{0}) != shape.front())
      return about(members[from], fmt::format("its {} parts don't make up {} for {} ranks",
                                              sent.size(), format_shape(shape), members.size()));
    for (std::size_t to = 0; to < members.size(); ++to) {
      const auto received = integers_of(members[to], "output_split_sizes");
      if (received.size() == members.size() && received[from] == sent[to]) continue;
      return about(members[to], fmt::format("it expects {} rows from rank {}, which sends {}",
                                            received.size() == members.size() ? received[from] : 0,
                                            members[from].rank, sent[to]));
    }
  }
  return Done{};
}

Outputs all_to_all(Members members, std::size_t input) {
  if (auto fit = check_rows(members, input); !fit) return fit.diagnostics();
  if (auto fit = check_splits(members, input); !fit) return fit.diagnostics();
  std::vector<std::vector<Tensor>> received(members.size());
  for (const RankCall& member : members) {
    std::int64_t row = 0;
    const auto sent = integers_of(member, "input_split_sizes");
    for (std::size_t to = 0; to < members.size(); ++to) {
      received[to].push_back(narrow(member.inputs[input], 0, {row, sent[to]}));
      row += sent[to];
    }
  }
  std::vector<Tensor> outputs;
  for (const auto& parts : received) outputs.push_back(concatenate(parts, 0));
  return outputs;
}

// A dimension that all members name alike.
Result<std::int64_t> dimension_of(Members members, std::string_view parameter, std::int64_t rank) {
  if (auto alike = check_alike(members, parameter); !alike) return alike.diagnostics();
  const std::int64_t given = integer_of(members.front(), parameter);
  const auto wrapped = wrap_dimension(given, rank);
  if (wrapped && rank > 0) return *wrapped;
  return about(members.front(), fmt::format("its {} is {}, and the tensor has {} dimensions",
                                            parameter, given, rank));
}

Outputs shard_dimension(Members members, std::size_t input) {
  const auto rank = static_cast<std::int64_t>(members.front().inputs[input].shape.size());
  const auto gathered = dimension_of(members, "gather_dim", rank);
  const auto cut = dimension_of(members, "shard_dim", rank);
  if (!gathered || !cut) return (gathered ? cut : gathered).diagnostics();
  return parts_of(members, concatenate(tensors_at(members, input), *gathered), *cut);
}

struct CollectiveMeaning {
  Op op;
  Outputs (*run)(Members members, std::size_t input);
  bool equal_types;  // all members' tensors have one type
};

constexpr CollectiveMeaning kMeanings[] = {
    {Op::c10d_all_reduce, all_reduce, true},
    {Op::c10d_all_reduce_coalesced, all_reduce, true},
    {Op::c10d_all_gather_into_tensor, all_gather, true},
    {Op::c10d_all_gather_into_tensor_coalesced, all_gather, true},
    {Op::c10d_reduce_scatter_tensor, reduce_scatter, true},
    {Op::c10d_reduce_scatter_tensor_coalesced, reduce_scatter, true},
    {Op::c10d_all_to_all_single, all_to_all, false},
    {Op::c10d_broadcast, broadcast_from_source, true},
    {Op::shard_dim_alltoall, shard_dimension, true},
};

// All members make the same call, of as many tensors.
Result<Done> check_calls(Members members) {
  const RankCall& first = members.front();
  for (const RankCall& member : members) {
    const Operator &op = member.graph->op(member.node), &expected = first.graph->op(first.node);
    if (op.op != expected.op)
      return about(member,
                   fmt::format("it calls {}, and {} calls {}; all ranks of a group make the "
                               "same call",
                               op.name, place_of(first), expected.name));
    if (member.inputs.size() != first.inputs.size())
      return about(member, fmt::format("it gives {} tensors, expected {} as {} gives",
                                       member.inputs.size(), first.inputs.size(), place_of(first)));
  }
  return check_group_size(members);
}

}  // namespace

std::string place_of(const RankCall& call) {
  return fmt::format("rank {}, node {}", call.rank, quote(call.graph->node_name(call.node)));
}

Result<std::vector<std::vector<Tensor>>> run_collective(std::span<const RankCall> members) {
  if (auto fit = check_calls(members); !fit) return fit.diagnostics();
  const RankCall& first = members.front();
  const Operator& op = first.graph->op(first.node);
  const auto meaning = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                    [&](const CollectiveMeaning& row) { return row.op == op.op; });
  if (meaning == std::end(kMeanings))
    return about(first, fmt::format("{} of several ranks can't be evaluated yet", op.name));
  std::vector<std::vector<Tensor>> outputs(members.size());
  for (std::size_t input = 0; input < first.inputs.size(); ++input) {
    if (meaning->equal_types)
      if (auto fit = check_types(members, input); !fit) return fit.diagnostics();
    const auto each = meaning->run(members, input);
    if (!each) return each.diagnostics();
    for (std::size_t i = 0; i < members.size(); ++i) outputs[i].push_back((*each)[i]);
  }
  return outputs;
}

}  // namespace recut::mesh
