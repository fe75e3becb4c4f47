// Presets of parallel training: dimensions that tensor parallelism finds without any names.
#include "engine/mesh/spmd/presets.h"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>

#include "engine/input/text.h"
#include "engine/mesh/spmd/product_pairs.h"
#include "tests/mesh/fails.h"

namespace recut::mesh {
namespace {

// A transformer block, with the weights of torch.nn.Linear and the heads of attention.
constexpr const char* kBlock = R"(graph "block" {
  %table = parameter f32[100, 16]
  %q = parameter f32[16, 16]
  %k = parameter f32[16, 16]
  %out = parameter f32[16, 16]
  %out_bias = parameter f32[16]
  %up = parameter f32[64, 16]
  %up_bias = parameter f32[64]
  %scale = parameter f32[64]
  %down = parameter f32[16, 64]
  %norm = parameter f32[16]
  %ids = input i64[2, 8]
  %rows = input i64[16]
  %x = embedding(%table, %ids)
  %n = mul.Tensor(%x, %norm)
  %flat = view(%n, [16, 16])
  %qt = permute(%q, [1, 0])
  %kt = permute(%k, [1, 0])
  %qx = mm(%flat, %qt)
  %kx = mm(%flat, %kt)
  %qh = view(%qx, [2, 8, 4, 4])
  %kh = view(%kx, [2, 8, 4, 4])
  %s = mul.Tensor(%qh, %kh)
  %merged = view(%s, [16, 16])
  %ot = permute(%out, [1, 0])
  %o = addmm(%out_bias, %merged, %ot)
  %h = add.Tensor(%flat, %o)
  %ut = permute(%up, [1, 0])
  %u = addmm(%up_bias, %h, %ut)
  %g = mul.Tensor(%u, %scale)
  %a = relu(%g)
  %dt = permute(%down, [1, 0])
  %d = mm(%a, %dt)
  %y = view(%d, [2, 8, 16])
  results %y
}
)";

Graph block() { return parse_graph_text(kBlock, "block").value(); }

TEST_CASE("product pairs: columns, then rows, and biases with the columns", "[mesh]") {
  const Graph graph = block();
  std::map<std::string, int> named;
  for (const auto& [id, dim] : product_pairs(graph)) named[graph.node_name(id)] = dim;
  const std::map<std::string, int> expected = {{"table", 0}, {"q", 0},   {"k", 0},
                                               {"out", 1},   {"up", 0},  {"up_bias", 0},
                                               {"scale", 0}, {"down", 1}};
  CHECK(named == expected);
}

std::string placements(const std::string& mesh_text, const std::string& styles) {
  const auto mesh = DeviceMesh::parse(mesh_text).value();
  return preset_placements(block(), parse_styles(styles, mesh).value());
}

TEST_CASE("presets: data parallel cuts the batch of inputs and results alone", "[mesh]") {
  CHECK(placements("dp=2", "dp=ddp") == "inputs\n  ids [S(0)]\noutputs\n  y [S(0)]\n");
}

TEST_CASE("presets: fsdp keeps off the dimension that tp cuts", "[mesh]") {
  const std::string both = placements("dp=2,tp=2", "dp=fsdp,tp=tp");
  CHECK(both.find("  up [S(1), S(0)]\n") != std::string::npos);
  CHECK(both.find("  down [S(0), S(1)]\n") != std::string::npos);
  CHECK(both.find("  norm [S(0), R]\n") != std::string::npos);
  CHECK(both.find("  up_bias [R, S(0)]\n") != std::string::npos);
  CHECK(both.find("  ids [S(0), R]\n") != std::string::npos);
}

TEST_CASE("presets: the sequence is dimension 1", "[mesh]") {
  CHECK(placements("cp=2", "cp=cp") == "inputs\n  ids [S(1)]\noutputs\n  y [S(1)]\n");
  const std::string sp = placements("tp=2", "tp=sp");
  CHECK(sp.find("  ids [S(1)]\n") != std::string::npos);
  CHECK(sp.find("  up [S(0)]\n") != std::string::npos);
}

TEST_CASE("presets: mistakes are named", "[mesh]") {
  const auto mesh = DeviceMesh::parse("dp=2,tp=2").value();
  const auto message = [&](std::string_view text) {
    const auto styles = parse_styles(text, mesh);
    REQUIRE_FALSE(styles.ok());
    return styles.diagnostics().front().message;
  };
  CHECK(message("dp") == "'dp' is no style of an axis, expected AXIS=STYLE, as in dp=fsdp");
  CHECK(message("dp=zero") == "'zero' is no style, expected ddp, fsdp, tp, sp or cp");
  CHECK(message("dp=ddp,dp=fsdp") == "the axis 'dp' has two styles, expected one");
  CHECK(message("xp=ddp").find("xp") != std::string::npos);
}

}  // namespace
}  // namespace recut::mesh
