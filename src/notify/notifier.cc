#include "notify/notifier.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/beside.h"
#include "base/encode.h"
#include "base/log.h"
#include "notify/rules.h"
#include "notify/shapes.h"
#include "notify/web_push.h"

namespace errand::notify {
namespace {

// A clock that was set back must not hold anything for longer than a failure does.
constexpr Millis due_max_ms = 12 * 3'600'000;

std::string say(const Target& target, std::string_view sentence) {
  return fmt::format("{} ({}): {}", target.id, masked(target.url), sentence);
}

std::unexpected<Error> unknown() {
  return fail(Code::not_found, "No webhook has this id. `errand notify list` (GET /api/webhooks) lists the webhooks.");
}

}  // namespace

// A target, what it is owed, and what is under way for it.
struct Notifier::Box {
  explicit Box(Timers& timers) : plan_timer(timers), send_timer(timers) {}

  // The first of each task that is due: in order of their events. `next`: when one is due otherwise; never: none is
  // owed.
  Owed* due(Time now, Time& next) {
    std::set<std::string_view> tasks;
    for (Owed& one : owed) {
      if (!tasks.insert(one.notification.task_id.value).second) continue;
      if (one.due <= now || one.due - now > due_max_ms) return &one;
      if (!next || one.due < next) next = one.due;
    }
    return nullptr;
  }
  // What was begun for it comes to nothing.
  void forget_work() {
    ++epoch;
    planning = false;
    delivery.reset();
    sending.clear();
    plan_timer.cancel();
    send_timer.cancel();
  }

  // --- stored
  Target target;
  Standing standing;
  std::deque<Owed> owed;  // By their events' places.
  int64_t cursor = 0;     // All events up to here were looked at; now and then.

