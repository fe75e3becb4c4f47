// A plan's steps on the local tensors of all ranks.
#include <fmt/format.h>

#include "engine/mesh/blocks.h"
#include "engine/mesh/padding.h"
#include "engine/mesh/redistribute.h"
#include "engine/mesh/redistribution_moves.h"
#include "engine/mesh/reduce_ranks.h"
#include "engine/mesh/sharding_text.h"

namespace recut::mesh {
namespace {

CollectiveKind collective_of(StepKind kind) {
  switch (kind) {
    case StepKind::all_gather:
      return CollectiveKind::all_gather;
    case StepKind::all_to_all:
      return CollectiveKind::all_to_all;
    case StepKind::all_reduce:
      return CollectiveKind::all_reduce;
    case StepKind::reduce_scatter:
      return CollectiveKind::reduce_scatter;
    default:
      return CollectiveKind::permute;
  }
}

class StepRunner {
 public:
  StepRunner(const DeviceMesh& mesh, const TensorType& type, const Sharding& before,
             const RedistributionStep& step, std::vector<Tensor>& locals, Traffic& traffic)
      : mesh_(mesh),
        type_(type),
        before_(before),
        step_(step),
        locals_(locals),
        traffic_(traffic) {}

  void run() {
    if (sends_messages(step_.kind)) traffic_.begin(collective_of(step_.kind));
    if (step_.kind == StepKind::reorder) return reorder();
    for (const auto& line : mesh_.lines(step_.axis)) run_line(line);
  }

 private:
  using Line = std::vector<std::int64_t>;

  Tensor& at(std::int64_t position) { return locals_[static_cast<std::size_t>(position)]; }
  std::int64_t size_of(const Tensor& tensor, int dim) const {
    return tensor.shape[static_cast<std::size_t>(dim)];
  }

  std::vector<Tensor> of_line(const Line& line) {
    std::vector<Tensor> tensors;
    for (const std::int64_t position : line) tensors.push_back(at(position));
    return tensors;
  }

  // The size that a line's ranks share before its axis cut the dimension.
  std::int64_t parent_size(const Line& line, int dim) const {
    const auto& axes = before_.dims[static_cast<std::size_t>(dim)];
    const std::span<const int> outer(axes.data(), axes.size() - 1);
    return local_interval(type_.shape[static_cast<std::size_t>(dim)], outer, mesh_,
                          mesh_.coordinate_at(line.front()))
        .size;
  }

  void run_line(const Line& line) {
    switch (step_.kind) {
      case StepKind::slice:
        return take_parts(line, of_line(line));
      case StepKind::all_gather:
        return all_gather(line);
      case StepKind::all_to_all:
        return all_to_all(line);
      case StepKind::all_reduce:
        return all_reduce(line);
      case StepKind::reduce_scatter:
        return reduce_scatter(line);
      case StepKind::hold_partial:
        for (std::size_t i = 0; i < line.size(); ++i)
          at(line[i]) = hold_partial(at(line[i]), *step_.after.partial_of(step_.axis), i == 0);
        return;
      case StepKind::zero_fill:
        return zero_fill(line);
      default:
        return rescale(line);
    }
  }

  // Each rank's own chunk of its tensor.
  void take_parts(const Line& line, const std::vector<Tensor>& whole) {
    const auto n = static_cast<std::int64_t>(line.size());
    for (std::int64_t i = 0; i < n; ++i) {
      const Tensor& tensor = whole[static_cast<std::size_t>(i)];
      at(line[static_cast<std::size_t>(i)]) =
          narrow(tensor, step_.to_dim, chunk(size_of(tensor, step_.to_dim), n, i));
    }
  }

  void all_gather(const Line& line) {
    const auto n = static_cast<std::int64_t>(line.size());
    const std::int64_t size = parent_size(line, step_.from_dim);
    std::vector<Tensor> shards;
    for (const std::int64_t position : line)
      shards.push_back(pad_end(at(position), step_.from_dim, padded_chunk(size, n)));
    traffic_.add(line, sent_by_all_gather(n, bytes_of_values(shards.front())));
    const Tensor whole = narrow(concatenate(shards, step_.from_dim), step_.from_dim, {0, size});
    for (const std::int64_t position : line) at(position) = whole;
  }

