#include "driver/builtin/tools/todo.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/in_background.h"
#include "model/model.h"

namespace errand::builtin {
namespace {

constexpr size_t items_max = 100;
constexpr size_t lists_max = 1'000;  // Of tasks; past it the oldest task's goes.

enum class State : uint8_t { pending, in_progress, completed };
std::optional<State> parse_state(std::string_view text) {
  if (text == "pending") return State::pending;
  if (text == "in_progress") return State::in_progress;
  if (text == "completed") return State::completed;
  return std::nullopt;
}

struct Item {
  std::string content;
  State state = State::pending;
};

struct Arguments {
  bool given = false;
  std::vector<Item> items;
};

Result<Arguments> read_input(std::string_view input) {
  Arguments arguments;
  const Status good = read_arguments(input, [&](Fields& fields) {
    arguments.given = fields.has("items");
    fields.each("items", items_max, [&](Fields& item) {
      Item& added = arguments.items.emplace_back();
      require(item, "content");
      item.text("content", added.content, {.bytes_max = 1'000, .one_line = true});
      item.name_of<State>("status", added.state, parse_state, "pending, in_progress or completed");
    });
  });
  if (!good) return std::unexpected(good.error());
  return arguments;
}

std::string shown(const std::vector<Item>& items) {
  if (items.empty()) return "The list is empty.";
  std::string out;
  for (const Item& item : items) {
    const char* const mark = item.state == State::completed ? "[x]" : item.state == State::in_progress ? "[>]" : "[ ]";
    out += fmt::format("{} {}\n", mark, item.content);
  }
  return out;
}

}  // namespace

class TodoLists {
 public:
  std::map<std::string, std::vector<Item>> by_task;  // Ids sort by age.
};

namespace {

class Todo final : public Tool {
 public:
  Todo(Executor& engine, std::shared_ptr<TodoLists> lists) : engine_(engine), lists_(std::move(lists)) {}

  const model::ToolSpec& spec() const override { return spec_; }
  // It has no effect but its own list: the same call again gives the same.
  bool read_only() const override { return true; }
  std::string summary(std::string_view input) const override {
    const Result<Arguments> arguments = read_input(input);
    if (!arguments || !arguments->given) return {};
    const auto done = std::ranges::count(arguments->items, State::completed, &Item::state);
    return fmt::format("{} of {} done", done, arguments->items.size());
  }
  Result<Prepared> prepare(const ToolContext&, std::string input) const override {
    Result<Arguments> arguments = read_input(input);
    if (!arguments) return std::unexpected(arguments.error());
    return Prepared{.need = {.ask = false, .subject = {}, .tool = {}, .text = {}},
                    .children = {},
                    .run = [this, arguments = std::move(*arguments)](const ToolContext& context, Done done) mutable {
                      return told_later(engine_, {.output = keep(context.task->id, std::move(arguments))},
                                        std::move(done));
                    }};
  }

 private:
  std::string keep(const TaskId& task, Arguments arguments) const {
    auto& all = lists_->by_task;
    if (arguments.given) all.insert_or_assign(task.value, std::move(arguments.items));
    if (all.size() > lists_max) all.erase(all.begin());
    const auto found = all.find(task.value);
    return found == all.end() ? "There is no list yet." : shown(found->second);
  }

  Executor& engine_;
  std::shared_ptr<TodoLists> lists_;
  model::ToolSpec spec_{.name = "todo",
                        .description =
                            "Your list of what is to be done, which people see too. Use it for work of three steps or "
                            "more: write the whole "
                            "list at the beginning, set one item to in_progress when you begin it and to completed as "
                            "soon as it is done. "
                            "Each call gives the whole list anew; without `items` it is only read.",
                        .input_schema =
                            R"({"type":"object","properties":{)"
                            R"("items":{"type":"array","maxItems":100,"items":{"type":"object","properties":{)"
                            R"("content":{"type":"string","description":"What is to be done, in one line."},)"
                            R"("status":{"type":"string","enum":["pending","in_progress","completed"]}},)"
                            R"("required":["content","status"],"additionalProperties":false}})"
                            R"(},"additionalProperties":false})"};
};

}  // namespace

std::shared_ptr<TodoLists> make_todo_lists() { return std::make_shared<TodoLists>(); }
void forget_todo(TodoLists& lists, const TaskId& task) { lists.by_task.erase(task.value); }
std::unique_ptr<Tool> make_todo(Executor& engine, std::shared_ptr<TodoLists> lists) {
  return std::make_unique<Todo>(engine, std::move(lists));
}

}  // namespace errand::builtin
