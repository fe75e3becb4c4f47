#include "engine/input/joint_types.h"

#include <fmt/core.h>

namespace recut {
namespace {

// All values of a graph together: sums of sizes, and twice that, fit into 64 bits.
constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 61;

}  // namespace

JointTypes::JointTypes(const JointNodes& nodes, const Graph& graph, Report report)
    : nodes_(nodes),
      report_(std::move(report)),
      types_of_([&graph](NodeId id) { return graph.pool().types_of(id); }),
      recorded_(nodes.nodes.size()),
      faulty_(nodes.nodes.size(), false) {
  record_read_outputs();
}

// Records which outputs of multi-output nodes a getitem reads.
void JointTypes::record_read_outputs() {
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

std::optional<TensorType> JointTypes::of_input(std::size_t at) {
  if (faulty_[at]) return std::nullopt;
  const RecordedTypes& types = recorded_[at];
  const bool one = types && types->size() == 1;
  if (one && types->front() && types->front()->exists() && count_bytes(at, {*types->front()}))
    return types->front();
  report_error(at, one && !types->front() ? "'val' has no 'dtype'"
                                          : "'val' is missing, expected the type of a tensor");
  return std::nullopt;
}

// The node's types: the recorded types if there are any, which must agree with the shape rule.
std::optional<std::vector<TensorType>> JointTypes::resolve(std::size_t at, const Operator& op,
                                                           const std::vector<Argument>& arguments) {
  RecordedTypes& recorded = recorded_[at];
  if (recorded && (op.is(kDataDependent) || lacks_arithmetic(arguments, *recorded)))
    return take_unchecked(at, op, arguments);
  auto inferred = infer_types(op, arguments, types_of_);
  if (!inferred) {
    for (const Diagnostic& d : inferred.diagnostics()) report_error(at, d.message);
    return std::nullopt;
  }
  if (!recorded) return count_bytes(at, *inferred) ? std::optional(*inferred) : std::nullopt;
  if (recorded->size() != inferred->size()) {
    report_error(at, fmt::format("{} has {} outputs, 'val' has {}", op.name, inferred->size(),
                                 recorded->size()));
    return std::nullopt;
  }
  std::vector<TensorType> resolved;
  for (std::size_t i = 0; i < inferred->size(); ++i) {
    const RecordedType& known = (*recorded)[i];
    const bool counts = known && !is_masked_out(at, i, (*inferred)[i]);
    if (counts && !agree(at, op, i, *known, (*inferred)[i])) return std::nullopt;
    resolved.push_back(counts && uses_recorded_type(at, i, *known) ? *known : (*inferred)[i]);
  }
  return count_bytes(at, resolved) ? std::optional(std::move(resolved)) : std::nullopt;
}

// True if the recorded type counts: `none` is accepted only for an unused output.
bool JointTypes::uses_recorded_type(std::size_t at, std::size_t output,
                                    const TensorType& recorded) const {
  return recorded.exists() || !is_read(at, output);
}

// True if the call omits this output (output_mask) and it is unused: some tracers record a type all
// the same.
bool JointTypes::is_masked_out(std::size_t at, std::size_t output,
                               const TensorType& inferred) const {
  return !inferred.exists() && !is_read(at, output);
}

bool JointTypes::is_read(std::size_t at, std::size_t output) const {
  return read_.count({nodes_.nodes[at].name, static_cast<std::int64_t>(output)}) != 0;
}

bool JointTypes::lacks_arithmetic(const std::vector<Argument>& arguments,
                                  const std::vector<RecordedType>& recorded) const {
  std::vector<TensorType> outputs;
  for (const RecordedType& type : recorded) outputs.push_back(type.value_or(TensorType{}));
  return dtype_without_arithmetic(arguments, outputs, types_of_) != DType::none;
}

std::optional<std::vector<TensorType>> JointTypes::take_unchecked(
    std::size_t at, const Operator& op, const std::vector<Argument>& arguments) {
  const Diagnostics wrong = check_arguments(op, arguments, types_of_);
  for (const Diagnostic& d : wrong) report_error(at, d.message);
  std::vector<TensorType> types;
  // Of several outputs some are numbers, as the length of the longest sequence of attention.
  for (const RecordedType& type : *recorded_[at])
    if (type || op.multiple_outputs()) types.push_back(type.value_or(TensorType{}));
  if (types.size() != recorded_[at]->size())
    report_error(at, "'val' has no 'dtype'");
  else if (!op.returns_list && types.size() != op.outputs)
    report_error(at,
                 fmt::format("{} has {} outputs, 'val' has {}", op.name, op.outputs, types.size()));
  else if (wrong.empty() && count_bytes(at, types))
    return types;
  return std::nullopt;
}

// An output that the caller masked out may be recorded as none whatever the rule says.
bool JointTypes::agree(std::size_t at, const Operator& op, std::size_t index,
                       const TensorType& recorded, const TensorType& inferred) const {
  if (!recorded.exists() && op.multiple_outputs()) return true;
  if (recorded.dtype == inferred.dtype && recorded.shape == inferred.shape) return true;
  const std::string which = op.multiple_outputs() ? fmt::format("output {} of ", index) : "";
  report_error(at, fmt::format("{}{} is recorded as {}{}, expected {}{}", which, op.name,
                               short_name(recorded.dtype), format_shape(recorded.shape),
                               short_name(inferred.dtype), format_shape(inferred.shape)));
  return false;
}

bool JointTypes::count_bytes(std::size_t at, const std::vector<TensorType>& types) {
  for (const TensorType& type : types) total_bytes_ += byte_size(type);
  if (total_bytes_ <= kMaxTotalBytes) return true;
  report_error(at, "the values of the graph are too large to be counted together");
  total_bytes_ = 0;
  return false;
}

bool same_elements(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && element_count(a.shape) == element_count(b.shape);
}

}  // namespace recut
