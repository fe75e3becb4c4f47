// Writes one body of a random program: calls of operators, views, and writes in place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/random/program.h"
#include "tests/random/random_graph.h"

namespace recut::test {

using Types = std::vector<TensorType>;

class BodyWriter {
 public:
  BodyWriter(Random& random, int depth, bool writes_inputs)
      : random_(random), depth_(depth), writes_inputs_(writes_inputs) {}
  virtual ~BodyWriter() = default;

  void add_inputs(const Types& types);
  void add_calls(std::int64_t count);

  // A call of an operator, and its number; kNone where it doesn't fit, or a new value would have too
  // many dimensions.
  static constexpr std::int64_t kMostDimensions = 4;
  std::size_t call(const std::string& target, std::vector<ProgramArgument> arguments,
                   bool plain = false, std::int64_t most_dimensions = kMostDimensions);
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Results of these types, preferably new values.
  void set_results(const Types& types);
  void set_random_results();
  void add_result(std::size_t number) { body_.results.push_back(number); }
  Types result_types() const;

  ProgramBody take() { return std::move(body_); }

 protected:
  static constexpr int kMaxDepth = 2;

  // A value with the storage that it shows.
  struct Made {
    std::vector<SharedTensor> tensors;
    bool is_list = false;
    bool plain = false;     // contiguous by construction
    bool of_input = false;  // of an input that may not be written
  };

  // A call with nested graphs; false where none fits.
  virtual bool add_nested() = 0;

  const TensorType& type(std::size_t number) const { return made_[number].tensors.front().type; }
  bool is_real(std::size_t i) const { return type(i).dtype == DType::f32; }
  bool share(std::size_t a, std::size_t b) const {
    return made_[a].tensors.front().storage == made_[b].tensors.front().storage;
  }
  bool can_write(std::size_t number) const;

  // One of the values that fit, often the newest; kNone where none does.
  template <class Fits>
  std::size_t pick(Fits fits) {
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < made_.size(); ++i)
      if (!made_[i].is_list && fits(i)) fitting.push_back(i);
    if (fitting.empty()) return kNone;
    return random_.one_in(2) ? fitting.back() : random_.of(fitting);
  }
  std::size_t some_real();
  bool add_item(std::size_t list, std::int64_t index);

  Random& random_;
  int depth_;
  bool writes_inputs_;
  ProgramBody body_;
  std::vector<Made> made_;

 private:
  Made value_of_call(const ProgramCall& call, bool plain, std::int64_t most_dimensions) const;
  std::size_t value_of(const TensorType& wanted);
  std::size_t contiguous(std::size_t number, std::int64_t most_dimensions = kMostDimensions);
  bool add_random_call();
  bool add_unary();
  bool add_binary();
  bool add_view();
  bool add_part(std::size_t self, std::int64_t dim);
  bool add_write();
};

SharedTensor blank(const TensorType& type);

}  // namespace recut::test
