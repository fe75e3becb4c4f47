// Factorisations of matrices and their uses, as kernels and as machine code: batches, matrices of
// one and of no elements, singular ones where the interpreter has an answer.
#include <catch2/catch_test_macros.hpp>

#include "engine/input/text.h"
#include "tests/codegen/agreement.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

void check_graph(const std::string& text) {
  INFO(text);
  const auto graph = parse_graph_text(text, "linear algebra");
  if (!graph) FAIL(format(graph.diagnostics()));
  for (const std::uint64_t seed : {1, 2})
    CHECK(disagreement(*graph, inputs_for(*graph, seed, Values::ordinary), {}, true)
              .substr(0, 3000) == "");
}

// Calls on %x of this type, each with all of its outputs.
void check_calls(const std::string& type, const std::vector<std::string>& calls) {
  for (const std::string& call : calls)
    check_graph("graph \"g\" {\n  %x = parameter " + type + "\n" + call + "\n}");
}

TEST_CASE("lowering: LU factors, solutions and determinants", "[codegen][cpu]") {
  const std::vector<std::string> calls = {
      R"(  %f = linalg_lu_factor_ex(%x)
  %a = getitem(%f, 0)
  %p = getitem(%f, 1)
  %i = getitem(%f, 2)
  %u = lu_unpack(%a, %p)
  %b = getitem(%u, 0)
  %c = getitem(%u, 1)
  %d = getitem(%u, 2)
  results %a, %p, %i, %b, %c, %d)",
      R"(  %f = linalg_lu(%x)
  %a = getitem(%f, 0)
  %b = getitem(%f, 1)
  %c = getitem(%f, 2)
  results %a, %b, %c)"};
  for (const char* type : {"f32[2, 5, 5]", "f64[4, 7]", "f32[6, 3]", "f32[1, 1]", "f32[0, 3, 3]",
                           "f32[2, 0, 0]", "f32[3, 0]"})
    check_calls(type, calls);
  for (const char* type : {"f32[2, 5, 5]", "f64[12, 12]", "f32[3, 1, 1]", "f32[0, 3, 3]"})
    check_calls(type, {R"(  %f = _linalg_slogdet(%x)
  %a = getitem(%f, 0)
  %b = getitem(%f, 1)
  %c = getitem(%f, 2)
  %d = getitem(%f, 3)
  %e = linalg_inv(%x)
  %g = linalg_det(%x)
  results %a, %b, %c, %d, %e, %g)"});
  check_calls("f32[2, 0, 0]", {"  %g = linalg_det(%x)\n  results %g"});
}

