#include "api/query.h"

#include <gtest/gtest.h>

namespace errand::api {
namespace {

template <class T>
std::string wrong(const Result<T>& result) {
  return result ? "" : result.error().message;
}

TEST(ParseList, TakesEveryParameter) {
  const auto list = parse_list({{"status", "running,resumed, running"},
                                {"waiting_for", "permission, answer,answer,quota"},
                                {"agent_id", "demo"},
                                {"kind", "command"},
                                {"batch_id", "batch_1"},
                                {"parent_session_id", "ses_1"},
                                {"label", "team:a:b"},
                                {"q", "日本 x"},
                                {"created_after", "2026-11-15T00:00:00Z"},
                                {"created_before", "2026-11-16T01:00:00.5+01:00"},
                                {"sort", "updated"},
                                {"limit", "500"},
                                {"cursor", "abc"},
                                {"total", "true"},
                                {"counts", "1"}});
  ASSERT_TRUE(list) << wrong(list);
  EXPECT_EQ(list->filter.states, (std::vector{TaskState::running, TaskState::resumed}));
  EXPECT_EQ(list->filter.asks, (std::vector{AskKind::permission, AskKind::answer}));
  EXPECT_EQ(list->filter.waits, std::vector{WaitKind::quota});
  EXPECT_EQ(list->filter.agent_id, "demo");
  EXPECT_EQ(list->filter.kind, TaskKind::command);
  EXPECT_EQ(list->filter.batch_id, BatchId("batch_1"));
  EXPECT_EQ(list->filter.parent_session_id, SessionId("ses_1"));
  EXPECT_EQ(list->filter.label_key, "team");
  EXPECT_EQ(list->filter.label_value, "a:b");
  EXPECT_EQ(list->filter.query, "日本 x");
  EXPECT_EQ(format_time(list->filter.created_after), "2026-11-15T00:00:00.000Z");
  EXPECT_EQ(format_time(list->filter.created_before), "2026-11-16T00:00:00.500Z");
  EXPECT_EQ(list->page.sort, Sort::updated);
  EXPECT_EQ(list->page.limit, 500);
  EXPECT_EQ(list->page.cursor, "abc");
  EXPECT_TRUE(list->total);
  EXPECT_TRUE(list->counts);
}

TEST(ParseList, EmptyValuesAreNotGiven) {
  const auto list = parse_list({{"status", ""}, {"agent_id", ""}, {"kind", ""}, {"limit", ""}, {"cursor", ""}});
  ASSERT_TRUE(list) << wrong(list);
  EXPECT_EQ(list->filter, TaskFilter{.archived = false});
  EXPECT_EQ(list->page.limit, 50);
}

TEST(ParseList, ArchivedTasksAreLeftOutUnlessAskedFor) {
  EXPECT_EQ(parse_list({})->filter.archived, false);
  EXPECT_EQ(parse_list({{"archived", "true"}})->filter.archived, true);
  EXPECT_EQ(parse_list({{"archived", "all"}})->filter.archived, std::nullopt);
  EXPECT_FALSE(parse_list({{"archived", "yes"}}));
  EXPECT_EQ(parse_list({})->filter.pinned, std::nullopt);
  EXPECT_EQ(parse_list({{"pinned", "false"}})->filter.pinned, false);
  const auto attention = parse_list({{"sort", "attention"}, {"fold_batches", "true"}});
  EXPECT_EQ(attention->page.sort, Sort::attention);
  EXPECT_TRUE(attention->filter.fold);
}

TEST(ParseUsage, DaysBeginWhereTheCallerIs) {
  const auto usage =
      parse_usage({{"by", "folder"}, {"from", "2026-11-15"}, {"to", "2026-11-16T01:00:00Z"}, {"utc_offset_min", "60"}});
  ASSERT_TRUE(usage) << wrong(usage);
  EXPECT_EQ(usage->by, UsageBy::folder);
  EXPECT_EQ(format_time(usage->from), "2026-11-14T23:00:00.000Z");
  EXPECT_EQ(format_time(usage->to), "2026-11-16T01:00:00.000Z");
  for (const Query& query : {Query{{"by", "month"}}, Query{{"from", "2026-13-01"}}, Query{{"from", "now"}},
                             Query{{"utc_offset_min", "900"}}})
    EXPECT_FALSE(parse_usage(query));
}

TEST(ParseList, WhatIsWrongIsNamed) {
  const std::pair<Query, const char*> cases[] = {
      {{{"status", "sleeping"}}, "`status`"},
      {{{"status", "running,"}}, "`status`"},
      {{{"waiting_for", "answer,rain"}}, "`waiting_for`"},
      {{{"waiting_for", ","}}, "`waiting_for`"},
      {{{"kind", "robot"}}, "`kind`"},
      {{{"limit", "0"}}, "`limit`"},
      {{{"limit", "501"}}, "`limit`"},
      {{{"limit", "5x"}}, "`limit`"},
      {{{"limit", " 5"}}, "`limit`"},
      {{{"limit", "99999999999999999999"}}, "`limit`"},
      {{{"limit", "5"}, {"limit", "5"}}, "`limit`"},
      {{{"offset", "-1"}}, "`offset`"},
      {{{"offset", "5"}, {"cursor", "x"}}, "`offset`"},
      {{{"label", "nocolon"}}, "`label`"},
      {{{"label", ":x"}}, "`label`"},
      {{{"sort", "random"}}, "`sort`"},
      {{{"total", "maybe"}}, "`total`"},
      {{{"created_after", "yesterday"}}, "`created_after`"},
      {{{"colour", "red"}}, "`colour`"},
      {{{"q", "\xff"}}, "`q`"},
      {{{"q", std::string(5000, 'x')}}, "`q`"},
  };
  for (const auto& [query, name] : cases) {
    const auto list = parse_list(query);
    ASSERT_FALSE(list) << name;
    EXPECT_EQ(list.error().code, Code::invalid_argument);
    EXPECT_NE(list.error().message.find(name), std::string::npos) << list.error().message;
  }
}

TEST(ParseResult, BlocksOnlyWhenAsked) {  // R3.1, R3.2
  EXPECT_EQ(parse_result({})->block_ms, 0);
  EXPECT_EQ(parse_result({{"block", "false"}, {"timeout_s", "5"}})->block_ms, 0);
  EXPECT_EQ(parse_result({{"block", "true"}, {"timeout_s", "1.5"}})->block_ms, 1500);
  EXPECT_EQ(parse_result({{"block", "true"}, {"timeout_s", "0"}})->block_ms, 0);
  EXPECT_EQ(parse_result({{"block", "true"}})->block_ms, block_forever_ms);
  for (const char* seconds : {"x", "-1", "nan", "inf", "1e9", "1s"}) {
    EXPECT_FALSE(parse_result({{"block", "true"}, {"timeout_s", seconds}})) << seconds;
  }
}

TEST(ParseBatch, WaitsForAllOrTheFirst) {
  EXPECT_EQ(parse_batch({})->until, std::nullopt);
  EXPECT_EQ(parse_batch({{"block", "all"}, {"timeout_s", "2"}})->until, Until::all);
  EXPECT_EQ(parse_batch({{"block", "all"}, {"timeout_s", "2"}})->block_ms, 2000);
  EXPECT_EQ(parse_batch({{"block", "first"}})->until, Until::first);
  EXPECT_FALSE(parse_batch({{"block", "some"}}));
}

TEST(ParseMessages, GoesForwardsOrBackwards) {
  EXPECT_EQ(parse_messages({{"after", "3"}, {"limit", "2"}})->after, 3);
  EXPECT_EQ(parse_messages({{"before", "3"}})->before, 3);
  EXPECT_FALSE(parse_messages({{"before", "3"}, {"after", "1"}}));
  EXPECT_FALSE(parse_messages({{"after", "-1"}}));
}

TEST(ParseLog, TakesEveryParameter) {
  const auto log = parse_log({{"attempt", "2"},
                              {"offset", "-100"},
                              {"limit", "10"},
                              {"grep", "E"},
                              {"since", "2026-11-15T00:00:00Z"},
                              {"format", "jsonl"},
                              {"follow", "true"}});
  ASSERT_TRUE(log) << wrong(log);
  EXPECT_EQ(log->attempt, 2);
  EXPECT_EQ(log->offset, -100);
  EXPECT_EQ(log->limit, 10);
  EXPECT_EQ(log->grep, "E");
  EXPECT_EQ(log->format, LogQuery::Format::jsonl);
  EXPECT_TRUE(log->follow);
  EXPECT_EQ(parse_log({})->tail, std::nullopt);
  EXPECT_EQ(parse_log({{"tail", "0"}})->tail, 0);
  EXPECT_FALSE(parse_log({{"tail", "5"}, {"offset", "5"}}));
  EXPECT_FALSE(parse_log({{"attempt", "0"}}));
  EXPECT_FALSE(parse_log({{"attempt", "1"}, {"run", "1"}}));
  EXPECT_FALSE(parse_log({{"limit", "99999999"}}));
  EXPECT_FALSE(parse_log({{"format", "pdf"}}));
}

TEST(ParseStream, TheHeaderWinsOverTheParameter) {
  EXPECT_EQ(parse_stream({}, "")->after, std::nullopt);
  EXPECT_EQ(parse_stream({{"after", "1"}}, "")->after, 1);
  EXPECT_EQ(parse_stream({{"after", "1"}}, "4")->after, 4);
  EXPECT_FALSE(parse_stream({{"after", "x"}}, ""));
  EXPECT_FALSE(parse_stream({}, "abc"));
  EXPECT_FALSE(parse_stream({}, "-1"));
  EXPECT_FALSE(parse_stream({{"tasks", "a"}}, ""));
}

TEST(ParseStream, TheSharedOneNamesTasks) {
  const auto stream = parse_shared_stream({{"tasks", "task_1, task_2,"}, {"after", "9"}}, "");
  ASSERT_TRUE(stream) << wrong(stream);
  EXPECT_EQ(stream->tasks, (std::vector{TaskId("task_1"), TaskId("task_2")}));
  EXPECT_EQ(stream->after, 9);
  std::string many;
  for (size_t i = 0; i <= stream_tasks_max; ++i) many += "t,";
  EXPECT_FALSE(parse_shared_stream({{"tasks", many}}, ""));
}

TEST(ParseNoQuery, TakesNone) {
  EXPECT_TRUE(parse_no_query({}));
  EXPECT_FALSE(parse_no_query({{"x", ""}}));
}

}  // namespace
}  // namespace errand::api
