// Agents: shown and changed.
#include "api/agents.h"

#include "api/query.h"
#include "api/requests.h"
#include "engine/default_agent.h"
#include "net/routes/context.h"

namespace errand::net {

void list_agents(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  const Administration& administration = context.parts.engine.administration();
  const std::vector<Agent> agents = administration.agents();
  call.answer(200,
              api::agents_reply(agents, default_agent(agents, administration.settings().default_agent).value_or("")));
}

void get_agent(Context& context, Call call) {
  for (const Agent& agent : context.parts.engine.administration().agents()) {
    if (agent.id == call.args[0] || agent.name == call.args[0]) return call.answer(200, api::agent_reply(agent));
  }
  call.refuse({Code::not_found, "No agent has this id. GET /api/agents lists the agents.", "unknown_agent"});
}

void create_agent(Context& context, Call call) {
  parse_then(context, std::move(call), api::parse_agent, [&context](Call parsed, Agent agent) {
    context.parts.engine.administration().put_agent({}, std::move(agent),
                                                    [call = std::move(parsed)](Result<Agent> made) mutable {
                                                      if (!made) return call.refuse(made.error());
                                                      call.answer(201, api::agent_reply(*made));
                                                    });
  });
}

void change_agent(Context& context, Call call) {
  parse_then(context, std::move(call), api::parse_agent, [&context](Call parsed, Agent agent) {
    const std::string id = parsed.args[0];
    context.parts.engine.administration().put_agent(id, std::move(agent),
                                                    [call = std::move(parsed)](Result<Agent> changed) mutable {
                                                      if (!changed) return call.refuse(changed.error());
                                                      call.answer(200, api::agent_reply(*changed));
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
  context.parts.engine.administration().revoke(id, [call = std::move(call)](const Result<Agent>& agent) mutable {
    if (!agent) return call.refuse(agent.error());
    call.answer(200, api::agent_reply(*agent));
  });
}

}  // namespace errand::net