  void all_to_all(const Line& line) {
    const auto n = static_cast<std::int64_t>(line.size());
    const int from = step_.from_dim, to = step_.to_dim;
    const std::int64_t size = parent_size(line, from), other = size_of(at(line.front()), to);
    std::vector<std::vector<Tensor>> parts;  // by sender, then receiver
    for (const std::int64_t position : line)
      parts.push_back(padded_chunks(pad_end(at(position), from, padded_chunk(size, n)), to, n));
    traffic_.add(line, sent_by_all_to_all(n, bytes_of_values(parts.front().front())));
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<Tensor> received;
      for (const auto& sent : parts) received.push_back(sent[static_cast<std::size_t>(i)]);
      const Tensor joined = narrow(concatenate(received, from), from, {0, size});
      at(line[static_cast<std::size_t>(i)]) = narrow(joined, to, {0, chunk(other, n, i).size});
    }
  }

  RankReduction reduction() const { return reduction_of(*before_.partial_of(step_.axis)); }

  void all_reduce(const Line& line) {
    const auto n = static_cast<std::int64_t>(line.size());
    const Tensor reduced = reduce_ranks(of_line(line), reduction());
    traffic_.add(line, sent_by_all_reduce(n, bytes_of_values(reduced)));
    for (const std::int64_t position : line) at(position) = reduced;
  }

  // Padding is reduced, too, and then cut off: it never meets a value.
  void reduce_scatter(const Line& line) {
    const auto n = static_cast<std::int64_t>(line.size());
    const std::int64_t size = size_of(at(line.front()), step_.to_dim);
    std::vector<Tensor> padded;
    for (const std::int64_t position : line)
      padded.push_back(pad_end(at(position), step_.to_dim, padded_chunk(size, n) * n));
    const auto parts = padded_chunks(reduce_ranks(padded, reduction()), step_.to_dim, n);
    traffic_.add(line, sent_by_reduce_scatter(n, bytes_of_values(parts.front())));
    for (std::int64_t i = 0; i < n; ++i)
      at(line[static_cast<std::size_t>(i)]) =
          narrow(parts[static_cast<std::size_t>(i)], step_.to_dim, {0, chunk(size, n, i).size});
  }

  void zero_fill(const Line& line) {
    const auto n = static_cast<std::int64_t>(line.size());
    const auto dim = static_cast<std::size_t>(step_.from_dim);
    const std::int64_t size = parent_size(line, step_.from_dim);
    for (std::int64_t i = 0; i < n; ++i) {
      Tensor& local = at(line[static_cast<std::size_t>(i)]);
      Shape shape = local.shape, place(local.shape.size(), 0);
      shape[dim] = size;
      place[dim] = chunk(size, n, i).offset;
      Tensor filled = zeros(local.dtype, shape);
      copy_box(local, Shape(shape.size(), 0), filled, place, local.shape);
      local = std::move(filled);
    }
  }

  template <class T>
  Tensor scaled(const Tensor& tensor, double factor, double divisor) const {
    Dense<T> values = unpack<T>(tensor);
    for (T& value : values.data) value = value * factor / divisor;
    Tensor result = zeros(tensor.dtype, tensor.shape);
    pack(values, result);
    return result;
  }

  void rescale(const Line& line) {
    const auto n = static_cast<double>(line.size());
    const bool to_avg = step_.after.partial_of(step_.axis) == Reduction::avg;
    const double factor = to_avg ? n : 1, divisor = to_avg ? 1 : n;
    for (const std::int64_t position : line) {
      Tensor& local = at(position);
      local = is_complex(local.dtype) ? scaled<Complex>(local, factor, divisor)
                                      : scaled<double>(local, factor, divisor);
    }
  }

  void reorder() {
    const auto dim = static_cast<std::size_t>(step_.from_dim);
    const auto &before = before_.dims[dim], &after = step_.after.dims[dim];
    const std::vector<Tensor> old = locals_;
    for (std::int64_t p = 0; p < mesh_.size(); ++p)
      at(p) = zeros(type_.dtype,
                    local_block(type_.shape, step_.after, mesh_, mesh_.coordinate_at(p)).shape);
    for (const Coordinate& first : first_coordinates(before, mesh_))
      for (const ReorderMessage& message :
           reorder_messages(type_.shape[dim], before, after, mesh_, first))
        deliver(message, old[static_cast<std::size_t>(message.sender)]);
  }

