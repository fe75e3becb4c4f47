// A graph's text against another's: lines, folds, what changed in a line.
#include "gui/text/graph_text.h"

#include <catch2/catch_test_macros.hpp>

#include "engine/ir/printer.h"
#include "engine/workspace/document.h"
#include "engine/workspace/open_document.h"
#include "gui/model/node_trace.h"

namespace recut::gui {
namespace {

constexpr const char* kJoint = R"(graph "steps" {
  %x = parameter f32[2, 3]
  %t = tangent f32[2, 3]
  %a = clone(%x) : f32[2, 3]
  %b = view(%a, [3, 2]) : f32[3, 2]
  %c = view(%b, [6]) : f32[6]
  %d = view(%c, [2, 3]) : f32[2, 3]
  %e = exp(%b) : f32[3, 2]
  %f = view(%e, [2, 3]) : f32[2, 3]
  %unused = neg(%f) : f32[2, 3]
  %g = mul.Tensor(%t, %f) : f32[2, 3]
  %h = add.Tensor(%g, %d) : f32[2, 3]
  results %f
  gradients %h
}
)";

Document joint_graph_text() {
  auto document = open_document_bytes(kJoint, "joint.recut", {});
  REQUIRE(document.ok());
  return std::move(*document);
}

TEST_CASE("graph text: a line for each node, found by its node", "[gui]") {
  const Document document = joint_graph_text();
  const auto text = text_of(document.passes.input);
  for (const NodeId id : document.passes.input.order()) {
    const std::size_t line = text->line_of(id);
    REQUIRE(line < text->lines.size());
    CHECK(text->lines[line] == "  " + print_node(document.passes.input, id));
    CHECK(text->nodes[line] == id);
  }
  CHECK(text->line_of(NodeId()) == text->lines.size());
}

TEST_CASE("graph text: the difference of two passes gives both texts back", "[gui]") {
  const Document document = joint_graph_text();
  const auto before = text_of(document.passes.input), after = text_of(document.graph());
  const TextDifference d = difference_of(before, after);
  std::vector<std::string> first, second;
  for (const DiffLine& line : d.lines) {
    if (line.edit != Edit::added) first.push_back(d.text(line));
    if (line.edit != Edit::removed) second.push_back(d.text(line));
    if (line.partner != kNoLine) CHECK(d.lines[d.lines[line.partner].partner].edit == line.edit);
    const NodeId id = d.node(line);
    if (id.valid()) CHECK(d.node(d.lines[d.line_of(id)]) == id);
  }
  CHECK(first == before->lines);
  CHECK(second == after->lines);
  CHECK(d.removed > d.added);
  REQUIRE(d.changes.size() > 0);
  for (const std::size_t change : d.changes) CHECK(d.lines[change].edit != Edit::same);
}

TEST_CASE("graph text: folds cover every line once and open where asked", "[gui]") {
  std::string before = "graph \"g\" {\n  %x = parameter f32[2]\n", after = before;
  std::string last = "x";
  for (int i = 0; i < 60; ++i) {
    const std::string name = "n" + std::to_string(i);
    before += "  %" + name + " = neg(%" + last + ") : f32[2]\n";
    after += "  %" + name + (i == 30 ? " = exp(%" : " = neg(%") + last + ") : f32[2]\n";
    last = name;
  }
  for (std::string* text : {&before, &after}) *text += "  results %" + last + "\n}\n";
  OpenOptions bare;
  bare.passes = std::vector<std::string>();
  const auto one = open_document_bytes(before, "a.recut", bare);
  const auto two = open_document_bytes(after, "b.recut", bare);
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  const TextDifference d = difference_of(text_of(one->graph()), text_of(two->graph()));
  CHECK(d.changes.size() == 1);
  const auto rows = folded_rows(d, 2, {});
  std::size_t next = 0, folds = 0;
  for (const TextRow& row : rows) {
    CHECK(row.first == next);
    next += row.count;
    folds += row.fold ? 1 : 0;
  }
  CHECK(next == d.lines.size());
  CHECK(folds == 2);
  CHECK(rows[row_of(rows, 20)].fold);
  const auto opened = folded_rows(d, 2, {20});
  CHECK_FALSE(opened[row_of(opened, 20)].fold);
  CHECK(all_rows(d).size() == d.lines.size());
  const std::string patch = patch_text(d, rows);
  CHECK(patch.find("\n-  %n30 = neg(%n29) : f32[2]\n+  %n30 = exp(%n29) : f32[2]\n") !=
        std::string::npos);
  CHECK(patch.find("@@ ") != std::string::npos);
}

