#include "engine/mesh/spmd/spmd_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/ir/rebuild.h"
#include "engine/mesh/spmd/local_nodes.h"
#include "engine/mesh/spmd/part_calls.h"

namespace recut::mesh {
namespace {

class SpmdWriter {
 public:
  SpmdWriter(const DistributedModule& module, const ShardedGraph& sharded, std::int64_t position)
      : whole_(module.graph()),
        mesh_(module.mesh()),
        sharded_(sharded),
        at_(mesh_.coordinate_at(position)),
        out_{empty_graph(whole_), groups_of(mesh_)},
        builder_(out_.graph),
        parts_(builder_, whole_, mesh_, at_),
        nodes_(builder_, parts_, whole_, mesh_, at_) {}

  Result<SpmdGraph> run() && {
    for (const NodeId id : whole_.order()) {
      change(sharded_.before, id);
      if (whole_.op(id).is(kInput))
        add_input(id);
      else
        add_call(id);
      change(sharded_.after, id);
    }
    add_outputs();
    if (const auto& problem = builder_.diagnostic()) return *problem;
    // Nothing may read the whole of a value that was made in parts.
    if (creates_parts_) out_.graph = without_dead_nodes(out_.graph);
    for (const std::vector<int>& axes : parts_.joint_groups())
      if (auto added = add_joint_group(axes); !added) return added.diagnostics();
    return std::move(out_);
  }

 private:
  // One form of a value: its sharding, and the rank's part.
  struct Form {
    Sharding sharding;
    Value part;
  };

  static Graph empty_graph(const Graph& whole) {
    Graph graph;
    graph.name = whole.name;
    graph.device = whole.device;
    graph.regions = whole.regions;
    return graph;
  }

  void add_input(NodeId id) {
    const Sharding& sharding = sharded_.calls.at(id).results.front();
    TensorType type = whole_.type(id);
    Shape shape = local_block(type.shape, sharding, mesh_, at_).shape;
    if (shape != type.shape) type = make_type(type.dtype, std::move(shape), type.device);
    const NodeId input =
        whole_.is_input(id)
            ? out_.graph.add_input(whole_.input_kind(id), std::move(type), whole_.origin(id))
            : out_.graph.add_constant(std::move(type), whole_.origin(id));
    forms_[{id, 0}].push_back({sharding, builder_.value(input)});
  }

  void add_call(NodeId id) {
    const CallShardings& shardings = sharded_.calls.at(id);
    const std::vector<NodeId> operands = operand_nodes(whole_[id].arguments);
    std::vector<Value> parts;
    for (std::size_t i = 0; i < operands.size(); ++i)
      parts.push_back(form(operand_value(whole_, id, operands[i]), shardings.operands[i]));
    const std::vector<Value> outputs =
        whole_[id].op == Op::getitem ? parts : nodes_.call(id, shardings, std::move(parts));
    for (std::size_t r = 0; r < outputs.size(); ++r)
      forms_[{id, r}].push_back({shardings.results[r], outputs[r]});
  }

  void change(const std::map<NodeId, std::vector<ShardingChange>>& changes, NodeId id) {
    const auto found = changes.find(id);
    if (found == changes.end()) return;
    for (const ShardingChange& change : found->second) {
      const auto [node, output] = change.value;
      const Origin& origin = whole_.origin(node);
      const auto scope = builder_.scope({origin.module, origin.seq_nr, {}, origin.source});
      const Value from = form(change.value, change.plan.from);
      if (!from.valid()) continue;
      const auto created = created_in_parts(change);
      forms_[change.value].push_back(
          {change.plan.to,
           created ? *created : parts_.redistribute(change.plan, from, origin.name)});
    }
  }

