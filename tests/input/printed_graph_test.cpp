// Graphs that PyTorch printed: every form of a line, the graph that an fx-joint-graph of the same
// program gives, and what is said of texts that are wrong.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/input/bytes.h"
#include "engine/input/graph_file_reader.h"
#include "engine/ir/printer.h"
#include "engine/ir/verifier.h"
#include "tests/input/parse.h"
#include "tests/paths.h"

namespace recut {
namespace {

// y = x @ w, and the gradient of w.
constexpr std::string_view kJoint = R"(class joint_helper(torch.nn.Module):
    def forward(self, primals, tangents):
        primals_1: "f32[8, 4][4, 1]cuda:0"; primals_2: "f32[2, 8][8, 1]cuda:0"; tangents_1: "f32[2, 4][4, 1]cuda:0"; 

        primals_1, primals_2, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)
        # ac_graph_id: 3 - PREFER_RECOMPUTE File: /src/net.py:12 in forward, code: y = x @ self.w
        mm: "f32[2, 4][4, 1]cuda:0" = torch.ops.aten.mm.default(primals_2, primals_1)

        # No stacktrace found for following nodes
        permute: "f32[8, 2][1, 8]cuda:0" = torch.ops.aten.permute.default(primals_2, [1, 0]);  primals_2 = None
        mm_1: "f32[8, 4][4, 1]cuda:0" = torch.ops.aten.mm.default(permute, tangents_1);  permute = tangents_1 = None
        return pytree.tree_unflatten([mm, mm_1, None], self._out_spec)
)";

constexpr std::string_view kJointText = R"(graph "joint_helper" on cuda {
  %primals_1 = parameter f32[8, 4]
  %primals_2 = input f32[2, 8]
  %tangents_1 = tangent f32[2, 4]
  %mm = mm(%primals_2, %primals_1) : f32[2, 4]  checkpoint PREFER_RECOMPUTE 3
  %permute = permute(%primals_2, [1, 0]) : f32[8, 2]{1, 8}
  %mm_1 = mm(%permute, %tangents_1) : f32[8, 4]
  results %mm
  gradients %mm_1, none
}
)";

GraphFile opened(std::string_view text, std::string_view key = kDefaultGraphKey,
                 const Dimensions& sizes = {}) {
  auto file = read_graph_bytes(text, "net.txt", key, sizes);
  INFO((file ? std::string() : format(file.diagnostics())));
  REQUIRE(file.ok());
  CHECK(verify(file->graph).empty());
  return std::move(*file);
}

