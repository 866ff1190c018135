#include "store/postgres/connection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <type_traits>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/log.h"

namespace errand::postgres {
namespace {

// libpq's functions.
struct Library {
  decltype(&::PQconnectdbParams) connect;
  decltype(&::PQfinish) finish;
  decltype(&::PQstatus) status;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQsocket) socket;
  decltype(&::PQsetnonblocking) set_nonblocking;
  decltype(&::PQenterPipelineMode) enter_pipeline;
  decltype(&::PQexitPipelineMode) exit_pipeline;
  decltype(&::PQpipelineSync) sync;
  decltype(&::PQsendPrepare) send_prepare;
  decltype(&::PQsendQueryPrepared) send_prepared;
  decltype(&::PQsendQuery) send_query;
  decltype(&::PQflush) flush;
  decltype(&::PQconsumeInput) consume_input;
  decltype(&::PQisBusy) is_busy;
  decltype(&::PQgetResult) get_result;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQresultErrorField) error_field;
  decltype(&::PQclear) clear;
  decltype(&::PQntuples) rows;
  decltype(&::PQcmdTuples) affected;
  decltype(&::PQgetvalue) value;
  decltype(&::PQgetlength) length;
  decltype(&::PQgetisnull) is_null;
  decltype(&::PQserverVersion) server_version;
  decltype(&::PQhost) host;
  decltype(&::PQport) port;
  decltype(&::PQdb) database;
  decltype(&::PQsetNoticeProcessor) set_notice_processor;
};

Result<Library> load_library() {
  // Never closed: it may have registered what runs when the process ends.
  void* const library = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(Code::unsupported,
                "PostgreSQL's client library is not installed: install it (Debian: apt install libpq5; Fedora: dnf "
                "install libpq) and start errand again.",
                "no_library");
  Library pq;
  bool whole = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    whole = whole && function;
  };
  find(pq.connect, "PQconnectdbParams");
  find(pq.finish, "PQfinish");
  find(pq.status, "PQstatus");
  find(pq.error_message, "PQerrorMessage");
  find(pq.socket, "PQsocket");
  find(pq.set_nonblocking, "PQsetnonblocking");
  find(pq.enter_pipeline, "PQenterPipelineMode");
  find(pq.exit_pipeline, "PQexitPipelineMode");
  find(pq.sync, "PQpipelineSync");
  find(pq.send_prepare, "PQsendPrepare");
  find(pq.send_prepared, "PQsendQueryPrepared");
  find(pq.send_query, "PQsendQuery");
  find(pq.flush, "PQflush");
  find(pq.consume_input, "PQconsumeInput");
  find(pq.is_busy, "PQisBusy");
  find(pq.get_result, "PQgetResult");
  find(pq.result_status, "PQresultStatus");
  find(pq.error_field, "PQresultErrorField");
  find(pq.clear, "PQclear");
  find(pq.rows, "PQntuples");
  find(pq.affected, "PQcmdTuples");
  find(pq.value, "PQgetvalue");
  find(pq.length, "PQgetlength");
  find(pq.is_null, "PQgetisnull");
  find(pq.server_version, "PQserverVersion");
  find(pq.host, "PQhost");
  find(pq.port, "PQport");
  find(pq.database, "PQdb");
  find(pq.set_notice_processor, "PQsetNoticeProcessor");
  if (!whole)
    return fail(Code::unsupported,
                "PostgreSQL's client library on this machine (libpq) is older than 14: install a newer one and start "
                "errand again.",
                "no_library");
  return pq;
}

const Result<Library>& library() {
  static const Result<Library> loaded = load_library();
  return loaded;
}
// Where a connection exists, the library does.
const Library& pq() { return *library(); }

constexpr int server_oldest = 140'000;
constexpr size_t prepared_max = 256;  // Lists have many forms; past this all are prepared anew.

Time steady_now() {
  static SystemClock clock;
  return clock.steady();
}

// One line, without what follows it.
std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

bool is_one_of(std::string_view state, std::initializer_list<std::string_view> states) {
  return std::ranges::find(states, state) != states.end();
}

