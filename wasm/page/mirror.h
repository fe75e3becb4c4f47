// What stands on the screen, for those who don't see it: the table of items as JSON, from which the
// page makes elements with roles, and what changed in words.
#pragma once

#include <string>

#include "gui/app/app.h"

namespace recut::page {

class Mirror {
 public:
  // Tells the page what is new since the last time; nothing where nothing is.
  void tell(const gui::App& app);

 private:
  void tell_items(const gui::App& app);
  void tell_notices(const gui::App& app);
  void tell_plan(const gui::App& app);

  std::string items_, plan_;
  std::string notice_;
};

}  // namespace recut::page
