#include "gui/app/command_subject.h"

#include <algorithm>
#include <iterator>

namespace recut::gui {
namespace {

// The title of a subject, by the beginning of its commands' ids.
struct SubjectRow {
  std::string_view title;
  std::string_view heads;  // with blanks around each
};
constexpr SubjectRow kCommandSubjects[] = {
    {"Documents", " file export rules "},
    {"Plan", " budget plan pin curve device model effort torch work "},
    {"Selection and values", " select search value values "},
    {"Graph", " graph mesh "},
    {"Passes and text", " pass text "},
    {"Memory", " memory timeline measured "},
    {"Comparing", " baseline compare "},
    {"Kernels", " code "},
    {"Running", " run check train debug "},
    {"Lessons", " lesson flow "},
    {"View", " first theme scale panel motion palette help menu "},
    {"Editing", " edit "},
};
constexpr std::size_t kCommandSubjectCount = std::size(kCommandSubjects);

std::string head_of(std::string_view id) { return std::string(id.substr(0, id.find('.'))); }

std::size_t subject_index(const std::string& head) {
  const auto at = std::find_if(std::begin(kCommandSubjects), std::end(kCommandSubjects),
                               [&](const SubjectRow& row) {
                                 return row.heads.find(" " + head + " ") != std::string_view::npos;
                               });
  return static_cast<std::size_t>(at - std::begin(kCommandSubjects));
}

}  // namespace

std::vector<CommandGroup> by_subject(const std::vector<const Command*>& commands) {
  std::vector<CommandGroup> groups(kCommandSubjectCount);
  for (std::size_t i = 0; i < kCommandSubjectCount; ++i)
    groups[i].title = kCommandSubjects[i].title;
  for (const Command* command : commands) {
    const std::string head = head_of(command->id);
    const std::size_t index = subject_index(head);
    if (index < kCommandSubjectCount) {
      groups[index].commands.push_back(command);
      continue;
    }
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const CommandGroup& group) { return group.title == head; });
    if (known != groups.end())
      known->commands.push_back(command);
    else
      groups.push_back({head, {command}});
  }
  std::erase_if(groups, [](const CommandGroup& group) { return group.commands.empty(); });
  return groups;
}

}  // namespace recut::gui
