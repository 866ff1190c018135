// Sessions, messages, notices, keys, settings, retention.
#include <fmt/format.h>

#include "task/json.h"
#include "tests/contract/store_contract.h"

namespace errand {
namespace {

TEST_P(StoreContract, ASessionIsInsertedOnceAndStaysAsItIs) {
  Session session = new_session();
  Commit first = bare();
  first.session = session;
  store_it(std::move(first));
  EXPECT_EQ(store().session(session.id), session);
  Commit second = bare();
  second.session = session;
  second.session->title = "Another title";
  store_it(std::move(second));
  EXPECT_EQ(store().session(session.id), session);
  const Result<Session> unknown = store().session(SessionId("ses_never"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::not_found);
}

TEST_P(StoreContract, MessagesAreNumberedAndComeBackWhole) {
  Session session = new_session();
  Commit commit = bare();
  commit.session = session;
  Message first = new_message(session.id, Role::user, "你好 \"x\"");
  first.completed_at = {};
  Message second = new_message(session.id, Role::assistant);
  second.turn = 3;
  second.interrupted = true;
  second.parts = {
      Part{.type = PartType::reasoning, .text = "hm"},
      Part{.type = PartType::tool_call, .call_id = "c1", .name = "bash", .input = R"({"command":"ls"})"},
      Part{.type = PartType::tool_result,
           .text = "a.txt",
           .call_id = "c1",
           .is_error = true,
           .truncated = true,
           .size = 9,
           .ms = 5},
      Part{.type = PartType::file, .name = "f.png", .size = 3, .media_type = "image/png", .url = "data:,x"},
      Part{.type = PartType::notice, .text = "A task has ended."},
  };
  commit.messages = {first, second};
  const Committed stored = store_it(std::move(commit));
  EXPECT_EQ(stored.message_seqs, (std::vector<int64_t>{1, 2}));
  first.seq = 1;
  second.seq = 2;
  EXPECT_EQ(store().messages(session.id, 0, 0, 10)->messages, (std::vector{first, second}));
  EXPECT_EQ(store().message(second.id), second);
  EXPECT_EQ(store().session(session.id)->last_message, 2);

  // Replaced: it keeps its place.
  first.completed_at = later();
  first.parts[0].text = "changed";
  Commit again = bare();
  again.messages = {first};
  again.messages[0].seq = 0;
  EXPECT_EQ(store_it(std::move(again)).message_seqs, std::vector<int64_t>{1});
  EXPECT_EQ(store().message(first.id), first);
  EXPECT_EQ(store().session(session.id)->last_message, 2);
}

TEST_P(StoreContract, MessagesGoOnBehindTheLastAlsoAfterARestart) {
  Session session = new_session();
  Commit commit = bare();
  commit.session = session;
  commit.messages = {new_message(session.id)};
  store_it(std::move(commit));
  reopen();
  Commit more = bare();
  more.messages = {new_message(session.id), new_message(session.id)};
  more.messages[1].seq = 3;  // The right number may be said.
  EXPECT_EQ(store_it(std::move(more)).message_seqs, (std::vector<int64_t>{2, 3}));
}

TEST_P(StoreContract, AMessageWithAWrongNumberOrSessionIsRefused) {
  Session one = new_session(), two = new_session();
  Commit commit = bare();
  commit.session = one;
  commit.messages = {new_message(one.id)};
  Message known = commit.messages[0];
  store_it(std::move(commit));
  commit = bare();
  commit.session = two;
  store_it(std::move(commit));

  Commit wrong = bare();
  wrong.messages = {new_message(one.id)};
  wrong.messages[0].seq = 7;
  Result<Committed> refused = this->commit(std::move(wrong));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid_argument);

  Commit moved = bare();
  known.session_id = two.id;
  moved.messages = {known};
  refused = this->commit(std::move(moved));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid_argument);

  Commit nowhere = bare();
  nowhere.messages = {new_message(one.id), new_message(SessionId("ses_never"))};
  refused = this->commit(std::move(nowhere));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_found);
  EXPECT_EQ(store().session(one.id)->last_message, 1) << "a refused commit writes nothing";
}

