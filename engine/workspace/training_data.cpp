#include "engine/workspace/training_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/autodiff/optimizer.h"
#include "engine/support/hash.h"
#include "engine/support/philox.h"
#include "engine/workspace/index_bound.h"

// Every value is a pure function of seed, batch, sample and element: a hash gives coefficients that
// stay fixed for the data set, Philox gives the hidden numbers of a sample. So a batch needs no
// storage, can be generated in any order, and is the same on every machine.

namespace recut {
namespace {

constexpr std::int64_t kHidden = 8;       // hidden numbers of a sample
constexpr std::int64_t kAlphabet = 32;    // the most tokens that a text uses
constexpr std::uint64_t kRareOneIn = 4;   // the share of the rare successor: 1 / 4
constexpr std::uint64_t kHiddenDraw = 1;  // streams of random numbers
constexpr std::uint64_t kTextDraw = 2;

using Numbers = std::array<double, kHidden>;

// The coefficients of a fixed random linear function.
Numbers function(std::uint64_t stream, std::int64_t number) {
  Numbers coefficients;
  for (std::int64_t k = 0; k < kHidden; ++k)
    coefficients[static_cast<std::size_t>(k)] =
        static_cast<double>(hash_mix(stream, static_cast<std::uint64_t>(number * kHidden + k)) >>
                            11) *
            0x1p-52 -
        1;
  return coefficients;
}

double product(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// The hidden numbers of a batch's samples.
std::vector<Numbers> hidden_numbers(std::uint64_t seed, std::int64_t batch, std::int64_t samples) {
  std::vector<Numbers> hidden(static_cast<std::size_t>(samples));
  std::int64_t number = batch * samples * kHidden;
  for (Numbers& sample : hidden)
    for (double& one : sample) {
      const auto element = static_cast<std::uint64_t>(number++);
      one = 2 * random_uniform(random_words(seed, kHiddenDraw, element), 53) - 1;
    }
  return hidden;
}

// Real values, sample by sample, `each` elements for one.
Reals reals(const Shape& shape, std::uint64_t stream, const std::vector<Numbers>& hidden) {
  Reals values(shape);
  const auto samples = static_cast<std::int64_t>(hidden.size());
  const std::int64_t each = values.count() / std::max<std::int64_t>(1, samples);
  for (std::int64_t e = 0; e < each; ++e) {
    const Numbers coefficients = function(stream, e);
    for (std::int64_t s = 0; s < samples; ++s) {
      const double sum = product(coefficients, hidden[static_cast<std::size_t>(s)]);
      values[s * each + e] = sum / (1 + std::fabs(sum));
    }
  }
  return values;
}

Integers classes(const Shape& shape, std::uint64_t stream, const std::vector<Numbers>& hidden,
                 std::int64_t bound) {
  Integers values(shape);
  const auto samples = static_cast<std::int64_t>(hidden.size());
  const std::int64_t each = values.count() / std::max<std::int64_t>(1, samples);
  for (std::int64_t e = 0; e < each; ++e) {
    std::vector<double> most(hidden.size(), -HUGE_VAL);
    for (std::int64_t c = 0; c < bound; ++c) {
      const Numbers coefficients = function(stream, e * bound + c);
      for (std::int64_t s = 0; s < samples; ++s) {
        const double sum = product(coefficients, hidden[static_cast<std::size_t>(s)]);
        if (sum <= most[static_cast<std::size_t>(s)]) continue;
        most[static_cast<std::size_t>(s)] = sum;
        values[s * each + e] = c;
      }
    }
  }
  return values;
}

// Token ids: each row is a random walk of its own.
Integers text(const DataInput& input, const Shape& shape, std::uint64_t seed, std::int64_t batch) {
  Integers values(shape);
  const std::int64_t rows = shape.front(), each = values.count() / std::max<std::int64_t>(1, rows);
  const auto alphabet = static_cast<std::uint64_t>(std::min(input.bound, kAlphabet));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto walk = static_cast<std::uint64_t>(batch * rows + row);
    std::uint64_t token = hash_mix(seed, walk) % alphabet;
    for (std::int64_t i = 0; i < input.shift + each; ++i) {
      if (i >= input.shift) values[row * each + i - input.shift] = static_cast<std::int64_t>(token);
      const std::uint64_t chance =
          random_bits(random_words(hash_mix(seed, walk), kTextDraw, static_cast<std::uint64_t>(i)));
      token = hash_mix(hash_mix(seed, token), chance % kRareOneIn == 0 ? 1 : 0) % alphabet;
    }
  }
  return values;
}

void write_counting(const DataInput& input, std::uint64_t stream, Tensor& into) {
  if (is_floating(into.dtype)) {
    Reals values(into.shape);
    for (std::int64_t i = 0; i < values.count(); ++i)
      values[i] = 0.5 + static_cast<double>(hash_mix(stream, static_cast<std::uint64_t>(i)) >> 11) *
                            0x1p-54;
    return pack(values, into);
  }
  Integers values(into.shape);
  for (std::int64_t i = 0; i < values.count(); ++i) values[i] = i % input.bound;
  pack(values, into);
}

bool is_data(const Graph& step, NodeId id, const std::vector<NodeId>& carried) {
  return step.input_kind(id) == InputKind::input &&
         std::find(carried.begin(), carried.end(), id) == carried.end();
}

}  // namespace

std::vector<DataInput> data_inputs(const Graph& step) {
  std::vector<DataInput> inputs;
  const std::vector<NodeId> carried = carried_inputs(step);
  std::optional<std::int64_t> samples;
  bool any_reals = false;
  for (const NodeId id : step.inputs()) {
    if (!is_data(step, id, carried)) continue;
    const TensorType& type = step.type(id);
    if (!samples && type.rank() > 0) samples = type.shape.front();
    DataInput input{id};
    if (type.rank() == 0 || type.shape.front() != *samples)
      input.kind = DataInput::Kind::counting;
    else if (!is_floating(type.dtype))
      input.kind = type.rank() > 1 ? DataInput::Kind::text : DataInput::Kind::classes;
    else
      any_reals = true;
    if (is_integral(type.dtype))
      input.bound = std::max<std::int64_t>(1, index_bound(step, id).value_or(2));
    inputs.push_back(input);
  }
  std::int64_t texts = 0;
  for (DataInput& input : inputs) {
    if (input.kind != DataInput::Kind::text) continue;
    if (any_reals) input.kind = DataInput::Kind::classes;
    input.shift = texts++;
  }
  return inputs;
}

TrainingData::TrainingData(const Graph& step, std::uint64_t seed)
    : step_(step), inputs_(data_inputs(step)), seed_(seed) {}

void TrainingData::write(const DataInput& input, std::int64_t batch, Tensor& into) const {
  const std::uint64_t stream = hash_text(seed_, step_.node_name(input.id));
  if (input.kind == DataInput::Kind::counting) return write_counting(input, stream, into);
  if (input.kind == DataInput::Kind::text) return pack(text(input, into.shape, seed_, batch), into);
  const std::vector<Numbers> hidden = hidden_numbers(seed_, batch, into.shape.front());
  if (input.kind == DataInput::Kind::reals) return pack(reals(into.shape, stream, hidden), into);
  pack(classes(into.shape, stream, hidden, input.bound), into);
}

}  // namespace recut
