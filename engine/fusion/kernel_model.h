// A graph as its kernels see it: which storages stand behind its values, and which calls run as one
// kernel. Schedules and programs of the graph are made by one of these.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "engine/fusion/fuse_pointwise.h"
#include "engine/fusion/fusion_groups.h"
#include "engine/ir/storage_model.h"

namespace recut {

struct KernelModel {
  // Each call by itself.
  explicit KernelModel(const Graph& graph) : storages(graph) {}
  // Kernels that go so far; `apart` are calls that no other kernel than their own computes.
  KernelModel(const Graph& graph, Fusion fusion, std::span<const NodeId> apart = {})
      : storages(graph), groups(fuse_pointwise(graph, storages, fusion, apart)) {}
  // Groups from whoever knows the kernels of a back end, of the same graph as the storages.
  KernelModel(StorageModel of_storages, FusionGroups of_groups)
      : storages(std::move(of_storages)), groups(std::move(of_groups)) {}

  StorageModel storages;
  FusionGroups groups;
};
using SharedKernels = std::shared_ptr<const KernelModel>;

}  // namespace recut
