// Recovery: after a start, what was at work is taken up or settled, what waited waits again, what has no task is ended.
// It makes the derived state of all other parts from what is stored, once, before anything else. Engine thread only.
#pragma once

#include "engine/admin_calls.h"
#include "engine/agents.h"
#include "engine/batches.h"
#include "engine/lives.h"
#include "engine/quotas.h"
#include "engine/retention.h"
#include "engine/shared.h"
#include "engine/slots.h"
#include "engine/starts.h"
#include "engine/turns.h"

namespace errand {

class Recovery {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    const Agents& agents;
    AdminCalls& admin;
    Slots& slots;
    Quotas& quotas;
    Batches& batches;
    Lives& lives;
    Starts& starts;
    Turns& turns;
    Retention& retention;
  };
  explicit Recovery(Rooms rooms) : shared_(rooms.shared), agents_(rooms.agents), rooms_(rooms) {}

  // Answers when the server may listen. Where the store cannot be read nothing was taken up.
  void recover(Reply<void> reply);

 private:
  struct Found;
  static Result<Found> read(Store& store);
  void take_up(Found found);
  void end_orphans();

  Shared& shared_;
  const Agents& agents_;
  Rooms rooms_;
};

}  // namespace errand