std::string faults_of(std::string_view text, std::string_view key = kDefaultGraphKey) {
  const auto file = read_graph_bytes(text, "net.txt", key);
  return file ? "" : format(file.diagnostics());
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// A forward graph of x, f32[2, 3], with these lines, one result, and perhaps lines of nested
// graphs.
std::string forward_text(std::string_view lines, std::string_view result = "y",
                         std::string_view nested = "") {
  return fmt::format(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[2, 3][3, 1]cpu\"):\n"
      "        {}\n        return ({},)\n{}",
      lines, result, nested);
}

// The printed graph's second line from the end of its nodes: that of the result.
std::string line_of(std::string_view lines, std::string_view name = "y") {
  const GraphFile file = opened(forward_text(lines, name));
  return print_node(file.graph, file.graph.find(name));
}

TEST_CASE("printed graphs: a joint graph") {
  const GraphFile file = opened(kJoint);
  CHECK(print(file.graph) == kJointText);
  CHECK(file.key == "joint");
  CHECK(file.graph_keys == std::vector<std::string>{"joint"});
  CHECK(file.graph.origin(file.graph.find("mm")).source == "net.py:12 in forward: y = x @ self.w");
  CHECK(file.graph.origin(file.graph.find("mm_1")).source.empty());
  CHECK(file.printed_note.find("the first 1 of 3 are taken") != std::string::npos);
}

TEST_CASE("printed graphs: one input and one output a line, each with a word about it") {
  std::string text(kJoint);
  text = replaced(text, "\"; primals_2", "\"  # PlainAOTInput(idx=0)\n        primals_2");
  text = replaced(text, "\"; tangents_1", "\"\n        tangents_1");
  text = replaced(text, "(self, primals, tangents):",
                  "(\n        self,\n        primals,\n        tangents,\n    ):");
  text = replaced(text, "[mm, mm_1, None]",
                  "[\n            mm,  # PlainAOTOutput(idx=0)\n"
                  "            mm_1,  # GradAOTOutput(grad_of=PlainAOTInput(idx=0))\n"
                  "            None,  # None\n        ]");
  const GraphFile file = opened(text);
  CHECK(print(file.graph) == kJointText);
  CHECK(file.printed_note.empty());
}

TEST_CASE("printed graphs: a joint graph of a region, and a backward graph") {
  std::string flat = replaced(std::string(kJoint), "self, primals, tangents",
                              "self, primals_1: \"f32[8, 4][4, 1]cuda:0\", primals_2: "
                              "\"f32[2, 8][8, 1]cuda:0\", tangents_1: \"f32[2, 4][4, 1]cuda:0\"");
  const std::size_t from = flat.find("        primals_1: "), to = flat.find("        # ac_graph");
  flat.erase(from, to - from);
  CHECK(print(opened(flat).graph) == kJointText);
  // All outputs of a backward graph depend on a tangent: there is no forward part.
  const GraphFile backward = opened(replaced(
      flat, "pytree.tree_unflatten([mm, mm_1, None], self._out_spec)", "(mm_1, None, None)"));
  CHECK(backward.key == "forward");
  CHECK(backward.graph.results.size() == 3);
  CHECK(backward.graph.input_kind(backward.graph.find("tangents_1")) == InputKind::input);
  CHECK(faults_of(flat, "forward").find("there is no graph 'forward', expected one of: joint") !=
        std::string::npos);
}

TEST_CASE("printed graphs: colours, and the prefixes of a log") {
  std::string colours = replaced(std::string(kJoint), "mm_1:", "\x1b[31mmm_1\x1b[0m:");
  CHECK(print(opened(replaced(colours, "f32", "\x1b[2;34mf32\x1b[0m")).graph) == kJointText);
  const std::string prefix =
      "V0713 12:00:00.000000 123 torch/_functorch/x.py:10] [0/0_1] [__aot_joint_graph] ";
  std::string log = "warning: of other origin\n" + prefix + "TRACED GRAPH\n" + prefix +
                    " ===== Joint graph 0 =====\n" + prefix + " /usr/lib/x.py " +
                    std::string(kJoint.substr(0, kJoint.size() - 1));
  log = replaced(log, "\n    ", "\nwarning: between\n" + prefix + "    ");
  log = replaced(log, "\n\n", "\n" + prefix + "\n") + "\n" + prefix + "\n" + prefix + "later\n";
  const GraphFile file = opened(log);
  CHECK(print(file.graph) == kJointText);
  CHECK(file.graph_keys == std::vector<std::string>{"0/0_1/aot_joint_graph"});
  CHECK(file.key == "0/0_1/aot_joint_graph");
  // The place of a fault is that in the log.
  const std::string hurt =
      replaced(log, "aten.permute.default(primals_2", "aten.permute.default(p");
  const auto line =
      1 + std::count(hurt.begin(),
                     hurt.begin() + static_cast<std::ptrdiff_t>(hurt.find("permute: ")), '\n');
  CHECK(faults_of(hurt) == fmt::format("net.txt:{}:{}: error: node 'permute': argument 'self' of "
                                       "permute: there is no node 'p'\n",
                                       line, prefix.size() + 9));
}

TEST_CASE("printed graphs: several in a text have their classes' names") {
  const std::string text = std::string(kJoint) + "\n" + forward_text("y = x") + "\n" +
                           forward_text("y: \"f32[2, 3]\" = torch.ops.aten.exp.default(x)");
  const GraphFile first = opened(text);
  CHECK(first.graph_keys ==
        std::vector<std::string>{"joint_helper", "GraphModule", "GraphModule#2"});
  CHECK(first.key == "joint_helper");
  CHECK(opened(text, "GraphModule#2").graph.find("y").valid());
  CHECK(faults_of(text, "GraphModul") ==
        "net.txt: error: there is no graph 'GraphModul', expected one of: joint_helper, "
        "GraphModule, GraphModule#2; did you mean 'GraphModule'?\n");
}

TEST_CASE("printed graphs: values of all kinds") {
  CHECK(line_of("y: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.mul.Tensor(x, -2.5e-05)") ==
        "%y = mul.Tensor(%x, -2.5e-05) : f32[2, 3]");
  CHECK(line_of("y: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.clamp.default(x, -inf, inf)") ==
        "%y = clamp(%x, -inf, inf) : f32[2, 3]");
  CHECK(line_of("y: \"f16[2, 3][3, 1]cpu\" = torch.ops.prims.convert_element_type.default(x, "
                "torch.float16)")
            .find("f16)") != std::string::npos);
  CHECK(line_of("y: \"f32[2][1]cpu\" = torch.ops.aten.full.default([2], 1, dtype = "
                "torch.float32, layout = torch.strided, device = device(type='cpu'), pin_memory "
                "= False)") == R"(%y = full([2], 1, dtype=f32, layout="strided", device="cpu", )"
                               R"(pin_memory=false) : f32[2])");
  CHECK(line_of("y: \"f32[2, 3][3, 1]cpu\" = torch.ops.mine.op.default(x, [None, True, 'it\\'s', "
                "()], torch.preserve_format, nan, (x,), kind = {'a': 1, 'b': [2]}, slice = "
                "slice(0, None, 2), device = device(type='cuda', index=1))") ==
        R"(%y = external mine.op.default(%x, [none, true, "it's", []], "preserve_format", nan, )"
        R"([%x], kind=[["a", 1], ["b", [2]]], slice=["slice", [0, none, 2]], device="cuda:1", )"
        R"(draw=0) : f32[2, 3])");
}

TEST_CASE("printed graphs: items, aliases and older annotations") {
  // Another name of a placeholder, a type without quotes, and rules that give strides.
  const GraphFile file = opened(
      "class <lambda>(torch.nn.Module):\n"
      "    def forward(self, input: f32[2, 3]):\n"
      "        input_1 = input\n"
      "        t: f32[3, 2] = torch.ops.aten.permute.default(input_1, [1, 0]);  input_1 = None\n"
      "        pair = torch.ops.mine.pair.default(t)\n"
      "        b: f32[3] = pair[1];  pair = None\n"
      "        nothing = torch.ops.mine.check.default(t);  nothing = None\n"
      "        return [b, t]\n");
  CHECK(print(file.graph) == R"(graph "<lambda>" {
  %input = input f32[2, 3]
  %t = permute(%input, [1, 0]) : f32[3, 2]{1, 3}
  %pair = external mine.pair.default(%t, draw=0) : (none, f32[3])
  %b = getitem(%pair, 1) : f32[3]
  results %b, %t
}
)");
  CHECK(file.printed_note.find("without strides") != std::string::npos);
  CHECK(file.externals_note.find("mine.check.default (1 call)") == std::string::npos);
  CHECK(file.externals_note.find("left out: mine.check") != std::string::npos);
}

