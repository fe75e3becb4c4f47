// The screen for screen readers: the table of items as JSON, from which the page makes elements
// with roles, and changes as text.
#pragma once

#include <string>

#include "gui/app/app.h"

namespace recut::page {

class Mirror {
 public:
  // Sends the page all changes since the last call; nothing where there are none.
  void tell(const gui::App& app);

 private:
  void tell_items(const gui::App& app);
  void tell_notices(const gui::App& app);
  void tell_plan(const gui::App& app);

  std::string items_, plan_;
  std::string notice_;
};

}  // namespace recut::page
