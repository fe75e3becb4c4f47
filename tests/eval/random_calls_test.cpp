// Every operator with a kernel, called with random arguments: small tensors of all dtypes, numbers
// from the edges of their range. What the shape rules accept must evaluate or be refused with a
// diagnostic, whatever the values are. The sanitizers watch in their own builds. Half of the calls
// are tame, all their dimensions alike, so that operators of many operands are reached too.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "engine/eval/evaluator.h"
#include "engine/ir/call.h"
#include "engine/support/hash.h"
#include "tests/effort.h"

namespace recut {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    state_ = hash_mix(state_, 1);
    return state_ % bound;
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T, std::size_t N>
  const T& of(const T (&items)[N]) {
    return items[below(N)];
  }

 private:
  std::uint64_t state_;
};

class RandomCall {
 public:
  RandomCall(const Operator& op, std::uint64_t seed)
      : op_(op),
        random_(hash_text(seed, op.name)),
        alike_(random_.one_in(2)),
        size_(static_cast<std::int64_t>(random_.below(3)) + 1),
        rank_(random_.below(5) + 1),
        length_(random_.below(4)),
        dtype_(any_dtype()),
        shape_(any_shape()) {}

  // Evaluates the call where the shape rule accepts it; whether it did.
  bool run() {
    std::vector<Argument> arguments;
    for (const Parameter& p : op_.parameters) arguments.push_back(argument(p));
    const Call::TypesOf types_of = [&](NodeId id) { return graph_.pool().types_of(id); };
    if (!check_arguments(op_, arguments, types_of).empty()) return false;
    auto types = infer_types(op_, arguments, types_of);
    if (!types && !op_.is(kDataDependent)) return false;
    std::vector<TensorType> outputs =
        types ? *types : std::vector<TensorType>(op_.outputs, make_type(dtype_, shape_));
    for (TensorType& type : outputs) {
      if (type.exists() && byte_size(type) > (1 << 16)) return false;
      if (op_.is(kDataDependent) && random_.one_in(3)) type = make_type(dtype_, any_shape());
      if (op_.multiple_outputs() && random_.one_in(8)) type = TensorType();
    }
    if (outputs.size() != 1) return evaluate_all(std::move(arguments), std::move(outputs));
    graph_.results = {graph_.append(op_.op, std::move(arguments), std::move(outputs), {})};
    return evaluates();
  }

 private:
  bool evaluate_all(std::vector<Argument> arguments, std::vector<TensorType> outputs) {
    const NodeId made = graph_.append(op_.op, std::move(arguments), outputs, {});
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].exists())
        graph_.results.push_back(
            graph_.append(Op::getitem, {made, static_cast<std::int64_t>(i)}, {outputs[i]}, {}));
    return evaluates();
  }

  bool evaluates() {
    EvaluateOptions options;
    options.max_bytes = 1 << 24;
    const auto evaluation = evaluate(graph_, inputs_, options);
    if (!evaluation) REQUIRE_FALSE(evaluation.diagnostics().front().message.empty());
    return true;
  }

  DType any_dtype() {
    static constexpr DType kDTypes[] = {DType::f32, DType::f32,     DType::f32, DType::f64,
                                        DType::f16, DType::i64,     DType::i64, DType::i32,
                                        DType::u8,  DType::boolean, DType::c64, DType::f8e4m3fn};
    return random_.of(kDTypes);
  }

  Shape any_shape() {
    if (alike_) return Shape(random_.one_in(2) ? rank_ : random_.below(6), size_);
    static const Shape kShapes[] = {{},        {0},          {1},          {3},
                                    {2, 3},    {3, 3},       {3, 3},       {0, 3},
                                    {2, 3, 4}, {1, 2, 4, 4}, {2, 4, 3, 5}, {1, 2, 3, 4, 4}};
    return random_.of(kShapes);
  }

  double any_real() {
    static constexpr double kReals[] = {0,   -0.0,  1,      -1,     0.5,      -2.5,      3,
                                        1e9, 1e300, -1e300, 1e-300, INFINITY, -INFINITY, NAN};
    return random_.of(kReals);
  }

  std::int64_t any_integer() {
    if (alike_ && !random_.one_in(12)) return static_cast<std::int64_t>(random_.below(4));
    static constexpr std::int64_t kIntegers[] = {kMost, -kMost - 1, 1 << 30, -100, 100, 7};
    if (random_.one_in(12)) return random_.of(kIntegers);
    return static_cast<std::int64_t>(random_.below(8)) - 3;
  }

  Argument tensor() {
    const DType dtype = random_.one_in(4) ? any_dtype() : dtype_;
    const TensorType type = make_type(dtype, random_.one_in(3) ? any_shape() : shape_);
    const NodeId id = graph_.add_input(InputKind::input, type, {"x", "", -1});
    Tensor value = allocate(type, nullptr);
    const bool tame = !random_.one_in(3);
    if (is_floating(type.dtype)) {
      Reals reals(type.shape);
      for (double& r : reals.data)
        r = tame ? static_cast<double>(random_.below(64)) / 16 - 2 : any_real();
      pack(reals, value);
    } else {
      Integers integers(type.shape);
      for (std::int64_t& i : integers.data)
        i = tame ? static_cast<std::int64_t>(random_.below(3)) : any_integer();
      pack(integers, value);
    }
    inputs_[id] = value;
    return id;
  }

  Argument one(const Parameter& p) {
    static constexpr const char* kTexts[] = {"sum",  "mean",  "amax",     "prod",   "amin", "none",
                                             "left", "floor", "constant", "linear", "tanh", "max"};
    switch (p.kind) {
      case ParameterKind::tensor:
        return random_.one_in(20) ? Argument(any_real()) : tensor();
      case ParameterKind::integer:
        return any_integer();
      case ParameterKind::real:
        return any_real();
      case ParameterKind::scalar:
        return random_.one_in(2) ? Argument(any_integer()) : Argument(any_real());
      case ParameterKind::boolean:
        return random_.one_in(2);
      case ParameterKind::dtype:
        return any_dtype();
      case ParameterKind::text:
        return random_.of(kTexts);
      case ParameterKind::any:  // of no operator in the table
        break;
    }
    return None{};
  }

  Argument argument(const Parameter& p) {
    if (p.has_default && random_.one_in(2)) return Absent{};
    if (p.optional && random_.one_in(3)) return None{};
    if (!p.list) return one(p);
    ArgumentList list(alike_ && !random_.one_in(8) ? length_ : random_.below(5));
    for (Argument& item : list)
      item = p.optional_items && random_.one_in(3) ? Argument(None{}) : one(p);
    return list;
  }

  const Operator& op_;
  Random random_;
  // What the shapes and lists of a tame call are alike in.
  bool alike_;
  std::int64_t size_;
  std::size_t rank_;
  std::size_t length_;
  DType dtype_;
  Shape shape_;
  Graph graph_;
  Inputs inputs_;
};

TEST_CASE("no call that the shape rules accept brings the interpreter down") {
  std::size_t evaluated = 0;
  for (const Operator& op : all_operators()) {
    if (op.is(kInput) || op.op == Op::getitem || !kernel_table().supports(op.op)) continue;
    for (std::uint64_t seed = 0; seed < test::tries(300); ++seed) {
      INFO(op.name << " with seed " << seed);
      evaluated += RandomCall(op, seed).run();
    }
  }
  CHECK(evaluated > test::tries(50000));
}

}  // namespace
}  // namespace recut
