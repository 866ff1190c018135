import { Bot, Sparkles, Terminal } from 'lucide-react';

import type { Agent } from '../api/types';

export function AgentIcon({ agent, size, className }: { agent: Agent; size: number; className?: string }) {
  const look = { size, ...(className ? { className } : {}), 'aria-hidden': true };
  if (agent.driver === 'command') return <Terminal {...look} />;
  return agent.driver === 'demo' ? <Sparkles {...look} /> : <Bot {...look} />;
}