  // --- in memory only
  int64_t stored_cursor = 0;              // How far it has come, as it is stored.
  std::vector<std::string> being_stored;  // Rows of notifications whose commit is under way.
  uint64_t epoch = 0;
  bool planning = false;
  std::unique_ptr<Delivery> delivery;
  std::string sending;  // The id of what it delivers.
  Timer plan_timer, send_timer;
};

struct Notifier::Trial {
  Answer<Outcome> answer;
  std::unique_ptr<Delivery> delivery;
};

Notifier::Notifier(NotifierParts parts)
    : parts_(std::move(parts)), reach_(parts_.private_hosts), ids_(parts_.clock, parts_.random) {}
Notifier::~Notifier() = default;

Notifier::Box* Notifier::box_of(const std::string& id) {
  const auto found = boxes_.find(id);
  return found == boxes_.end() ? nullptr : found->second.get();
}

// --- the start and the stop

Status Notifier::load() {
  const Result<std::vector<Commit::Setting>> rows = parts_.store.settings(std::string(records_prefix));
  if (!rows) return std::unexpected(rows.error());
  seen_ = complete_from_ = parts_.store.last_pos();
  next_mark_ = seen_ + cursor_step;
  for (const Commit::Setting& row : *rows) {
    if (row.name == sender_row) {
      const Result<std::string> key = decode_sender(row.json);
      sender_ = crypto::KeyPair::from_private(key.value_or(""));
      if (!sender_) log_error("notify", fmt::format("{}: a damaged key; phones must be switched on again", row.name));
    }
    if (!row.name.starts_with(target_row(""))) continue;
    Result<Target> target = decode_target(row.json);
    if (!target) {
      log_error("notify", fmt::format("{}: {}", row.name, target.error().message));
      continue;
    }
    auto box = std::make_unique<Box>(parts_.timers);
    box->target = std::move(*target);
    // Where its place is not known, it begins here.
    box->cursor = seen_;
    boxes_[box->target.id] = std::move(box);
  }
  for (auto& [id, box] : boxes_) {
    const std::string owed = owed_row(id, "");
    for (const Commit::Setting& row : *rows) {
      if (row.name == standing_row(id)) {
        Result<Standing> standing = decode_standing(row.json);
        if (standing) box->standing = std::move(*standing);
        if (!standing) log_error("notify", fmt::format("{}: {}", row.name, standing.error().message));
      } else if (row.name == cursor_row(id)) {
        const Result<int64_t> cursor = decode_cursor(row.json);
        if (cursor) box->cursor = *cursor;
        if (!cursor) log_error("notify", fmt::format("{}: {}", row.name, cursor.error().message));
      } else if (row.name.starts_with(owed)) {
        Result<Owed> one = decode_owed(row.json);
        if (one) box->owed.push_back(std::move(*one));
        if (!one) log_error("notify", fmt::format("{}: {}", row.name, one.error().message));
      }
    }
    std::ranges::sort(box->owed, {}, [](const Owed& one) { return one.notification.pos; });
    // Of another database: what it held before is not to be waited for.
    if (box->cursor > seen_) box->cursor = seen_;
    box->stored_cursor = box->cursor;
  }
  return {};
}

void Notifier::start() {
  started_ = true;
  for (auto& [id, box] : boxes_) {
    plan(*box);
    send(*box);
  }
}

void Notifier::stop() {
  started_ = false;
  for (auto& [id, box] : boxes_) box->forget_work();
  trials_.clear();
}

// --- from events to what is owed

void Notifier::stored(const Event& event) {
  seen_ = event.pos;
  if (boxes_.empty()) {
    complete_from_ = seen_;
    recent_.clear();
    return;
  }
  if (const std::optional<Place> place = place_of(event)) {
    recent_.push_back(*place);
    if (recent_.size() > recent_max) {
      complete_from_ = recent_.front().pos;
      recent_.pop_front();
    }
    wake();
  } else if (seen_ >= next_mark_) {
    next_mark_ = seen_ + cursor_step;
    wake();
  }
}

void Notifier::wake() {
  if (!started_ || std::exchange(woken_, true)) return;
  parts_.loop.post([this, here = alive_.watch()] {
    if (here.gone()) return;
    woken_ = false;
    for (auto& [id, box] : boxes_) plan(*box);
  });
}

// Looks for what the target is to be told, from its place on. One look at a time.
void Notifier::plan(Box& box) {
  if (!started_ || !box.target.enabled || box.planning || box.plan_timer.pending()) return;
  const size_t waiting = box.owed.size();
  if (waiting >= owed_max || box.cursor >= seen_) return;
  Search search{.until = seen_, .after = box.cursor, .room = owed_max - waiting};
  if (box.cursor >= complete_from_) {
    constexpr size_t places_max = 64;
    auto at = std::ranges::upper_bound(recent_, box.cursor, {}, &Place::pos);
    for (; at != recent_.end() && search.places.size() < places_max; ++at)
      if (concerns(*at, box.target)) search.places.push_back(at->pos);
    if (search.places.empty()) return pass(box, seen_);
    if (at != recent_.end()) search.until = search.places.back();
  }
  box.planning = true;
  Target rules = box.target;
  // Nobody there needs them.
  rules.url = rules.secret = rules.old_secret = rules.token = rules.push_key = rules.push_auth = {};
  run_then(
      parts_.readers, parts_.loop, alive_.watch(),
      [&store = parts_.store, rules = std::move(rules), search = std::move(search)] {
        return look(store, rules, search);
      },
      [this, id = box.target.id, epoch = box.epoch](Found found) {
        Box* const there = box_of(id);
        if (there != nullptr && there->epoch == epoch) planned(*there, std::move(found));
      });
}

void Notifier::planned(Box& box, Found found) {
  const auto again = [this, id = box.target.id] {
    if (Box* const there = box_of(id)) plan(*there);
  };
  if (found.error) {
    log_warning("notify", say(box.target, "the events cannot be read: " + found.error->message));
    box.planning = false;
    box.plan_timer.set(store_retry_ms, again);
    return;
  }
  if (found.skipped)
    log_warning("notify", say(box.target, "some notifications are lost: the events behind its place are deleted."));
  const Time now = parts_.clock.wall();
  std::vector<Owed> made;
  std::vector<std::string> withdrawn;  // Ids: answered before they were delivered.
  for (Found::News& news : found.news) {
    if (news.notification) {
      news.notification->id = "ntf_" + ids_.task().value.substr(5);
      made.push_back({.notification = std::move(*news.notification), .tries = 0, .due = now});
      continue;
    }
    const Event& answered = *news.answered;
    const auto about = [&](const Owed& one) {
      const Notification& told = one.notification;
      return told.task_id == answered.task_id && told.occasion == Occasion::asked &&
             is_about(answered, told.request_id);
    };
    std::erase_if(made, about);
    for (const Owed& one : box.owed)
      if (about(one)) withdrawn.push_back(one.notification.id);
  }
  if (made.empty() && withdrawn.empty()) {
    box.planning = false;
    pass(box, found.cursor);
    return plan(box);
  }
  std::vector<Commit::Setting> rows = {{cursor_row(box.target.id), encode_cursor(found.cursor)}};
  // They leave at once: a try that fails meanwhile must not store one of them again.
  std::erase_if(box.owed,
                [&](const Owed& one) { return std::ranges::find(withdrawn, one.notification.id) != withdrawn.end(); });
  for (const std::string& id : withdrawn) rows.push_back({owed_row(box.target.id, id), {}});
  for (const Owed& one : made) {
    rows.push_back({owed_row(box.target.id, one.notification.id), encode(one)});
    box.being_stored.push_back(rows.back().name);
  }
  store(std::move(rows), [this, id = box.target.id, epoch = box.epoch, made = std::move(made), cursor = found.cursor,
                          again](const Result<void>& kept) mutable {
    Box* const there = box_of(id);
    if (there == nullptr || there->epoch != epoch) return;
    there->planning = false;
    there->being_stored.clear();
    if (!kept) {
      log_warning("notify", say(there->target, "notifications cannot be stored: " + kept.error().message));
      there->plan_timer.set(store_retry_ms, again);
      return;
    }
    there->cursor = there->stored_cursor = cursor;
    std::ranges::move(made, std::back_inserter(there->owed));
    plan(*there);
    send(*there);
  });
}

// Nothing up to there is owed. That is stored now and then: until then a restart looks once more.
void Notifier::pass(Box& box, int64_t pos) {
  box.cursor = std::max(box.cursor, pos);
  if (box.cursor - box.stored_cursor < cursor_step) return;
  box.stored_cursor = box.cursor;
  keep(box, {{cursor_row(box.target.id), encode_cursor(box.cursor)}});
}

// --- from what is owed to the target

Time Notifier::quiet_end(const Target& target) const {
  const Time now = parts_.clock.wall();
  const Millis offset = parts_.utc_offset ? parts_.utc_offset(now) : 0;
  return quiet_until(target.quiet, now, offset).value_or(Time{});
}

Status Notifier::check(const Target& target) const {
  if (target.shape == Shape::push && !sender_)
    return fail(Code::conflict, "The server's key for phones is not known. Switch the notifications on again there.");
  return reach_.check(target.url, target.shape);
}

http::Request Notifier::request(const Target& target, const Notification& notification) const {
  const Time now = parts_.clock.wall();
  http::Request made = target.shape == Shape::push
                           ? push_request(target, notification, *sender_, parts_.random, parts_.page_url, now)
                           : request_for(target, notification, parts_.page_url, now);
  const std::optional<Url> url = parse_url(target.url);
  made.public_only = !url || !reach_.may_be_private(*url);
  return made;
}

void Notifier::send(Box& box) {
  if (!started_ || !box.target.enabled || !box.sending.empty()) return;
  const Time now = parts_.clock.wall();
  Time next = quiet_end(box.target);
  Owed* const owed = next ? nullptr : box.due(now, next);
  if (owed == nullptr) {
    if (next && !box.owed.empty())
      box.send_timer.set(std::clamp<Millis>(next - now, 1, due_max_ms), [this, id = box.target.id] {
        if (Box* const there = box_of(id)) send(*there);
      });
    return;
  }
  box.send_timer.cancel();
  box.sending = owed->notification.id;
  // Looked at again at each try: the settings may be others than when it was added.
  if (const Status reachable = check(box.target); !reachable) {
    return parts_.loop.post([this, here = alive_.watch(), id = box.target.id, sent = box.sending,
                             outcome = Outcome{.error = reachable.error().message}] {
      Box* const there = here.gone() ? nullptr : box_of(id);
      if (there != nullptr && there->sending == sent) tried(*there, sent, outcome);
    });
  }
  box.delivery = std::make_unique<Delivery>(parts_.client, request(box.target, owed->notification),
                                            [this, id = box.target.id, sent = box.sending](const Outcome& outcome) {
                                              if (Box* const there = box_of(id)) tried(*there, sent, outcome);
                                            });
}

void Notifier::tried(Box& box, const std::string& id, const Outcome& outcome) {
  box.delivery.reset();
  box.sending.clear();
  const Time now = parts_.clock.wall();
  Standing& standing = box.standing;
  if (outcome.delivered()) {
    ++standing.delivered;
    standing.delivered_at = now;
    standing.error.clear();
    standing.error_at = {};
  } else {
    standing.error = outcome.error;
    standing.error_at = now;
  }
  if (box.target.shape == Shape::push && (outcome.status == 404 || outcome.status == 410)) return forget(box);
  if (outcome.status == 410)
    return give_up_on(box, "The receiver answered 410: it is gone and wants no more notifications.");
  const auto owed = std::ranges::find(box.owed, id, [](const Owed& one) { return one.notification.id; });
  // Not there any more: a question was answered while it was sent.
  if (owed != box.owed.end()) {
    std::string row = owed_row(box.target.id, id);
    const std::optional<Millis> wait =
        outcome.delivered() ? std::nullopt : next_try(++owed->tries, parts_.random.next(), outcome.retry_after_ms);
    if (wait) {
      owed->due = now + *wait;
      std::string json = encode(*owed);
      keep(box, {{std::move(row), std::move(json)}});
    } else {
      if (!outcome.delivered()) {
        ++standing.given_up;
        log_warning("notify",
                    say(box.target, fmt::format("{} is given up after {} tries. {}", id, owed->tries, outcome.error)));
      }
      box.owed.erase(owed);
      keep(box, {{std::move(row), {}}});
    }
  }
  plan(box);  // There is room.
  send(box);
}

void Notifier::drop_owed(Box& box, std::vector<Commit::Setting>& rows) {
  for (const Owed& one : box.owed) rows.push_back({owed_row(box.target.id, one.notification.id), {}});
  for (const std::string& row : box.being_stored) rows.push_back({row, {}});
  box.being_stored.clear();
  box.owed.clear();
  box.forget_work();
}

void Notifier::give_up_on(Box& box, const std::string& sentence) {
  log_warning("notify", say(box.target, sentence + " It is switched off."));
  std::vector<Commit::Setting> rows;
  drop_owed(box, rows);
  box.target.enabled = false;
  box.target.disabled_because = sentence;
  rows.push_back({target_row(box.target.id), encode(box.target)});
  keep(box, std::move(rows));
}

// The browser has dropped its subscription. It makes another one where it is asked to.
void Notifier::forget(Box& box) {
  const std::string id = box.target.id;
  log_info("notify", say(box.target, "its push service does not know it any more: it is forgotten."));
  remove(id, [id](const Result<void>& gone) {
    if (!gone) log_warning("notify", fmt::format("{}: it cannot be forgotten: {}", id, gone.error().message));
  });
}

// --- what is stored

void Notifier::store(std::vector<Commit::Setting> rows, Answer<void> done) {
  std::vector<Commit> group(1);
  group[0].settings = std::move(rows);
  group[0].now = parts_.clock.wall();
  parts_.store.commit(std::move(group),
                      [here = alive_.watch(), done = std::move(done)](std::vector<Result<Committed>> answers) mutable {
                        if (here.gone()) return;
                        if (!answers[0]) return done(std::unexpected(answers[0].error()));
                        done({});
                      });
}

// What is only to be remembered. Where it cannot be, a restart sends a notification once more, which is allowed.
void Notifier::keep(Box& box, std::vector<Commit::Setting> rows) {
  rows.push_back({standing_row(box.target.id), encode(box.standing)});
  store(std::move(rows), [id = box.target.id](const Result<void>& kept) {
    if (!kept) log_warning("notify", fmt::format("{}: its state cannot be stored: {}", id, kept.error().message));
  });
}

// --- what callers ask for

TargetView Notifier::view_of(const Box& box) const {
  TargetView view{.target = box.target, .standing = box.standing, .waiting = box.owed.size(), .next_try = {}};
  if (!box.target.enabled || box.owed.empty()) return view;
  const Time now = parts_.clock.wall(), quiet = quiet_end(box.target);
  Time next;
  const Owed* const due = const_cast<Box&>(box).due(now, next);
  view.next_try = std::max(due != nullptr ? now : next, quiet);
  return view;
}

std::vector<TargetView> Notifier::list() const {
  std::vector<TargetView> all;
  all.reserve(boxes_.size());
  for (const auto& [id, box] : boxes_) all.push_back(view_of(*box));
  return all;
}

Result<TargetView> Notifier::find(const std::string& id) const {
  const auto found = boxes_.find(id);
  if (found == boxes_.end()) return unknown();
  return view_of(*found->second);
}

size_t Notifier::count(bool phones) const {
  return static_cast<size_t>(std::ranges::count_if(
      boxes_, [&](const auto& entry) { return (entry.second->target.shape == Shape::push) == phones; }));
}

void Notifier::push_key(Answer<std::string> answer) {
  if (sender_) return answer(sender_->public_key());
  sender_asked_.push_back(std::move(answer));
  if (sender_asked_.size() > 1) return;  // It is being made.
  crypto::KeyPair made = crypto::KeyPair::make(parts_.random);
  std::string row = encode_sender(made.private_key());
  store({{std::string(sender_row), std::move(row)}}, [this, made = std::move(made)](const Result<void>& kept) mutable {
    if (kept) sender_ = std::move(made);
    for (Answer<std::string>& each : std::exchange(sender_asked_, {})) {
      if (kept)
        each(sender_->public_key());
      else
        each(std::unexpected(kept.error()));
    }
  });
}

void Notifier::subscribe(Target target, Answer<TargetView> answer) {
  if (const Status good = check(target); !good) return answer(std::unexpected(good.error()));
  Box* const box = box_of(target.id);
  if (box == nullptr) {
    if (count(true) >= pushed_max)
      return answer(
          fail(Code::exhausted, "This server tells as many phones as it can. Revoke one: errand device list"));
    target.created_at = parts_.clock.wall();
    return insert(std::move(target), std::move(answer));
  }
  target.created_at = box->target.created_at;
  box->target = std::move(target);
  store({{target_row(box->target.id), encode(box->target)}},
        [this, id = box->target.id, answer = std::move(answer)](const Result<void>& kept) mutable {
          if (!kept) return answer(std::unexpected(kept.error()));
          answer(find(id));
          if (Box* const there = box_of(id)) plan(*there);
        });
}

void Notifier::add(Target target, Answer<TargetView> answer) {
  if (count(false) >= targets_max)
    return answer(fail(Code::exhausted, fmt::format("This server has {} webhooks, as many as it takes. Remove one: "
                                                    "errand notify list",
                                                    targets_max)));
  if (const Status good = reach_.check(target.url, target.shape); !good) return answer(std::unexpected(good.error()));
  if (target.shape == Shape::standard && target.secret.empty()) target.secret = make_secret(parts_.random);
  target.id = "hook_" + ids_.task().value.substr(5);
  target.created_at = parts_.clock.wall();
  insert(std::move(target), std::move(answer));
}

void Notifier::insert(Target target, Answer<TargetView> answer) {
  const int64_t cursor = seen_;
  std::vector<Commit::Setting> rows = {{target_row(target.id), encode(target)},
                                       {cursor_row(target.id), encode_cursor(cursor)}};
  store(std::move(rows),
        [this, target = std::move(target), cursor, answer = std::move(answer)](const Result<void>& kept) mutable {
          if (!kept) return answer(std::unexpected(kept.error()));
          auto made = std::make_unique<Box>(parts_.timers);
          Box& box = *made;
          box.target = std::move(target);
          box.cursor = box.stored_cursor = cursor;
          boxes_[box.target.id] = std::move(made);
          answer(view_of(box));
          plan(box);
        });
}

void Notifier::change(const std::string& id, TargetChange change, Answer<TargetView> answer) {
  Box* const box = box_of(id);
  if (box == nullptr) return answer(unknown());
  Target& target = box->target;
  if (change.name) target.name = std::move(*change.name);
  if (change.on) target.on = *change.on;
  if (change.content) target.content = *change.content;
  if (change.subtasks) target.subtasks = *change.subtasks;
  if (change.quiet) target.quiet = *change.quiet;
  std::vector<Commit::Setting> rows;
  if (change.enabled && *change.enabled != target.enabled) {
    target.enabled = *change.enabled;
    target.disabled_because.clear();
    drop_owed(*box, rows);
    box->cursor = box->stored_cursor = seen_;
    rows.push_back({cursor_row(id), encode_cursor(seen_)});
  }
  rows.push_back({target_row(id), encode(target)});
  store(std::move(rows), [this, id, answer = std::move(answer)](const Result<void>& kept) mutable {
    if (!kept) return answer(std::unexpected(kept.error()));
    Box* const there = box_of(id);
    if (there == nullptr) return answer(unknown());
    answer(view_of(*there));
    plan(*there);
    send(*there);
  });
}

void Notifier::remove(const std::string& id, Answer<void> answer) {
  Box* const box = box_of(id);
  if (box == nullptr) return answer(unknown());
  std::vector<Commit::Setting> rows = {{target_row(id), {}}, {standing_row(id), {}}, {cursor_row(id), {}}};
  drop_owed(*box, rows);
  boxes_.erase(id);
  store(std::move(rows), std::move(answer));
}

void Notifier::rotate(const std::string& id, Answer<TargetView> answer) {
  Box* const box = box_of(id);
  if (box == nullptr) return answer(unknown());
  if (box->target.shape != Shape::standard)
    return answer(fail(Code::conflict, "Only a webhook of the shape `standard` is signed, and has a secret."));
  Target& target = box->target;
  target.old_secret = std::exchange(target.secret, make_secret(parts_.random));
  target.old_until = parts_.clock.wall() + rotation_ms;
  store({{target_row(id), encode(target)}}, [this, id, answer = std::move(answer)](const Result<void>& kept) mutable {
    if (!kept) return answer(std::unexpected(kept.error()));
    answer(find(id));
  });
}

void Notifier::test(const std::string& id, Answer<Outcome> answer) {
  const Box* const box = box_of(id);
  if (box == nullptr) return answer(unknown());
  if (trials_.size() >= tests_max)
    return answer(fail(Code::exhausted, "Other tests are under way. Try again in a few seconds."));
  if (const Status good = check(box->target); !good) return answer(Outcome{.error = good.error().message});
  Notification notification = test_notification(parts_.clock.wall());
  notification.id = "ntf_" + ids_.task().value.substr(5);
  const uint64_t key = ++last_trial_;
  auto trial = std::make_unique<Trial>();
  trial->answer = std::move(answer);
  trial->delivery =
      std::make_unique<Delivery>(parts_.client, request(box->target, notification), [this, key](Outcome outcome) {
        auto done = trials_.extract(key);
        if (!done.empty()) done.mapped()->answer(std::move(outcome));
      });
  trials_[key] = std::move(trial);
}

}  // namespace errand::notify
