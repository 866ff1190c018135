// Agents: shown and changed.
#include "api/agents.h"

#include "api/query.h"
#include "api/requests.h"
#include "engine/default_agent.h"
#include "net/routes/context.h"

namespace errand::net {

namespace {

// Calls `then` with what is known of these agents now.
void with_moments(Context& context, std::vector<Agent> agents,
                  std::move_only_function<void(const std::vector<Agent>&, const std::vector<api::AgentMoment>&)> then) {
  std::vector<api::AgentMoment> moments;
  moments.reserve(agents.size());
  for (const Agent& agent : agents)
    moments.push_back({.capabilities = context.parts.engine.administration().capabilities(agent), .program = {}});
  if (!context.parts.programs) return then(agents, moments);
  const std::vector<Agent> asked = agents;
  context.parts.programs(asked, [agents = std::move(agents), moments = std::move(moments),
                                 then = std::move(then)](RouteParts::Programs programs) mutable {
    for (size_t i = 0; i < moments.size() && i < programs.size(); ++i) moments[i].program = std::move(programs[i]);
    then(agents, moments);
  });
}

// Answers the call with this agent.
void show(Context& context, Call call, int status, Agent agent) {
  with_moments(
      context, {std::move(agent)},
      [call = std::move(call), status](const std::vector<Agent>& agents, const std::vector<api::AgentMoment>& moments) {
        call.answer(status, api::agent_reply(agents.front(), moments.front()));
      });
}

}  // namespace

void list_agents(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  const Administration& administration = context.parts.engine.administration();
  std::vector<Agent> agents = administration.agents();
  std::string usual = default_agent(agents, administration.settings().default_agent).value_or("");
  with_moments(context, std::move(agents),
               [call = std::move(call), usual = std::move(usual)](const std::vector<Agent>& all,
                                                                  const std::vector<api::AgentMoment>& moments) {
                 call.answer(200, api::agents_reply(all, moments, usual));
               });
}

void get_agent(Context& context, Call call) {
  for (const Agent& agent : context.parts.engine.administration().agents()) {
    if (agent.id == call.args[0] || agent.name == call.args[0]) return show(context, std::move(call), 200, agent);
  }
  call.refuse({Code::not_found, "No agent has this id. GET /api/agents lists the agents.", "unknown_agent"});
}

void list_models(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  for (const Agent& agent : context.parts.engine.administration().agents()) {
    if (agent.id != call.args[0] && agent.name != call.args[0]) continue;
    if (!context.parts.models) return call.answer(200, api::models_reply({}));
    return context.parts.models(agent, answering<ListedModels>(std::move(call), 200, api::models_reply));
  }
  call.refuse({Code::not_found, "No agent has this id. GET /api/agents lists the agents.", "unknown_agent"});
}

void create_agent(Context& context, Call call) {
  parse_then(context, std::move(call), api::parse_agent, [&context](Call parsed, Agent agent) {
    context.parts.engine.administration().put_agent({}, std::move(agent),
                                                    [&context, call = std::move(parsed)](Result<Agent> made) mutable {
                                                      if (!made) return call.refuse(made.error());
                                                      show(context, std::move(call), 201, std::move(*made));
                                                    });
  });
}

void change_agent(Context& context, Call call) {
  parse_then(context, std::move(call), api::parse_agent, [&context](Call parsed, Agent agent) {
    const std::string id = parsed.args[0];
    context.parts.engine.administration().put_agent(
        id, std::move(agent), [&context, call = std::move(parsed)](Result<Agent> changed) mutable {
          if (!changed) return call.refuse(changed.error());
          show(context, std::move(call), 200, std::move(*changed));
        });
  });
}

void delete_agent(Context& context, Call call) {
  const std::string id = call.args[0];
  context.parts.engine.administration().remove_agent(id, [call = std::move(call)](Result<void> removed) mutable {
    if (!removed) return call.refuse(removed.error());
    call.exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
  });
}

void revoke_agent(Context& context, Call call) {
  const std::string id = call.args[0];
  context.parts.engine.administration().revoke(id, [&context, call = std::move(call)](Result<Agent> agent) mutable {
    if (!agent) return call.refuse(agent.error());
    show(context, std::move(call), 200, std::move(*agent));
  });
}

}  // namespace errand::net
