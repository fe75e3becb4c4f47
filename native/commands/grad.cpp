// recut grad: differentiates a forward graph into a joint graph, or into its forward mode.
#include <fmt/core.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/ir/printer.h"
#include "engine/support/units.h"
#include "engine/workspace/gradients.h"
#include "native/commands/command.h"
#include "native/commands/examples.h"

namespace recut::native {
namespace {

using Json = nlohmann::ordered_json;

struct GradArguments {
  GraphArguments graph;
  std::string out;
  std::string out_tensors;
  std::string mode = "reverse";
  std::vector<std::string> wanted;
  std::vector<std::size_t> results;
  std::optional<int> level;
  bool json = false;
  bool verbose = false;
};

// The inputs that '*' stands for: all inputs of a real dtype.
std::vector<std::string> real_inputs(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.inputs())
    if (has_gradient(graph.type(id).dtype) && graph.input_kind(id) != InputKind::tangent)
      names.push_back(graph.node_name(id));
  return names;
}

GradRequest request_of(const GradArguments& arguments, const Graph& graph) {
  GradRequest request;
  request.mode = arguments.mode == "jvp" ? GradMode::forward : GradMode::reverse;
  if (arguments.wanted == std::vector<std::string>{"*"})
    request.options.requires_grad = real_inputs(graph);
  else if (!arguments.wanted.empty())
    request.options.requires_grad = arguments.wanted;
  request.options.level = arguments.level;
  if (!arguments.results.empty()) request.options.differentiable = arguments.results;
  request.steps = arguments.verbose || arguments.json;
  return request;
}

// The number of uses of each derivative rule.
Json rules_json(const GradReport& report) {
  std::map<std::string_view, int> counts;
  for (const DerivativeStep& step : report.steps) ++counts[step.rule];
  Json rules = Json::object();
  for (const auto& [rule, count] : counts) rules[std::string(rule)] = count;
  return rules;
}

std::string report_json(const GradReport& report, const GradArguments& arguments) {
  return Json{{"graph", report.graph.name},
              {"mode", arguments.mode},
              {"forward_of_joint", report.extracted_forward},
              {"nodes_before", report.nodes_before},
              {"nodes", report.nodes_after},
              {"differentiated", report.differentiated},
              {"with_gradient", report.with_gradient},
              {"without_gradient", report.without_gradient},
              {"rules", rules_json(report)},
              {"ms", report.milliseconds}}
             .dump(2) +
         "\n";
}

std::string report_text(const GradReport& report, const GradArguments& arguments) {
  std::string text;
  if (report.extracted_forward) text += "A joint graph: its forward half is differentiated.\n";
  const bool forward = arguments.mode == "jvp";
  text += fmt::format("{} nodes became {} in {}; {} {} with a tangent, {} {}\n",
                      format_count(static_cast<std::int64_t>(report.nodes_before)),
                      format_count(static_cast<std::int64_t>(report.nodes_after)),
                      format_micros(report.milliseconds * 1000), report.differentiated,
                      forward ? "outputs" : "results", report.with_gradient.size(),
                      forward ? "inputs with one" : "gradients");
  for (const std::string& name : report.without_gradient)
    text += fmt::format("%{} gets no gradient: no differentiable result depends on it\n", name);
  return text;
}

int grad(const GradArguments& arguments, const Console& console) {
  if (arguments.level && arguments.mode != "jvp")
    return console.report_error({error("--level goes with --mode jvp")});
  const auto document = arguments.graph.open(console);
  if (!document) return console.report_error(document.diagnostics());
  const auto report = make_gradients(document->graph(), request_of(arguments, document->graph()));
  if (!report) {
    Diagnostics placed = report.diagnostics();
    for (Diagnostic& d : placed)
      if (d.file.empty()) d.file = arguments.graph.path;
    return console.report_error(placed);
  }
  if (!arguments.out.empty()) {
    const auto written = write_file(arguments.out, print(report->graph));
    if (!written) return console.report_error(written.diagnostics());
  }
  if (!arguments.out_tensors.empty()) {
    const auto written =
        write_file(arguments.out_tensors, write_safetensors(document->file.tensors));
    if (!written) return console.report_error(written.diagnostics());
  }
  if (arguments.json)
    console.out << report_json(*report, arguments);
  else if (arguments.out.empty())
    console.out << print(report->graph);
  else
    console.out << report_text(*report, arguments);
  if (arguments.verbose && !arguments.json) {
    const std::string_view remark = arguments.out.empty() ? "; " : "";  // as a comment
    for (const DerivativeStep& step : report->steps)
      console.out << fmt::format("{}{}: {}\n", remark, step.rule, step.text);
  }
  return kDone;
}

}  // namespace

void add_grad(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<GradArguments>();
  CLI::App& command =
      *app.add_subcommand("grad", "Differentiate a forward graph into a joint graph");
  arguments->graph.no_passes = true;
  arguments->graph.default_stage = Stage::pre_grad;
  arguments->graph.add_to(command);
  command
      .add_option("--out", arguments->out,
                  "Write the resulting graph in text form (default: print it)")
      ->type_name("FILE");
  command
      .add_option("--out-tensors", arguments->out_tensors,
                  "Write the file's values of parameters and constants, such as an ONNX model's "
                  "(safetensors, in.<name>)")
      ->type_name("FILE");
  command
      .add_option("--mode", arguments->mode,
                  "Mode of differentiation: reverse (results, then gradients) or jvp (outputs, "
                  "then tangents) (default: reverse)")
      ->check(CLI::IsMember({"reverse", "jvp"}));
  command
      .add_option("--wrt", arguments->wanted,
                  "Inputs to differentiate by, or '*' for all real ones (default: parameters, or "
                  "all real inputs without parameters)")
      ->type_name("NAME");
  command
      .add_option("--result", arguments->results,
                  "Results with a tangent, counted from 0 (default: all that depend on these "
                  "inputs, except updated buffers)")
      ->type_name("N");
  command
      .add_option(
          "--level", arguments->level,
          "Level of the tangents of mode jvp. A graph that has tangents gets further ones at "
          "a higher level (default: the next one)")
      ->type_name("N");
  command.add_flag("--json", arguments->json,
                   "Print figures as one JSON value instead of the graph or the text");
  command.add_flag(
      "--verbose,-v", arguments->verbose,
      "Print every step of reverse mode, one a line: its derivative rule and the resulting calls");
  command.footer(footer_with_examples(
      "No passes run by default. Mode reverse differentiates a joint graph's forward again.\nMode "
      "jvp takes a joint graph as it is, which gives Hessian-vector products.",
      {"grad samples/blocks/softmax.recut -v",
       "grad tests/onnx/models/tiny_gpt.onnx --out build/joint.recut --out-tensors "
       "build/weights.safetensors"}));
  command.callback([arguments, &chosen] {
    chosen = [arguments](const Console& console) { return grad(*arguments, console); };
  });
}

}  // namespace recut::native
