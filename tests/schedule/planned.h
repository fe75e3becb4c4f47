// A graph with a plan and its schedule, as the tests of this component need them.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/fusion/kernel_model.h"
#include "engine/partition/strategy.h"
#include "engine/schedule/make_schedule.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule/verifier.h"

namespace recut::test {

struct Scheduled {
  Scheduled(const Graph& of_graph, bool fused, Budget budget, double effort = 0.05)
      : graph(of_graph), storages(graph) {
    if (fused) groups = fuse_pointwise(graph, storages);
    PlanRequest request;
    request.budget = budget;
    request.groups = groups;
    request.limits.effort = effort;
    auto outcome = make_plan(graph, request);
    INFO((outcome ? std::string() : format(outcome.diagnostics())));
    REQUIRE(outcome.ok());
    plan = std::move(outcome->plan);
  }

  Schedule make(const ScheduleOptions& options = {}) const {
    auto schedule = make_schedule(graph, kernels(), plan, options);
    INFO((schedule ? std::string() : format(schedule.diagnostics())));
    REQUIRE(schedule.ok());
    return std::move(*schedule);
  }

  KernelModel kernels() const { return {storages, groups}; }

  Diagnostics faults(const Schedule& schedule) const {
    return verify_schedule(graph, storages, plan, schedule);
  }

  void require_sound(const Schedule& schedule) const {
    const Diagnostics found = faults(schedule);
    INFO(format(found));
    REQUIRE(found.empty());
  }

  Graph graph;
  StorageModel storages;
  FusionGroups groups;
  Plan plan;
};

}  // namespace recut::test
