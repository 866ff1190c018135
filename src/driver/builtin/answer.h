// A model's answer as reports, while it comes and when it is whole. Pure.
//
// Text and reasoning are reported as they come, up to the first call; what comes behind a call is held until the answer
// is whole, since calls are reported with the whole answer only: a stored call means that the model had said all.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.h"
#include "model/model.h"
#include "task/message.h"

namespace errand::builtin {

class AnswerWriter {
 public:
  explicit AnswerWriter(MessageId id) : id_(std::move(id)) {}

  const MessageId& id() const { return id_; }
  // What to report now; may be nothing.
  std::vector<Report> began(size_t index, const model::Block& block);
  std::vector<Report> text(size_t index, std::string_view text);

  struct Whole {
    std::vector<Report> reports;  // The rest of the message; its end where it has no calls.
    Message message;              // As it is stored; without times and turn.
    bool calls = false;
  };
  // `used`: the call ids of the conversation; one that is empty or used gets a new one. Calls have no summary yet.
  Whole finish(const model::Answer& answer, const std::set<std::string>& used);

 private:
  int part_of(size_t index, std::vector<Report>& out);

  MessageId id_;
  bool begun_ = false;
  bool holding_ = false;  // A call has begun.
  std::vector<model::Block::Type> blocks_;
  std::map<size_t, int> parts_;             // By block: the number of its part.
  std::map<size_t, std::string> streamed_;  // By block: the text that was reported.
};

// The input of a call that is no JSON object, as one: so that it can be stored and shown.
std::string wrap_broken_input(std::string_view input);
bool is_broken_input(std::string_view input);

}  // namespace errand::builtin
