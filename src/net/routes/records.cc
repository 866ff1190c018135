// What people keep: a task's transcript as one document, and what calls of models used.
#include "api/query.h"
#include "api/replies.h"
#include "api/transcript.h"
#include "net/routes/context.h"

namespace errand::net {
namespace {

constexpr int messages_page = 200;

int64_t size_of(const Message& message) {
  int64_t bytes = 0;
  for (const Part& part : message.parts) bytes += std::ssize(part.text) + std::ssize(part.input);
  return bytes;
}

Result<api::Transcript> read_transcript(Store& store, const Task& task) {
  api::Transcript transcript;
  transcript.task = task;
  int64_t after = 0, bytes = 0;
  while (true) {
    Result<MessagePage> page = store.messages(task.session_id, after, 0, messages_page);
    if (!page) return std::unexpected(page.error());
    for (Message& message : page->messages) {
      after = message.seq;
      bytes += size_of(message);
      if (bytes > api::transcript_bytes_max && !transcript.messages.empty()) {
        transcript.cut = true;
        return transcript;
      }
      transcript.messages.push_back(std::move(message));
    }
    if (!page->more) return transcript;
  }
}

}  // namespace

void export_task(Context& context, Call call) {
  const Result<api::TranscriptFormat> format = api::parse_export(call.request().query);
  if (!format) return call.refuse(format.error());
  with_record(context, std::move(call), [&context, format = *format](Call found, const Task& task) {
    const TaskMoment moment = context.parts.engine.tasks().moment(task);
    read_then(
        context, std::move(found),
        [&store = context.parts.store, task, moment, format]() -> Result<std::string> {
          Result<api::Transcript> transcript = read_transcript(store, task);
          if (!transcript) return std::unexpected(transcript.error());
          transcript->moment = moment;
          return api::write_transcript(*transcript, format);
        },
        [name = api::transcript_name(task, format), format](const Call& read_call, std::string document) {
          Response response{.status = 200,
                            .content_type = std::string(api::media_type(format)),
                            .body = std::move(document),
                            .headers = {}};
          // Saved, never shown in place: what agents wrote must not run as this page, whatever a browser makes of it.
          response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + name + "\"");
          response.headers.emplace_back("Content-Security-Policy",
                                        "default-src 'none'; style-src 'unsafe-inline'; sandbox");
          read_call.exchange->reply(std::move(response));
        });
  });
}

void get_usage(Context& context, Call call) {
  const Result<UsageQuery> query = api::parse_usage(call.request().query);
  if (!query) return call.refuse(query.error());
  read_then(
      context, std::move(call), [&store = context.parts.store, query = *query] { return store.usage(query); },
      [query = *query](const Call& found, const UsageReport& report) {
        found.answer(200, api::usage_reply(query, report));
      });
}

}  // namespace errand::net
