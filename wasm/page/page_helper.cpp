#include "wasm/page/page_helper.h"

#include <utility>

#include "wasm/page/bridge.h"

namespace recut::page {

void PageHelper::begin(int request_id, bool urgent, const gui::HelperFile& file,
                       std::string_view task) {
  if (given_.insert(file.serial).second)
    host_helper_file(file.serial, file.path.c_str(), file.bytes->data(), file.bytes->size());
  host_helper_begin(request_id, urgent ? 1 : 0, file.serial, task.data(), task.size());
}

void PageHelper::end(int request_id) { host_helper_end(request_id); }

void PageHelper::close(int serial) {
  if (given_.erase(serial) != 0) host_helper_close(serial);
}

std::vector<gui::HelperReply> PageHelper::take_replies() { return std::exchange(replies_, {}); }

}  // namespace recut::page