TEST_CASE("printed graphs: nested graphs") {
  const std::string branch =
      "\n    class true_graph_0(torch.nn.Module):\n"
      "        def forward(self, arg0_1: \"f32[2, 3][3, 1]cpu\"):\n"
      "            exp: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.exp.default(arg0_1)\n"
      "            sin: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.sin.default(exp)\n"
      "            return (sin,)\n";
  const GraphFile file = opened(forward_text(
      "g = self.true_graph_0\n        cond = torch.ops.higher_order.cond(x, g, (x,));  g = None\n"
      "        y: \"f32[2, 3][3, 1]cpu\" = cond[0];  cond = None",
      "y", branch));
  CHECK(print_node(file.graph, file.graph.find("cond")) ==
        R"(%cond = external torch.ops.higher_order.cond(%x, "g", [%x], draw=0) : (f32[2, 3]))");
  REQUIRE(file.graph.measured != nullptr);
  CHECK(faults_of(
            forward_text("g = self.true_graph_0", "x", replaced(branch, "aten.sin", "aten.sine")))
            .find("net.txt:9:13: error: node 'sin'") == std::string::npos);
  CHECK(faults_of(forward_text("g = self.true_graph_0", "x", replaced(branch, "(exp)", "(exq)"))) ==
        "net.txt:9:13: error: node 'sin': argument 'self' of sin: there is no node 'exq'\n");
}

