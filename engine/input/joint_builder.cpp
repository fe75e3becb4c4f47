// Turns the node list of AOTAutograd's joint graph into a Graph (joint_builder.h):
//
//   {"name": "mm", "op": "call_function", "target": "aten.mm.default",
//    "args": [{"node": "x"}, {"node": "w"}]}       =>     %mm = mm(%x, %w) : f32[8, 3]
//
// Each node is resolved, checked against its schema and shape rule and interned, O(nodes + edges)
// in all. A node with an error gets an invalid id, and its users are skipped silently: one mistake
// gives one diagnostic.
#include "engine/input/joint_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/input/joint_externals.h"
#include "engine/input/joint_measured.h"
#include "engine/input/joint_outputs.h"
#include "engine/input/joint_values.h"
#include "engine/ir/call.h"
#include "engine/ir/region_memory.h"
#include "engine/support/text.h"

namespace recut {
namespace {

// All values of a graph together: sums of sizes, and twice that, fit into 64 bits.
constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 61;

constexpr std::size_t kStepNodes = 1'000;

}  // namespace

class JointGraphBuilder::Builder {
 public:
  Builder(const JointNodes& nodes, std::optional<std::int64_t> forward_outputs,
          const JointRoles& roles, const Symbols& symbols, Graph& graph,
          DiagnosticCollector& diagnostics)
      : nodes_(nodes),
        forward_outputs_(forward_outputs),
        symbols_(symbols),
        graph_(graph),
        diagnostics_(diagnostics),
        ids_(nodes.nodes.size()) {
    if (graph.measured != nullptr) measurements_ = *graph.measured;
    take_roles(roles.parameters, "parameters", Role::parameter);
    take_roles(roles.buffers, "buffers", Role::buffer);
  }

  std::string externals_note() const { return externals_.note(); }

  bool step() {
    const std::size_t all = nodes_.nodes.size();
    if (recorded_.size() < all) {
      read_types();
      record_read_outputs();
      graph_.device = take_common_device(recorded_);
      return true;
    }
    for (const std::size_t end = std::min(at_ + kStepNodes, all); at_ < end; ++at_)
      add_node(nodes_.nodes[at_]);
    if (at_ < all) return true;
    read_outputs();
    return false;
  }

 private:
  enum class Role : std::uint8_t { parameter, buffer };

  void take_roles(const std::vector<std::string>& names, std::string_view list, Role role) {
    for (const std::string& name : names) {
      const auto it = nodes_.by_name.find(name);
      if (it == nodes_.by_name.end() || nodes_.nodes[it->second].op != "placeholder")
        diagnostics_.add(fmt::format("'{}' names {}, which is no placeholder", list, quote(name)));
      else if (!roles_.emplace(it->second, role).second)
        diagnostics_.add(
            fmt::format("{} stands twice among parameters and buffers", describe_node(name)));
    }
  }

  void read_outputs() {
    externals_.report_refused(nodes_, diagnostics_);
    if (measurements_.any()) graph_.measured = std::make_shared<const Measurements>(measurements_);
    if (output_.present())
      read_joint_outputs(
          output_, forward_outputs_, number_inputs_,
          [this](std::string_view name) { return find(name); }, graph_, diagnostics_);
    else if (diagnostics_.none())
      diagnostics_.add("the graph has no node 'output'");
    externals_.add_written_values(graph_);
  }

  const JointNode& node() const { return nodes_.nodes[at_]; }

  // A graph whose outputs are all results has none: to the backward graph of a partition, its
  // tangents are inputs like the others.
  bool is_tangent(const JointNode& node) const {
    return forward_outputs_ && node.name.starts_with("tangents_");
  }
  void report_error(const std::string& message) { report_error(node(), message); }
  void report_error(const JointNode& about, const std::string& message) {
    diagnostics_.add(fmt::format("{}: {}", describe_node(about.name), message), about.object);
  }

  // Types are read first: the graph's device is the one that most of them name.
  void read_types() {
    recorded_.resize(nodes_.nodes.size());
    faulty_type_.resize(nodes_.nodes.size(), false);
    for (std::size_t i = 0; i < nodes_.nodes.size(); ++i) {
      auto number = read_joint_number(nodes_.nodes[i].val, symbols_);
      if (!number || *number) {  // an error is reported only if a node reads the number
        numbers_.emplace(i, number ? Result<Argument>(std::move(**number))
                                   : Result<Argument>(number.diagnostics()));
        continue;
      }
      auto types = read_joint_types(nodes_.nodes[i].val, symbols_);
      if (!types) {
        faulty_type_[i] = true;
        report_error(nodes_.nodes[i], types.diagnostics().front().message);
      } else {
        recorded_[i] = std::move(*types);
      }
    }
  }

