// errand phone: pairs a phone. Shows a code to scan or to type, and waits until a phone has used it.
#include <poll.h>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/qr.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

constexpr int look_ms = 500;

std::string body_of(const PhoneArgs& args) {
  std::string body;
  JsonOut out(body);
  out.object();
  if (!args.scopes.empty()) {
    out.key("scopes").array();
    for (const std::string_view scope : split(args.scopes, ',')) out.value(trim(scope));
    out.end();
  }
  out.end();
  return body;
}

bool is_own_machine(std::string_view url) {
  return url.starts_with("http://127.") || url.starts_with("http://localhost") || url.starts_with("http://[::1]");
}

// Why a phone will not get there, or what it takes; empty: nothing to say.
std::string_view warning(std::string_view page) {
  if (page.starts_with("https://")) return {};
  if (is_own_machine(page))
    return "this address is this machine's own. A phone reaches it through an ssh tunnel alone; for a name with https "
           "see docs/phone.md, and say it once: notify.page_url in errand.toml.";
  return "a browser makes no key on a page without https, so that a phone cannot be paired there: see docs/phone.md.";
}

void show(const Screen& screen, const std::string& page, const std::string& link, const std::string& reply) {
  const std::optional<Qr> qr = Qr::encode(link);
  if (qr && (!screen.out_is_terminal() || qr_columns(*qr) <= screen.width())) {
    screen.out_line("Scan this with the phone's camera:\n");
    screen.out_bytes(qr_text(*qr, screen.colours()));
    screen.out_line("");
  } else {
    screen.out_line("(The terminal is too narrow for a code to scan.)");
  }
  screen.out_line(fmt::format("Or open  {}  and type  {}", page, member(reply, "code")));
  const std::string scopes = fmt::to_string(fmt::join(texts_of(reply, "scopes"), ","));
  screen.say(fmt::format("The code works once, for {} s. The phone may do this: {}.{}", member(reply, "expires_in_s"),
                         scopes,
                         scopes.contains("approve") ? " With approve it can allow whatever an agent asks for." : ""));
}

// Until a phone has used the code, or none can any more.
int wait_for_phone(Context& context, const std::string& id) {
  const Screen& screen = context.screen;
  // Codes are in the server's memory: another server would not know this one.
  context.client.set_start(Start::never);
  Interrupt interrupt;
  for (;;) {
    const Result<std::string> reply = context.client.get("/api/devices/codes/" + url_encode(id));
    if (!reply) return screen.fail(reply.error());
    const std::string state = member(*reply, "state"), device = member(*reply, "device");
    if (state == "expired" || state == "guessed")
      return screen.fail({Code::unavailable,
                          state == "expired" ? "Nobody has used the code, and it has expired. Run errand phone again."
                                             : "Somebody typed wrong codes, so this one has ended. Run errand phone "
                                               "again.",
                          state});
    if (!member(device, "id").empty()) {
      screen.say(fmt::format("paired {} ({}). Not yours? errand device revoke {}", one_line(member(device, "name")),
                             member(device, "id"), member(device, "id")));
      return code(Exit::ok);
    }
    pollfd stop{.fd = Interrupt::fd(), .events = POLLIN, .revents = 0};
    if (::poll(&stop, 1, look_ms) > 0 || Interrupt::happened()) return code(Exit::interrupted);
  }
}

}  // namespace

int phone(Context& context, const PhoneArgs& args) {
  const Screen& screen = context.screen;
  const Result<std::string> reply = context.client.post("/api/devices/codes", body_of(args));
  if (!reply) return screen.fail(reply.error());
  std::string page = member(*reply, "page"), link = member(*reply, "url");
  if (!args.address.empty()) {
    std::string address = args.address;
    while (address.ends_with('/')) address.pop_back();
    link = address + "/pair" + link.substr(std::min(link.find('#'), link.size()));
    page = address + "/pair";
  }
  if (screen.json()) {
    std::string text;
    JsonOut out(text);
    out.object().field("id", member(*reply, "id")).field("code", member(*reply, "code")).field("page", page);
    out.field("url", link).key("expires_in_s").raw(member(*reply, "expires_in_s")).end();
    screen.out_line(text);
    return code(Exit::ok);
  }
  if (const std::string_view said = warning(page); !said.empty()) screen.say(said);
  show(screen, page, link, *reply);
  return wait_for_phone(context, member(*reply, "id"));
}

}  // namespace errand::cli
