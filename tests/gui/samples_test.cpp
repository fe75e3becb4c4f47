// The list of samples: what it says of each is so, it has all of them, and one is found by typing.
#include "gui/model/samples.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <set>

#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "gui/embedded.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

namespace fs = std::filesystem;

std::string below_samples(const std::string& file) { return RECUT_SOURCE_DIR "/samples/" + file; }

}  // namespace

TEST_CASE("samples: the list has every graph of samples/ once", "[gui][samples]") {
  std::set<std::string> listed, there;
  for (const SampleFacts& facts : sample_facts()) {
    CHECK(listed.insert(facts.file).second);
    CHECK_FALSE(facts.text.empty());
    CHECK(facts.text.size() <= 70);
  }
  for (const auto& entry : fs::recursive_directory_iterator(RECUT_SOURCE_DIR "/samples")) {
    const std::string name = entry.path().string();
    if (name.ends_with(".recut") || name.ends_with(".json.gz"))
      there.insert(fs::relative(entry.path(), RECUT_SOURCE_DIR "/samples").generic_string());
  }
  CHECK(listed == there);
}

TEST_CASE("samples: nodes and peak are those of the files", "[gui][samples]") {
  for (const SampleFacts& facts : sample_facts()) {
    CAPTURE(facts.file);
    auto opened = open_document(below_samples(facts.file), {});
    REQUIRE(opened.ok());
    const auto document = std::make_shared<const Document>(std::move(*opened));
    CHECK(static_cast<std::int64_t>(document->passes.input.order().size()) == facts.nodes);
    const auto basis = plan_basis(document, std::string(kReferenceDevice), "eager");
    REQUIRE(basis.ok());
    CHECK(basis->baseline_cost.peak_bytes == facts.peak_bytes);
  }
}

TEST_CASE("samples: whatever can be opened by name has a line", "[gui][samples]") {
  Window window(bare_options());
  const std::vector<std::string> names = all_samples(window.backend);
  CHECK(names.size() == 3 + embedded_graphs().size() - 1);  // mlp is the platform's
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(has_sample(window.backend, name));
    CHECK(facts_of(window.backend, name) != nullptr);
  }
  CHECK(facts_of(window.backend, "mlp")->file == "joint/mlp.json.gz");
  window.backend.files.erase("sample:mlp");
  CHECK(facts_of(window.backend, "mlp")->file == "mlp.recut");
  CHECK_FALSE(has_sample(window.backend, "gpt2"));
  CHECK(no_sample(window.backend, "tiny_cnov").message ==
        "no sample 'tiny_cnov' comes with this program; did you mean 'tiny_conv'?");
}

TEST_CASE("samples: one that there is none of opens nothing", "[gui][samples]") {
  Window window(bare_options());
  const auto done = window.app.run("file.sample", "tiny");
  REQUIRE_FALSE(done.ok());
  CHECK(done.diagnostics().front().message.starts_with("no sample 'tiny'"));
  CHECK(window.state("documents") == "0");
}

}  // namespace recut::gui