  // A value that needs no operand's elements (a number everywhere, a seeded draw) is made as the
  // part that a reader needs, not cut from the whole.
  std::optional<Value> created_in_parts(const ShardingChange& change) {
    const auto [node, output] = change.value;
    const CallShardings& whole = sharded_.calls.at(node);
    const bool shares = std::any_of(whole.factors.begin(), whole.factors.end(),
                                    [](int factor) { return factor >= 0; });
    if (whole_.op(node).is(kInput) || whole_[node].op == Op::getitem || whole.results.size() != 1 ||
        shares || change.plan.to.has_partial() ||
        change.plan.from != Sharding::replicated(whole_.type(node).rank(), mesh_.ndim()))
      return std::nullopt;
    const ShardingRule rule = sharding_rule(whole_, node);
    CallShardings parts = whole;
    parts.results.front() = change.plan.to;
    for (std::size_t d = 0; d < change.plan.to.dims.size(); ++d) {
      std::int64_t shards = 1;
      for (const int axis : change.plan.to.dims[d]) {
        parts.factors[static_cast<std::size_t>(axis)] = rule.results.front()[d];
        shards *= mesh_.axis_size(axis);
      }
      if (shards > 1 && !is_free(rule, rule.results.front()[d], shards)) return std::nullopt;
    }
    std::vector<Value> operands;
    const std::vector<NodeId> nodes = operand_nodes(whole_[node].arguments);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      operands.push_back(form(operand_value(whole_, node, nodes[i]), whole.operands[i]));
    creates_parts_ = true;
    return nodes_.call(node, parts, std::move(operands)).front();
  }

  // True if a factor divides evenly, each index of it is computed alone, and no operand has it.
  static bool is_free(const ShardingRule& rule, int factor, std::int64_t shards) {
    if (factor < 0) return false;
    const Factor& row = rule.factors[static_cast<std::size_t>(factor)];
    return row.kind == FactorKind::pass && row.size % shards == 0 &&
           row.size / shards >= row.least_shard &&
           std::none_of(rule.operands.begin(), rule.operands.end(),
                        [&](const DimensionFactors& dims) {
                          return std::find(dims.begin(), dims.end(), factor) != dims.end();
                        });
  }

  Value form(const ValueKey& value, const Sharding& sharding) const {
    for (const Form& form : forms_.at(value))
      if (form.sharding == sharding) return form.part;
    return {};
  }

  void add_outputs() {
    Graph& graph = out_.graph;
    for (std::size_t i = 0; i < whole_.results.size(); ++i)
      graph.results.push_back(output(whole_.results[i], sharded_.results[i]));
    for (std::size_t i = 0; i < whole_.gradients.size(); ++i)
      graph.gradients.push_back(output(whole_.gradients[i], sharded_.gradients[i]));
  }

  NodeId output(NodeId whole, const Sharding& sharding) const {
    return whole.valid() ? form({whole, 0}, sharding).id() : NodeId();
  }

  Result<Done> add_joint_group(const std::vector<int>& axes) {
    std::vector<std::string> names;
    for (const int axis : axes) names.push_back(mesh_.axes()[static_cast<std::size_t>(axis)].name);
    const auto meshes = mesh_.submeshes(names);
    if (!meshes) return meshes.diagnostics();
    std::vector<std::vector<std::int64_t>> groups;
    for (const DeviceMesh& mesh : *meshes)
      groups.emplace_back(mesh.ranks().begin(), mesh.ranks().end());
    return out_.groups.add(group_name(mesh_, axes), std::move(groups));
  }

  const Graph& whole_;
  const DeviceMesh& mesh_;
  const ShardedGraph& sharded_;
  const Coordinate at_;
  SpmdGraph out_;
  Builder builder_;
  PartCalls parts_;
  LocalNodes nodes_;
  std::map<ValueKey, std::vector<Form>> forms_;
  bool creates_parts_ = false;
};

}  // namespace

Result<SpmdGraph> spmd_graph(const DistributedModule& module, const ShardedGraph& sharded,
                             std::int64_t position) {
  return SpmdWriter(module, sharded, position).run();
}

}  // namespace recut::mesh
