// The machine's own Chromium, driven as a person would, against a server of the test. Whatever the page prints to the
// console as an error, throws, or is refused by its policy fails the test at its end.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { errand } from '../../e2e/harness/cli.mjs';
import { root } from '../../e2e/harness/server.mjs';
import { until as until_within } from '../../e2e/harness/wait.mjs';

const tools = process.env.ERRAND_PAGE_TOOLS ?? path.join(root, 'build/tools/page');
const need = createRequire(path.join(tools, 'package.json'));
const { chromium } = need('playwright-core');
const axe_source = fs.readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');
const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((each) => fs.existsSync(each));

export const shots = process.env.ERRAND_PAGE_SHOTS; // A folder for screenshots.

// A browser shares the machine with all its processes, and with whatever else runs: its waits are long, and end as soon as
// what they wait for is there.
const patience_ms = Number(process.env.ERRAND_PAGE_PATIENCE_MS ?? 45_000);
export const until = (condition, options) => until_within(condition, { within: patience_ms, ...options });

export class Browser {
  static async open(t, { args = [] } = {}) {
    const browser = await chromium.launch({
      executablePath: program,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-color-profile=srgb', ...args],
    });
    t.after(() => browser.close());
    return new Browser(browser);
  }

  constructor(browser) {
    this.browser = browser;
  }

  // One person: cookies and storage of their own. `blocked` lists what must not have happened.
  async person(t, server, { phone = false, ...options } = {}) {
    const context = await this.browser.newContext({
      viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
      hasTouch: phone,
      isMobile: phone,
      locale: 'en-US',
      timezoneId: 'UTC',
      acceptDownloads: true,
      ...options,
    });
    const person = new Person(context, server);
    // The browser goes before the server: a page that is still open would complain that the server is gone.
    const destroy = server.destroy.bind(server);
    server.destroy = async (...args) => {
      await context.close();
      return destroy(...args);
    };
    t.after(async () => {
      await context.close();
      assert.deepEqual(person.complaints, [], 'the page complained');
    });
    return person;
  }
}

class Person {
  complaints = [];
  // While the server is killed on purpose, requests fail: that is no complaint.
  expects_failures = false;

  constructor(context, server) {
    this.context = context;
    this.server = server;
    context.on('weberror', (error) => this.complaints.push(`error: ${error.error().message}`));
    context.on('page', (page) => {
      page.setDefaultTimeout(patience_ms);
      page.on('console', (message) => {
        const text = message.text();
        if (message.type() !== 'error' && !/Content Security Policy|Trusted/i.test(text)) return;
        if (this.expects_failures && /Failed to load resource|net::ERR|Fetch/.test(text)) return;
        if (this.allowed?.test(text)) return;
        this.complaints.push(`console: ${text} (${message.location().url})`);
      });
    });
  }

  // The link of `errand open --print`, as a person would click it.
  async login(where = '/tasks') {
    const printed = await errand(this.server, ['open', '--print']);
    assert.equal(printed.code, 0, printed.err);
    const link = new URL(printed.out.trim());
    const page = await this.context.newPage();
    await page.goto(`${link.origin}${where}${link.hash}`);
    await page.getByTestId('connection').or(page.getByRole('navigation')).first().waitFor();
    return page;
  }

  // A further tab, opened by hand.
  async tab(where) {
    const page = await this.context.newPage();
    await page.goto(this.server.url + where);
    return page;
  }
}

// What WCAG 2.2 AA and axe's best practices say of what is on the screen.
export async function check_accessible(page, what) {
  await page.evaluate(axe_source).catch(() => undefined);
  const has = await page.evaluate(() => typeof window.axe === 'object');
  assert.ok(has, 'axe is in the page');
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }),
  );
  const found = violations.map((each) => `${each.id}: ${each.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(' | ').slice(0, 400)}`);
  assert.deepEqual(found, [], what);
}

export async function shot(page, name) {
  if (!shots) return;
  fs.mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: path.join(shots, `${name}.png`) });
}
