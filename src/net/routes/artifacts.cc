// The files that a task left: listed, gathered, looked at, downloaded.
//
// What a task wrote is hostile. It is always sent as bytes to be saved (attachment, octet-stream, a sandbox should a
// browser show it all the same), never as a page of ours; a preview is text in JSON.
#include <algorithm>
#include <charconv>

#include "api/query.h"
#include "base/json_out.h"
#include "base/text.h"
#include "files/look.h"
#include "net/routes/context.h"
#include "net/routes/file_stream.h"
#include "net/routes/log_stream.h"
#include "task/json.h"

namespace errand::net {
namespace {

using api::ArtifactQuery;

constexpr int64_t preview_limit = 64 * 1024, preview_limit_max = 1 << 20;
constexpr int64_t inline_max = 256 * 1024;  // Sent whole, with its length known; what is larger is streamed.

std::string log_name(int run) { return "run-" + std::to_string(run) + ".log"; }

// The logs first, then what the driver has.
std::string list_reply(const Task& task, const Driver* driver, const ArtifactList& list) {
  std::string text;
  JsonOut out(text);
  out.object().key("artifacts").array();
  for (const int run : driver ? driver->log_runs(task.id, task.run) : std::vector<int>()) {
    const Result<LogRead> log = driver->read_log(task.id, run, 0, 1);
    if (!log) continue;
    write_artifact(out, {.id = log_name(run),
                         .name = log_name(run),
                         .source = ArtifactSource::log,
                         .run = run,
                         .size = log->size,
                         .media_type = "text/plain; charset=utf-8",
                         .sha256 = {},
                         .modified = {}});
  }
  for (const Artifact& file : list.files) write_artifact(out, file);
  out.end().field("left_out", list.left_out).text_or_null("left_out_why", list.left_out_why);
  out.field("gathered_at", list.gathered_at).end();
  return text;
}

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

// RFC 6266: a name that every client can read, and the real one for those that can read more. Its folders are left out.
std::string disposition(std::string_view name) {
  name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
  name = name.substr(0, utf8_prefix(name, 200));
  std::string simple, whole;
  for (const char c : name) {
    simple += plain(c) ? c : '_';
    if (plain(c)) {
      whole += c;
    } else {
      constexpr char digits[] = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      whole += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return "attachment; filename=\"" + simple + "\"; filename*=UTF-8''" + whole;
}

std::vector<std::pair<std::string, std::string>> download_headers(std::string_view name) {
  return {{"Content-Disposition", disposition(name)},
          {"Content-Security-Policy", "sandbox; default-src 'none'"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

struct Range {
  int64_t begin = 0, end = 0;
  bool part = false;
};

bool parse_number(std::string_view text, int64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && into >= 0;
}

// RFC 9110: one range. What is no range, or several, is answered with the whole. Absent: none of it is there.
std::optional<Range> range_of(std::string_view header, const ArtifactQuery& query, int64_t size) {
  if (query.offset || query.limit) {
    Range range{.part = false};
    const int64_t offset = query.offset.value_or(0);
    range.begin = std::clamp<int64_t>(offset < 0 ? size + offset : offset, 0, size);
    range.end = query.limit ? std::min(size, range.begin + *query.limit) : size;
    return range;
  }
  const Range whole{0, size, false};
  if (!header.starts_with("bytes=")) return whole;
  header.remove_prefix(6);
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos || header.contains(',')) return whole;
  const std::string_view from = trim(header.substr(0, dash)), to = trim(header.substr(dash + 1));
  Range range{.part = true};
  int64_t last = 0;
  if (from.empty()) {
    if (!parse_number(to, last)) return whole;
    range.begin = std::max<int64_t>(0, size - last);
    range.end = size;
    if (last == 0) return std::nullopt;
  } else {
    if (!parse_number(from, range.begin) || (!to.empty() && !parse_number(to, last))) return whole;
    if (!to.empty() && last < range.begin) return whole;
    range.end = to.empty() ? size : std::min(size - 1, last) + 1;
  }
  if (range.begin >= size) return std::nullopt;
  return range;
}

void send_file(Context& context, const Call& call, Driver::OpenArtifact open, const ArtifactQuery& query) {
  const int64_t size = open.file.size;
  const std::optional<Range> range = range_of(call.request().header("range"), query, size);
  if (!range) {
    Response refused = problem(416, "range_not_satisfiable",
                               "The file has " + std::to_string(size) + " bytes; ask for a range that begins before.");
    refused.headers.emplace_back("Content-Range", "bytes */" + std::to_string(size));
    return call.exchange->reply(std::move(refused));
  }
  Response response{
      .status = range->part ? 206 : 200, .content_type = "application/octet-stream", .body = {}, .headers = {}};
  response.headers = download_headers(open.info.name);
  response.headers.emplace_back("Accept-Ranges", "bytes");
  if (!open.info.sha256.empty()) response.headers.emplace_back("ETag", "\"" + open.info.sha256 + "\"");
  if (range->part)
    response.headers.emplace_back("Content-Range", "bytes " + std::to_string(range->begin) + "-" +
                                                       std::to_string(range->end - 1) + "/" + std::to_string(size));
  if (range->end - range->begin > inline_max)
    return call.exchange->stream(std::move(response),
                                 std::make_unique<FileStream>(context, std::move(open.file), range->begin, range->end));
  auto file = std::make_shared<files::File>(std::move(open.file));
  read_then(
      context, call,
      [response = std::move(response), file, range = *range]() -> Result<Response> {
        Response whole = response;
        whole.body.resize(static_cast<size_t>(range.end - range.begin));
        const int64_t n = files::read_at(*file, range.begin, whole.body.data(), whole.body.size());
        // It became shorter since it was opened: a part that says it is longer would be a lie.
        if (n != std::ssize(whole.body))
          return fail(Code::unavailable, "The file changes while it is read; try again.", "changed");
        return whole;
      },
      [](const Call& done, Response whole) { done.exchange->reply(std::move(whole)); });
}

Result<std::string> preview(Driver::OpenArtifact open, const ArtifactQuery& query, Clock& clock) {
  std::string text;
  JsonOut out(text);
  out.object().key("artifact");
  write_artifact(out, open.info);
  const std::unique_ptr<files::Source> source = files::file_source(std::move(open.file));
  files::Look what{
      .offset = query.offset.value_or(0), .tail = query.tail, .grep = query.grep, .context = query.context};
  what.limit = std::min(query.limit.value_or(preview_limit), preview_limit_max);
  what.strip = query.strip;
  const Result<files::Seen> seen = files::look(*source, std::move(what), clock);
  if (!seen) return std::unexpected(seen.error());
  out.field("binary", seen->binary).field("offset", seen->offset).field("next", seen->next).field("size", seen->size);
  out.field("more", seen->more).field("text", seen->text).text_or_null("note", files::describe(*seen)).end();
  return text;
}

// A run's log by the name that the list gives it.
int log_run(const Driver& driver, const Task& task, std::string_view name) {
  for (const int run : driver.log_runs(task.id, task.run))
    if (log_name(run) == name) return run;
  return 0;
}

}  // namespace

void task_artifacts(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  with_record(context, std::move(call), [&context](Call found, const Task& task) {
    read_then(
        context, std::move(found),
        [task, driver = context.parts.engine.tasks().driver_of(task)]() -> Result<std::string> {
          Result<ArtifactList> list = driver ? driver->artifacts(task) : ArtifactList{};
          if (!list) return std::unexpected(list.error());
          return list_reply(task, driver, *list);
        },
        [](const Call& read_call, std::string text) { read_call.answer(200, std::move(text)); });
  });
}

void gather_artifacts(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  with_record(context, std::move(call), [&context](Call found, const Task& task) {
    Driver* const driver = context.parts.engine.tasks().driver_of(task);
    if (!driver) return found.refuse({Code::unavailable, "This server does not have the driver of this task.", {}});
    auto kept = std::make_shared<const Task>(task);
    driver->gather(kept, [&context, kept, driver, call = std::move(found)](Result<ArtifactList> list) mutable {
      if (!list) return call.refuse(list.error());
      read_then(
          context, std::move(call),
          [kept, driver, list = std::move(*list)]() -> Result<std::string> { return list_reply(*kept, driver, list); },
          [](const Call& read_call, std::string text) { read_call.answer(200, std::move(text)); });
    });
  });
}

void task_artifact(Context& context, Call call) {
  Result<ArtifactQuery> parsed = api::parse_artifact(call.request().query);
  if (!parsed) return call.refuse(parsed.error());
  with_record(context, std::move(call), [&context, query = std::move(*parsed)](Call found, const Task& task) {
    struct Found {
      std::shared_ptr<Driver::OpenArtifact> open;
      std::string preview;
      int run = 0;
    };
    const Driver* const driver = context.parts.engine.tasks().driver_of(task);
    std::string wanted = found.args[1];
    read_then(
        context, std::move(found),
        [task, driver, query, wanted = std::move(wanted), &clock = context.parts.clock]() -> Result<Found> {
          Found result;
          if (driver) result.run = log_run(*driver, task, wanted);
          if (result.run > 0) return result;
          Result<Driver::OpenArtifact> open =
              driver ? driver->open_artifact(task, wanted)
                     : fail(Code::not_found,
                            "This server does not have the driver of this task, so its files cannot be read.");
          if (!open) return std::unexpected(open.error());
          if (query.preview) {
            Result<std::string> text = preview(std::move(*open), query, clock);
            if (!text) return std::unexpected(text.error());
            result.preview = std::move(*text);
          } else {
            result.open = std::make_shared<Driver::OpenArtifact>(std::move(*open));
          }
          return result;
        },
        [&context, query, driver, id = task.id](const Call& read_call, Found result) {
          if (!result.preview.empty()) return read_call.answer(200, std::move(result.preview));
          if (result.open) return send_file(context, read_call, std::move(*result.open), query);
          Response head{.status = 200, .content_type = "text/plain; charset=utf-8", .body = {}, .headers = {}};
          head.headers = download_headers(log_name(result.run));
          LogStream::Start start{.task = id, .run = result.run, .driver = driver};
          read_call.exchange->stream(std::move(head),
                                     std::make_unique<LogStream>(context, std::move(start), LogText(api::LogQuery{})));
        });
  });
}

}  // namespace errand::net
