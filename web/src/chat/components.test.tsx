// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import '../i18n/test';
import { StatusBadge } from '../ui/StatusBadge';
import { AskCard } from './AskCard';
import { Composer } from './Composer';
import { ToolCard } from './ToolCard';
import type { Ask, Row } from './transcript';

afterEach(cleanup);
beforeEach(() => sessionStorage.clear());

const badge = (more: object) => {
  render(<StatusBadge task={{ status: 'running', stopping: false, waiting_for: null, ...more } as never} />);
  return document.querySelector('[data-shows]')!.textContent;
};

describe('StatusBadge', () => {
  it('says what is the news', () => {
    expect(badge({})).toBe('Running');
    cleanup();
    expect(badge({ status: 'cancelled', stopping: true })).toBe('Cancelling');
    cleanup();
    expect(badge({ waiting_for: { kind: 'answer' } })).toBe('Needs input');
    cleanup();
    expect(badge({ waiting_for: { kind: 'quota' } })).toBe('Waiting');
    cleanup();
    // What it asked is over with the task.
    expect(badge({ status: 'cancelled', waiting_for: { kind: 'answer' } })).toBe('Cancelled');
  });
});

describe('Composer', () => {
  const client = new QueryClient();
  const show = (onSend: (text: string) => Promise<boolean>, arrived?: string) => (
    <QueryClientProvider client={client}>
      <Composer place="t" placeholder="Message" sendLabel="Send" onSend={onSend} arrived={arrived} />
    </QueryClientProvider>
  );
  const type = (text: string) => fireEvent.change(screen.getByLabelText('Message'), { target: { value: text } });
  const box = () => screen.getByLabelText<HTMLTextAreaElement>('Message');

  it('sends with Enter, and keeps a line break with Shift', async () => {
    const send = vi.fn(() => Promise.resolve(true));
    render(show(send));
    type(' hello ');
    fireEvent.keyDown(box(), { key: 'Enter', shiftKey: true });
    expect(send).not.toHaveBeenCalled();
    fireEvent.keyDown(box(), { key: 'Enter' });
    expect(send).toHaveBeenCalledWith('hello', []);
    await waitFor(() => expect(box().value).toBe(''));
  });
  it('keeps the words when they could not be sent, also over a reload', async () => {
    const { unmount } = render(show(() => Promise.resolve(false)));
    type('hello');
    fireEvent.keyDown(box(), { key: 'Enter' });
    await waitFor(() => expect(box().value).toBe('hello'));
    unmount();
    render(show(() => Promise.resolve(true)));
    expect(box().value).toBe('hello');
  });
  it('lets go of words whose answer was lost once they are seen to have arrived', async () => {
    const { rerender } = render(show(() => Promise.resolve(false)));
    type('hello');
    fireEvent.keyDown(box(), { key: 'Enter' });
    await waitFor(() => expect(screen.getByText('Send').closest('button')!.disabled).toBe(false));
    rerender(show(() => Promise.resolve(false), 'hello'));
    await waitFor(() => expect(box().value).toBe(''));
  });
  it('sends nothing empty, and nothing twice', () => {
    const send = vi.fn(() => new Promise<boolean>(() => undefined));
    render(show(send));
    fireEvent.keyDown(box(), { key: 'Enter' });
    type('x');
    fireEvent.keyDown(box(), { key: 'Enter' });
    fireEvent.keyDown(box(), { key: 'Enter' });
    expect(send).toHaveBeenCalledOnce();
  });
});

describe('AskCard', () => {
  const ask: Ask = {
    id: 'q',
    kind: 'answer',
    text: 'Which?',
    options: ['red', 'blue'],
    workDir: null,
    diff: null,
    patterns: [],
    answer: null,
    message: null,
    part: 0,
    offset: 0,
  };
  it('offers the options while it is open, and what was decided afterwards', () => {
    const { rerender } = render(<AskCard folder={null} taskId="t" ask={ask} open />);
    expect(screen.getAllByRole('button').map((each) => each.textContent)).toEqual(['red', 'blue', 'Answer']);
    rerender(<AskCard folder={null} taskId="t" ask={{ ...ask, kind: 'permission' }} open />);
    expect(screen.getAllByRole('button').map((each) => each.textContent)).toEqual(['Allow once', 'Deny']);
    rerender(
      <AskCard
        folder={null}
        taskId="t"
        ask={{
          ...ask,
          kind: 'permission',
          workDir: '/srv/project',
          diff: '--- a\n+++ a\n@@ -1,1 +1,1 @@\n-old\n+new\n',
          patterns: [{ pattern: 'npm test *', text: 'commands that begin with `npm test`' }],
        }}
        open
      />,
    );
    // What is decided about, and how far an answer may go (R14.3).
    screen.getByText('in /srv/project');
    screen.getByText('+new');
    expect(screen.getAllByRole('option').map((each) => each.textContent)).toEqual([
      'This once',
      'This very call, in this task',
      'npm test * in this task',
      'Everything in this task',
      'This very call, from now on for this agent',
      'npm test * from now on for this agent',
    ]);
    rerender(
      <AskCard
        folder={null}
        taskId="t"
        ask={{ ...ask, kind: 'permission', answer: { decision: 'deny', by: 'user', words: '' } }}
        open={false}
      />,
    );
    expect(screen.queryByRole('button')).toBeNull();
    screen.getByText('Denied.');
    const answered = (answer: Ask['answer']) =>
      rerender(<AskCard folder={null} taskId="t" ask={{ ...ask, answer }} open={false} />);
    answered({ decision: 'answer', by: 'user', words: 'blue' });
    screen.getByText('blue');
    answered({ decision: 'deny', by: 'user', words: 'Not on a Friday.' });
    screen.getByText('Denied. Not on a Friday.');
    answered({ decision: 'deny', by: 'timeout', words: '' });
    screen.getByText('Denied: nobody answered in time.');
    rerender(<AskCard folder={null} taskId="t" ask={ask} open={false} />);
    screen.getByText('An answer is no longer needed.');
  });
});

describe('ToolCard', () => {
  const row = (output: string, is_error = false): Extract<Row, { kind: 'tool' }> => ({
    kind: 'tool',
    key: 'k',
    message: {} as never,
    live: false,
    call: { type: 'tool_call', call_id: output, name: 'run', input: { command: 'make' } },
    result: { type: 'tool_result', call_id: output, output, truncated: false, size: output.length, is_error, ms: 1200 },
  });
  it('is one line until it is opened, and cuts what is long', () => {
    render(<ToolCard asks={false} row={row(Array.from({ length: 100 }, (_, i) => `line ${i}`).join('\n'))} />);
    const [head] = screen.getAllByRole('button');
    expect(head!.textContent).toBe('runmake1.2 s');
    fireEvent.click(head!);
    expect(document.body.textContent).not.toContain('line 99');
    fireEvent.click(screen.getByText(/Show all 100 lines/));
    expect(document.body.textContent).toContain('line 99');
  });
  it('shows a diff as one', () => {
    render(<ToolCard asks={false} row={row('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n')} />);
    fireEvent.click(screen.getAllByRole('button')[0]!);
    expect(screen.getByText('+new').className).toContain('text-green');
    expect(screen.getByText('-old').className).toContain('text-red');
  });
});
