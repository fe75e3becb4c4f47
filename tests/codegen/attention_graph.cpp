#include "tests/codegen/attention_graph.h"

#include <fmt/core.h>

namespace recut::test {

std::string AttentionGraph::name() const {
  return fmt::format("{} {}x{} of {} and {}, {}x{}/{}{} mask {} {}{}", dtype, queries, keys,
                     features, value_features, batches, heads, key_heads, causal ? " causal" : "",
                     static_cast<int>(mask), mask_shape, transposed ? " transposed" : "");
}

std::string AttentionGraph::operand(const char* name, std::int64_t of, std::int64_t rows,
                                    std::int64_t width) const {
  if (!transposed)
    return fmt::format("  %{} = input {}[{}, {}, {}, {}]\n", name, dtype, batches, of, rows, width);
  return fmt::format(
      "  %{0}_rows = input {1}[{2}, {3}, {4}]\n  %{0}_view = view(%{0}_rows, [{2}, {3}, {5}, "
      "{6}])\n"
      "  %{0} = permute(%{0}_view, [0, 2, 1, 3])\n",
      name, dtype, batches, rows, of * width, of, width);
}

std::string AttentionGraph::mask_text() const {
  if (mask == ScoreMask::none) return "";
  const std::string shape =
      fmt::format(fmt::runtime(mask_shape), fmt::arg("batches", batches), fmt::arg("heads", heads),
                  fmt::arg("queries", queries), fmt::arg("keys", keys));
  return fmt::format("  %m = input {}[{}]\n", mask == ScoreMask::additive ? dtype : "bool", shape);
}

std::string AttentionGraph::calls() const {
  if (mask == ScoreMask::dropout)
    return "  %a = recut.scaled_dot_product_kept_attention(%q, %k, %v, none, %m, 1.25)\n"
           "  %o = getitem(%a, 0)\n  %l = getitem(%a, 1)\n"
           "  %b = recut.scaled_dot_product_kept_attention_backward(%g, %q, %k, %v, none, %m, %o, "
           "%l, 1.25)\n";
  return fmt::format(
      "  %a = _scaled_dot_product_efficient_attention(%q, %k, %v, {0}, true, 0.0, {1}, scale=0.3)\n"
      "  %o = getitem(%a, 0)\n  %l = getitem(%a, 1)\n  %s = getitem(%a, 2)\n"
      "  %t = getitem(%a, 3)\n"
      "  %b = _scaled_dot_product_efficient_attention_backward(%g, %q, %k, %v, {0}, %o, %l, %s, "
      "%t, 0.0, [true, true, true, false], {1}, scale=0.3)\n",
      mask == ScoreMask::none ? "none" : "%m", causal);
}

std::string AttentionGraph::text() const {
  std::string text = "graph \"attention\" {\n" + operand("q", heads, queries, features);
  text += operand("k", key_heads, keys, features) + operand("v", key_heads, keys, value_features);
  text += mask_text() + operand("g", heads, queries, value_features) + calls();
  text += "  %gq = getitem(%b, 0)\n  %gk = getitem(%b, 1)\n  %gv = getitem(%b, 2)\n";
  text += "  results %o, %l, %gq, %gk, %gv\n  gradients none, none, none, none";
  return text + (mask == ScoreMask::none ? "\n}\n" : ", none\n}\n");
}

std::string AttentionGraph::joint_text() const {
  std::string joint = text();
  const auto put = [&](const std::string& words, const std::string& by) {
    joint.replace(joint.find(words), words.size(), by);
  };
  put("%g = input", "%g = tangent");
  put("results %o, %l, %gq, %gk, %gv", "results %o");
  put("gradients none, none, none, none", "gradients %gq, %gk, %gv");
  return joint;
}

}  // namespace recut::test
