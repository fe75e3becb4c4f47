#include "engine/runtime/program_text.h"

#include <fmt/format.h>

#include "engine/codegen/loop/printer.h"
#include "engine/codegen/lower/lower.h"
#include "engine/ir/call.h"
#include "engine/runtime/kernel_order.h"
#include "engine/support/hash.h"
#include "engine/support/text.h"

namespace recut {
namespace {

std::string address_text(const Graph& graph, const Program& program, const BufferAddress& address) {
  if (address.input) return "%" + graph.node_name(program.inputs[*address.input]);
  return fmt::format("@{}", address.offset);
}

std::string launch_text(const Graph& graph, const Program& program, const Launch& launch) {
  std::vector<std::string> addresses, calls;
  for (const BufferAddress& address : launch.buffers)
    addresses.push_back(address_text(graph, program, address));
  for (const NodeId call : loop::computed_calls(graph, launch.calls))
    calls.push_back("%" + graph.node_name(call));
  return fmt::format("{}kernel {} ({}) makes {}", launch.library ? "library " : "", launch.kernel,
                     fmt::join(addresses, ", "), fmt::join(calls, ", "));
}

// "start 0: all_gather_into_tensor of group 'tp' (%x: @0) makes (@64)".
std::string collective_text(const Graph& graph, const Program& program, std::size_t number) {
  const CollectiveStep& step = program.collectives[number];
  if (step.started) return fmt::format("wait for start {}", *step.started);
  const Call::TypesOf types_of = [&graph](NodeId id) { return graph.pool().types_of(id); };
  const Call call(graph.op(step.node), graph[step.node].arguments, types_of);
  std::vector<std::string> inputs, outputs;
  for (const ProgramOutput& input : step.inputs)
    inputs.push_back(address_text(graph, program, input.address));
  for (const ProgramOutput& output : step.outputs)
    outputs.push_back(output.node.valid() ? address_text(graph, program, output.address) : "none");
  return fmt::format("start {}: {} of group {} ({}) writes ({}), makes %{}", number,
                     call.op().packet, quote(call.text("group_name")), fmt::join(inputs, ", "),
                     fmt::join(outputs, ", "), graph.node_name(step.node));
}

std::string output_text(const Graph& graph, const Program& program, const ProgramOutput& output) {
  if (!output.node.valid()) return "none";
  return fmt::format("%{}: {}", graph.node_name(output.node),
                     address_text(graph, program, output.address));
}

// An address as text, without the names of a graph's nodes.
std::string address_digest(const BufferAddress& address) {
  return address.input ? fmt::format("%{}+{} ", *address.input, address.offset)
                       : fmt::format("@{} ", address.offset);
}

std::string layout_digest(const Layout& layout) {
  return fmt::format("[{}][{}]+{}", fmt::join(layout.shape, ","), fmt::join(layout.strides, ","),
                     layout.offset);
}

std::string output_digest(const ProgramOutput& output) {
  if (!output.node.valid()) return "none";
  std::string text = address_digest(output.address) + std::string(short_name(output.type.dtype));
  for (const Layout& layout : output.layouts) text += layout_digest(layout);
  return text;
}

std::string collective_digest(const CollectiveStep& step) {
  std::string text = fmt::format("{} {} ", step.before, step.started ? "wait" : "start");
  for (const auto* list : {&step.inputs, &step.outputs})
    for (const ProgramOutput& value : *list) text += output_digest(value);
  return text;
}

template <class Kernel>
std::vector<std::string> kernel_texts(const std::vector<Kernel>& kernels) {
  std::vector<std::string> texts;
  for (const Kernel& kernel : kernels) texts.push_back(print(strip_names(kernel)));
  return texts;
}

}  // namespace

std::string program_digest(const Program& program) {
  const std::vector<std::string> loops = kernel_texts(program.kernels);
  const std::vector<std::string> calls = kernel_texts(program.library);
  std::uint64_t digest = hash_mix(0, static_cast<std::uint64_t>(program.arena_bytes));
  for (const Launch& launch : program.launches) {
    std::string addresses;
    for (const BufferAddress& address : launch.buffers) addresses += address_digest(address);
    digest = hash_text(digest, launch.library ? calls[launch.kernel] : loops[launch.kernel]);
    digest = hash_text(digest, addresses);
  }
  for (const CollectiveStep& step : program.collectives)
    digest = hash_text(digest, collective_digest(step));
  for (const ProgramOutput& output : program.outputs)
    digest = hash_text(digest, output_digest(output));
  return fmt::format("{:016x}", digest);
}

std::string launches_text(const Graph& graph, const Program& program) {
  std::string text =
      fmt::format("; {} launches of {} kernels, an arena of {} bytes, program {}\n",
                  program.launches.size(), program.kernels.size() + program.library.size(),
                  program.arena_bytes, program_digest(program));
  std::size_t collective = 0;
  for (std::size_t i = 0; i <= program.launches.size(); ++i) {
    for (; collective < program.collectives.size() && program.collectives[collective].before == i;
         ++collective)
      text += fmt::format("; {}\n", collective_text(graph, program, collective));
    if (i < program.launches.size())
      text += fmt::format("; launch {}: {}\n", i, launch_text(graph, program, program.launches[i]));
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    text += fmt::format("; {} {}\n", i < graph.results.size() ? "result" : "gradient",
                        output_text(graph, program, program.outputs[i]));
  return text;
}

std::string kernel_title(const Program& program, std::uint32_t kernel, bool library) {
  std::vector<std::size_t> launches;
  for (std::size_t i = 0; i < program.launches.size(); ++i)
    if (program.launches[i].library == library && program.launches[i].kernel == kernel)
      launches.push_back(i);
  return fmt::format("{}kernel {} of {}, launch{} {}", library ? "library " : "", kernel,
                     library ? program.library.size() : program.kernels.size(),
                     launches.size() == 1 ? "" : "es", fmt::join(launches, ", "));
}

}  // namespace recut
