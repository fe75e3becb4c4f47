#include "tests/random/random_program.h"

#include <algorithm>

#include "tests/random/body_writer.h"

namespace recut::test {
namespace {

constexpr std::int64_t kMaxElementsOfValue = 64;
using Body = std::shared_ptr<const ProgramBody>;

class ProgramWriter : public BodyWriter {
 public:
  using BodyWriter::BodyWriter;

 private:
  struct Nested {
    Body body;
    Types results;
  };
  Nested body_on(const Types& inputs, const Types& results, bool writes) {
    ProgramWriter writer(random_, depth_ + 1, writes);
    writer.add_inputs(inputs);
    writer.add_calls(random_.between(1, 4));
    if (results.empty())
      writer.set_random_results();
    else
      writer.set_results(results);
    Types types = writer.result_types();
    return {std::make_shared<const ProgramBody>(writer.take()), std::move(types)};
  }

  std::vector<ProgramValue> operands(std::int64_t count, bool distinct) {
    std::vector<ProgramValue> chosen;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t number = pick([&](std::size_t at) {
        return is_real(at) && made_[at].plain &&
               (!distinct || (can_write(at) && std::none_of(chosen.begin(), chosen.end(),
                                                            [&](const ProgramValue& other) {
                                                              return share(other.number, at);
                                                            })));
      });
      if (number != kNone) chosen.push_back({number});
    }
    return chosen;
  }

  Types types_of(const std::vector<ProgramValue>& values, bool slices = false) const {
    Types types;
    for (const ProgramValue& value : values) {
      TensorType one = type(value.number);
      if (slices) one = make_type(one.dtype, Shape(one.shape.begin() + 1, one.shape.end()));
      types.push_back(one);
    }
    return types;
  }

  static Types joined(Types a, const Types& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  static TensorType stacked(const TensorType& type, std::int64_t trips) {
    Shape shape = type.shape;
    shape.insert(shape.begin(), trips);
    return make_type(type.dtype, shape);
  }

  bool add_nested() override {
    switch (random_.below(7)) {
      case 0:
      case 1:
        return add_condition();
      case 2:
      case 3:
        return add_called();
      case 4:
        return add_while();
      case 5:
        return add_scan();
      default:
        return add_prefix_scan();
    }
  }

  // The call and some of its outputs.
  bool finish(const std::string& name, std::vector<ProgramArgument> arguments, Types outputs) {
    for (const TensorType& output : outputs)
      if (element_count(output.shape) > kMaxElementsOfValue) return false;
    Made made;
    made.is_list = true;
    for (const TensorType& output : outputs) made.tensors.push_back(blank(output));
    body_.calls.push_back({"torch.ops.higher_order." + name, std::move(arguments), outputs});
    made_.push_back(std::move(made));
    const std::size_t list = made_.size() - 1;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      add_item(list, static_cast<std::int64_t>(i));
      made_.back().plain = true;
    }
    return true;
  }

  bool add_condition() {
    const bool writes = random_.one_in(3);
    const auto given = operands(random_.between(1, 3), writes);
    if (given.empty()) return false;
    const Nested yes = body_on(types_of(given), {}, writes);
    const Nested no = body_on(types_of(given), yes.results, writes);
    const std::size_t sum = call("aten.sum.default", {ProgramValue{some_real()}}, true);
    const std::size_t predicate = call("aten.gt.Scalar", {ProgramValue{sum}, 0.5}, true);
    return finish("cond", {ProgramValue{predicate}, yes.body, no.body, given}, yes.results);
  }

  bool add_called() {
    const bool writes = random_.one_in(2);
    const auto given = operands(random_.between(1, 3), writes);
    if (given.empty()) return false;
    const Nested nested = body_on(types_of(given), {}, writes);
    const bool wrapped = random_.one_in(3);
    std::vector<ProgramArgument> arguments{nested.body};
    if (!wrapped) arguments.emplace_back(std::string("id"));
    for (const ProgramValue& value : given) arguments.emplace_back(value);
    return finish(wrapped ? "tag_activation_checkpoint" : "invoke_subgraph", std::move(arguments),
                  nested.results);
  }