// What an SQLSTATE means for whoever ran the statement.
Error error_of(std::string_view state, std::string_view message) {
  const std::string text = first_line(message);
  if (state.starts_with("08") || state.starts_with("57P") || state.starts_with("25P0") ||
      is_one_of(state, {"53300", "25006", "57014", ""}))
    return {Code::unavailable, fmt::format("PostgreSQL cannot be used now ({}): try again in a moment.", text),
            std::string(reason::away)};
  if (is_one_of(state, {"40001", "40P01", "55P03"}))
    return {Code::unavailable, fmt::format("PostgreSQL was busy with something else ({}): try again.", text),
            std::string(reason::again)};
  if (state == "53100" || state == "53200")
    return {Code::storage_full, fmt::format("PostgreSQL has no space left ({}): nothing was stored.", text), {}};
  if (state.starts_with("XX0"))
    return {Code::internal,
            fmt::format("PostgreSQL says that its database is damaged ({}): restore it from a copy.", text),
            std::string(reason::corrupt)};
  if (state.starts_with("22") || state.starts_with("23") || state.starts_with("54"))
    return {Code::internal, fmt::format("PostgreSQL refused a value ({}).", text), std::string(reason::rule)};
  return {Code::internal, fmt::format("PostgreSQL failed ({} {}).", state, text), "io"};
}

void ignore_notice(void*, const char* message) { log_debug("store", message); }

uint64_t big_endian(uint64_t number) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

void put32(std::string& out, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift);
}
void put64(std::string& out, int64_t number) {
  const uint64_t ordered = big_endian(static_cast<uint64_t>(number));
  out.append(reinterpret_cast<const char*>(&ordered), sizeof(ordered));
}

constexpr uint32_t bigint_type = 20, bytea_type = 17;  // pg_type: fixed for ever.

void put_array_head(std::string& out, uint32_t type, size_t size) {
  put32(out, size == 0 ? 0 : 1);  // Dimensions,
  put32(out, 0);                  // no nulls.
  put32(out, type);
  if (size == 0) return;
  put32(out, static_cast<uint32_t>(size));
  put32(out, 1);  // The first has the number 1.
}

}  // namespace

// --- values

Values& Values::add(int64_t number) {
  begin();
  put64(bytes_, number);
  end();
  return *this;
}

Values& Values::add(std::string_view text) {
  begin();
  bytes_ += text;
  end();
  return *this;
}

Values& Values::add_null() {
  places_.push_back({});
  return *this;
}

Values& Values::add_array(std::span<const int64_t> numbers) {
  begin();
  put_array_head(bytes_, bigint_type, numbers.size());
  for (const int64_t number : numbers) {
    put32(bytes_, sizeof(number));
    put64(bytes_, number);
  }
  end();
  return *this;
}

