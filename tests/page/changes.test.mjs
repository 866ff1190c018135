// The Changes tab in the real browser (R16.3, R16.4): what a task changed, comments that go back to its agent, and what becomes
// of its own worktree. On real repositories.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, start_builtin } from '../e2e/harness/builtin.mjs';
import { Repository } from '../e2e/harness/repository.mjs';
import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const at = (task) => `/chat?taskId=${task.id}&tab=changes`;
const patch = (page) => page.getByTestId('patch');
const file = (page, name) => page.locator(`[data-file="${name}"]`);
const state = (page, wanted) => until(async () => (await page.getByTestId('merge-bar').getAttribute('data-state')) === wanted, { what: `its worktree is ${wanted}` });
const is_open = (page, name) => until(async () => (await page.getByTestId('patch-path').innerText()).endsWith(name), { what: `${name} is open` });

describe('the Changes tab', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('shows every kind of change, in one column and side by side, by mouse and by keyboard', async (t) => {
    const server = await Server.start(t);
    const code = Array.from({ length: 60 }, (_, i) => `const line${i} = ${i};`);
    const repo = new Repository(t, { files: { 'code.ts': `${code.join('\n')}\n`, 'gone.txt': 'x\n', 'moved.txt': `${'same\n'.repeat(30)}`, 'run.sh': 'echo\n', 'latest': 'a\n', 'yarn.lock': 'a\n' } });
    const task = await server.run(
      `sed -i 's/const line2 = 2;/const line2 = 22;/; s/const line50 = 50;/let line50 = 50;/' code.ts; rm gone.txt; mv moved.txt elsewhere.txt; chmod +x run.sh; ln -sf code.ts latest; head -c 3000 /dev/urandom > noise.bin; echo b >> yarn.lock; printf 'a\\342\\200\\256b\\n' > "$(printf 'ev\\342\\200\\256il.txt')"; printf %s "$(printf 'x%.0s' $(seq 1 6000))" > long.txt`,
      { work_dir: repo.top, isolate: 'worktree' },
    );
    await server.at_rest(task.id);
    const page = await (await browser.person(t, server)).login(at(task));
    await until(async () => /9 files changed/.test(await page.getByTestId('changes-total').innerText()), { what: 'the files are counted' });
    await page.getByText('As the task left it').waitFor();
    await file(page, 'code.ts').click();
    await until(async () => (await patch(page).locator('[data-mark=came]').count()) === 2, { what: 'both changes are there' });
    // Words within lines, and what is left out between hunks.
    assert.deepEqual(await patch(page).locator('mark').allInnerTexts(), ['2', '22', 'const', 'let']);
    await patch(page).getByText('unchanged lines').first().waitFor();
    await check_accessible(page, 'a patch');
    await shot(page, 'changes');
    // n and p go from change to change, and on to the next file; j and k from file to file.
    const lit = () => patch(page).locator('[class*="inset_3px"]').first().innerText();
    await page.keyboard.press('n');
    await until(async () => (await lit()).includes('line2 ='), { what: 'the first change' });
    await page.keyboard.press('n');
    await until(async () => (await lit()).includes('line50'), { what: 'the second change' });
    await page.keyboard.press('p');
    await until(async () => (await lit()).includes('line2 ='), { what: 'the first change again' });
    const names = await page.locator('[data-file]').evaluateAll((all) => all.map((each) => each.dataset.file));
    await page.keyboard.press('j');
    await is_open(page, names[names.indexOf('code.ts') + 1]);
    await page.keyboard.press('k');
    await is_open(page, 'code.ts');
    await page.getByRole('button', { name: 'Side by side' }).click();
    await until(async () => (await patch(page).locator('[data-mark=gone]').first().boundingBox()).y === (await patch(page).locator('[data-mark=came]').first().boundingBox()).y, { what: 'what went and what came stand side by side' });
    await check_accessible(page, 'a patch side by side');
    await shot(page, 'changes-split');
    const says = async (name, ...words) => {
      await file(page, name).click();
      for (const word of words) await page.getByText(word).first().waitFor();
    };
    await says('gone.txt', 'Deleted');
    await says('elsewhere.txt', 'Renamed', 'moved.txt', 'No line of this file changed.');
    await says('run.sh', 'now executable');
    await says('latest', 'Another kind of file · now a symbolic link');
    await says('noise.bin', 'This file is not text (3.0 kB)');
    await says('yarn.lock', 'This file is generated');
    await page.getByRole('button', { name: 'Show the changes' }).click();
    await patch(page).getByText('b', { exact: true }).waitFor();
    await says('ev\u202eil.txt', 'ev\\u202eil.txt', 'a\\u202eb');
    await says('long.txt', '4,000 more characters in this line', '(no end of line)');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 1280, `${wide}`);
  });

  test('sends comments to the agent as one message, keeps them until then, follows its work, and marks what is outdated', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const repo = new Repository(t, { files: { 'a.txt': 'one\ntwo\nthree\nfour\nfive\n' } });
    const edit = (old_string, new_string) => call('edit', { path: 'a.txt', old_string, new_string });
    model.rule('count in German', [call('read', { path: 'a.txt' }), edit('two', 'zwei'), edit('four', 'vier'), { text: 'Done.' }]);
    model.rule('Please go through', [edit('zwei', 'ZWEI'), { text: 'Changed.' }]);
    model.rule('one more line', [edit('one', 'null\none'), { text: 'Added.' }]);
    const task = await launch('count in German', { work_dir: repo.top, isolate: 'worktree' });
    await server.at_rest(task.id);
    const person = await browser.person(t, server);
    const page = await person.login(at(task));
    await patch(page).getByText('zwei').waitFor();
    await page.getByRole('button', { name: 'Comment on line 2', exact: true }).click();
    await page.getByPlaceholder('What should the agent do differently?').fill('In capitals.');
    await page.keyboard.press('Control+Enter');
    // A further one, on two lines.
    await page.getByRole('button', { name: 'Comment on line 4', exact: true }).click();
    await page.getByRole('button', { name: 'Comment on line 5', exact: true }).click({ modifiers: ['Shift'] });
    await page.getByText('Lines 4–5').waitFor();
    await page.getByPlaceholder('What should the agent do differently?').fill('Both?');
    await check_accessible(page, 'a comment that is written');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await shot(page, 'changes-comments');
    // A draft outlives a reload.
    await page.reload();
    await page.getByTestId('review-bar').getByText('2 comments').waitFor();
    await page.locator('[data-comment=current]').nth(1).waitFor();
    // What is put above the lines moves them; what changes them makes a comment outdated. The page hears of it by itself.
    await server.expect(202, 'POST', `/api/tasks/${task.id}/message`, { message: 'one more line' });
    await patch(page).getByText('null').waitFor();
    await page.getByText('Line 3', { exact: true }).waitFor();
    await page.getByText('Lines 5–6').waitFor();
    await server.at_rest(task.id);
    await page.getByRole('button', { name: 'Send to the agent' }).click();
    await page.getByTestId('review-bar').waitFor({ state: 'detached' });
    await patch(page).getByText('ZWEI').waitFor();
    await server.at_rest(task.id);
    const said = (await server.get(`/api/tasks/${task.id}/messages`)).messages.filter((each) => each.role === 'user').at(-1).parts[0].text;
    assert.match(said, /^Please go through these comments on your changes\.\n\n`a\.txt`, line 3:\n```\nzwei\n```\nIn capitals\.\n\n`a\.txt`, lines 5–6:\n```\nvier\nfive\n```\nBoth\?$/);
    await page.getByRole('button', { name: 'Comment on line 3', exact: true }).click();
    await page.getByPlaceholder('What should the agent do differently?').fill('No, small.');
    await page.getByRole('button', { name: 'Add comment' }).click();
    model.rule('change it', [edit('ZWEI', 'deux'), { text: 'Again.' }]);
    await server.expect(202, 'POST', `/api/tasks/${task.id}/message`, { message: 'change it' });
    await page.locator('[data-comment=outdated]').getByText('ZWEI').waitFor();
    await page.getByTestId('review-bar').getByText('1 is outdated').waitFor();
    await check_accessible(page, 'an outdated comment');
    await page.getByRole('button', { name: 'Remove all' }).click();
    await page.locator('[data-comment]').waitFor({ state: 'detached' });
  });

  test('merges, says what is in the way, takes it back, discards, and takes that back', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const repo = new Repository(t);
    model.rule('change a', [call('read', { path: 'a.txt' }), call('write', { path: 'a.txt', content: 'task\n' }), { text: 'Done.' }]);
    model.rule('conflict', [{ text: 'I merge it.' }]);
    const task = await launch('change a', { work_dir: repo.top, isolate: 'worktree', title: 'Change a' });
    await server.at_rest(task.id);
    const person = await browser.person(t, server);
    person.allowed = /409/;
    const page = await person.login(at(task));
    await state(page, 'ready');
    const merge = async () => {
      await page.getByTestId('merge-bar').getByRole('button', { name: 'Merge' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click();
    };
    const dialog = page.getByRole('dialog');
    // Uncommitted work in the same file.
    repo.write('a.txt', 'mine\n');
    await merge();
    await dialog.getByTestId('refusal').getByText('a.txt').first().waitFor();
    assert.equal(repo.read('a.txt'), 'mine\n');
    await check_accessible(page, 'a merge that is refused');
    await shot(page, 'changes-refused');
    await dialog.getByRole('button', { name: 'Go back' }).click();
    // The branch moved, in the same lines: the agent is asked.
    repo.commit('theirs');
    await merge();
    await dialog.getByTestId('refusal').getByText('a.txt').first().waitFor();
    await dialog.getByRole('button', { name: 'Ask the agent to resolve it' }).click();
    await until(async () => (await server.get(`/api/tasks/${task.id}/messages`)).messages.some((each) => each.role === 'user' && /Your changes conflict with main[\s\S]*\n- a\.txt/.test(each.parts[0].text)), { what: 'the agent is asked' });
    await server.at_rest(task.id);
    // Out of the way.
    repo.git('reset', '-q', '--hard', 'HEAD~1');
    await until(() => page.getByTestId('merge-bar').getByRole('button', { name: 'Merge' }).isEnabled(), { what: 'it can be merged' });
    await page.getByTestId('merge-bar').getByRole('button', { name: 'Merge' }).click();
    await dialog.getByRole('textbox', { name: 'Commit message' }).fill('A is the task');
    await dialog.getByRole('button', { name: 'Merge' }).click();
    await state(page, 'merged');
    assert.equal(repo.read('a.txt'), 'task\n');
    assert.equal(repo.git('log', '-1', '--format=%s').trim(), 'A is the task');
    await page.getByRole('button', { name: 'Undo the merge' }).click();
    await state(page, 'ready');
    assert.equal(repo.read('a.txt'), 'one\ntwo\nthree\n');
    await page.getByTestId('merge-bar').getByRole('button', { name: 'Discard' }).click();
    await check_accessible(page, 'the question before a discard');
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await state(page, 'discarded');
    assert.deepEqual(repo.branches(), ['main']);
    await page.getByRole('button', { name: 'Bring them back' }).click();
    await state(page, 'ready');
    // Into the files alone.
    await page.getByTestId('merge-bar').getByRole('button', { name: 'Merge' }).click();
    await dialog.getByRole('radio', { name: /^No commit/ }).check();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await until(() => repo.read('a.txt') === 'task\n', { what: 'the changes are in the folder' });
    assert.equal(repo.git('log', '-1', '--format=%s').trim(), 'first');
  });

  test('3,000 files do not make it stutter', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    const task = await server.run('for d in a b c d; do mkdir $d; for i in $(seq 1 800); do echo $i > $d/file-$i.txt; done; done', { work_dir: repo.top, isolate: 'worktree' });
    await server.at_rest(task.id);
    const page = await (await browser.person(t, server)).login(at(task));
    await until(async () => /3,200 files changed/.test(await page.getByTestId('changes-total').innerText()), { what: 'all are counted' });
    await page.getByText('200 more files are not listed.').waitFor();
    const list = page.getByTestId('changed-files');
    assert.ok((await page.locator('[data-file]').count()) < 80, 'only what is seen is drawn');
    // Scrolled through from end to end: what a frame took.
    const gaps = await list.evaluate(
      (box) =>
        new Promise((resolve) => {
          const found = [];
          let last = performance.now();
          const step = () => {
            const now = performance.now();
            found.push(now - last);
            last = now;
            box.scrollTop += 600;
            if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1 || found.length > 400) resolve(found);
            else requestAnimationFrame(step);
          };
          requestAnimationFrame(step);
        }),
    );
    gaps.sort((a, b) => a - b);
    t.diagnostic(`frames: median ${gaps[gaps.length >> 1].toFixed(0)} ms, longest ${gaps.at(-1).toFixed(0)} ms`);
    assert.ok(gaps[gaps.length >> 1] < 100, 'the median frame');
    await page.locator('[data-file]').last().click();
    await patch(page).waitFor();
    for (let i = 0; i < 5; i++) await page.keyboard.press('k');
    await patch(page).waitFor();
    assert.ok((await page.locator('[data-file]').count()) < 80);
  });

  test('is live while it is looked at, asks for nothing otherwise, and says whose changes may be others', async (t) => {
    const { server, model, launch } = await start_builtin(t, { args: ['--max-concurrent', '8'] });
    const repo = new Repository(t);
    const go = path.join(repo.folder, 'go');
    const hold = call('bash', { command: 'sleep 600' });
    model.rule('the one', [call('bash', { command: `while [ ! -e ${go} ]; do sleep 0.05; done` }), call('write', { path: 'made.txt', content: 'made\n' }), hold]);
    model.rule('the other', [hold]);
    const at_work = async (words) => {
      const made = await launch(words, { work_dir: repo.top, title: words });
      await server.when(made.id, (each) => each.progress.recent_tools.length > 0);
      return made;
    };
    const task = await at_work('the one');
    const other = await at_work('the other');
    const page = await (await browser.person(t, server)).login(at(task));
    await page.getByText('Nothing has changed yet.').waitFor();
    await page.getByTestId('shared-with').getByRole('link', { name: 'the other' }).waitFor();
    const asked = [];
    page.on('request', (request) => request.url().includes('/changes') && asked.push(request.url()));
    fs.writeFileSync(go, '');
    await file(page, 'made.txt').waitFor();
    await file(page, 'made.txt').getByTestId('shared-file').waitFor();
    await page.getByText('1 file changed while other tasks worked').waitFor();
    await page.getByText('As it is now').waitFor();
    await check_accessible(page, 'changes that may be of others');
    await shot(page, 'changes-shared');
    // Nobody looks: what the other does is not asked for.
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.locator('dl').waitFor();
    asked.length = 0;
    await server.cancel(other.id);
    await server.at_rest(other.id);
    await server.cancel(task.id);
    await page.locator('header [data-shows=cancelled]').waitFor();
    assert.deepEqual(asked, []);
    // The new task is offered a worktree of its own where others work.
    await at_work('the other');
    await page.goto(`${server.url}/chat?agentId=command`);
    await page.getByTestId('folder-chip').click();
    await page.getByTestId('folder-choice').locator('input').fill(repo.top);
    await page.keyboard.press('Enter');
    await page.getByTestId('offer-isolation').getByRole('button', { name: 'Use its own worktree' }).click();
    await page.getByTestId('isolated').waitFor();
    await page.locator('form textarea').fill('echo mine > mine.txt');
    await page.locator('form textarea').press('Enter');
    await until(() => new URL(page.url()).searchParams.get('taskId'), { what: 'it is launched' });
    const made = await server.at_rest(new URL(page.url()).searchParams.get('taskId'));
    assert.equal(made.isolation.kind, 'worktree');
    assert.equal(repo.has('mine.txt'), false);
  });

  test('has room on a phone, in Chinese and in the dark, and says where nothing is known', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const repo = new Repository(t, { files: { 'src/deep/folder/of/code.ts': 'one\n' } });
    model.rule('change', [call('read', { path: 'src/deep/folder/of/code.ts' }), call('write', { path: 'src/deep/folder/of/code.ts', content: `${'a long line of words '.repeat(20)}\n` }), { text: 'Done.' }]);
    const task = await launch('change', { work_dir: repo.top, isolate: 'worktree' });
    await server.at_rest(task.id);
    const person = await browser.person(t, server, { phone: true, colorScheme: 'dark' });
    const page = await person.login(at(task));
    await page.getByTestId('merge-bar').waitFor();
    await check_accessible(page, 'changed files on a phone');
    await shot(page, 'changes-phone');
    await file(page, 'src/deep/folder/of/code.ts').click();
    await patch(page).getByText('a long line').waitFor();
    assert.equal(await page.getByTestId('merge-bar').count(), 0, 'the patch has the screen');
    await page.getByRole('button', { name: 'Comment on line 1', exact: true }).click();
    await page.getByPlaceholder('What should the agent do differently?').fill('Shorter.');
    await page.getByRole('button', { name: 'Add comment' }).click();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
    await check_accessible(page, 'a patch on a phone');
    await shot(page, 'changes-phone-patch');
    await page.getByRole('button', { name: 'Back to the files' }).click();
    await page.getByTestId('changed-files').waitFor();
    const chinese = await browser.person(t, server, { colorScheme: 'dark' });
    chinese.allowed = /404/; // Nothing is known: that is the answer.
    const other = await chinese.login(at(task));
    await other.getByTestId('language').click();
    await other.getByRole('tab', { name: '改动' }).waitFor();
    await other.getByText('1 个文件有改动').waitFor();
    await check_accessible(other, 'changes in Chinese, dark');
    await shot(other, 'changes-dark-zh');
    const elsewhere = await server.run('true');
    await server.at_rest(elsewhere.id);
    await other.goto(server.url + at(elsewhere));
    await other.getByText('无法得知此任务改动了什么。').waitFor();
    await shot(other, 'changes-none-zh');
  });
});
