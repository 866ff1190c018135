// The tasks of `errand top`: in groups, in order, as far as the filter lets them pass, and which one is selected. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "cli/wire.h"

namespace errand::cli {

enum class Group : uint8_t { needs_you, running, waiting, done };
inline constexpr size_t group_count = 4;
Group group_of(const TaskInfo& task);
std::string_view title_of(Group group);

// A task as far as the screen needs it. All texts are harmless: one line, no escapes, hidden characters shown.
struct TopTask {
  std::string id, title, agent, status, now, work_dir;
  std::string_view style;  // Of the status.
  Group group = Group::done;
  bool command = false;
  bool at_work = false, failed = false, retryable = false;
  int64_t attempt = 0;
  Time created_at, started_at, completed_at;
  std::optional<WaitingInfo> question;  // As it came: not harmless.
  std::string found_by;                 // What the filter looks at: lower case.
  uint64_t load = 0;
};

class TopModel {
 public:
  // Which groups are shown: all of them, one, or those that failed.
  enum class Show : uint8_t { all, needs_you, running, waiting, done, failed };
  static constexpr size_t done_max = 10'000;  // Of those that have ended the newest are kept.

  void put(const TaskInfo& task);
  void progress(const std::string& id, const ProgressInfo& progress);
  void remove(const std::string& id);
  // Around a new reading of all tasks: those that were not put meanwhile are gone.
  void begin_load() { ++load_; }
  void end_load();

  void find(std::string_view text);
  const std::string& found() const { return find_; }
  void show(Show show);
  Show shown() const { return show_; }

  struct Entry {
    Group group = Group::done;
    const TopTask* task = nullptr;  // None: the group's heading.
  };
  // What is shown, in order.
  const std::vector<Entry>& entries();
  size_t count(Group group) const { return counts_[static_cast<size_t>(group)]; }
  size_t size() const { return tasks_.size(); }
  // Older ones that have ended were left out.
  bool cut() const { return cut_; }
  void set_cut() { cut_ = true; }

  // The selected task stays so wherever it goes; where it vanishes the one in its place follows.
  const TopTask* selected();
  size_t selected_at();  // In entries(); 0 where nothing is selected.
  void select_by(int64_t steps);
  void select_first();
  void select_last();
  const TopTask* get(const std::string& id) const;

 private:
  bool passes(const TopTask& task) const;
  void arrange();
  void drop_oldest();

  struct Known {
    TaskInfo info;
    TopTask task;
  };
  void refresh(Known& known);

  std::unordered_map<std::string, std::unique_ptr<Known>> tasks_;
  std::array<size_t, group_count> counts_{};
  std::vector<Entry> entries_;
  bool stale_ = true;
  std::string selected_;
  size_t selected_at_ = 0;
  std::string find_;
  Show show_ = Show::all;
  uint64_t load_ = 0;
  bool cut_ = false;
};

}  // namespace errand::cli
