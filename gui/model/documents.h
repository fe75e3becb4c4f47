// The documents that are open, and which of them is in front.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/model/document_view.h"

namespace recut::gui {

class Documents {
 public:
  // Adds a document behind the others, and puts it in front.
  DocumentView& add(std::string path, std::shared_ptr<const std::string> bytes);
  void close(int serial);
  void show(int serial);

  DocumentView* front() const { return find(front_); }
  DocumentView* find(int serial) const;
  DocumentView* find_path(const std::string& path) const;
  // The document that waits for a file of this name, or couldn't be read from it; null if there is
  // none.
  DocumentView* find_lacking(const std::string& path) const;
  const std::vector<std::unique_ptr<DocumentView>>& all() const { return all_; }
  // The `by`-th document after the one in front, around the end.
  DocumentView* neighbour(int by) const;

  void remember(const std::string& path);  // as opened most recently
  const std::vector<std::string>& recent() const { return recent_; }

 private:
  std::vector<std::unique_ptr<DocumentView>> all_;
  std::vector<std::string> recent_;  // latest first
  int front_ = 0, last_ = 0;
};

}  // namespace recut::gui