  // Records which outputs of multi-output nodes a getitem reads.
  void record_read_outputs() {
    for (const JointNode& node : nodes_.nodes) {
      const Operator* op = node.sound ? find_operator_by_target(node.target) : nullptr;
      if (op == nullptr || op->op != Op::getitem) continue;
      if (!node.args.present() || node.args.size() != 2) continue;
      auto item = node.args.items().begin();
      const JsonValue from = (*item).value, index = (*++item).value;
      if (!from.is(JsonKind::object) || from.size() != 1 || !index.is(JsonKind::integer)) continue;
      const JsonMember named = *from.items().begin();
      if (named.key == "node" && named.value.is(JsonKind::text))
        read_.emplace(named.value.text(), index.integer());
    }
  }

  void add_node(const JointNode& node) {
    if (!node.sound) return;
    if (output_.present()) return report_error("stands after the node 'output'");
    if (node.measured.present() && node.op != "call_function")
      return report_error("has 'measured', expected of a 'call_function' only");
    const bool tangent = is_tangent(node);
    const std::size_t position = node.op == "placeholder" && !tangent ? inputs_++ : 0;
    if (numbers_.count(at_) != 0) {
      if (node.op == "placeholder" && !tangent) number_inputs_.insert(position);
      return;
    }
    if (node.op == "placeholder") return add_input();
    if (node.op == "get_attr") return node.val.present() ? add_constant() : add_region();
    if (node.op == "call_function") return add_call();
    if (node.op == "output") {
      output_ = node.args;
      if (!output_.present()) report_error("'args' is missing, expected a list");
      return;
    }
    report_error(
        fmt::format("op {} found, expected 'placeholder', 'get_attr', 'call_function' or "
                    "'output'",
                    quote(node.op)));
  }

  Origin origin() const {
    return origin_of(node());
  }

  std::optional<TensorType> input_type() {
    if (faulty_type_[at_]) return std::nullopt;
    const RecordedTypes& types = recorded_[at_];
    const bool one = types && types->size() == 1;
    if (one && types->front() && types->front()->exists() && count_bytes({*types->front()}))
      return types->front();
    report_error(one && !types->front() ? "'val' has no 'dtype'"
                                        : "'val' is missing, expected the type of a tensor");
    return std::nullopt;
  }

  void add_input() {
    const auto role = roles_.find(at_);
    if (role != roles_.end() && role->second == Role::buffer) return add_constant();
    InputKind kind = InputKind::input;
    if (role != roles_.end()) kind = InputKind::parameter;
    if (is_tangent(node())) kind = InputKind::tangent;
    if (auto type = input_type()) ids_[at_] = graph_.add_input(kind, std::move(*type), origin());
  }

  void add_constant() {
    if (auto type = input_type()) ids_[at_] = graph_.add_constant(std::move(*type), origin());
  }

  void add_call() {
    const Operator* op = find_operator_by_target(node().target);
    if (op == nullptr || op->is(kInput)) return add_external();
    auto arguments = read_arguments(*op);
    if (!arguments || faulty_type_[at_]) return;
    auto types = resolve_types(*op, *arguments);
    if (!types) return;
    ids_[at_] = graph_.append(op->op, std::move(*arguments), std::move(*types), origin());
    if (node().measured.present())
      measurements_.add(ids_[at_], read_measurement(node().measured, node().name, diagnostics_));
  }

  // A call of an operator that the table lacks: its types are the file's.
  void add_external() {
    if (faulty_type_[at_]) return;
    if (node().val.is(JsonKind::null)) return drop();
    const RecordedTypes& recorded = recorded_[at_];
    if (!recorded) return externals_.add_refused(node().target, at_);
    std::vector<TensorType> types;
    for (const RecordedType& type : *recorded) types.push_back(type.value_or(TensorType{}));
    const bool several = node().val.is(JsonKind::array);
    if (!several && !types.front().exists()) return report_error("'val' has no 'dtype'");
    const FindNode find_node = [this](std::string_view name) { return find(name); };
    ids_[at_] = externals_.take_write(node(), find_node, graph_);
    if (ids_[at_].valid()) return;
    auto call = read_external_call(node(), several, find_node);
    if (!call) return report_error(call.diagnostics().front().message);
    if (!call->sound || !count_bytes(types)) return;
    call->arguments.back() = draws_++;
    Measurement measured;
    if (node().measured.present())
      measured = read_measurement(node().measured, node().name, diagnostics_);
    measured.workspace_bytes += externals_.region_bytes(call->arguments);
    ids_[at_] = graph_.append(call->op->op, std::move(call->arguments), std::move(types), origin());
    if (measured.micros || measured.workspace_bytes > 0) measurements_.add(ids_[at_], measured);
    externals_.add(node().target);
  }

  // A call that gives nothing, as an assertion: nothing of the step depends on it.
  void drop() {
    externals_.add_dropped(node().target);
    numbers_.emplace(at_, error("it has no value"));
  }