template <class Texts>
Values& Values::add_texts(const Texts& texts) {
  begin();
  put_array_head(bytes_, bytea_type, texts.size());
  for (const auto& text : texts) {
    put32(bytes_, static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  end();
  return *this;
}

Values& Values::add_array(std::span<const std::string> texts) { return add_texts(texts); }
Values& Values::add_array(std::span<const std::string_view> texts) { return add_texts(texts); }

std::vector<const char*> Values::pointers() const {
  std::vector<const char*> out;
  out.reserve(places_.size());
  for (const Place& place : places_) out.push_back(place.length == null_length ? nullptr : bytes_.data() + place.at);
  return out;
}

std::vector<int> Values::lengths() const {
  std::vector<int> out;
  out.reserve(places_.size());
  for (const Place& place : places_) out.push_back(std::max(place.length, 0));
  return out;
}

Rows::~Rows() {
  if (result_) pq().clear(result_);
}

int Rows::count() const { return pq().rows(result_); }

int64_t Rows::affected() const {
  const char* const text = pq().affected(result_);
  return *text ? std::atoll(text) : 0;
}

std::string_view Rows::text(int row, int column) const {
  return {pq().value(result_, row, column), static_cast<size_t>(pq().length(result_, row, column))};
}

int64_t Rows::integer(int row, int column) const {
  const std::string_view bytes = text(row, column);
  uint64_t number = 0;
  if (bytes.size() != sizeof(number)) return 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  return static_cast<int64_t>(big_endian(number));
}

bool Rows::is_null(int row, int column) const { return pq().is_null(result_, row, column) != 0; }

// --- the connection

Connection::Connection(Connection&& other) noexcept { *this = std::move(other); }

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(conn_, other.conn_);
  std::swap(answer_ms_, other.answer_ms_);
  std::swap(prepared_, other.prepared_);
  std::swap(fresh_, other.fresh_);
  std::swap(next_name_, other.next_name_);
  std::swap(queued_, other.queued_);
  std::swap(statements_, other.statements_);
  std::swap(failed_at_, other.failed_at_);
  std::swap(failed_to_send_, other.failed_to_send_);
  std::swap(pipeline_, other.pipeline_);
  return *this;
}

Connection::~Connection() { close(); }

void Connection::close() {
  if (conn_) pq().finish(std::exchange(conn_, nullptr));
  prepared_.clear();
  fresh_.clear();
  queued_.clear();
  statements_ = 0;
  failed_to_send_ = pipeline_ = false;
}

Result<Connection> Connection::open(const ConnectOptions& options) {
  if (const Result<Library>& loaded = library(); !loaded) return std::unexpected(loaded.error());
  // What stands before `dbname` can be set by the URL; a server that may only be read is one that is away.
  const std::array keywords = {"connect_timeout",      "keepalives_idle",  "keepalives_interval",
                               "keepalives_count",     "tcp_user_timeout", "application_name",
                               "target_session_attrs", "dbname",           static_cast<const char*>(nullptr)};
  const std::array values = {
      "5", "5", "2", "3", "10000", "errand", "read-write", options.url.c_str(), static_cast<const char*>(nullptr)};
  pg_conn* const conn = pq().connect(keywords.data(), values.data(), /*expand_dbname=*/1);
  if (!conn)
    return fail(Code::unavailable, "There is no memory for a connection to PostgreSQL.", std::string(reason::away));
  Connection made(conn, options.answer_ms);
  if (pq().status(conn) != CONNECTION_OK) {
    std::string text = pq().error_message(conn);
    while (!text.empty() && (text.back() == '\n' || text.back() == '?')) text.pop_back();
    std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return fail(Code::unavailable, fmt::format("PostgreSQL cannot be reached ({}).", text), std::string(reason::away));
  }
  pq().set_notice_processor(conn, ignore_notice, nullptr);
  if (const int version = pq().server_version(conn); version < server_oldest)
    return fail(Code::unsupported,
                fmt::format("This PostgreSQL has version {}: errand needs 14 or newer.", version / 10'000));
  if (const Status ready = made.set_up(options); !ready) return std::unexpected(ready.error());
  return made;
}

Status Connection::set_up(const ConnectOptions& options) {
  if (pq().set_nonblocking(conn_, 1) != 0) return lost("set the connection up");
  // Everything is asked for by an index: a plan that was made while a table was small, and is kept, must not read
  // through it when it is large. An acknowledged commit is on the disk, whatever the database's own default is. A
  // transaction that a stopped process left open must not hold everybody up.
  std::string sql = fmt::format(
      "SET search_path = \"{}\"; SET idle_in_transaction_session_timeout = '5s'; SET lock_timeout = '10s'; "
      "SET statement_timeout = {}; SET client_min_messages = warning; SET enable_seqscan = off; "
      "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';",
      options.schema, options.answer_ms);
  if (options.read_only) sql += "SET default_transaction_read_only = on;";
  if (const Status done = script(sql); !done) return done;
  if (!enter_pipeline()) return lost("set the connection up");
  return {};
}

bool Connection::enter_pipeline() { return pipeline_ = pq().enter_pipeline(conn_) == 1; }

std::unexpected<Error> Connection::lost(std::string_view doing) {
  std::string why = conn_ ? first_line(pq().error_message(conn_)) : std::string();
  if (why.empty()) why = fmt::format("no answer within {} s", answer_ms_ / 1'000);
  close();
  return fail(Code::unavailable,
              fmt::format("The connection to PostgreSQL was lost ({}; to {}): try again in a moment.", why, doing),
              std::string(reason::away));
}

bool Connection::wait_for_input(Time deadline) {
  const int unsent = pq().flush(conn_);
  if (unsent < 0) return false;
  const Millis left = deadline - steady_now();
  if (left <= 0) return false;
  pollfd socket{.fd = pq().socket(conn_), .events = static_cast<short>(POLLIN | (unsent == 1 ? POLLOUT : 0))};
  const int ready = ::poll(&socket, 1, static_cast<int>(left));
  if (ready < 0 && errno == EINTR) return true;
  if (ready <= 0) return false;
  if ((socket.revents & ~POLLOUT) == 0) return true;
  return pq().consume_input(conn_) == 1;
}

Status Connection::script(const std::string& sql) {
  if (!conn_) return lost("run a script");
  if (pipeline_ && pq().exit_pipeline(conn_) != 1) return lost("run a script");
  const bool was_pipeline = std::exchange(pipeline_, false);
  if (pq().send_query(conn_, sql.c_str()) != 1) return lost("run a script");
  const Time deadline = steady_now() + answer_ms_;
  Status out;
  for (;;) {
    while (pq().is_busy(conn_) != 0)
      if (!wait_for_input(deadline)) return lost("run a script");
    pg_result* const result = pq().get_result(conn_);
    if (!result) break;
    if (pq().result_status(result) == PGRES_FATAL_ERROR && out) {
      const char* const state = pq().error_field(result, PG_DIAG_SQLSTATE);
      const char* const text = pq().error_field(result, PG_DIAG_MESSAGE_PRIMARY);
      out = std::unexpected(error_of(state ? state : "", text ? text : "the connection was closed"));
    }
    pq().clear(result);
  }
  if (pq().status(conn_) != CONNECTION_OK) return lost("run a script");
  if (was_pipeline && !enter_pipeline()) return lost("run a script");
  return out;
}

size_t Connection::send(std::string_view sql, const Values& values) {
  if (statements_ == 0 && prepared_.size() > prepared_max) {
    prepared_.clear();
    if (!script("DEALLOCATE ALL")) close();
  }
  if (!conn_) failed_to_send_ = true;
  if (failed_to_send_) return statements_++;
  auto known = prepared_.find(std::string(sql));
  if (known == prepared_.end()) {
    known = prepared_.emplace(sql, fmt::format("s{}", next_name_++)).first;
    fresh_.push_back(known->first);
    failed_to_send_ = pq().send_prepare(conn_, known->second.c_str(), known->first.c_str(), 0, nullptr) != 1;
    queued_.push_back(false);
  }
  const std::vector<const char*> pointers = values.pointers();
  const std::vector<int> lengths = values.lengths();
  const std::vector<int> formats(values.size(), 1);
  failed_to_send_ =
      failed_to_send_ || pq().send_prepared(conn_, known->second.c_str(), static_cast<int>(values.size()),
                                            pointers.data(), lengths.data(), formats.data(), /*resultFormat=*/1) != 1;
  queued_.push_back(true);
  return statements_++;
}

Result<std::vector<Rows>> Connection::flush() {
  const std::vector<bool> queued = std::exchange(queued_, {});
  const std::vector<std::string> fresh = std::exchange(fresh_, {});
  std::vector<Rows> answers;
  answers.reserve(std::exchange(statements_, 0));
  failed_at_ = 0;
  if (std::exchange(failed_to_send_, false) || !conn_ || pq().sync(conn_) != 1) return lost("send statements");
  const Time deadline = steady_now() + answer_ms_;
  std::optional<Error> failed;
  size_t at = 0;
  for (;;) {
    while (pq().is_busy(conn_) != 0)
      if (!wait_for_input(deadline)) return lost("read an answer");
    pg_result* const result = pq().get_result(conn_);
    if (!result) {  // Between the answers of two statements.
      if (pq().status(conn_) != CONNECTION_OK) return lost("read an answer");
      continue;
    }
    const ExecStatusType status = pq().result_status(result);
    if (status == PGRES_PIPELINE_SYNC) {
      pq().clear(result);
      break;
    }
    const bool is_statement = at < queued.size() && queued[at];
    ++at;
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
      if (is_statement)
        answers.emplace_back(result);
      else
        pq().clear(result);
      continue;
    }
    if (!failed && status != PGRES_PIPELINE_ABORTED) {
      const char* const state = pq().error_field(result, PG_DIAG_SQLSTATE);
      const char* const text = pq().error_field(result, PG_DIAG_MESSAGE_PRIMARY);
      failed = error_of(state ? state : "", text ? text : "the connection was closed");
      failed_at_ = answers.size();
    }
    pq().clear(result);
    if (pq().status(conn_) != CONNECTION_OK) return lost("read an answer");
  }
  if (!failed) return answers;
  // What was to be prepared behind the failure was not.
  for (const std::string& sql : fresh) prepared_.erase(sql);
  // A server that turned read-only is left: another one may be the primary now.
  if (failed->reason == reason::away) close();
  return std::unexpected(*failed);
}

Result<Rows> Connection::run(std::string_view sql, const Values& values) {
  send(sql, values);
  Result<std::vector<Rows>> rows = flush();
  if (!rows) return std::unexpected(rows.error());
  return std::move(rows->front());
}

std::string Connection::describe() const {
  if (!conn_) return "postgresql";
  const int version = pq().server_version(conn_);
  return fmt::format("postgresql {}.{}, {} on {}:{}", version / 10'000, version % 10'000, pq().database(conn_),
                     pq().host(conn_), pq().port(conn_));
}

}  // namespace errand::postgres
