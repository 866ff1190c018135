// The words of the protocol, over wire.h's frames.
//
// A request has `op`, `id` and mostly `run`; its reply has `re` (the id), and `code` and `message` where it failed. All
// requests may be repeated safely: a client does so after a lost connection. The code `unavailable` means that this
// supervisor is exiting: the client repeats the request to the next one.
//   hello  version build [orphan]           -> version build, and what it can do (put_abilities)
//   spawn  run arg* env* dir ...            -> ; subscribes
//   attach run                              -> number: the last frame of input taken, of a live run; subscribes
//   forget run                              ->
//   stop   run [grace]                      ->
//   input  run number bytes                 -> number: the last one taken; `again` where this one was taken before.
//                                              Number 0 only asks.
//   close_input run                         ->
//   usage  run                              -> cpu_us memory processes io states
//   release_journal run offset              ->
//   release run                             ->
//   list                                    -> (run total)*: the live ones
//   retire                                  -> ; leaves as soon as no run is alive
// Told to those who subscribed: `event` output (run total), used (run cpu_us memory processes), ended (run, how ...).
#pragma once

#include <string>

#include <sys/un.h>

#include "base/result.h"
#include "process/client.h"
#include "process/wire.h"

namespace errand::process {

inline constexpr const char* socket_name = "supervisor.sock";
// The socket in the data folder, through its descriptor: a path of any length fits.
sockaddr_un socket_address(int data_dir);

void put_spawn(FrameOut& out, const SpawnRequest& request);
// Refuses a request that cannot be run or could do harm: a wrong name of a run, bytes that C strings cannot hold.
Result<SpawnRequest> get_spawn(const Fields& fields);

void put_abilities(FrameOut& out, const Abilities& abilities);
Abilities get_abilities(const Fields& fields);

void put_error(FrameOut& out, const Error& error);
// The error of a reply, or success.
Status get_status(const Fields& fields);

std::string ended_frame(const std::string& run, const RunEnd& end);

// Tells one build of the binary from another, so that a supervisor of an older one is replaced when it is idle.
std::string build_of(const char* file);

}  // namespace errand::process