TEST_CASE("printed graphs: symbolic sizes have no hints") {
  const std::string text = forward_text(
      "s: \"Sym(s5)\" = torch.ops.aten.sym_size.int(z, 0)\n"
      "        m: \"Sym(2*s5)\" = s * 2\n"
      "        h: \"Sym(IntTrueDiv(2*s5, 4))\" = m / 4\n"
      "        k: \"Sym(3.0*IntTrueDiv(2*s5, 4))\" = 3 * h\n"
      "        ok: \"Sym(s5 >= 0)\" = s >= 0\n"
      "        a = torch.ops.aten._assert_scalar.default(ok, 'no');  ok = a = None\n"
      "        w: \"f32[2*s5, 1][Max(1, 1), 1]cpu\" = torch.ops.aten.view.default(z, [m, 1])\n"
      "        y: \"f32[2*s5, 1][1, 1]cpu\" = torch.ops.aten.mul.Tensor(w, k)");
  const std::string with_z = replaced(text, "(self, ", "(self, z: \"f32[s5, 2][2, 1]cpu\", ");
  CHECK(faults_of(with_z) ==
        "net.txt:2:23: error: the printed graph has no hint of its symbolic size s5: give it by "
        "--dim s5=N\n");
  const GraphFile file = opened(with_z, kDefaultGraphKey, {{"s5", 6}});
  CHECK(print_node(file.graph, file.graph.find("w")) == "%w = view(%z, [12, 1]) : f32[12, 1]");
  CHECK(print_node(file.graph, file.graph.find("y")) == "%y = mul.Tensor(%w, 9.0) : f32[12, 1]");
  const auto small = read_graph_bytes(with_z, "net.txt", kDefaultGraphKey, {{"s5", 1}});
  CHECK(!small.ok());
}

TEST_CASE("printed graphs: boxed arguments") {
  CHECK(print(opened("class GraphModule(torch.nn.Module):\n"
                     "    def forward(self, args_list: \"List[torch.Tensor]\"):\n"
                     "        args_iter = iter(args_list)\n"
                     "        x: \"f32[2][1]cpu\" = next(args_iter)\n"
                     "        args_list.clear()\n"
                     "        return x\n")
                  .graph)
            .find("%x = input f32[2]") != std::string::npos);
}

struct PrintedFault {
  std::string_view lines;
  std::string_view words;
};

TEST_CASE("printed graphs: faults have the place of their statement") {
  const PrintedFault faults[] = {
      {"y = torch.ops.aten.exp.default(x",
       "4:9: error: the name 'return' found, expected ',' or ')'"},
      {"y: \"DTensor(f32[2], (Shard(0),))\" = torch.ops.aten.exp.default(x)",
       "3:9: error: the annotation 'DTensor(f32[2], (Shard(0),))' is of class 'DTensor', expected"},
      {"y: \"f33[2]\" = torch.ops.aten.exp.default(x)",
       "3:9: error: the annotation 'f33[2]' found"},
      {"y: \"f32[2\" = torch.ops.aten.exp.default(x)", "3:9: error: the annotation 'f32[2' found"},
      {"y: \"f32[4, 3]\" = torch.ops.aten.mm.default(x, x)", "3:9: error: node 'y'"},
      {"y: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.exp.default(z)",
       "3:9: error: node 'y': argument 'self' of exp: there is no node 'z'"},
      {"y = torch.ops.aten.expp.default(x)", "3:9: error: unknown operator 'aten.expp.default'"},
      {"y = x.view(3)", "3:13: error: 'x.view' is called: this is a graph of Dynamo"},
      {"y = torch.nn.functional.relu(x)", "3:13: error: 'torch.nn.functional.relu' is called"},
      {"y += x", "3:11: error: '+=' found, expected '='"},
      {"y = 'text", "3:13: error: a string without its end found"},
      {"y = torch.ops.aten.mul.Tensor(x, 1e5x)", "3:42: error: '1e5x' is no number"},
      {"y = torch.ops.aten.mul.Tensor(x, f(x))", "3:42: error: a call of 'f' found"},
      {"y = torch.ops.aten.mul.Tensor(x, '\\q')", "3:42: error: a string has an escape"},
      {"y = $", "3:13: error: '$' found"},
      {"import os", "3:16: error: the name 'os' found, expected '='"},
      {"y = __import__('os').system('x')", "3:29: error: '.' found, expected the end"}};
  for (const PrintedFault& fault : faults) {
    INFO(fault.lines);
    const std::string found = faults_of(forward_text(fault.lines));
    INFO(found);
    CHECK(found.find("net.txt:" + std::string(fault.words)) == 0);
  }
}