TEST_CASE("graph text: nothing differs, nothing is there", "[gui]") {
  const auto document = open_document_bytes("graph \"none\" {\n  results\n}\n", "none.recut", {});
  REQUIRE(document.ok());
  const auto text = text_of(document->graph());
  const TextDifference d = difference_of(text, text);
  CHECK(d.changes.empty());
  CHECK(d.line_of(NodeId(7)) == d.lines.size());
  CHECK(row_of({}, 3) == 0);
  CHECK(row_of(folded_rows(d, 2, {}), d.lines.size()) < d.lines.size() + 1);
}

TEST_CASE("graph text: what two lines share is cut between letters", "[gui]") {
  const auto parts = [](const std::string& a, const std::string& b) {
    const Shared s = shared_part(a, b);
    return std::pair(s.front, s.back);
  };
  CHECK(parts("add(%x, %y)", "add(%z, %y)") == std::pair<std::size_t, std::size_t>(5, 5));
  CHECK(parts("same", "same") == std::pair<std::size_t, std::size_t>(4, 0));
  CHECK(parts("", "x") == std::pair<std::size_t, std::size_t>(0, 0));
  // é and è share their first byte, é and ũ none; й and ѹ their last.
  CHECK(parts("é", "è") == std::pair<std::size_t, std::size_t>(0, 0));
  CHECK(parts("aй", "aѹ").first == 1);
  CHECK(parts("aй", "aѹ").second == 0);
}

TEST_CASE("pass steps: a node is followed forwards and backwards", "[gui]") {
  const Document document = joint_graph_text();
  const PipelineReport& passes = document.passes;
  const std::size_t last = passes.passes.size();
  const Graph& input = passes.input;
  // %a is a copy of %x, and nothing but it.
  const NodeId x = trace_node(passes, input.find("a"), 0, last);
  CHECK(x == document.graph().find("x"));
  CHECK(trace_node(passes, input.find("unused"), 0, last) == NodeId());
  CHECK(trace_node(passes, x, last, 0) == input.find("x"));
  for (const NodeId id : document.graph().order()) {
    const NodeId origin = trace_node(passes, id, last, 0);
    REQUIRE(origin.valid());
    CHECK(trace_node(passes, origin, 0, last) == id);
  }
  CHECK(trace_node(passes, NodeId(), 0, last) == NodeId());
}

TEST_CASE("pass steps: a history begins where the node comes from and ends where it goes",
          "[gui]") {
  const Document document = joint_graph_text();
  const PipelineReport& passes = document.passes;
  const auto gone = node_history(passes, passes.input.find("unused"), 0);
  REQUIRE(gone.size() >= 2);
  CHECK(gone.front().pass == 0);
  CHECK_FALSE(gone.back().node.valid());
  CHECK(gone.back().rule == "unused");
  const auto copy = node_history(passes, passes.input.find("a"), 0);
  REQUIRE(copy.size() >= 2);
  CHECK(copy.back().node == document.graph().find("x"));
  // The same from the other end.
  const std::size_t last = passes.passes.size();
  const auto sum = node_history(passes, document.graph().find("h"), last);
  CHECK(sum.front().pass == 0);
  CHECK(sum.back().node == document.graph().find("h"));
  CHECK(node_history(passes, NodeId(), last).empty());
}

}  // namespace
}  // namespace recut::gui
