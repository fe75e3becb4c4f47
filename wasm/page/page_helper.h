// The window's helper in a page: web workers that run the same program (js/helper.js).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gui/backend/helper.h"

namespace recut::page {

class PageHelper : public gui::Helper {
 public:
  void begin(int request_id, bool urgent, const gui::HelperFile& file,
             std::string_view task) override;
  void end(int request_id) override;
  void close(int serial) override;
  std::vector<gui::HelperReply> take_replies() override;

  void give(gui::HelperReply reply) { replies_.push_back(std::move(reply)); }

 private:
  std::set<int> given_;  // files whose bytes the page's scripts have
  std::vector<gui::HelperReply> replies_;
};

}  // namespace recut::page
