// What parent sessions may ask for (sessions.h): opening and ending them, and what they are owed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/commits.h"
#include "engine/feeds.h"
#include "engine/lives.h"
#include "engine/parents.h"
#include "engine/removal.h"
#include "engine/retention.h"
#include "engine/session_notes.h"
#include "engine/sessions.h"
#include "engine/shared.h"
#include "engine/waiters.h"

namespace errand {

class SessionCalls final : public Sessions {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    Commits& commits;
    Lives& lives;
    Parents& parents;
    Removal& removal;
    Retention& retention;
    Feeds& feeds;
    SessionNotes& notes;
  };
  explicit SessionCalls(Rooms rooms);

  void open_session(Session session, Reply<Session> reply) override;
  void end_session(SessionId id, Reply<int64_t> reply) override;
  void notices(SessionId id, int64_t after, int limit, Millis block_ms, Reply<std::vector<Notice>> reply) override;
  void take_notice(SessionId session, NoticeId id, Reply<Notice> reply) override;
  void session_state(SessionId id, Reply<std::vector<StatePiece>> reply) override;
  void keep_state(SessionId id, std::string key, std::optional<std::string> value, Reply<void> reply) override;

  // A notice was made for this session, or the session has ended: those who wait for one read again.
  void wake(const SessionId& id);
  // The server leaves: those who wait are answered.
  void dismiss() { waiters_.dismiss(); }

 private:
  void end_on(SessionId id, int64_t removed_before, Reply<int64_t> reply);
  void end_empty(const SessionId& id, int64_t removed, Reply<int64_t> reply);
  void read_notices(SessionId id, int64_t after, int limit, Reply<std::vector<Notice>> reply);
  void await_notices(SessionId id, int64_t after, int limit, Millis block_ms, Reply<std::vector<Notice>> reply);
  void take_notices(std::vector<Notice> notices, Reply<void> reply);

  Shared& shared_;
  Commits& commits_;
  Lives& lives_;
  Parents& parents_;
  Removal& removal_;
  Retention& retention_;
  Feeds& feeds_;
  SessionNotes& notes_;
  Waiters<SessionId> waiters_;  // For notices.
};

}  // namespace errand