  // A nested graph is an argument of the call that runs it: by name, with the memory that it takes.
  void add_region() {
    std::optional<std::int64_t> bytes;
    if (node().subgraph.present()) {
      const JointNodes nodes = read_joint_nodes(node().subgraph, diagnostics_);
      Graph region;
      Builder nested(nodes, std::nullopt, {}, symbols_, region, diagnostics_);
      while (nested.step()) {
      }
      if (!diagnostics_.none()) return;
      externals_.add_all(nested.externals_);
      bytes = region_bytes(region);
    }
    externals_.add_region(node().name, bytes);
    numbers_.emplace(at_, Argument(std::string(node().name)));
  }

  // Arguments in the schema's order, from args and kwargs. None after an error.
  std::optional<std::vector<Argument>> read_arguments(const Operator& op) {
    std::vector<Argument> arguments(op.parameters.size());
    bool sound = true;
    if (node().args.present()) sound = read_positional(op, arguments);
    if (node().kwargs.present()) sound = read_by_name(op, arguments) && sound;
    if (!sound) return std::nullopt;
    if (op.is(kImpure))
      if (const auto draw = op.parameter("draw")) arguments[*draw] = draws_++;
    return arguments;
  }

  bool read_positional(const Operator& op, std::vector<Argument>& arguments) {
    std::size_t positional_count = 0;
    while (positional_count < op.parameters.size() && !op.parameters[positional_count].keyword_only)
      ++positional_count;
    if (node().args.size() > positional_count) {
      report_error(fmt::format("{} takes {} positional arguments, found {}", op.name,
                               positional_count, node().args.size()));
      return false;
    }
    bool sound = true;
    std::size_t position = 0;
    for (const JsonMember item : node().args.items()) {
      sound = read_argument(op, position, item.value, arguments) && sound;
      ++position;
    }
    return sound;
  }

  bool read_by_name(const Operator& op, std::vector<Argument>& arguments) {
    bool sound = true;
    for (const JsonMember member : node().kwargs.items()) {
      const auto position = op.parameter(member.key);
      if (!position || (op.is(kImpure) && member.key == "draw")) {
        report_error(fmt::format("{} has no argument {}", op.name, quote(member.key)));
        sound = false;
      } else if (!arguments[*position].absent()) {
        report_error(fmt::format("argument '{}' of {} is given twice", member.key, op.name));
        sound = false;
      } else {
        sound = read_argument(op, *position, member.value, arguments) && sound;
      }
    }
    return sound;
  }

  bool read_argument(const Operator& op, std::size_t position, JsonValue value,
                     std::vector<Argument>& arguments) {
    bool sound = true;
    auto argument = read_joint_argument(
        value, [this](std::string_view name) { return find(name); }, sound);
    if (!argument) {
      report_error(fmt::format("argument '{}' of {}: {}", op.parameters[position].name, op.name,
                               argument.diagnostics().front().message));
      return false;
    }
    arguments[position] = std::move(*argument);
    return sound;
  }

  // The node of a name (invalid if it is faulty), or the number of a symbolic size.
  Result<Argument> find(std::string_view name) const {
    const auto it = nodes_.by_name.find(name);
    if (it == nodes_.by_name.end()) return error(fmt::format("there is no node {}", quote(name)));
    if (it->second == at_) return error(fmt::format("{} uses itself", quote(name)));
    if (it->second > at_) return error(fmt::format("node {} stands later", quote(name)));
    const auto number = numbers_.find(it->second);
    return number == numbers_.end() ? Result<Argument>(ids_[it->second]) : number->second;
  }

  // The node's types: the recorded types if there are any, which must agree with the shape rule.
  std::optional<std::vector<TensorType>> resolve_types(const Operator& op,
                                                       const std::vector<Argument>& arguments) {
    const Call::TypesOf types_of = [this](NodeId id) { return graph_.pool().types_of(id); };
    RecordedTypes& recorded = recorded_[at_];
    if (recorded && (op.is(kDataDependent) || lacks_arithmetic(arguments, *recorded)))
      return take_unchecked(op, arguments, types_of);
    auto inferred = infer_types(op, arguments, types_of);
    if (!inferred) {
      for (const Diagnostic& d : inferred.diagnostics()) report_error(d.message);
      return std::nullopt;
    }
    if (!recorded) return count_bytes(*inferred) ? std::optional(*inferred) : std::nullopt;
    if (recorded->size() != inferred->size()) {
      report_error(fmt::format("{} has {} outputs, 'val' has {}", op.name, inferred->size(),
                               recorded->size()));
      return std::nullopt;
    }
    std::vector<TensorType> resolved;
    for (std::size_t i = 0; i < inferred->size(); ++i) {
      const RecordedType& known = (*recorded)[i];
      const bool counts = known && !is_masked_out(i, (*inferred)[i]);
      if (counts && !agree(op, i, *known, (*inferred)[i])) return std::nullopt;
      resolved.push_back(counts && uses_recorded_type(i, *known) ? *known : (*inferred)[i]);
    }
    return count_bytes(resolved) ? std::optional(std::move(resolved)) : std::nullopt;
  }

