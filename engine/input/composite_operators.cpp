#include "engine/input/composite_operators.h"

#include <deque>
#include <unordered_map>

#include "engine/ir/schema.h"
#include "engine/support/check.h"

namespace recut {
namespace {

// Names of ATen for operators that the table has under another one, with the same parameters.
struct OtherName {
  std::string_view name, of;
};
constexpr OtherName kOtherNames[] = {{"aten.__and__.Scalar", "aten.bitwise_and.Scalar"},
                                     {"aten.__and__.Tensor", "aten.bitwise_and.Tensor"},
                                     {"aten.__or__.Scalar", "aten.bitwise_or.Scalar"},
                                     {"aten.__or__.Tensor", "aten.bitwise_or.Tensor"},
                                     {"aten.__xor__.Scalar", "aten.bitwise_xor.Scalar"},
                                     {"aten.__xor__.Tensor", "aten.bitwise_xor.Tensor"},
                                     {"aten.absolute.default", "aten.abs.default"},
                                     {"aten.arccos.default", "aten.acos.default"},
                                     {"aten.arccosh.default", "aten.acosh.default"},
                                     {"aten.arcsin.default", "aten.asin.default"},
                                     {"aten.arcsinh.default", "aten.asinh.default"},
                                     {"aten.arctan.default", "aten.atan.default"},
                                     {"aten.arctan2.default", "aten.atan2.default"},
                                     {"aten.arctanh.default", "aten.atanh.default"},
                                     {"aten.bernoulli.float", "aten.bernoulli.p"},
                                     {"aten.broadcast_to.default", "aten.expand.default"},
                                     {"aten.clip.Tensor", "aten.clamp.Tensor"},
                                     {"aten.clip.default", "aten.clamp.default"},
                                     {"aten.concat.default", "aten.cat.default"},
                                     {"aten.concatenate.default", "aten.cat.default"},
                                     {"aten.divide.Scalar", "aten.div.Scalar"},
                                     {"aten.divide.Scalar_mode", "aten.div.Scalar_mode"},
                                     {"aten.divide.Tensor", "aten.div.Tensor"},
                                     {"aten.divide.Tensor_mode", "aten.div.Tensor_mode"},
                                     {"aten.greater.Scalar", "aten.gt.Scalar"},
                                     {"aten.greater.Tensor", "aten.gt.Tensor"},
                                     {"aten.greater_equal.Scalar", "aten.ge.Scalar"},
                                     {"aten.greater_equal.Tensor", "aten.ge.Tensor"},
                                     {"aten.less.Scalar", "aten.lt.Scalar"},
                                     {"aten.less.Tensor", "aten.lt.Tensor"},
                                     {"aten.less_equal.Scalar", "aten.le.Scalar"},
                                     {"aten.less_equal.Tensor", "aten.le.Tensor"},
                                     {"aten.linalg_matmul.default", "aten.matmul.default"},
                                     {"aten.moveaxis.int", "aten.movedim.int"},
                                     {"aten.moveaxis.intlist", "aten.movedim.intlist"},
                                     {"aten.multiply.Scalar", "aten.mul.Scalar"},
                                     {"aten.multiply.Tensor", "aten.mul.Tensor"},
                                     {"aten.negative.default", "aten.neg.default"},
                                     {"aten.normal.default", "aten.normal_functional.default"},
                                     {"aten.not_equal.Scalar", "aten.ne.Scalar"},
                                     {"aten.not_equal.Tensor", "aten.ne.Tensor"},
                                     {"aten.special_digamma.default", "aten.digamma.default"},
                                     {"aten.special_erf.default", "aten.erf.default"},
                                     {"aten.special_erfc.default", "aten.erfc.default"},
                                     {"aten.special_erfinv.default", "aten.erfinv.default"},
                                     {"aten.special_exp2.default", "aten.exp2.default"},
                                     {"aten.special_expit.default", "aten.sigmoid.default"},
                                     {"aten.special_expm1.default", "aten.expm1.default"},
                                     {"aten.special_gammainc.default", "aten.igamma.default"},
                                     {"aten.special_gammaincc.default", "aten.igammac.default"},
                                     {"aten.special_gammaln.default", "aten.lgamma.default"},
                                     {"aten.special_i0.default", "aten.i0.default"},
                                     {"aten.special_log1p.default", "aten.log1p.default"},
                                     {"aten.special_log_softmax.default", "aten.log_softmax.int"},
                                     {"aten.special_logit.default", "aten.logit.default"},
                                     {"aten.special_logsumexp.default", "aten.logsumexp.default"},
                                     {"aten.special_multigammaln.default", "aten.mvlgamma.default"},
                                     {"aten.special_polygamma.default", "aten.polygamma.default"},
                                     {"aten.special_psi.default", "aten.digamma.default"},
                                     {"aten.special_sinc.default", "aten.sinc.default"},
                                     {"aten.special_softmax.default", "aten.softmax.int"},
                                     {"aten.special_xlogy.default", "aten.xlogy.Tensor"},
                                     {"aten.special_xlogy.other_scalar", "aten.xlogy.Scalar_Other"},
                                     {"aten.special_xlogy.self_scalar", "aten.xlogy.Scalar_Self"},
                                     {"aten.subtract.Scalar", "aten.sub.Scalar"},
                                     {"aten.subtract.Tensor", "aten.sub.Tensor"},
                                     {"aten.swapdims.default", "aten.transpose.int"},
                                     {"aten.true_divide.Scalar", "aten.div.Scalar"},
                                     {"aten.true_divide.Tensor", "aten.div.Tensor"},
                                     {"aten.unsafe_chunk.default", "aten.chunk.default"}};

struct CompositeTable {
  std::deque<CompositeOperator> operators;
  std::deque<std::string> names;  // behind the operators' views
  std::unordered_map<std::string_view, const CompositeOperator*> by_target;

