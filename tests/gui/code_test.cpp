// Kernels as code in the window: that every line is from the node that it says, in every form, and
// that selection and kernel follow each other.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/runtime/program.h"
#include "gui/app/code_view.h"
#include "gui/app/run_target.h"
#include "tests/codegen/attention_graph.h"
#include "tests/effort.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

void open_code(Window& window, const std::string& path, const char* model) {
  window.app.open(path);
  window.settle();
  REQUIRE(window.app.has_ready());
  REQUIRE(window.app.run("model.set", model).ok());
  REQUIRE(window.app.run("panel.show", "code").ok());
  window.settle();
}

NullBackend with_graph(const std::string& text) {
  NullBackend backend;
  backend.files["test.recut"] = text;
  return backend;
}

// Lines are from calls of the kernel or from what its buffers are; every call that reaches memory
// has one.
void check_text(const CodeText& text) {
  const ScheduleView& schedule = *text.of;
  CAPTURE(schedule.name(text.kernel), text.target->id);
  REQUIRE(text.faults.empty());
  const auto calls = loop::computed_calls(schedule.graph(), schedule.kernel(text.kernel).calls);
  std::size_t from_calls = 0;
  for (const CodeLine& line : text.lines) {
    if (!line.node.valid() || line.remark) continue;
    CAPTURE(line.text);
    CHECK(std::find(calls.begin(), calls.end(), line.node) != calls.end());
    ++from_calls;
  }
  CHECK(from_calls > 0);
  for (const NodeId id : calls) CHECK(text.line_of(id) != CodeText::kNoLine);
}

TEST_CASE("code: every kernel of a sample in every form, line by line", "[gui]") {
  const std::vector<const char*> paths{"samples/joint/tiny_mlp.json.gz", "sample:tiny_conv",
                                       "sample:tiny_ops"};
  for (const char* path : test::tried(paths))
    for (const char* model : {"eager", "fused"}) {
      CAPTURE(path, model);
      Window window(bare_options());
      open_code(window, path, model);
      const SharedSchedule schedule = shown_schedule(*window.app.document());
      REQUIRE(schedule);
      CHECK(schedule->plan == window.app.document()->shown);
      for (const Target& form : targets())
        for (const std::uint32_t k : schedule->launches) check_text(*code_text(schedule, k, form));
    }
}

std::string without_blanks(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }),
             text.end());
  return text;
}

// What a library takes is shown as its call, which a node's first line is; the loops stay.
TEST_CASE("code: a kernel that a library runs", "[gui]") {
  Window window(bare_options());
  open_code(window, "sample:tiny_conv", "fused");
  const SharedSchedule schedule = shown_schedule(*window.app.document());
  int called = 0;
  for (const Target& form : targets())
    for (const std::uint32_t k : schedule->launches) {
      const SharedCode alone = code_text(schedule, k, form);
      const SharedCode text = code_text(schedule, k, form, {"cuDNN"});
      check_text(*text);
      CHECK(alone->whole().find("library kernel") == std::string::npos);
      const std::string whole = text->whole();
      CHECK(whole.substr(whole.size() - alone->whole().size()) == alone->whole());
      const auto kernel =
          library_kernel_of(schedule->graph(), schedule->kernels.storages, schedule->kernel(k));
      if (!kernel) {
        CHECK(text->lines.size() == alone->lines.size());
        continue;
      }
      ++called;
      CHECK(text->lines.front().text == "; cuDNN runs this kernel here:");
      CHECK(without_blanks(whole).find(without_blanks(library::print(*kernel))) !=
            std::string::npos);
      const CodeLine& line = text->lines[text->line_of(schedule->kernel(k).calls.front())];
      CHECK((line.text.find(" = convolution") != std::string::npos ||
             line.text.find("gradient of convolution") != std::string::npos ||
             line.text.find(" = product") != std::string::npos));
    }
  CHECK(called > 4);
}

TEST_CASE("code: attention has functions of its own on a GPU", "[gui]") {
  Window window(bare_options(), with_graph(test::AttentionGraph().joint_text()));
  open_code(window, "test.recut", "fused");
  const SharedSchedule schedule = shown_schedule(*window.app.document());
  REQUIRE(schedule);
  int found = 0;
  for (const Target& form : targets())
    for (const std::uint32_t k : schedule->launches) {
      const SharedCode text = code_text(schedule, k, form);
      check_text(*text);
      const std::string whole = text->whole();
      found += whole.find("attention_forward_kernel<attention_0Call>(") != std::string::npos;
      found += whole.find("attention_key_gradients_kernel<attention_0Call>(") != std::string::npos;
    }
  CHECK(found == 2);
}

