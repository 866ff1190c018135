#include "mcp/resources.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/encode.h"
#include "base/json_out.h"
#include "base/text.h"
#include "files/beneath.h"
#include "mcp/shapes.h"
#include "mcp/task_uri.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr int page_size = 50;
constexpr int64_t text_max = 64'000;
constexpr int64_t artifact_max = 1 << 20;
constexpr size_t completions_max = 100;
// How long a client may keep what it read of a task at rest; one at work changes all the time.
constexpr int64_t rest_ttl_ms = 60'000;

bool owns(const Rpc& rpc, const Task& task) {
  return rpc.peer.session.empty() || task.launch.parent_session_id == rpc.peer.session;
}

void write_resource(JsonOut& out, const Task& task, std::string_view path, std::string_view what) {
  out.object().field("uri", task_uri(task.id, path));
  out.field("name", task.id.value + " " + std::string(path));
  out.field("title", std::string(what) + " of " + task.title);
  out.field("description", std::string(what) + " of the background task \"" + task.title + "\" (" +
                               std::string(name(task.state)) + ").");
  out.field("mimeType", "text/plain");
  if (path == "result" && task.result) out.field("size", task.result->size());
  out.end();
}

std::string list_result(const Rpc& rpc, const TaskPage& page) {
  std::string text;
  JsonOut out(text);
  begin_result(out, rpc);
  out.key("resources").array();
  for (const Task& task : page.tasks) {
    if (task.result) write_resource(out, task, "result", "The result");
    const bool command = task.launch.kind == TaskKind::command;
    if (command && task.run > 0) write_resource(out, task, "log", "The log");
    if (!command) write_resource(out, task, "transcript", "The conversation");
    if (task.progress.artifacts.count > 0) write_resource(out, task, "artifacts", "The list of files");
  }
  out.end();
  if (!page.next_cursor.empty()) out.field("nextCursor", page.next_cursor);
  cache_for(out, rpc, 0, "private");
  out.end();
  return text;
}

// What was read of a resource.
struct Piece {
  std::string bytes;
  std::string media_type = "text/plain";
  int64_t offset = 0, next = 0, size = 0;
};

std::string read_result(const Rpc& rpc, std::string_view uri, const Piece& piece, bool rests) {
  std::string text;
  JsonOut out(text);
  begin_result(out, rpc);
  out.key("contents").array().object().field("uri", uri).field("mimeType", piece.media_type);
  if (piece.bytes.contains('\0') || !is_utf8(piece.bytes)) {
    out.field("blob", to_base64(piece.bytes));
  } else {
    out.field("text", piece.bytes);
  }
  if (piece.offset > 0 || piece.next < piece.size)
    out.key("_meta")
        .object()
        .field("errand/offset", piece.offset)
        .field("errand/next", piece.next)
        .field("errand/size", piece.size)
        .end();
  out.end().end();
  cache_for(out, rpc, rests ? rest_ttl_ms : 0, "private");
  out.end();
  return text;
}

Result<Piece> read_artifact(const Driver* driver, const Task& task, const TaskUri& uri) {
  if (!driver)
    return fail(Code::not_found, "This server does not have the driver of this task, so its files cannot be read.");
  Result<Driver::OpenArtifact> open = driver->open_artifact(task, uri.path);
  if (!open) return std::unexpected(open.error());
  Piece piece;
  piece.media_type = open->info.media_type.empty() ? "application/octet-stream" : open->info.media_type;
  piece.size = open->file.size;
  const int64_t offset = uri.offset.value_or(0);
  piece.offset = std::clamp<int64_t>(offset < 0 ? piece.size + offset : offset, 0, piece.size);
  const int64_t wanted = std::min(uri.limit.value_or(artifact_max), artifact_max);
  piece.bytes.resize(static_cast<size_t>(std::clamp<int64_t>(wanted, 0, piece.size - piece.offset)));
  const int64_t got = files::read_at(open->file, piece.offset, piece.bytes.data(), piece.bytes.size());
  if (got < 0) return fail(Code::unavailable, "The file cannot be read.", "unreadable");
  piece.bytes.resize(static_cast<size_t>(got));
  // A text is not cut inside a character.
  if (piece.offset + got < piece.size && !is_utf8(piece.bytes)) {
    for (size_t cut = piece.bytes.size(); cut > 0 && cut + 4 > piece.bytes.size(); --cut)
      if (is_utf8(std::string_view(piece.bytes).substr(0, cut))) {
        piece.bytes.resize(cut);
        break;
      }
  }
  piece.next = piece.offset + std::ssize(piece.bytes);
  return piece;
}

