import { Bot, Sparkles, Terminal, type LucideIcon } from 'lucide-react';

import type { Agent } from '../api/types';

export const agentIcon = (agent: Agent): LucideIcon =>
  agent.driver === 'command' ? Terminal : agent.driver === 'demo' ? Sparkles : Bot;
