// Builds the rule of one call: maps dimensions to factors, and settles the factors' sizes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mesh/rules/sharding_rule.h"

namespace recut::mesh {

class RuleBuilder {
 public:
  RuleBuilder(const Call& call, std::span<const TensorType> results);

  const Call& call() const { return call_; }
  std::size_t operands() const { return nodes_.size(); }
  std::size_t results() const { return results_.size(); }
  const Shape& operand_shape(std::size_t i) const { return rule_.operand_shapes[i]; }
  const Shape& result_shape(std::size_t r) const { return rule_.result_shapes[r]; }
  DType operand_dtype(std::size_t i) const;
  // The first operand that a parameter gives, and how many it gives.
  std::pair<std::size_t, std::size_t> operands_of(std::size_t parameter) const;
  // False where a tensor is empty or absent: no dimension of it has a factor.
  bool has_elements(bool result, std::size_t tensor) const;

  int factor(const std::string& name);  // found or added
  bool has_factor(const std::string& name) const;
  Factor& operator[](int index) { return rule_.factors[static_cast<std::size_t>(index)]; }

  struct Mapping {
    bool result = false;
    std::size_t tensor = 0, dim = 0;
    int factor = -1;
    bool multiple = false;    // the dimension is a multiple of the factor
    bool broadcasts = false;  // a dimension of 1 lacks the factor
  };
  void map(Mapping mapping);

  void add_group(std::vector<std::size_t> operands, Reduction from, Reduction to);
  void add_moves(std::vector<std::size_t> operands);   // any Partial passes
  void add_linear(std::vector<std::size_t> operands);  // where dtypes permit

  ShardingRule& rule() { return rule_; }

  // Gives every factor its size. Where dimensions of one factor differ, it becomes whole.
  ShardingRule finish();

 private:
  const Shape& shape(const Mapping& mapping) const;
  bool indices_fit(const Factor& factor) const;
  bool has_empty_tensor() const;

  const Call& call_;
  std::span<const TensorType> results_;
  std::vector<NodeId> nodes_;
  std::vector<std::size_t> parameters_;  // by operand
  ShardingRule rule_;
  std::vector<Mapping> mappings_;
};

// Fills in a rule by the structure of that name ("view"); false where the call has none.
bool fill_structure(std::string_view name, RuleBuilder& builder);

// Fills in a rule by a row's text; false where it doesn't fit the call.
struct RuleText;
bool fill_rule(const RuleText& text, RuleBuilder& builder);

}  // namespace recut::mesh