TEST_P(StoreContract, MessagesArePagedFromBothEnds) {
  Session session = new_session();
  Commit commit = bare();
  commit.session = session;
  for (int i = 1; i <= 10; ++i) commit.messages.push_back(new_message(session.id));
  store_it(std::move(commit));
  const auto seqs = [&](int64_t after, int64_t before, int limit) {
    std::vector<int64_t> out;
    const MessagePage page = *store().messages(session.id, after, before, limit);
    for (const Message& message : page.messages) out.push_back(message.seq);
    return std::pair(out, page.more);
  };
  using Expected = std::pair<std::vector<int64_t>, bool>;
  EXPECT_EQ(seqs(0, 0, 3), (Expected{{1, 2, 3}, true}));
  EXPECT_EQ(seqs(8, 0, 3), (Expected{{9, 10}, false}));
  EXPECT_EQ(seqs(7, 0, 3), (Expected{{8, 9, 10}, false}));
  EXPECT_EQ(seqs(10, 0, 3), (Expected{{}, false}));
  EXPECT_EQ(seqs(0, 11, 3), (Expected{{8, 9, 10}, true}));
  EXPECT_EQ(seqs(0, 4, 3), (Expected{{1, 2, 3}, false}));
  EXPECT_EQ(seqs(0, 1, 3), (Expected{{}, false}));
  EXPECT_EQ(seqs(2, 9, 3), (Expected{{3, 4, 5}, true}));
  EXPECT_FALSE(store().messages(SessionId("ses_never"), 0, 0, 3));
}

// R5.6: a page that opens in the middle of a turn shows what was said so far.
TEST_P(StoreContract, AnOpenMessageIsPutTogetherFromItsEvents) {
  Task task = new_task();
  Commit commit = commit_of(task);
  Session session = new_session("task");
  session.id = task.session_id;
  session.task_id = task.id;
  commit.session = session;
  Message message = new_message(task.session_id, Role::assistant);
  message.completed_at = {};
  message.parts.clear();
  commit.messages = {message};
  auto after = std::make_shared<Task>(*commit.after);
  const auto put = [&](Commit& into, Event event) {
    event.task_id = task.id;
    event.seq = ++after->last_seq;
    into.events.push_back(std::move(event));
  };
  // What an earlier message said is not part of it.
  put(commit, delta_event(MessageId("msg_earlier"), 0, "before", now_, PartType::text));
  put(commit, message_event(EventType::message_created, message, now_));
  put(commit, delta_event(message.id, 0, "Hello, ", now_, PartType::text));
  commit.after = after;
  store_it(std::move(commit));

  after = std::make_shared<Task>(next(*after));
  Commit more = bare();
  more.task_id = task.id;
  more.before_version = 1;
  put(more, delta_event(message.id, 0, "world", now_, PartType::text));
  put(more, tool_started_event(
                message.id, Part{.type = PartType::tool_call, .call_id = "c1", .name = "bash", .input = "{}"}, now_));
  more.after = after;
  store_it(std::move(more));

  const MessagePage page = *store().messages(task.session_id, 0, 0, 10);
  ASSERT_EQ(page.messages.size(), 1u);
  EXPECT_EQ(page.task_seq, 5);
  ASSERT_EQ(page.messages[0].parts.size(), 2u);
  EXPECT_EQ(page.messages[0].parts[0].text, "Hello, world");
  EXPECT_EQ(page.messages[0].parts[1].call_id, "c1");
  EXPECT_EQ(store().message(message.id), page.messages[0]);

  // Cut: later events belong to others.
  after = std::make_shared<Task>(next(*after));
  Commit cut = bare();
  cut.task_id = task.id;
  cut.before_version = 2;
  message.completed_at = later();
  message.interrupted = true;
  put(cut, message_event(EventType::message_completed, message, now_));
  put(cut, delta_event(MessageId("msg_later"), 0, "after", now_, PartType::text));
  cut.messages = {message};
  cut.after = after;
  store_it(std::move(cut));
  const Message shown = *store().message(message.id);
  EXPECT_TRUE(shown.interrupted);
  EXPECT_EQ(shown.parts, page.messages[0].parts);
}

TEST_P(StoreContract, NoticesAreNumberedInTheirSession) {
  const Task task = add(new_task());
  const SessionId one("ses_one"), two("ses_two");
  Commit commit = bare();
  commit.notices = {new_notice(task, one), new_notice(task, two), new_notice(task, one), new_notice(task, SessionId())};
  std::vector<Notice> expected = commit.notices;
  const Committed stored = store_it(std::move(commit));
  EXPECT_EQ(stored.notice_seqs, (std::vector<int64_t>{1, 1, 2, 0}));
  for (size_t i = 0; i < expected.size(); ++i) expected[i].seq = stored.notice_seqs[i];
  EXPECT_EQ(*store().notices(one, 0, 10), (std::vector{expected[0], expected[2]}));
  EXPECT_EQ(*store().notices(one, 1, 10), std::vector{expected[2]});
  EXPECT_EQ(*store().notices(one, 0, 1), std::vector{expected[0]});
  EXPECT_EQ(*store().notices(two, 0, 10), std::vector{expected[1]});
  EXPECT_TRUE(store().notices(SessionId(), 0, 10)->empty()) << "without a parent it is recorded only";
  EXPECT_EQ(store().notice(expected[3].id), expected[3]);
  EXPECT_EQ(store().notices_of_task(task.id)->size(), 4u);
  EXPECT_EQ(store().session(one)->last_notice, 2) << "a foreign parent is known by its notices";
  reopen();
  Commit more = bare();
  more.notices = {new_notice(task, one)};
  EXPECT_EQ(store_it(std::move(more)).notice_seqs, std::vector<int64_t>{3});
}