  void deliver(const ReorderMessage& message, const Tensor& sent) {
    const auto dim = static_cast<std::size_t>(step_.from_dim);
    const auto begin_of = [&](const Sharding& sharding, std::int64_t position) {
      return local_interval(type_.shape[dim], sharding.dims[dim], mesh_,
                            mesh_.coordinate_at(position))
          .offset;
    };
    Tensor& received = at(message.receiver);
    Shape from(sent.shape.size(), 0), to = from, shape = sent.shape;
    from[dim] = message.part.offset - begin_of(before_, message.sender);
    to[dim] = message.part.offset - begin_of(step_.after, message.receiver);
    shape[dim] = message.part.size;
    copy_box(sent, from, received, to, shape);
    if (message.sender != message.receiver)
      traffic_.add(message.sender, {element_count(shape) * item_bytes(type_.dtype), 1});
  }

  const DeviceMesh& mesh_;
  const TensorType& type_;
  const Sharding& before_;
  const RedistributionStep& step_;
  std::vector<Tensor>& locals_;
  Traffic& traffic_;
};

DistributedTensor converted(const DistributedTensor& tensor, DType dtype) {
  DistributedTensor result = tensor;
  result.type.dtype = dtype;
  for (Tensor& local : result.locals) {
    Tensor cast = zeros(dtype, local.shape);
    if (is_complex(local.dtype))
      pack(unpack<Complex>(local), cast);
    else if (is_floating(local.dtype))
      pack(unpack<double>(local), cast);
    else
      pack(unpack<std::int64_t>(local), cast);
    local = std::move(cast);
  }
  return result;
}

Result<Done> check_request(const DistributedTensor& tensor, const RedistributeRequest& request) {
  if (!request.to)
    return error("redistribute was given no placements; give one for each mesh axis");
  if (request.mesh && *request.mesh != tensor.mesh)
    return error(
        fmt::format("the tensor is distributed over the mesh {}, and redistributing it to "
                    "{} isn't supported; take the full tensor and distribute that",
                    format(tensor.mesh), format(*request.mesh)));
  if (request.to->has_partial())
    return error("redistribute can't give a partial tensor; use R or S(dim) on each mesh axis");
  for (const DType dtype : {tensor.type.dtype, request.dtype.value_or(tensor.type.dtype)})
    if (request.dtype && !has_values(dtype))
      return error(fmt::format("Recut doesn't compute with {}", short_name(dtype)));
  return Done{};
}

}  // namespace

DistributedTensor run_plan(const RedistributionPlan& plan, const DistributedTensor& tensor,
                           Traffic& traffic) {
  RECUT_CHECK(plan.mesh == tensor.mesh && plan.type == tensor.type && plan.from == tensor.sharding,
              "a plan is run on the tensor that it was made for");
  DistributedTensor result = tensor;
  Sharding before = without_single_ranks(plan.from, plan.mesh);
  for (const RedistributionStep& step : plan.steps) {
    StepRunner(plan.mesh, plan.type, before, step, result.locals, traffic).run();
    before = step.after;
  }
  result.sharding = plan.to;
  return result;
}

Result<DistributedTensor> redistribute(const DistributedTensor& tensor,
                                       const RedistributeRequest& request, Traffic& traffic) {
  if (auto good = check_request(tensor, request); !good) return good.diagnostics();
  const DistributedTensor from = request.dtype ? converted(tensor, *request.dtype) : tensor;
  const auto plan = plan_redistribution(from.type, from.mesh, from.sharding, *request.to);
  if (!plan) return plan.diagnostics();
  return run_plan(*plan, from, traffic);
}

Result<Tensor> full_tensor(const DistributedTensor& tensor, Traffic& traffic) {
  RedistributeRequest request;
  request.to = Sharding::replicated(tensor.type.rank(), tensor.mesh.ndim());
  const auto full = redistribute(tensor, request, traffic);
  if (!full) return full.diagnostics();
  return full->locals.front();
}

}  // namespace recut::mesh
