// A run's folder on disk: data_dir/run/<task>.<run>/
//
//   log        what it printed, byte for byte
//   index      which stream and when (journal_format.h); and how it ended, once everything else is on disk
//
// Its keeper holds a flock on the folder itself. A folder without an end and without the lock has lost its keeper.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/client.h"
#include "process/wire.h"

namespace errand::process {

inline constexpr const char* runs_name = "run";
inline constexpr const char* log_name = "log";
inline constexpr const char* index_name = "index";

// "<task>.<run>": letters, digits and underscores, a dot, digits. Nothing else may name a folder.
bool is_run_name(std::string_view run);

// What every process of the run has in its environment, so that one that lost its keeper and its supervisor at once is
// still found. It is never used to find the others: a process may clear its environment.
std::string run_marker(const std::string& folder);

std::string_view name(RunEnd::How how);

void put_end(FrameOut& out, const RunEnd& end);
RunEnd get_end(const Fields& fields);

// The record of the end: its length, a checksum, fields. A torn record, or one that is not ours, does not count.
std::string encode_end(const RunEnd& end);
std::optional<RunEnd> decode_end(std::string_view record);
std::optional<RunEnd> read_end(int folder);
// With all of the index, on disk when it returns. 0 or errno.
int write_end(int folder, std::string_view record);
// For a run that printed nothing: does not wait for the disk, because the server stores the end.
int write_end_soon(int runs, const std::string& run, std::string_view record);

// The names in a folder, without "." and "..".
std::vector<std::string> names_in(int folder);
// False also where it cannot be read.
bool is_empty_folder(int folder);

// The run's folder is found after a power cut when it returns: a file's own sync does not promise that. 0 or errno.
int sync_name(int folder);

// Deletes the folder and what is in it. A crash halfway leaves a name that no run has. 0 or errno.
int remove_run(int runs, const std::string& run);
// What such a crash left.
void sweep_removed(int runs);

}  // namespace errand::process
