#include "notify/shapes.h"

#include <string_view>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "notify/reach.h"
#include "notify/signature.h"

namespace errand::notify {
namespace {

std::string link_to(const Notification& notification, std::string_view page_url) {
  if (page_url.empty()) return {};
  if (notification.task_id.empty()) return std::string(page_url) + "/";
  return fmt::format("{}/chat?taskId={}", page_url, notification.task_id.value);
}

// The one thing that names it: its title, or where that stays here its id.
std::string subject(const Notification& notification) {
  return notification.title.empty() ? notification.task_id.value : notification.title;
}

// Where there is no text to show, what is known without it.
std::string detail(const Notification& notification) {
  if (!notification.text.empty()) return notification.text;
  return notification.reason;
}

std::string standard_body(const Notification& notification, const std::string& link) {
  std::string text;
  JsonOut out(text);
  const bool test = notification.occasion == Occasion::test;
  out.object().field("type", (test ? "" : "task.") + std::string(name(notification.occasion)));
  out.field("timestamp", notification.at).key("data").object().field("id", notification.id);
  out.field("task_id", notification.task_id).text_or_null("title", notification.title);
  out.text_or_null("kind", notification.kind).text_or_null("agent", notification.agent);
  out.text_or_null("batch_id", notification.batch_id).text_or_null("status", notification.status);
  out.text_or_null("reason", notification.reason).text_or_null("request_id", notification.request_id);
  out.text_or_null("question", notification.question).text_or_null("text", notification.text);
  out.text_or_null("url", link).end().end();
  return text;
}

std::string ntfy_body(const Url& url, const Notification& notification, const std::string& link) {
  struct Look {
    int priority;
    std::string_view tag;
  };
  const Look look = notification.occasion == Occasion::asked       ? Look{4, "question"}
                    : notification.occasion == Occasion::failed    ? Look{4, "x"}
                    : notification.occasion == Occasion::completed ? Look{3, "white_check_mark"}
                                                                   : Look{2, "bell"};
  std::string text;
  JsonOut out(text);
  out.object().field("topic", std::string_view(url.path).substr(1));
  out.field("title", headline(notification) + ": " + subject(notification));
  const std::string more = detail(notification);
  out.field("message", more.empty() ? headline(notification) : more).field("priority", look.priority);
  out.key("tags").array().value(look.tag).end();
  if (!link.empty()) out.field("click", link);
  out.end();
  return text;
}

// What Slack reads as a mention or a link begins with '<'.
std::string slack_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string slack_body(const Notification& notification, const std::string& link) {
  std::string words = "*" + headline(notification) + ":* " + slack_text(subject(notification));
  if (const std::string more = detail(notification); !more.empty()) words += "\n" + slack_text(more);
  if (!link.empty()) words += "\n<" + link + "|Open in errand>";
  std::string text;
  JsonOut(text).object().field("text", words).field("unfurl_links", false).field("unfurl_media", false).end();
  return text;
}

// Every mark of its Markdown is text: no link can be named otherwise than it goes.
std::string discord_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\*_~`|>#[]()<@:-+=!").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

std::string discord_body(const Notification& notification, const std::string& link) {
  std::string words = "**" + headline(notification) + ":** " + discord_text(subject(notification));
  if (const std::string more = detail(notification); !more.empty()) words += "\n" + discord_text(more);
  if (!link.empty()) words += "\n<" + link + ">";
  std::string text;
  JsonOut out(text);
  out.object().field("content", words).key("allowed_mentions").object().key("parse").array().end().end().end();
  return text;
}

}  // namespace

http::Request request_for(const Target& target, const Notification& notification, std::string_view page_url, Time now) {
  const std::string link = link_to(notification, page_url);
  http::Request request;
  request.method = "POST";
  request.url = target.url;
  request.headers = {{"Content-Type", "application/json"}, {"webhook-id", notification.id}};
  switch (target.shape) {
    case Shape::standard:
      request.body = standard_body(notification, link);
      request.headers.emplace_back("webhook-timestamp", fmt::format("{}", now.ms / 1'000));
      request.headers.emplace_back("webhook-signature", signature(target, notification.id, now, request.body));
      break;
    case Shape::ntfy: {
      // Published as JSON to the server's root: no header has a text of an agent's in it.
      const Url url = parse_url(target.url).value_or(Url{});
      request.url = url.origin() + "/";
      request.body = ntfy_body(url, notification, link);
      if (!target.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + target.token);
      break;
    }
    case Shape::slack:
      request.body = slack_body(notification, link);
      break;
    case Shape::discord:
      request.body = discord_body(notification, link);
      break;
    case Shape::push:  // web_push.h makes it: it takes keys.
      break;
  }
  return request;
}

}  // namespace errand::notify
