// Who looks elsewhere is told: by the tab's title and icon, and where it was asked for by the browser and a sound.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, until } from './harness/browser.mjs';

// What a headless browser cannot do by itself: a tab that is out of view. The notifications and the sound are its own, and
// counted as they pass.
const watch = () => {
  globalThis.out_of_view = false;
  Object.defineProperty(document, 'hidden', { get: () => globalThis.out_of_view });
  globalThis.look = (away) => {
    globalThis.out_of_view = away;
    document.dispatchEvent(new Event('visibilitychange'));
  };
  globalThis.told = [];
  globalThis.sounds = 0;
  const Real = globalThis.Notification;
  globalThis.Notification = class extends Real {
    constructor(title, options) {
      super(title, options);
      globalThis.told.push(`${title}: ${options.body}`);
    }
  };
  const Audio = globalThis.AudioContext;
  globalThis.AudioContext = class extends Audio {
    createOscillator() {
      globalThis.sounds++;
      return super.createOscillator();
    }
  };
};
const state = (page) => page.evaluate(() => ({ title: document.title, icon: document.querySelector('link[rel=icon]').dataset.shows ?? 'none', told: globalThis.told, sounds: globalThis.sounds }));
const shows = (page, what, wanted) => until(async () => wanted(await state(page)), { what }).catch(async (error) => assert.fail(`${error.message}: ${JSON.stringify(await state(page))}`));

describe('notifications', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('the title and the icon say what runs and what is new; the browser and the sound only where asked, and once', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server, { permissions: ['notifications'] });
    await person.context.addInitScript(watch);
    const page = await person.login('/settings');
    const long = await server.ask('long 600', { title: 'a long one' });
    await shows(page, 'the count of what runs', ({ title, icon }) => title === '(1) Settings · errand' && icon === 'running');
    await server.cancel(long.id);
    await shows(page, 'nothing runs', ({ title, icon }) => title === 'Settings · errand' && icon === 'none');

    // Neither was asked for: the title and the icon alone.
    await page.evaluate(() => globalThis.look(true));
    const quiet = await server.ask('noop', { title: 'quiet' });
    await server.at_rest(quiet.id);
    await shows(page, 'news in title and icon', ({ title, icon }) => title === '● Settings · errand' && icon === 'news');
    await page.evaluate(() => globalThis.look(false));
    await shows(page, 'seen', ({ title, icon }) => title === 'Settings · errand' && icon === 'none');

    await page.getByRole('switch', { name: 'Browser notifications' }).check();
    await page.getByRole('switch', { name: 'Sound' }).check();
    await shows(page, 'the sound is heard when it is switched on', ({ sounds }) => sounds === 1);
    // In view: nobody is disturbed.
    const seen = await server.ask('noop', { title: 'seen' });
    await server.at_rest(seen.id);
    // A second tab: both out of view, and one of them tells.
    const other = await person.tab('/tasks');
    await other.locator(`[data-task="${seen.id}"]`).waitFor();
    for (const each of [page, other]) await each.evaluate(() => globalThis.look(true));
    const asks = await server.ask('ask', { title: 'which colour' });
    const told = async () => (await Promise.all([page, other].map(state))).flatMap((each) => each.told);
    const sounds = async () => (await Promise.all([page, other].map(state))).reduce((sum, each) => sum + each.sounds, 0);
    await until(async () => (await told()).includes('A task needs your input: which colour'), { what: 'the question is told' });
    const failed = await server.ask('fail', { title: 'goes wrong' });
    await until(async () => (await told()).includes('A task failed: goes wrong'), { what: 'the failure is told' });
    // A subtask is its parent's business.
    const child = await server.run('true', { title: 'a subtask', parent_session_id: asks.session_id });
    await server.at_rest(child.id);
    const done = await server.ask('noop', { title: 'all well' });
    await until(async () => (await told()).includes('A task is done: all well'), { what: 'the end is told' });
    assert.deepEqual(await told(), (await told()).filter((each) => !/quiet|seen|subtask/.test(each)));
    assert.equal((await told()).length, 3, `once each: ${await told()}`);
    assert.equal(await sounds(), 4, 'one when it was switched on, and one for each');
    // One tab in view is enough for silence.
    await other.evaluate(() => globalThis.look(false));
    const last = await server.ask('noop', { title: 'in view again' });
    await other.locator(`[data-task="${last.id}"] [data-shows=completed]`).waitFor();
    await shows(page, 'the tab out of view has its mark', ({ title }) => title.startsWith('● '));
    await page.waitForFunction(() => new Promise((resolve) => setTimeout(() => resolve(true), 600))); // Longer than tabs ask each other.
    assert.equal((await told()).length, 3, 'nothing is told to somebody who looks');
    assert.ok(failed.id && done.id);
  });
});
