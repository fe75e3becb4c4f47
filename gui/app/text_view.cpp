#include "gui/app/text_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/app/app.h"
#include "gui/model/node_trace.h"

namespace recut::gui {
namespace {

constexpr std::size_t kContext = 2;  // unchanged lines beside a change

using Texts = std::map<std::size_t, std::shared_ptr<const GraphText>>;

std::shared_ptr<const GraphText> text_after(const Document& document, Texts& texts,
                                            std::size_t pass) {
  auto& text = texts[pass];
  if (!text) text = text_of(graph_after(document.passes, pass));
  return text;
}

void show(TextView& view, std::shared_ptr<const TextDifference> difference, std::size_t base,
          std::size_t pass) {
  view.difference = std::move(difference);
  view.base_pass = base;
  view.pass = pass;
  view.open.clear();
  view.change = kNoLine;
  view.followed = {};
  view.bring = 0;  // the visible lines are gone
  view.fold();
}

}  // namespace

// Folds only a difference: a text without one is shown whole.
void TextView::fold() {
  if (!difference) return rows.clear();
  const bool all = whole || difference->changes.empty();
  rows = all ? all_rows(*difference) : folded_rows(*difference, kContext, open);
}

TextView& text_view(DocumentView& document) {
  return memory_of<TextView>(document.memories, kTextMemory);
}

std::size_t base_pass(const DocumentView& document, const TextView& view) {
  const std::size_t most = document.document->passes.passes.size();
  if (view.base) return std::min(*view.base, most);
  return document.pass == 0 ? 0 : document.pass - 1;
}

bool is_current(const DocumentView& document, const TextView& view) {
  return view.difference && view.pass == document.pass &&
         view.base_pass == base_pass(document, view);
}

void prepare_text(App& app, DocumentView& document) {
  TextView& view = text_view(document);
  const std::size_t pass = document.pass, base = base_pass(document, view);
  if (is_current(document, view)) return;
  app.jobs.cancel(view.job);
  Job job{fmt::format("Text of {}", document.title), document.serial, true, true, {}};
  job.part = [&app, serial = document.serial, held = document.document, texts = view.texts, pass,
              base](JobControl& control) mutable {
    auto before = text_after(*held, texts, base);
    auto after = text_after(*held, texts, pass);
    auto made =
        std::make_shared<const TextDifference>(difference_of(std::move(before), std::move(after)));
    control.post([&app, serial, texts, pass, base, made] {
      DocumentView* document = app.documents.find(serial);
      if (document == nullptr) return;
      TextView& view = text_view(*document);
      view.texts = texts;
      show(view, made, base, pass);
    });
    return false;
  };
  view.job = app.jobs.start(std::move(job));
}

void reveal_line(TextView& view, std::size_t line) {
  if (!view.difference || line >= view.difference->lines.size()) return;
  const std::size_t row = row_of(view.rows, line);
  if (row < view.rows.size() && view.rows[row].fold) {
    view.open.insert(std::lower_bound(view.open.begin(), view.open.end(), line), line);
    view.fold();
  }
  view.bring = line;
}

}  // namespace recut::gui