TEST_P(StoreContract, ANoticeIsTakenOnce) {
  const Task task = add(new_task());
  const SessionId parent("ses_parent");
  Commit commit = bare();
  commit.notices = {new_notice(task, parent), new_notice(task, parent)};
  const NoticeId first = commit.notices[0].id, second = commit.notices[1].id;
  store_it(std::move(commit));
  Commit take = bare();
  const Time when = now_;
  take.taken = {first, NoticeId("ntc_never")};
  store_it(std::move(take));
  later();
  Commit again = bare();
  again.taken = {first};
  store_it(std::move(again));
  EXPECT_EQ(store().notice(first)->taken_at, when);
  ASSERT_EQ(store().notices(parent, 0, 10)->size(), 1u);
  EXPECT_EQ(store().notices(parent, 0, 10)->front().id, second);
  EXPECT_EQ(store().notices_of_task(task.id)->size(), 2u) << "taken ones too";
}

TEST_P(StoreContract, NoticesStayUntilTheyAreTakenAlsoWhenTheirTaskGoes) {
  const Task task = add(new_task());
  const SessionId parent("ses_parent");
  Commit commit = bare();
  commit.notices = {new_notice(task, parent), new_notice(task, parent), new_notice(task, SessionId())};
  const NoticeId taken = commit.notices[0].id, owed = commit.notices[1].id, recorded = commit.notices[2].id;
  store_it(std::move(commit));
  Commit take = bare();
  take.taken = {taken};
  store_it(std::move(take));
  store_it(removal(task));
  EXPECT_FALSE(store().notice(taken));
  EXPECT_FALSE(store().notice(recorded));
  ASSERT_TRUE(store().notice(owed));
  take = bare();
  take.taken = {owed};
  store_it(std::move(take));
  EXPECT_TRUE(store().notices(parent, 0, 10)->empty());
}

TEST_P(StoreContract, ASessionGoesWithItsMessagesAndNotices) {
  Session session = new_session();
  const Task task = add(new_task());
  Commit commit = bare();
  commit.session = session;
  commit.messages = {new_message(session.id)};
  commit.notices = {new_notice(task, session.id)};
  const MessageId message = commit.messages[0].id;
  const NoticeId notice = commit.notices[0].id;
  store_it(std::move(commit));
  Commit end = bare();
  end.remove_session = session.id;
  store_it(std::move(end));
  EXPECT_FALSE(store().session(session.id));
  EXPECT_FALSE(store().message(message));
  EXPECT_FALSE(store().notice(notice));
  EXPECT_TRUE(store().get(task.id));
  // It may be opened again, and counts from one.
  commit = bare();
  commit.session = session;
  commit.messages = {new_message(session.id)};
  EXPECT_EQ(store_it(std::move(commit)).message_seqs, std::vector<int64_t>{1});
}

TEST_P(StoreContract, ASessionsOwnSettingsGoWithItAndNobodyElses) {
  Session session = new_session();
  session.id = SessionId("ses_a");
  Task task = new_task();
  Commit commit = commit_of(task, 1);
  commit.session = new_session("task");
  commit.session->id = task.session_id;
  commit.session->task_id = task.id;
  const std::string of_task = session_setting_prefix(task.session_id) + "note";
  commit.settings = {{of_task, "1"}};
  task = *commit.after;
  store_it(std::move(commit));
  commit = bare();
  commit.session = session;
  commit.settings = {
      {"session/ses_a/x", "1"}, {"session/ses_a/y/z", "2"}, {"session/ses_ab/x", "3"}, {"session/ses_a0", "4"}};
  store_it(std::move(commit));
  EXPECT_EQ(store().settings(session_setting_prefix(session.id))->size(), 2u);
  Commit end = bare();
  end.remove_session = session.id;
  store_it(std::move(end));
  reopen();
  std::vector<std::string> names;
  for (const Commit::Setting& setting : *store().settings("session/")) names.push_back(setting.name);
  EXPECT_EQ(names.size(), 3u) << "those of ses_ab, ses_a0 and the task stay";
  store_it(removal(task, Gone::cleared));
  EXPECT_TRUE(store().settings(of_task)->empty());
  EXPECT_EQ(store().settings("session/")->size(), 2u);
}

