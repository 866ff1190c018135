// A task as one document: everything that anybody wrote is text in it.
#include "api/transcript.h"

#include <gtest/gtest.h>

namespace errand::api {
namespace {

Transcript hostile() {
  Transcript transcript;
  Task& task = transcript.task;
  task.id = TaskId("task_1");
  task.title = "<b>Title</b>";
  task.launch.agent_id = "demo\"><script>";
  task.launch.work_dir = "/tmp/<x>";
  task.launch.labels = {{"<k>", "<v>"}};
  task.state = TaskState::failed;
  task.error = TaskError{"exit", "</pre><script>bad()</script>", {}};
  task.progress.usage = {.input_tokens = 10, .output_tokens = 2, .unpriced = true};
  Message message;
  message.role = Role::assistant;
  message.parts = {{.type = PartType::text, .text = "</pre><script>alert(1)</script>\xE2\x80\xAE & 'x' \x01"},
                   {.type = PartType::reasoning, .text = "<i>why</i>"},
                   {.type = PartType::tool_call, .name = "<tool>", .input = R"({"a":"````"})"},
                   {.type = PartType::tool_result, .text = "````\n</details>", .truncated = true, .size = 99},
                   {.type = PartType::file, .name = "<file>"}};
  transcript.messages.push_back(std::move(message));
  return transcript;
}

TEST(Transcript, HtmlHasOnlyTheTagsThatAreOurs) {
  const std::string html = write_transcript(hostile(), TranscriptFormat::html);
  for (const char* never : {"<script", "<b>", "<i>", "<tool>", "<file>", "<x>", "<k>", "<v>", "\xE2\x80\xAE", "\x01"})
    EXPECT_EQ(html.find(never), std::string::npos) << never;
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
  EXPECT_NE(html.find("cut: 99 bytes"), std::string::npos);
  EXPECT_NE(html.find("<td>?</td>"), std::string::npos) << "a cost that is not known";
}

TEST(Transcript, NoTextEndsItsFenceInMarkdown) {
  const std::string md = write_transcript(hostile(), TranscriptFormat::md);
  EXPECT_TRUE(md.starts_with("# \\<b>Title\\</b>\n"));
  EXPECT_NE(md.find("\n`````\n````\n</details>\n`````\n"), std::string::npos) << md;
  EXPECT_NE(md.find("> <i>why</i>"), std::string::npos);
}

TEST(Transcript, ItsNameIsSafeEverywhere) {
  Task task;
  task.id = TaskId("task_1\"/../x");
  EXPECT_EQ(transcript_name(task, TranscriptFormat::html), "errand-task_1x.html");
}

}  // namespace
}  // namespace errand::api
