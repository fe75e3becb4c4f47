// Library kernels by oneDNN (onednn_kernel.h). A primitive fixes its number of threads when it is
// made. Small kernels are made for one thread; the threshold is on the call's multiply-adds alone,
// so the choice is the same on every machine.
#include "native/cpu/onednn.h"

#include <fmt/core.h>

#include <dnnl.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "engine/support/text.h"
#include "native/cpu/onednn_kernel.h"
#include "native/cpu/threads.h"

namespace recut::cpu {
namespace {

using library::Attention;
using library::Convolution;
using library::MatrixProduct;
using library::Operand;

// Multiply-adds in the time of one loop statement. A core runs several statements at once;
// multiply-adds run on two units of eight lanes, on most cores.
constexpr double kFmasPerStatement = 5;

double elements(const Operand& operand) {
  return static_cast<double>(element_count(operand.layout.shape));
}

// Multiply-adds of a call. A convolution has as many as each of its two gradients.
double adds_of(const MatrixProduct& p) {
  return elements(p.out) * static_cast<double>(p.left.layout.shape.back());
}
double adds_of(const Convolution& c) {
  const double windows = elements(c.transposed ? c.input : c.output);
  return windows * elements(c.weight) / static_cast<double>(c.weight.layout.shape.front());
}
double adds_of(const Attention& a) {
  const double scores = elements(a.query) * static_cast<double>(a.key.layout.shape[2]);
  return scores + scores / static_cast<double>(a.query.layout.shape[3]) *
                      static_cast<double>(a.value.layout.shape[3]);
}

// The work in the units of loop stages. It depends on the call alone, so it is the same on every
// machine.
double work_of(const library::Kernel& kernel) {
  double adds = 0;
  for (const library::Call& call : kernel.calls)
    adds += std::visit([](const auto& c) { return adds_of(c); }, call);
  return adds / kFmasPerStatement;
}

}  // namespace

bool onednn_takes(const library::Kernel& kernel) {
  if (!library::is_portable(kernel) && !onednn::supports_attention(kernel) &&
      !onednn::supports_epilogue(kernel))
    return false;
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  try {
    onednn::KernelPreparation(kEngine).run(kernel);
  } catch (const dnnl::error&) {
    return false;
  }
  return true;
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

struct OneDnn::Primitives {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<onednn::KernelPrimitives> kernels;

  // The actions that pack constant operands, or all others.
  void run_all(bool packing, std::uint32_t kernel, void* const* buffers, std::byte* scratch,
               std::byte* packed) const;
};

OneDnn::OneDnn(std::unique_ptr<Primitives> primitives) : primitives_(std::move(primitives)) {}
OneDnn::OneDnn(OneDnn&& other) noexcept = default;
OneDnn& OneDnn::operator=(OneDnn&& other) noexcept = default;
OneDnn::~OneDnn() = default;

Result<OneDnn> OneDnn::prepare(std::span<const library::Kernel> kernels, double min_parallel_work,
                               const std::vector<std::vector<bool>>& constant) {
  auto primitives = std::make_unique<Primitives>();
  for (std::size_t k = 0; k < kernels.size(); ++k) try {
      const library::Kernel& kernel = kernels[k];
      // A primitive fixes its number of threads when it is made.
      std::optional<SingleThreadScope> single_threaded;
      if (work_of(kernel) < min_parallel_work) single_threaded.emplace();
      onednn::KernelPrimitives sequence =
          onednn::KernelPreparation(primitives->engine, constant[k]).run(kernel);
      for (onednn::Action& action : sequence.actions)
        std::visit([](auto& one) { one.make(); }, action);
      sequence.single_threaded = single_threaded.has_value();
      primitives->kernels.push_back(std::move(sequence));
    } catch (const dnnl::error& fault) {
      return error(fmt::format("node {}: oneDNN has no code for it: {}", quote(kernels[k].name),
                               fault.what()));
    }
  return OneDnn(std::move(primitives));
}

std::int64_t OneDnn::scratch_bytes() const {
  std::int64_t most = 0;
  for (const onednn::KernelPrimitives& sequence : primitives_->kernels)
    most = std::max(most, sequence.scratch_bytes);
  return most;
}

void OneDnn::Primitives::run_all(bool packing, std::uint32_t kernel, void* const* buffers,
                                 std::byte* scratch, std::byte* packed) const {
  const onednn::KernelPrimitives& sequence = kernels[kernel];
  std::optional<SingleThreadScope> single_threaded;
  if (sequence.single_threaded) single_threaded.emplace();
  for (const onednn::Action& action : sequence.actions) {
    if (const auto* primitive = std::get_if<onednn::PrimitiveCall>(&action)) {
      if (primitive->packs == packing) primitive->run(stream, buffers, scratch, packed);
    } else if (const auto* clamp = std::get_if<onednn::ClampCall>(&action)) {
      if (!packing) clamp->run(buffers);
    } else if (!packing) {
      std::get<onednn::AttentionCall>(action).run(buffers, scratch);
    }
  }
}

std::int64_t OneDnn::packed_bytes(std::uint32_t kernel) const {
  return primitives_->kernels[kernel].packed_bytes;
}

void OneDnn::pack(std::uint32_t kernel, void* const* buffers, std::byte* scratch,
                  std::byte* packed) const {
  primitives_->run_all(true, kernel, buffers, scratch, packed);
}

void OneDnn::run(std::uint32_t kernel, void* const* buffers, std::byte* scratch,
                 std::byte* packed) const {
  primitives_->run_all(false, kernel, buffers, scratch, packed);
}

}  // namespace recut::cpu
