// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, describe, expect, it } from 'vitest';

import type { Agent } from '../api/types';
import '../i18n/test';
import { FirstVisit, needsSetUp } from './FirstVisit';

afterEach(cleanup);

const agent = (id: string, more: Partial<Agent> = {}): Agent =>
  ({
    id,
    name: id,
    driver: id,
    description: `what ${id} does`,
    available: true,
    unavailable_reason: null,
    ...more,
  }) as Agent;
const bare = [
  agent('command'),
  agent('builtin', { available: false, unavailable_reason: 'No model is configured.' }),
  agent('demo'),
];

describe('FirstVisit', () => {
  it('is for those who have no agent that works', () => {
    expect(needsSetUp(bare)).toBe(true);
    expect(needsSetUp([...bare, agent('claude')])).toBe(false);
    expect(needsSetUp([...bare, agent('claude', { available: false })])).toBe(true);
    expect(needsSetUp([...bare, agent('agent_1', { driver: 'builtin' })])).toBe(false);
  });
  it('says what to type, and what was found with the reason why not', () => {
    render(<FirstVisit agents={bare} />);
    expect(screen.getByText('errand setup')).toBeTruthy();
    expect(screen.getByTestId('first-visit').textContent).toContain('builtin: No model is configured.');
  });
});
