#include "driver/builtin/scripted_test.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace errand::builtin::test {

using model::Block;

Block say(std::string text) { return {.type = Block::Type::text, .text = std::move(text)}; }
Block think(std::string text, std::string opaque) {
  return {.type = Block::Type::reasoning, .text = std::move(text), .opaque = std::move(opaque)};
}
Block call(std::string id, std::string name, std::string input) {
  return {.type = Block::Type::tool_call, .call_id = std::move(id), .name = std::move(name), .input = std::move(input)};
}
Reply calls(std::vector<Block> blocks) { return {.blocks = std::move(blocks), .stop = model::Stop::tool_calls}; }
Reply fails(model::Failure::Kind kind, std::string message, Time retry_at) {
  return {.failure = model::Failure{.kind = kind, .message = std::move(message), .retry_at = retry_at}};
}

int answers_in(const model::Request& request) {
  return static_cast<int>(std::ranges::count(request.conversation, model::Entry::Role::assistant, &model::Entry::role));
}

std::string user_words(const model::Request& request) {
  std::string out;
  for (const model::Entry& entry : request.conversation)
    if (entry.role == model::Entry::Role::user)
      for (const Block& block : entry.blocks)
        if (block.type == Block::Type::text) out += block.text + "; ";
  return out;
}

std::string result_in(const model::Request& request, std::string_view call_id) {
  for (const model::Entry& entry : request.conversation)
    for (const Block& block : entry.blocks)
      if (block.type == Block::Type::tool_result && block.call_id == call_id)
        return (block.is_error ? "error: " : "") + block.text;
  return {};
}

// --- ScriptedModels

namespace {

class ScriptedAsk final : public model::Ask {
 public:
  ScriptedAsk(Timers& timers, Reply reply, model::Listener& listener, std::shared_ptr<int> live)
      : reply_(std::move(reply)), listener_(listener), live_(std::move(live)), timer_(timers) {
    ++*live_;
    next();
  }
  ~ScriptedAsk() override { --*live_; }
  void hold() override { held_ = true; }
  void go_on() override {
    if (std::exchange(held_, false) && std::exchange(waits_, false)) next();
  }

 private:
  void next() {
    timer_.set(reply_.block_ms, [this] { step(); });
  }
  void step() {
    if (held_) {
      waits_ = true;
      return;
    }
    if (reply_.failure && at_ == reply_.fail_after) return listener_.failed(*reply_.failure);
    if (at_ == reply_.blocks.size()) {
      if (reply_.hangs) return;
      model::Answer answer{.blocks = reply_.blocks, .stop = reply_.stop, .use = reply_.use, .use_known = true};
      return listener_.answered(std::move(answer));
    }
    const size_t index = at_++;
    const Block& block = reply_.blocks[index];
    listener_.block_began(index, {.type = block.type, .call_id = block.call_id, .name = block.name});
    // In two pieces, where a character may begin.
    size_t half = block.text.size() / 2;
    while (half > 0 && (static_cast<unsigned char>(block.text[half]) & 0xC0) == 0x80) --half;
    if (half > 0) listener_.text(index, std::string_view(block.text).substr(0, half));
    if (!block.text.empty()) listener_.text(index, std::string_view(block.text).substr(half));
    if (block.type == Block::Type::tool_call) listener_.input(index, block.input);
    next();
  }

  Reply reply_;
  model::Listener& listener_;
  std::shared_ptr<int> live_;
  size_t at_ = 0;
  bool held_ = false, waits_ = false;
  Timer timer_;
};

}  // namespace

std::unique_ptr<model::Ask> ScriptedModels::ask(const model::Endpoint&, model::Request request,
                                                model::Listener& listener) {
  Reply reply = script(request);
  asked.push_back(std::move(request));
  return std::make_unique<ScriptedAsk>(timers_, std::move(reply), listener, live_);
}

// --- ScriptedTools