  explicit CompositeTable(const std::vector<std::vector<CompositeRow>>& families,
                          OperatorFlags flags = kNoFlags) {
    for (const auto& rows : families)
      for (const CompositeRow& row : rows) add(row, flags);
  }

  const CompositeOperator* find(std::string_view target) const {
    const auto found = by_target.find(target);
    return found == by_target.end() ? nullptr : found->second;
  }

 private:
  std::string_view keep(std::string text) { return names.emplace_back(std::move(text)); }

  void add(const CompositeRow& row, OperatorFlags flags) {
    Schema schema = parse_schema(row.schema);
    CompositeOperator& made = operators.emplace_back();
    made.expand = row.expand;
    made.written_if = row.written_if;
    Operator& op = made.row;
    op.op = Op::placeholder;
    op.flags = flags;
    op.parameters = std::move(schema.parameters);
    op.outputs = schema.outputs;
    op.returns_list = schema.returns_list;
    op.rule = nullptr;
    const std::string dot = schema.overload.empty() ? "" : "." + schema.overload;
    op.packet = keep(schema.name);
    op.name = keep(schema.name + dot);
    op.target = keep(schema.name_space + "." + schema.name + (dot.empty() ? ".default" : dot));
    for (std::string_view rest = row.written; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      made.written.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const bool unique = by_target.emplace(op.target, &made).second;
    RECUT_CHECK(unique, "two rows of composite operators have one target");
  }
};

FileOperator find_by_name(std::string_view target, bool has_complex_number) {
  FileOperator found{find_operator_in_file(target), find_composite(target)};
  if (!has_complex_number || found.op == nullptr) return found;
  // Beside the complex number a real one may be left, as for any element-wise operator.
  static const CompositeTable table({complex_number_composites()}, kPointwise);
  if (const auto* composite = table.find(found.op->target)) found.composite = composite;
  if (const std::string_view form = tensor_form(found.op->target); !form.empty())
    found.op = find_operator_by_target(form);
  return found;
}

}  // namespace

const CompositeOperator* find_composite(std::string_view target) {
  static const CompositeTable table(
      {conversion_composites(), shape_composites(), network_composites(), product_composites(),
       recurrent_composites(), fourier_composites(), short_time_composites(), window_composites(),
       norm_composites(), linear_algebra_composites(), statistics_composites(), loss_composites(),
       quantization_composites()});
  return table.find(target);
}

const Operator* find_operator_in_file(std::string_view target) {
  if (const Operator* op = find_operator_by_target(target)) return op;
  for (const OtherName& other : kOtherNames)
    if (other.name == target) return find_operator_by_target(other.of);
  return nullptr;
}

FileOperator find_in_file(std::string_view target, bool has_complex_number) {
  const FileOperator found = find_by_name(target, has_complex_number);
  if (found.op != nullptr || found.composite != nullptr) return found;
  const auto functional = functional_target(target);
  if (!functional) return found;
  FileOperator without_effect = find_by_name(*functional, has_complex_number);
  without_effect.writes_operand = true;
  return without_effect;
}

std::optional<std::string> functional_target(std::string_view target) {
  const std::size_t first = target.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = std::min(target.find('.', first + 1), target.size());
  const std::string_view space = target.substr(0, first + 1), overload = target.substr(second);
  std::string_view packet = target.substr(first + 1, second - first - 1);
  if (packet.starts_with("__i") && packet.ends_with("__"))
    return std::string(space) + "__" + std::string(packet.substr(3)) + std::string(overload);
  if (packet.size() < 2 || !packet.ends_with('_') || packet.ends_with("__")) return std::nullopt;
  packet.remove_suffix(1);
  return std::string(space) + std::string(packet) + std::string(overload);
}

}  // namespace recut
