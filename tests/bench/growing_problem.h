// A training step of any depth: the same block again and again, as in a transformer.
#pragma once

#include <vector>

#include "engine/partition/problem/remat_problem.h"

namespace recut {

// Each block has ten computations: four of forward (narrow in, wide, wide, narrow out with a
// residual) and six of backward that read forward's values, the last of each giving a gradient that
// stays.
inline RematProblem growing_problem(int blocks) {
  RematProblem p;
  const auto add = [&](std::int64_t duration, std::int64_t bytes, std::vector<std::int32_t> reads,
                       std::uint8_t flags = 0) {
    const std::int32_t storage = p.storages();
    p.order.push_back(p.add(duration, std::span(&bytes, bytes < 0 ? 0 : 1), reads, flags));
    return storage;
  };
  std::vector<std::int32_t> wide, bent, out{add(10, 1000, {})};
  for (int b = 0; b < blocks; ++b) {
    wide.push_back(add(200, 4000, {out.back()}));
    bent.push_back(add(8, 4000, {wide.back()}));
    const std::int32_t narrow = add(200, 1000, {bent.back()});
    out.push_back(add(2, 1000, {narrow, out.back()}));
  }
  const std::int32_t loss =
      add(5, 4, {out.back()}, RematProblem::kOnce | RematProblem::kBeforeBoundary);
  p.set_boundary(p.size());
  const std::int32_t token = add(0, 0, {loss}, RematProblem::kOnce);
  std::int32_t gradient = add(5, 1000, {out.back(), token});
  std::vector<std::int32_t> stays{loss};
  for (int b = blocks; b-- > 0;) {
    stays.push_back(add(200, 40, {gradient, bent[b]}));
    const std::int32_t to_bent = add(200, 4000, {gradient});
    const std::int32_t to_wide = add(12, 4000, {to_bent, wide[b]});
    stays.push_back(add(200, 40, {to_wide, out[b]}));
    const std::int32_t narrow = add(200, 1000, {to_wide});
    gradient = add(3, 1000, {narrow, gradient});
  }
  stays.push_back(gradient);
  p.set_end(p.size());
  add(0, -1, stays, RematProblem::kOnce);
  p.finish();
  return p;
}

}  // namespace recut
