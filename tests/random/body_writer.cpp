#include "tests/random/body_writer.h"

#include <algorithm>
#include <array>
#include <set>

namespace recut::test {
namespace {

bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

// Consecutive elements of a storage.
bool is_run(const SharedTensor& tensor) {
  for (std::size_t i = 1; i < tensor.elements.size(); ++i)
    if (tensor.elements[i] != tensor.elements[i - 1] + 1) return false;
  return true;
}

}  // namespace

SharedTensor blank(const TensorType& type) { return fresh(allocate(type, nullptr)); }

void BodyWriter::add_inputs(const Types& types) {
  for (const TensorType& type : types) {
    body_.inputs.push_back(type);
    made_.push_back({{blank(type)}, false, true, !writes_inputs_});
  }
}

void BodyWriter::add_calls(std::int64_t count) {
  for (int tries = 0; count > 0 && tries < 200; ++tries)
    if (add_random_call()) --count;
}

BodyWriter::Made BodyWriter::value_of_call(const ProgramCall& call, bool plain,
                                           std::int64_t most_dimensions) const {
  std::vector<std::size_t> operands;
  Types types;
  for (const ProgramArgument& argument : call.arguments)
    if (const auto* value = std::get_if<ProgramValue>(&argument)) {
      operands.push_back(value->number);
      types.push_back(type(value->number));
    }
  if (writes_first_operand(call)) return made_[operands.front()];
  if (!operands.empty()) {
    const Made& self = made_[operands.front()];
    if (auto views = view_of(call, self.tensors.front())) {
      const bool list = call.target == "aten.unbind.int" || call.target == "aten.split.Tensor";
      const bool run = self.plain && !list && is_run(views->front());
      return {std::move(*views), list, run, self.of_input};
    }
  }
  Made value;
  const auto outputs = types_of_call(call, types);
  if (!outputs || outputs->front().rank() > most_dimensions) return value;
  for (const TensorType& output : *outputs) value.tensors.push_back(blank(output));
  value.plain = plain || std::all_of(operands.begin(), operands.end(), [&](std::size_t at) {
                  return made_[at].plain && type(at).shape == outputs->front().shape;
                });
  return value;
}

std::size_t BodyWriter::call(const std::string& target, std::vector<ProgramArgument> arguments,
                             bool plain, std::int64_t most_dimensions) {
  ProgramCall made{target, std::move(arguments), {}};
  Made value = value_of_call(made, plain, most_dimensions);
  if (value.tensors.empty()) return kNone;
  body_.calls.push_back(std::move(made));
  made_.push_back(std::move(value));
  return made_.size() - 1;
}

void BodyWriter::set_results(const Types& types) {
  for (const TensorType& wanted : types) body_.results.push_back(value_of(wanted));
}

void BodyWriter::set_random_results() {
  const std::int64_t count = random_.between(1, 4);
  for (std::int64_t i = 0; i < count; ++i) body_.results.push_back(some_real());
  if (random_.one_in(3)) body_.results.push_back(body_.results.front());
  if (random_.one_in(4)) body_.results.push_back(0);
}

Types BodyWriter::result_types() const {
  Types types;
  for (const std::size_t number : body_.results) types.push_back(type(number));
  return types;
}

std::size_t BodyWriter::some_real() {
  return pick([&](std::size_t i) { return is_real(i); });
}

std::size_t BodyWriter::value_of(const TensorType& wanted) {
  const std::size_t found = pick([&](std::size_t i) { return same_type(type(i), wanted); });
  if (found != kNone && !random_.one_in(4)) return found;
  const std::size_t sum = call("aten.sum.default", {ProgramValue{some_real()}}, true);
  const std::size_t wide = call("aten.expand.default", {ProgramValue{sum}, wanted.shape});
  return contiguous(wide, wanted.rank());
}

std::size_t BodyWriter::contiguous(std::size_t number, std::int64_t most_dimensions) {
  return call("aten.clone.default",
              {ProgramValue{number}, std::string("memory_format=contiguous_format")}, true,
              std::max(most_dimensions, kMostDimensions));
}

bool BodyWriter::add_random_call() {
  switch (random_.below(depth_ < kMaxDepth ? 12 : 9)) {
    case 0:
    case 1:
      return add_unary();
    case 2:
    case 3:
      return add_binary();
    case 4:
    case 5:
    case 6:
      return add_view();
    case 7:
    case 8:
      return add_write();
    default:
      return add_nested();
  }
}

bool BodyWriter::add_unary() {
  static constexpr std::array<const char*, 5> kTargets = {"aten.sin.default", "aten.relu.default",
                                                          "aten.neg.default", "aten.tanh.default",
                                                          "aten.abs.default"};
  const std::size_t self = some_real();
  if (self == kNone) return false;
  switch (random_.below(4)) {
    case 0:
      return contiguous(self) != kNone;
    case 1:
      return call("aten.sum.dim_IntList",
                  {ProgramValue{self}, std::vector<std::int64_t>{-1}, random_.one_in(2)}) != kNone;
    default:
      return call(random_.of(kTargets), {ProgramValue{self}}) != kNone;
  }
}

bool BodyWriter::add_binary() {
  static constexpr std::array<const char*, 4> kTargets = {
      "aten.add.Tensor", "aten.mul.Tensor", "aten.sub.Tensor", "aten.maximum.default"};
  const std::size_t self = some_real();
  if (self == kNone) return false;
  const std::size_t other =
      random_.one_in(2) ? some_real()
                        : pick([&](std::size_t i) { return same_type(type(i), type(self)); });
  if (random_.one_in(3)) return call("aten.mul.Tensor", {ProgramValue{self}, 0.5}) != kNone;
  return call(random_.of(kTargets), {ProgramValue{self}, ProgramValue{other}}) != kNone;
}

bool BodyWriter::add_view() {
  const std::size_t self = some_real();
  if (self == kNone) return false;
  const std::int64_t rank = type(self).rank();
  const ProgramValue x{self};
  if (rank == 0) return call("aten.unsqueeze.default", {x, std::int64_t{0}}) != kNone;
  const std::int64_t dim = random_.below(rank);
  const std::int64_t length = type(self).shape[static_cast<std::size_t>(dim)];
  switch (random_.below(9)) {
    case 0:
      return call("aten.select.int", {x, dim, random_.below(length)}) != kNone;
    case 1: {
      const std::int64_t start = random_.below(length);
      return call("aten.slice.Tensor", {x, dim, start, random_.between(start + 1, length),
                                        random_.between(1, 2)}) != kNone;
    }
    case 2:
      return call("aten.transpose.int", {x, dim, random_.below(rank)}) != kNone;
    case 3:
      return rank < 3 && call("aten.unsqueeze.default", {x, dim}) != kNone;
    case 4:
      return call("aten.squeeze.dim", {x, dim}) != kNone;
    case 5: {
      if (!made_[self].plain) return false;
      const auto count = static_cast<std::int64_t>(made_[self].tensors.front().elements.size());
      return call("aten.view.default", {x, std::vector<std::int64_t>{count}}) != kNone;
    }
    case 6:
    case 7:
      return add_part(self, dim);
    default: {
      if (rank != 2) return false;
      return call("aten.diagonal.default", {x}) != kNone;
    }
  }
}

// One of several views that a call makes.
bool BodyWriter::add_part(std::size_t self, std::int64_t dim) {
  const std::int64_t length = type(self).shape[static_cast<std::size_t>(dim)];
  const std::size_t all =
      random_.one_in(2) ? call("aten.unbind.int", {ProgramValue{self}, dim})
                        : call("aten.split.Tensor", {ProgramValue{self}, std::int64_t{1}, dim});
  return all != kNone && add_item(all, random_.below(length));
}

bool BodyWriter::add_item(std::size_t list, std::int64_t index) {
  Made item = made_[list];
  item.tensors = {made_[list].tensors[static_cast<std::size_t>(index)]};
  item.plain = item.is_list = false;
  body_.calls.push_back({"getitem", {ProgramValue{list}, index}, {}});
  made_.push_back(std::move(item));
  return true;
}

// Its elements don't repeat, and its storage may be written.
bool BodyWriter::can_write(std::size_t number) const {
  const Made& made = made_[number];
  const auto& elements = made.tensors.front().elements;
  return !made.of_input && std::set(elements.begin(), elements.end()).size() == elements.size();
}

bool BodyWriter::add_write() {
  static constexpr std::array<const char*, 4> kAlone = {"aten.sin_.default", "aten.relu_.default",
                                                        "aten.neg_.default", "aten.tanh_.default"};
  static constexpr std::array<const char*, 4> kWithOther = {
      "aten.add_.Tensor", "aten.mul_.Tensor", "aten.sub_.Tensor", "aten.copy_.default"};
  const std::size_t self = pick([&](std::size_t i) { return is_real(i) && can_write(i); });
  if (self == kNone) return false;
  if (random_.one_in(3)) return call(random_.of(kAlone), {ProgramValue{self}}) != kNone;
  if (random_.one_in(3)) return call("aten.mul_.Tensor", {ProgramValue{self}, 0.5}) != kNone;
  const std::size_t other = pick([&](std::size_t i) {
    return same_type(type(i), type(self)) && (i == self || !share(i, self));
  });
  return call(random_.of(kWithOther), {ProgramValue{self}, ProgramValue{other}}) != kNone;
}

}  // namespace recut::test