TEST_P(StoreContract, ATaskGoesWithItsSession) {
  Task task = new_task();
  Commit commit = commit_of(task, 1);
  Session session = new_session("task");
  session.id = task.session_id;
  session.task_id = task.id;
  commit.session = session;
  commit.messages = {new_message(task.session_id)};
  const MessageId message = commit.messages[0].id;
  task = *commit.after;
  store_it(std::move(commit));
  // A child of it owes its session a notice; nobody is left to take it.
  Task child = completed(new_task());
  child.version = 1;
  child.expires_at = now_;
  child = add(child);
  Commit notice = bare();
  notice.notices = {new_notice(child, task.session_id)};
  store_it(std::move(notice));
  EXPECT_TRUE(store().expired(now_, 10)->empty());
  store_it(removal(task));
  EXPECT_FALSE(store().session(task.session_id));
  EXPECT_FALSE(store().message(message));
  EXPECT_EQ(*store().expired(now_, 10), std::vector{child.id});
}

TEST_P(StoreContract, AKeyIsUsedOnce) {
  Commit commit = commit_of(new_task());
  commit.key = Commit::Key{"key 1", "print", commit.task_id};
  const TaskId id = commit.task_id;
  EXPECT_EQ(*store().find_key("key 1"), std::nullopt);
  Commit same_group = commit_of(new_task());
  same_group.key = Commit::Key{"key 1", "print", same_group.task_id};
  const TaskId refused_id = same_group.task_id;
  std::vector<Commit> group;
  group.push_back(std::move(commit));
  group.push_back(std::move(same_group));
  const Answers answers = commit_all(std::move(group));
  EXPECT_TRUE(answers[0]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().code, Code::conflict);
  EXPECT_EQ(answers[1].error().reason, "idempotency_key");
  EXPECT_FALSE(store().get(refused_id));
  reopen();
  const std::optional<Commit::Key> key = *store().find_key("key 1");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->task_id, id);
  EXPECT_EQ(key->fingerprint, "print");
}

TEST_P(StoreContract, SettingsAreStoredChangedAndRemoved) {
  Commit commit = bare();
  commit.settings = {{"agent.b", R"({"n":1})"}, {"agent.a", "1"}, {"server", "{}"}};
  store_it(std::move(commit));
  commit = bare();
  commit.settings = {{"agent.b", R"({"n":2})"}, {"server", ""}};
  store_it(std::move(commit));
  reopen();
  const auto agents = *store().settings("agent.");
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_EQ(agents[0].name, "agent.a");
  EXPECT_EQ(agents[1].json, R"({"n":2})");
  EXPECT_EQ(store().settings("")->size(), 2u);
}

// R3.3, R5.5: past its retention, at rest, and only when the parent knows.
TEST_P(StoreContract, TasksExpireAtRestAndWhenTheirNoticesAreTaken) {
  EXPECT_EQ(*store().next_expiry(), Time{});
  const auto mortal = [&](Time when) {
    Task task = completed(new_task());
    task.version = 1;
    task.expires_at = when;
    return add(task);
  };
  const Task late = mortal(now_ + 50), soon = mortal(now_ + 10), owing = mortal(now_ + 5), recorded = mortal(now_ + 20);
  Task busy = new_task();
  busy.expires_at = now_ + 1;
  add(busy);
  update(completed(add(new_task())));  // Stays for ever.
  Commit commit = bare();
  commit.notices = {new_notice(owing, SessionId("ses_parent")), new_notice(recorded, SessionId())};
  const NoticeId notice = commit.notices[0].id;
  store_it(std::move(commit));

  EXPECT_EQ(*store().next_expiry(), now_ + 10);
  EXPECT_TRUE(store().expired(now_ + 9, 10)->empty());
  EXPECT_EQ(*store().expired(now_ + 50, 10), (std::vector{soon.id, recorded.id, late.id}));
  EXPECT_EQ(*store().expired(now_ + 50, 1), std::vector{soon.id});
  Commit take = bare();
  take.taken = {notice};
  store_it(std::move(take));
  EXPECT_EQ(*store().next_expiry(), now_ + 5);
  EXPECT_EQ(store().expired(now_ + 50, 10)->front(), owing.id);
}

}  // namespace
}  // namespace errand