class ScriptedTools::Run final : public ToolRun {
 public:
  Run(ScriptedTools& owner, const std::string& name, const Deed& deed, const ToolContext& context, Tool::Done done)
      : owner_(owner), deed_(deed), id_(context.call_id), done_(std::move(done)), timer_(owner.timers_) {
    ++owner_.live_;
    const Time now = owner.clock_.steady();
    Millis wait = deed.ms;
    const auto known = owner.ground_.processes.find(id_);
    const bool taken_up = context.again && known != owner.ground_.processes.end();
    owner.ground_.diary.push_back(fmt::format("{} {}{}", name, id_, taken_up ? " again" : ""));
    if (taken_up) {
      wait = std::max<Millis>(known->second - now, 0);
    } else if (deed.survives) {  // Whoever owns processes knows that this one was never begun.
      owner.ground_.processes.emplace(id_, now + wait);
    }
    timer_.set(wait, [this] { finish(); });
  }
  ~Run() override { --owner_.live_; }
  bool stop() override {
    owner_.ground_.processes.erase(id_);
    return false;
  }
  void stored() override { owner_.ground_.processes.erase(id_); }

 private:
  void finish() {
    Tool::Done done = std::move(done_);
    done({.output = deed_.output, .is_error = deed_.is_error});
  }

  ScriptedTools& owner_;
  const Deed& deed_;
  const std::string id_;
  Tool::Done done_;
  Timer timer_;
};

class ScriptedTools::OneTool final : public Tool {
 public:
  OneTool(ScriptedTools& owner, std::string name, Deed deed)
      : owner_(owner),
        deed_(std::move(deed)),
        spec_{.name = std::move(name), .description = "A tool.", .input_schema = R"({"type":"object"})"} {}

  const model::ToolSpec& spec() const override { return spec_; }
  bool read_only() const override { return deed_.read_only; }
  bool survives() const override { return deed_.survives; }
  std::string summary(std::string_view input) const override {
    owner_.reads("summary of " + spec_.name);
    return spec_.name + " " + std::string(input);
  }
  Result<Prepared> prepare(const ToolContext&, std::string input) const override {
    owner_.reads(spec_.name);
    if (!deed_.wrong.empty()) return fail(Code::invalid_argument, deed_.wrong);
    Prepared call;
    call.need = {.ask = deed_.asks, .subject = spec_.name + " this", .text = "May it " + spec_.name + "?"};
    if (deed_.children) call.children = spec_.name + " " + input;
    call.run = [this](const ToolContext& context, Done done) {
      return std::make_unique<Run>(owner_, spec_.name, deed_, context, std::move(done));
    };
    return call;
  }

 private:
  ScriptedTools& owner_;
  const Deed deed_;
  const model::ToolSpec spec_;
};

class ScriptedTools::Turn final : public TurnTools {
 public:
  explicit Turn(ScriptedTools& owner) : owner_(owner), timer_(owner.timers_) { list_ = owner.tools_; }
  void close(std::move_only_function<void()> gone) override { timer_.set(owner_.close_ms, std::move(gone)); }
  void prepare(std::move_only_function<void(std::vector<std::string>)> ready) override {
    timer_.set(0, [this, ready = std::move(ready)]() mutable { ready(owner_.warnings); });
  }
  const std::vector<std::shared_ptr<const Tool>>& list() const override { return list_; }
  std::shared_ptr<const Tool> find(std::string_view name) const override {
    const auto found = std::ranges::find_if(list_, [&](const auto& tool) { return tool->spec().name == name; });
    return found == list_.end() ? nullptr : *found;
  }
  std::string skills_text() const override { return {}; }
  void drop() override { timer_.cancel(); }

 private:
  ScriptedTools& owner_;
  std::vector<std::shared_ptr<const Tool>> list_;
  Timer timer_;
};

ScriptedTools::~ScriptedTools() = default;

void ScriptedTools::reads(std::string what) {
  if (background_.running())
    ++read_in_background;
  else
    misread.push_back(std::move(what));
}

void ScriptedTools::add(std::string name, Deed deed) {
  tools_.push_back(std::make_shared<const OneTool>(*this, std::move(name), std::move(deed)));
}

std::unique_ptr<TurnTools> ScriptedTools::open(std::shared_ptr<const Task>, std::shared_ptr<const Agent>) {
  return std::make_unique<Turn>(*this);
}

}  // namespace errand::builtin::test