// The log, the result and the conversation are read as look_at reads them.
void look(const RpcPtr& rpc, const std::string& uri, const TaskUri& what, bool rests) {
  std::string arguments;
  JsonOut out(arguments);
  out.object().field("task_id", what.task).field("path", what.path);
  if (what.offset) out.field("offset", *what.offset);
  out.field("limit", std::min(what.limit.value_or(text_max), text_max)).end();
  rpc->parts.tools.call("look_at", {.session = rpc->peer.session, .message = {}, .cancellation = rpc->cancellation},
                        std::move(arguments),
                        [rpc, uri, rests, list = what.path == "artifacts"](Result<tools::ToolResult> result) {
                          if (!result) return rpc->refuse(result.error());
                          if (result->is_error) return unknown_resource(rpc, uri, result->text);
                          const json::value data = json::parse(result->data);
                          Piece piece;
                          piece.bytes = list ? result->text : std::string(data.at("text").as_string());
                          piece.offset = data.at("offset").to_number<int64_t>();
                          piece.next = list ? 0 : data.at("next").to_number<int64_t>();
                          piece.size = list ? 0 : data.at("size").to_number<int64_t>();
                          rpc->result(read_result(*rpc, uri, piece, rests));
                        });
}

std::string completion_result(const Rpc& rpc, std::vector<std::string> values) {
  std::string text;
  JsonOut out(text);
  begin_result(out, rpc);
  const bool more = values.size() > completions_max;
  if (more) values.resize(completions_max);
  out.key("completion").object().key("values").array();
  for (const std::string& value : values) out.value(value);
  out.end().field("hasMore", more).end().end();
  return text;
}

void complete_name(const RpcPtr& rpc, const TaskId& id, std::string begun) {
  rpc->parts.engine.tasks().get(id, [rpc, begun = std::move(begun)](Result<TaskView> view) {
    if (!view || !owns(*rpc, view->task)) return rpc->result(completion_result(*rpc, {}));
    read_then(
        rpc,
        [task = view->task, driver = rpc->parts.engine.tasks().driver_of(view->task),
         begun]() -> Result<std::vector<std::string>> {
          std::vector<std::string> names;
          const Result<ArtifactList> list = driver ? driver->artifacts(task) : ArtifactList{};
          for (const Artifact& file : list ? list->files : std::vector<Artifact>())
            if (file.name.starts_with(begun)) names.push_back(file.name);
          return names;
        },
        [rpc](std::vector<std::string> names) { rpc->result(completion_result(*rpc, std::move(names))); });
  });
}

}  // namespace