TEST_CASE("code: the selection's kernel is shown, and a kernel's call is selected", "[gui]") {
  Window window(bare_options());
  open_code(window, "sample:tiny_conv", "fused");
  DocumentView& document = *window.app.document();
  const SharedSchedule schedule = shown_schedule(document);
  for (const std::uint32_t k : schedule->launches)
    for (const NodeId id : loop::computed_calls(schedule->graph(), schedule->kernel(k).calls)) {
      CAPTURE(schedule->graph().node_name(id));
      REQUIRE(window.app.run("select.node", schedule->graph().node_name(id)).ok());
      window.settle();
      const CodeView& view = code_view(document);
      CHECK(schedule->computes(view.kernel, id));
      REQUIRE(is_current(view, shown_target(window.app), chosen_library(window.app)));
      REQUIRE(view.line < view.text->lines.size());
      CHECK(view.text->lines[view.line].node == id);
    }
  for (const std::uint32_t k : schedule->launches) {
    REQUIRE(window.app.run("code.kernel", std::to_string(k)).ok());
    window.settle();
    CHECK(code_view(document).kernel == k);
    CHECK(schedule->computes(k, marked_node(document)));
  }
  CHECK_FALSE(window.app.run("code.kernel", "100000").ok());
  CHECK_FALSE(window.app.run("code.kernel", "").ok());
  CHECK_FALSE(window.app.run("code.form", "assembler").ok());
}

TEST_CASE("code: another plan keeps the kernel of the selection", "[gui]") {
  Window window(bare_options());
  open_code(window, "sample:tiny_conv", "fused");
  DocumentView& document = *window.app.document();
  REQUIRE(window.app.run("select.node", "relu").ok());
  window.settle();
  const SharedSchedule before = shown_schedule(document);
  REQUIRE(window.app.run("budget.set", "none").ok());
  window.settle();
  const SharedSchedule after = shown_schedule(document);
  REQUIRE(after);
  CHECK(after != before);
  CHECK(after->computes(code_view(document).kernel, document.find("relu")));
  CHECK(code_view(document).text->of == after);
}

TEST_CASE("code: a kernel without loops says why", "[gui]") {
  Window window(bare_options(), with_graph(R"(graph "no loops" {
  %x = input f32[4, 4]
  %y = nonzero(%x) : i64[16, 2]
  results %y
  gradients none
}
)"));
  window.app.open("test.recut");
  window.settle();
  REQUIRE(window.app.run("panel.show", "code").ok());
  window.settle();
  REQUIRE(code_view(*window.app.document()).text);
  CHECK_FALSE(code_view(*window.app.document()).text->faults.empty());
  CHECK(window.app.items.find("code/fault") != nullptr);
}

TEST_CASE("code: graphs without steps, without bytes", "[gui]") {
  for (const char* text :
       {"graph \"empty\" {\n  results\n  gradients\n}\n",
        "graph \"no bytes\" {\n  %x = input f32[0, 4]\n  %y = relu(%x)\n  results %y\n"
        "  gradients none\n}\n",
        "graph \"view\" {\n  %x = input f32[2, 4]\n  %y = permute(%x, [1, 0])\n  results %y\n"
        "  gradients none\n}\n"}) {
    CAPTURE(text);
    Window window(bare_options(), with_graph(text));
    open_code(window, "test.recut", "fused");
    for (const char* command : {"code.follow", "code.next", "code.previous", "code.next_line",
                                "code.line", "code.copy", "code.form"})
      (void)window.app.run(command);
    window.settle();
    CHECK(shown_schedule(*window.app.document()) != nullptr);
  }
}

TEST_CASE("code: a helper's schedule is what a job makes itself", "[gui]") {
  NearHelper helper;
  NullBackend backend = Window::sample_backend();
  backend.helping = &helper;
  Window helped(bare_options(), backend), alone(bare_options());
  for (Window* window : {&helped, &alone}) open_code(*window, "sample:tiny_conv", "fused");
  const Schedule& there = shown_schedule(*helped.app.document())->schedule;
  const Schedule& here = shown_schedule(*alone.app.document())->schedule;
  CHECK(there.arena_bytes == here.arena_bytes);
  CHECK(there.lower_bound_bytes == here.lower_bound_bytes);
  CHECK(there.peak_bytes == here.peak_bytes);
  REQUIRE(there.kernels.size() == here.kernels.size());
  REQUIRE(there.buffers.size() == here.buffers.size());
  for (std::size_t k = 0; k < here.kernels.size(); ++k) {
    CHECK(there.kernels[k].calls == here.kernels[k].calls);
    CHECK(there.kernels[k].again == here.kernels[k].again);
  }
  for (std::size_t b = 0; b < here.buffers.size(); ++b) {
    CHECK(there.buffers[b].offset == here.buffers[b].offset);
    CHECK(there.buffers[b].last_kernel == here.buffers[b].last_kernel);
    CHECK(there.buffers[b].in_place_of == here.buffers[b].in_place_of);
  }
}

}  // namespace
}  // namespace recut::gui