  // A counter from 0 to a number, or to an input of integers.
  bool add_while() {
    const auto carried = operands(random_.between(1, 2), false);
    auto whole = operands(random_.between(0, 1), false);
    if (carried.empty()) return false;
    const std::size_t bound =
        pick([&](std::size_t i) { return type(i).dtype == DType::i64 && type(i).rank() == 0; });
    const bool by_data = bound != kNone && random_.one_in(3);
    const bool stacks = !by_data && random_.one_in(3);
    if (by_data) whole.push_back({bound});
    const TensorType number = make_type(DType::i64, {});
    const Types inputs = joined(joined({number}, types_of(carried)), types_of(whole));
    const std::int64_t trips = random_.between(0, 3);
    ProgramWriter test(random_, kMaxDepth, false);
    test.add_inputs(inputs);
    test.add_result(
        by_data ? test.call("aten.lt.Tensor", {ProgramValue{0}, ProgramValue{inputs.size() - 1}})
                : test.call("aten.lt.Scalar", {ProgramValue{0}, trips}));
    ProgramWriter body(random_, depth_ + 1, false);
    body.add_inputs(inputs);
    body.add_calls(random_.between(1, 4));
    body.add_result(body.call("aten.add.Tensor", {ProgramValue{0}, std::int64_t{1}}));
    body.set_results(types_of(carried));
    std::vector<ProgramValue> first{
        {call("aten.full.default",
              {std::vector<std::int64_t>{}, std::int64_t{0}, std::string("dtype=int64")}, true)}};
    first.insert(first.end(), carried.begin(), carried.end());
    Types outputs = joined({number}, types_of(carried));
    if (stacks)
      for (TensorType& output : outputs) output = stacked(output, std::max<std::int64_t>(trips, 1));
    return finish(stacks ? "while_loop_stack_output" : "while_loop",
                  {std::make_shared<const ProgramBody>(test.take()),
                   std::make_shared<const ProgramBody>(body.take()), first, whole},
                  outputs);
  }

  std::vector<ProgramValue> sliced_operands() {
    const std::size_t first =
        pick([&](std::size_t i) { return is_real(i) && made_[i].plain && type(i).rank() > 0; });
    if (first == kNone) return {};
    std::vector<ProgramValue> values{{first}};
    const std::size_t second = pick([&](std::size_t i) {
      return is_real(i) && made_[i].plain && type(i).rank() > 0 &&
             type(i).shape.front() == type(first).shape.front();
    });
    if (random_.one_in(2)) values.push_back({second});
    return values;
  }

  bool add_scan() {
    const auto sliced = sliced_operands();
    if (sliced.empty()) return false;
    const bool maps = random_.one_in(2);
    const auto carried = maps ? std::vector<ProgramValue>() : operands(1, false);
    const auto whole = operands(random_.between(0, 1), false);
    const Types inputs = joined(joined(types_of(carried), types_of(sliced, true)), types_of(whole));
    ProgramWriter body(random_, depth_ + 1, false);
    body.add_inputs(inputs);
    body.add_calls(random_.between(1, 4));
    body.set_results(types_of(carried));
    body.set_random_results();
    Types outputs = body.result_types();
    const std::int64_t trips = type(sliced.front().number).shape.front();
    for (std::size_t i = carried.size(); i < outputs.size(); ++i)
      outputs[i] = stacked(outputs[i], trips);
    std::vector<ProgramArgument> arguments{std::make_shared<const ProgramBody>(body.take())};
    if (!maps) arguments.emplace_back(carried);
    arguments.emplace_back(sliced);
    arguments.emplace_back(whole);
    return finish(maps ? "map_impl" : "scan", std::move(arguments), outputs);
  }

  bool add_prefix_scan() {
    const auto sliced = sliced_operands();
    if (sliced.empty()) return false;
    const auto whole = operands(random_.between(0, 1), false);
    const Types slices = types_of(sliced, true);
    const Nested nested = body_on(joined(joined(slices, slices), types_of(whole)), slices, false);
    return finish("associative_scan", {nested.body, sliced, whole}, types_of(sliced));
  }
};

}  // namespace

ProgramBody random_program(std::uint64_t seed) {
  Random random(seed);
  ProgramWriter writer(random, 0, true);
  Types inputs;
  for (std::int64_t n = random.between(1, 3); n > 0; --n) {
    Shape shape;
    for (std::int64_t rank = random.below(4); rank > 0; --rank)
      shape.push_back(random.between(1, 3));
    inputs.push_back(make_type(DType::f32, shape));
  }
  if (random.one_in(2)) inputs.push_back(make_type(DType::i64, {}));
  writer.add_inputs(inputs);
  writer.add_calls(random.between(4, 12));
  writer.set_random_results();
  return writer.take();
}

}  // namespace recut::test