void unknown_resource(const RpcPtr& rpc, std::string_view uri, std::string_view why) {
  std::string data;
  JsonOut(data).object().field("uri", to_utf8(uri.substr(0, 1'000))).end();
  rpc->refuse(RpcError{rpc->modern() ? code::invalid_params : code::unknown_resource_2025, std::string(why), data});
}

void list_resources(const RpcPtr& rpc) {
  TaskFilter filter;
  filter.parent_session_id = rpc->peer.session;
  const Page page{.limit = page_size, .cursor = rpc->message.text("cursor"), .offset = 0, .sort = Sort::newest};
  read_then(
      rpc, [&store = rpc->parts.store, filter, page] { return store.list(filter, page); },
      [rpc](const TaskPage& found) { rpc->result(list_result(*rpc, found)); });
}

void list_templates(const RpcPtr& rpc) {
  struct Template {
    std::string_view uri, name, title, description;
  };
  constexpr Template templates[] = {
      {"task://{id}/result", "result", "A task's result", "The whole result of a task that has ended."},
      {"task://{id}/log", "log", "A command's log",
       "What a command has printed so far; ?offset=N reads on from there."},
      {"task://{id}/transcript", "transcript", "An agent's conversation", "The messages of an agent's task."},
      {"task://{id}/artifacts", "artifacts", "A task's files", "The list of what a task has left."},
      {"task://{id}/artifacts/{+name}", "artifact", "A file that a task left", "One of those files, by its name."},
  };
  if (!rpc->message.text("cursor").empty())
    return rpc->refuse(RpcError{code::invalid_params, "The list has one page: leave out `cursor`.", {}});
  std::string text;
  JsonOut out(text);
  begin_result(out, *rpc);
  out.key("resourceTemplates").array();
  for (const Template& one : templates) {
    out.object().field("uriTemplate", one.uri).field("name", one.name).field("title", one.title);
    out.field("description", one.description);
    if (one.name != "artifact") out.field("mimeType", "text/plain");
    out.end();
  }
  out.end();
  cache_for(out, *rpc, fixed_ttl_ms, "public");
  out.end();
  rpc->result(text);
}

void read_resource(const RpcPtr& rpc) {
  const std::string uri = rpc->message.text("uri");
  const std::optional<TaskUri> what = parse_task_uri(uri);
  if (!what)
    return unknown_resource(
        rpc, uri, "No resource has this address. resources/list and resources/templates/list name the resources.");
  rpc->parts.engine.tasks().get(what->task, [rpc, uri, what = *what](Result<TaskView> view) {
    if (!view) return unknown_resource(rpc, uri, view.error().message);
    if (!owns(*rpc, view->task)) return unknown_resource(rpc, uri, "This task belongs to another session.");
    const bool rests = !at_work(view->task.state);
    if (!what.artifact) return look(rpc, uri, what, rests);
    rpc->parts.readers.post(
        [rpc, uri, what, rests, task = view->task, driver = rpc->parts.engine.tasks().driver_of(view->task)] {
          Result<Piece> piece = read_artifact(driver, task, what);
          rpc->parts.loop.post([rpc, uri, rests, piece = std::move(piece)] {
            if (!piece) return unknown_resource(rpc, uri, piece.error().message);
            rpc->result(read_result(*rpc, uri, *piece, rests));
          });
        });
  });
}

void complete(const RpcPtr& rpc) {
  const std::string argument = rpc->message.text("argument", "name"), begun = rpc->message.text("argument", "value");
  const std::string kind = rpc->message.text("ref", "type");
  if (argument.empty() || (kind != "ref/resource" && kind != "ref/prompt"))
    return rpc->refuse(RpcError{code::invalid_params, "`ref` and `argument` must name what to complete.", {}});
  if (kind != "ref/resource" || (argument != "id" && argument != "name"))
    return rpc->result(completion_result(*rpc, {}));
  if (argument == "name") {
    std::string id;
    if (const json::value* context = rpc->message.param("context"); context && context->is_object())
      if (const json::value* known = context->as_object().if_contains("arguments"); known && known->is_object())
        if (const json::value* given = known->as_object().if_contains("id"); given && given->is_string())
          id = given->as_string();
    if (!is_id(id, "task_")) return rpc->result(completion_result(*rpc, {}));
    return complete_name(rpc, TaskId(id), begun);
  }
  TaskFilter filter;
  filter.parent_session_id = rpc->peer.session;
  read_then(
      rpc,
      [&store = rpc->parts.store, filter] {
        return store.list(filter, {.limit = 500, .cursor = {}, .offset = 0, .sort = Sort::newest});
      },
      [rpc, begun](const TaskPage& page) {
        std::vector<std::string> ids;
        for (const Task& task : page.tasks)
          if (task.id.value.starts_with(begun)) ids.push_back(task.id.value);
        rpc->result(completion_result(*rpc, std::move(ids)));
      });
}

}  // namespace errand::mcp
