// The language of the search.
#include "gui/model/search.h"

#include <catch2/catch_test_macros.hpp>

#include "gui/model/value_details.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

// A graph of which every answer can be told by hand; the plan is the one without recomputation.
constexpr const char* kText = R"(graph "searched" {
  %w = parameter f32[16, 16]
  %x = input f32[16, 16]
  %t = tangent f32[16, 16]
  %relu_1 = relu(%x)  @"model.h.3.act" #1
  %mix = mm(%relu_1, %w)  @"model.h.3" #2
  %small = sum.dim_IntList(%mix, [0, 1], false)  @"model.h.31.act" #3
  %half = _to_copy(%mix, f16)  @"model.h.31" #4
  %grad = mm(%t, %w)  @"model.h.3" #2
  results %small, %half
  gradients none, %grad
}
)";

struct Searched : Window {
  Searched() : Window(bare_options(), made()) {
    app.open("made.recut");
    settle();
    REQUIRE(app.has_ready());
  }
  static NullBackend made() {
    NullBackend backend;
    backend.files["made.recut"] = kText;
    return backend;
  }
  std::string found(std::string_view typed) {
    const auto nodes = search_graph(*app.document(), app.document()->graph_at_pass(), typed);
    if (!nodes) return "fault: " + nodes.diagnostics().front().message;
    std::string names;
    for (const NodeId node : *nodes)
      names += (names.empty() ? "" : " ") + app.document()->graph_at_pass().node_name(node);
    return names;
  }
};

TEST_CASE("search: words are parts of names, operators and modules, all of them", "[gui]") {
  Searched searched;
  CHECK(searched.found("relu") == "relu_1");
  CHECK(searched.found("MM") == "mix grad");
  CHECK(searched.found("act relu") == "relu_1");
  CHECK(searched.found("nowhere") == "");
  CHECK(searched.found("\"h.3 act\"") == "");
}

TEST_CASE("search: keys say what a word is about", "[gui]") {
  Searched searched;
  CHECK(searched.found("op:mm") == "mix grad");
  CHECK(searched.found("name:mi") == "mix");
  CHECK(searched.found("name=mix") == "mix");
  CHECK(searched.found("name=mi") == "");
  CHECK(searched.found("module:h.3") == "relu_1 mix grad");
  CHECK(searched.found("module:h.31") == "small half");
  CHECK(searched.found("module=model.h.3") == "mix grad");
  CHECK(searched.found("dtype:f16") == "half");
  CHECK(searched.found("dtype:float16") == "half");
  CHECK(searched.found("colour:red").rfind("fault: ", 0) == 0);
}

TEST_CASE("search: lines of Python, where the file has them", "[gui]") {
  NullBackend backend;
  backend.files["lines.json"] = R"json({"format": "fx-joint-graph", "version": 1, "model": "lines",
  "num_fwd_outputs": 1, "joint": [
  {"name": "primals_1", "op": "placeholder", "target": "primals_1", "args": [],
   "val": {"dtype": "float32", "shape": [3, 2], "stride": [2, 1], "device": "cpu"}},
  {"name": "tangents_1", "op": "placeholder", "target": "tangents_1", "args": [],
   "val": {"dtype": "float32", "shape": [3, 2], "stride": [2, 1], "device": "cpu"}},
  {"name": "y", "op": "call_function", "target": "aten.tanh.default",
   "args": [{"node": "primals_1"}], "source": "net.py:12 in forward: y = squash(x)"},
  {"name": "g", "op": "call_function", "target": "aten.sin.default",
   "args": [{"node": "tangents_1"}]},
  {"name": "output", "op": "output", "target": "output",
   "args": [[{"node": "y"}, {"node": "g"}]]}]
})json";
  Window window(bare_options(), std::move(backend));
  window.app.open("lines.json");
  window.settle();
  REQUIRE(window.app.has_ready());
  const DocumentView& document = *window.app.document();
  const Graph& graph = document.graph();
  const std::vector<NodeId> y = {graph.find("y")};
  for (const char* typed : {"net.py", "net.py:12", "source:squash", "source:net.py:12"}) {
    CAPTURE(typed);
    const auto found = search_graph(document, graph, typed);
    REQUIRE(found.ok());
    CHECK(*found == y);
  }
  CHECK(search_graph(document, graph, "squash")->empty());  // of the code only where it is asked
  CHECK(text_of(details_of(document, y.front())).find("squash(x)") != std::string::npos);
}

TEST_CASE("search: bounds of bytes, with blanks where people put them", "[gui]") {
  Searched searched;
  CHECK(searched.found("bytes<1KiB op:sum") == "small");
  CHECK(searched.found("bytes > 1000 op:mm") == "mix grad");
  CHECK(searched.found("bytes >= 1 KiB op:mm") == "mix grad");
  CHECK(searched.found("bytes > 1 KiB op:mm") == "");
  CHECK(searched.found("bytes <= 4") == "small");
  CHECK(searched.found("bytes > heavy").rfind("fault: ", 0) == 0);
}

TEST_CASE("search: roles, phases, overrides, and what must not fit", "[gui]") {
  Searched searched;
  CHECK(searched.found("input") == "w x t");
  CHECK(searched.found("result") == "small half grad");
  CHECK(searched.found("backward") == "grad");
  CHECK(searched.found("forward -op:mm") == "relu_1 small half");
  CHECK(searched.found("mm -backward") == "mix");
  CHECK(searched.found("pinned") == "");
}

TEST_CASE("search: from match to match, around the end", "[gui]") {
  Searched searched;
  REQUIRE(searched.app.run("search.set", "op:mm").ok());
  const Search& search = searched.app.document()->search;
  CHECK(search.summary({}) == "2 found");
  REQUIRE(searched.app.run("search.next").ok());
  CHECK(searched.state("selection") == "mix");
  CHECK(search.summary(searched.app.document()->selection.node) == "1 of 2");
  REQUIRE(searched.app.run("search.next").ok());
  CHECK(searched.state("selection") == "grad");
  REQUIRE(searched.app.run("search.next").ok());
  CHECK(searched.state("selection") == "mix");
  REQUIRE(searched.app.run("search.previous").ok());
  CHECK(searched.state("selection") == "grad");
  searched.settle();
  REQUIRE(searched.app.run("search.set", "nowhere").ok());
  CHECK_FALSE(searched.app.run("search.next").ok());
}

TEST_CASE("search: names that begin with the word come first in a short list", "[gui]") {
  Searched searched;
  const Search search = search_document(*searched.app.document(), "m");
  REQUIRE(!search.best.empty());
  CHECK(searched.app.document()->graph().node_name(search.best.front()) == "mix");
}

TEST_CASE("search: in an earlier pass the canvas finds its own nodes, the table the plan's",
          "[gui]") {
  Window window(bare_options());
  window.app.open("sample:tiny_conv");
  window.settle();
  const DocumentView& document = *window.app.document();
  REQUIRE(window.app.run("pass.set", "0").ok());
  REQUIRE(window.app.run("search.set", "relu").ok());
  REQUIRE(window.app.run("values.filter", "relu").ok());
  window.settle();
  REQUIRE(!document.search.found->empty());
  for (const NodeId node : *document.search.found) CHECK(document.graph_at_pass().contains(node));
  const auto planned = search_nodes(document, "relu", 1000);
  REQUIRE(planned.ok());
  for (const NodeId node : *planned) CHECK(document.graph().contains(node));
}

}  // namespace
}  // namespace recut::gui
