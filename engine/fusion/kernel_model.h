// The kernel model of a graph: the storages behind its values, and the calls that run as one
// kernel. Schedules and programs of the graph are built on it.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/storage_model.h"

namespace recut {

struct KernelModel {
  // One kernel a call.
  explicit KernelModel(const Graph& graph) : storages(graph) {}
  // Kernels of this extent; `standalone` are calls that no kernel but their own computes.
  KernelModel(const Graph& graph, Fusion fusion, std::span<const NodeId> standalone = {})
      : storages(graph), groups(fuse_pointwise(graph, storages, fusion, standalone)) {}
  // Given groups, such as a back end's true kernels, of the same graph as the storages.
  KernelModel(StorageModel of_storages, FusionGroups of_groups)
      : storages(std::move(of_storages)), groups(std::move(of_groups)) {}

  StorageModel storages;
  FusionGroups groups;
};
using SharedKernels = std::shared_ptr<const KernelModel>;

}  // namespace recut