TEST_CASE("LU factors of singular matrices", "[codegen][cpu]") {
  check_calls("f32[2, 4, 4]", {R"(  %z = mul.Scalar(%x, 0.0)
  %f = linalg_lu_factor_ex(%z)
  %a = getitem(%f, 0)
  %p = getitem(%f, 1)
  %i = getitem(%f, 2)
  %g = _linalg_det(%z)
  %d = getitem(%g, 0)
  results %a, %p, %i, %d)"});
}

TEST_CASE("solutions of linear systems", "[codegen][cpu]") {
  for (const char* right : {"f32[2, 4, 3]", "f32[2, 4]", "f32[4]", "f32[3, 1, 4, 2]"})
    check_calls("f32[2, 4, 4]", {std::string("  %b = parameter ") + right + R"(
  %f = _linalg_solve_ex(%x, %b)
  %a = getitem(%f, 0)
  %c = getitem(%f, 1)
  %d = getitem(%f, 2)
  %i = getitem(%f, 3)
  results %a, %c, %d, %i)"});
  for (const char* how : {"left=true, adjoint=false", "left=true, adjoint=true",
                          "left=false, adjoint=false", "left=false, adjoint=true"})
    check_calls("f32[2, 4, 4]", {std::string(R"(  %b = parameter f32[4, 4]
  %f = linalg_lu_factor(%x)
  %l = getitem(%f, 0)
  %p = getitem(%f, 1)
  %a = linalg_lu_solve(%l, %p, %b, )") +
                                 how + ")\n  results %a"});
}

TEST_CASE("triangles and Cholesky's factors", "[codegen][cpu]") {
  for (const char* how : {"upper=true", "upper=false, left=false",
                          "upper=true, left=false, unitriangular=true", "upper=false"})
    for (const char* right : {"f32[5, 5]", "f32[3, 2, 5, 5]"})
      check_calls("f32[2, 5, 5]",
                  {std::string("  %b = parameter ") + right +
                   "\n  %a = linalg_solve_triangular(%x, %b, " + how + ")\n  results %a"});
  for (const char* upper : {"true", "false"})
    for (const char* type : {"f32[2, 4, 6]", "f64[1, 1, 2]", "f32[0, 3, 4]"})
      check_calls(
          type,
          {std::string("  %t = transpose.int(%x, 1, 2)\n  %s = bmm(%x, %t)\n") +
           "  %c = cholesky(%s, upper=" + upper + ")\n  %i = cholesky_inverse(%c, upper=" + upper +
           ")\n  %y = cholesky_solve(%x, %c, upper=" + upper + ")\n  results %c, %i, %y"});
  check_calls("f32[2, 3, 3]", {R"(  %z = mul.Scalar(%x, 0.0)
  %f = linalg_cholesky_ex(%z)
  %a = getitem(%f, 0)
  %i = getitem(%f, 1)
  results %a, %i)"});
}

TEST_CASE("Householder's reflections", "[codegen][cpu]") {
  for (const char* type : {"f32[2, 5, 3]", "f64[3, 5]", "f32[4, 4]", "f32[1, 1]", "f32[0, 2, 2]"})
    for (const char* mode : {"reduced", "complete", "r"})
      check_calls(type, {std::string("  %f = linalg_qr(%x, \"") + mode +
                         "\")\n  %q = getitem(%f, 0)\n  %r = getitem(%f, 1)\n  results %q, %r"});
  for (const char* how : {"true, false", "true, true", "false, false", "false, true"})
    check_calls("f32[4, 4]", {std::string(R"(  %b = parameter f32[4, 4]
  %f = geqrf(%x)
  %v = getitem(%f, 0)
  %t = getitem(%f, 1)
  %q = linalg_householder_product(%v, %t)
  %m = ormqr(%v, %t, %b, )") + how +
                              ")\n  results %v, %t, %q, %m"});
}

TEST_CASE("symmetric factors with blocks of two rows", "[codegen][cpu]") {
  for (const char* type : {"f64[3, 6, 6]", "f64[2, 2, 2]", "f32[1, 1, 1]", "f64[0, 2, 2]"})
    check_calls(type, {R"(  %t = transpose.int(%x, 1, 2)
  %s = add.Tensor(%x, %t)
  %f = linalg_ldl_factor_ex(%s)
  %a = getitem(%f, 0)
  %p = getitem(%f, 1)
  %i = getitem(%f, 2)
  %y = linalg_ldl_solve(%a, %p, %x)
  results %a, %p, %i, %y)"});
}

TEST_CASE("spectra, pseudo-inverses and exponentials", "[codegen][cpu]") {
  for (const char* type : {"f32[2, 5, 5]", "f64[1, 1]", "f32[0, 2, 2]"})
    check_calls(type, {R"(  %f = _linalg_eigh(%x)
  %a = getitem(%f, 0)
  %v = getitem(%f, 1)
  %g = _linalg_eigh(%x, "U")
  %b = getitem(%g, 0)
  %w = getitem(%g, 1)
  %p = linalg_pinv(%x, 0.001, hermitian=true)
  %e = linalg_matrix_exp(%x)
  results %a, %v, %b, %w, %p, %e)"});
  for (const char* type : {"f32[2, 5, 3]", "f64[3, 5]", "f32[4, 4]", "f32[1, 1]", "f32[0, 2, 2]"})
    for (const char* full : {"true", "false"})
      check_calls(type, {std::string("  %f = _linalg_svd(%x, full_matrices=") + full + R"()
  %u = getitem(%f, 0)
  %s = getitem(%f, 1)
  %v = getitem(%f, 2)
  %p = linalg_pinv.atol_rtol_float(%x, rtol=0.001)
  results %u, %s, %v, %p)"});
  check_calls("f32[4, 3]", {R"(  %z = mul.Scalar(%x, 0.0)
  %f = _linalg_svd(%z, full_matrices=true)
  %u = getitem(%f, 0)
  %s = getitem(%f, 1)
  %v = getitem(%f, 2)
  %p = linalg_pinv(%z, 0.1)
  results %u, %s, %v, %p)"});
}

TEST_CASE("least squares by every driver, broadcast, and of too low a rank", "[codegen][cpu]") {
  const auto solved = [](const std::string& a, const std::string& b, const std::string& how) {
    check_graph("graph \"g\" {\n  %a = parameter " + a + "\n  %b = parameter " + b +
                "\n  %f = linalg_lstsq(%a, %b" + how + R"()
  %x = getitem(%f, 0)
  %r = getitem(%f, 1)
  %n = getitem(%f, 2)
  %s = getitem(%f, 3)
  results %x, %r, %n, %s
})");
  };
  for (const char* driver : {"gels", "gelsy", "gelsd", "gelss"})
    solved("f64[2, 5, 3]", "f64[2, 5, 4]", std::string(", driver=\"") + driver + "\"");
  solved("f64[3, 5]", "f64[3, 2]", ", driver=\"gelsd\"");
  solved("f32[4, 4]", "f32[4, 1]", "");
  solved("f64[3, 1, 6, 2]", "f64[1, 2, 6, 3]", ", driver=\"gelsd\"");
  solved("f64[5, 3]", "f64[5]", ", driver=\"gelsd\"");
  solved("f64[2, 3, 3]", "f64[2, 3]", "");
  solved("f64[0, 3, 3]", "f64[0, 3, 2]", "");
  // Half of the singular values are below the tolerance.
  solved("f64[6, 4]", "f64[6, 2]", ", rcond=0.5, driver=\"gelsd\"");
  check_graph(R"(graph "g" {
  %a = parameter f64[4, 3]
  %b = parameter f64[4, 2]
  %z = mul.Scalar(%a, 0.0)
  %f = linalg_lstsq(%z, %b, driver="gelsd")
  %x = getitem(%f, 0)
  %r = getitem(%f, 1)
  %n = getitem(%f, 2)
  results %x, %r, %n
})");
}

TEST_CASE("lowering: trilinear", "[codegen][cpu]") {
  check_graph(R"(graph "g" {
  %a = parameter f32[4, 3]
  %b = parameter f32[5, 3, 2]
  %c = parameter f32[4, 2]
  %y = _trilinear(%a, %b, %c, [1, 3], [0], [1, 2], [2, 3])
  %z = _trilinear(%a, %b, %c, [1, 3], [0], [1, 2], [3])
  results %y, %z
})");
}

}  // namespace
}  // namespace recut::test