  // True if the recorded type counts: `none` is accepted only for an output that nobody reads.
  bool uses_recorded_type(std::size_t output, const TensorType& recorded) const {
    return recorded.exists() || !is_read(output);
  }

  // True if the call omits this output (output_mask) and nobody reads it: some tracers record a
  // type all the same.
  bool is_masked_out(std::size_t output, const TensorType& inferred) const {
    return !inferred.exists() && !is_read(output);
  }

  bool is_read(std::size_t output) const {
    return read_.count({node().name, static_cast<std::int64_t>(output)}) != 0;
  }

  bool lacks_arithmetic(const std::vector<Argument>& arguments,
                        const std::vector<RecordedType>& recorded) const {
    const Call::TypesOf types_of = [this](NodeId id) { return graph_.pool().types_of(id); };
    std::vector<TensorType> outputs;
    for (const RecordedType& type : recorded) outputs.push_back(type.value_or(TensorType{}));
    return dtype_without_arithmetic(arguments, outputs, types_of) != DType::none;
  }

  std::optional<std::vector<TensorType>> take_unchecked(const Operator& op,
                                                        const std::vector<Argument>& arguments,
                                                        const Call::TypesOf& types_of) {
    const Diagnostics wrong = check_arguments(op, arguments, types_of);
    for (const Diagnostic& d : wrong) report_error(d.message);
    std::vector<TensorType> types;
    for (const RecordedType& type : *recorded_[at_])
      if (type) types.push_back(*type);
    if (types.size() != recorded_[at_]->size())
      report_error("'val' has no 'dtype'");
    else if (!op.returns_list && types.size() != op.outputs)
      report_error(
          fmt::format("{} has {} outputs, 'val' has {}", op.name, op.outputs, types.size()));
    else if (wrong.empty() && count_bytes(types))
      return types;
    return std::nullopt;
  }

  // An output that the caller masked out may be recorded as none whatever the rule says.
  bool agree(const Operator& op, std::size_t index, const TensorType& recorded,
             const TensorType& inferred) {
    if (!recorded.exists() && op.multiple_outputs()) return true;
    if (recorded.dtype == inferred.dtype && recorded.shape == inferred.shape) return true;
    const std::string which = op.multiple_outputs() ? fmt::format("output {} of ", index) : "";
    report_error(fmt::format("{}{} is recorded as {}{}, expected {}{}", which, op.name,
                             short_name(recorded.dtype), format_shape(recorded.shape),
                             short_name(inferred.dtype), format_shape(inferred.shape)));
    return false;
  }

  bool count_bytes(const std::vector<TensorType>& types) {
    for (const TensorType& type : types) total_bytes_ += byte_size(type);
    if (total_bytes_ <= kMaxTotalBytes) return true;
    report_error("the values of the graph are too large to be counted together");
    total_bytes_ = 0;
    return false;
  }

  const JointNodes& nodes_;
  const std::optional<std::int64_t> forward_outputs_;
  const Symbols& symbols_;
  Graph& graph_;
  DiagnosticCollector& diagnostics_;
  std::map<std::size_t, Role> roles_;  // by index
  std::size_t at_ = 0;                 // the node that is being added
  std::vector<NodeId> ids_;            // by index; invalid if the node is faulty
  std::vector<RecordedTypes> recorded_;
  std::map<std::size_t, Result<Argument>> numbers_;  // of nodes that are symbolic sizes, by index
  std::size_t inputs_ = 0;                           // non-tangent placeholders so far
  std::set<std::size_t> number_inputs_;              // of these, the symbolic sizes
  std::set<std::pair<std::string_view, std::int64_t>> read_;  // (node name, output index)
  std::vector<bool> faulty_type_;
  ExternalCalls externals_;
  Measurements measurements_;
  std::int64_t draws_ = 0;
  std::int64_t total_bytes_ = 0;
  JsonValue output_;
};

JointGraphBuilder::JointGraphBuilder(const JointNodes& nodes,
                                     std::optional<std::int64_t> forward_outputs,
                                     const JointRoles& roles, const Symbols& symbols, Graph& graph,
                                     DiagnosticCollector& diagnostics)
    : builder_(
          std::make_unique<Builder>(nodes, forward_outputs, roles, symbols, graph, diagnostics)) {}
JointGraphBuilder::~JointGraphBuilder() = default;
bool JointGraphBuilder::step() { return builder_->step(); }
std::string JointGraphBuilder::externals_note() const { return builder_->externals_note(); }

}  // namespace recut