TEST_CASE("printed graphs: faults of the whole") {
  CHECK(faults_of("class G(torch.nn.Module):\n    def forward(self, x):\n        return x\n") ==
        "net.txt:2:23: error: the input 'x' has no annotation, expected one like \"f32[8, 32][32, "
        "1]cuda:0\"\n");
  CHECK(faults_of("class G(torch.nn.Module):\n").find("ends without 'return'") !=
        std::string::npos);
  CHECK(faults_of(replaced(std::string(kJoint), "mm_1, None]", "]"))
            .find("for 2 primals: expected one gradient or None for each primal") !=
        std::string::npos);
  std::string deep = "class a(torch.nn.Module):\n";
  for (int i = 1; i < 40; ++i)
    deep += std::string(static_cast<std::size_t>(i), ' ') + "class a(torch.nn.Module):\n";
  CHECK(faults_of(deep).find("graphs are nested more than 8 deep") != std::string::npos);
  const std::string brackets(100'000, '[');
  CHECK(faults_of(forward_text("y = torch.ops.aten.exp.default(" + brackets))
            .find("brackets stand more than 24 deep") != std::string::npos);
  std::string devices;
  for (int i = 0; i < 100'000; ++i) devices += "device(";
  CHECK(faults_of(forward_text("y = torch.ops.aten.exp.default(" + devices))
            .find("brackets stand more than 24 deep") != std::string::npos);
  CHECK(faults_of(
            forward_text("y = torch.ops.aten.view.default(x, [" + std::string(5000, '9') + "])"))
            .find("is too large for a number") != std::string::npos);
}

TEST_CASE("printed graphs: cut off or damaged anywhere, a text gives a graph or a reason") {
  const std::string nested = forward_text(
      "g = self.g_0\n        c = torch.ops.higher_order.cond(x, g, (x,))\n        y = c[0]", "y",
      "    class g_0(torch.nn.Module):\n        def forward(self, a: \"f32[s5]\"):\n"
      "            return [a]\n");
  for (const std::string& text : {std::string(kJoint), nested})
    for (std::size_t at = 0; at < text.size(); ++at)
      for (const std::string& hurt :
           {text.substr(0, at), text.substr(0, at) + "\"" + text.substr(at),
            text.substr(0, at) + "(" + text.substr(at + 1),
            text.substr(0, at) + text.substr(at + 1)}) {
        const auto file = read_graph_bytes(hurt, "net.txt");
        if (file.ok() ? !verify(file->graph).empty() : file.diagnostics().empty()) FAIL(hurt);
      }
}

// Without the modules and numbers that a printed text doesn't have.
std::string plain_text(Graph graph) {
  graph.name = "g";
  std::string text = print(graph), kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const std::size_t origin = std::min(line.find("  @\""), line.find("  #"));
    const std::size_t policy = line.find(" checkpoint ");
    std::string plain = line.substr(0, std::min(origin, policy));
    plain.erase(plain.find_last_not_of(' ') + 1);
    if (policy != std::string::npos) plain += line.substr(policy);
    kept += plain + "\n";
    at = end + 1;
  }
  return kept;
}

TEST_CASE("printed graphs: the text of a shared graph gives what its JSON gives") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/inputs/";
  if (!std::filesystem::exists(folder)) SKIP("there is no folder ../shared/inputs");
  const std::pair<std::string_view, Dimensions> names[] = {
      {"hop/checkpoint", {}},
      {"hop/custom_op", {}},
      {"hop/invoke_subgraph", {}},
      {"hop/mutation_alias", {}},
      {"snapshot/graph", {}},
      {"spmd/llama_cp8", {}},
      {"spmd/llama_fsdp8", {}},
      {"spmd/llama_tp8", {}},
      {"sym/mlp_sym", {{"s17", 128}}},
      {"sym/llama_sym", {{"s58", 4}, {"s48", 512}, {"s17", 4}, {"s94", 512}}},
      {"sym/resnet50_sym", {{"s17", 32}}}};
  for (const auto& [name, sizes] : names) {
    INFO(name);
    const auto text = read_file(folder + std::string(name) + ".txt.gz");
    const auto json = read_file(folder + std::string(name) + ".json.gz");
    REQUIRE((text.ok() && json.ok()));
    const GraphFile printed = opened(*text, kDefaultGraphKey, sizes);
    CHECK(plain_text(printed.graph) == plain_text(opened(*json, kDefaultGraphKey, sizes).graph));
  }
}

TEST_CASE("printed graphs: a result that nobody reads is all that a shared text lacks") {
  const std::string folder = RECUT_SOURCE_DIR "/../shared/inputs/";
  if (!std::filesystem::exists(folder)) SKIP("there is no folder ../shared/inputs");
  const auto text = read_file(folder + "hop/cond.txt.gz");
  const auto json = read_file(folder + "hop/cond.json.gz");
  REQUIRE((text.ok() && json.ok()));
  const GraphFile printed = opened(*text);
  CHECK(plain_text(printed.graph) ==
        replaced(plain_text(opened(*json).graph), "draw=1) : (f32[8, 32]", "draw=1) : (none"));
  CHECK(printed.printed_note.find("unused results of unknown operators") != std::string::npos);
}

}  // namespace
}  // namespace recut
