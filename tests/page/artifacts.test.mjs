// Pictures, documents and web pages that a task left, in the real browser: shown, and harmless.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
// It tries to run, to fetch, to leave and to be styled; only the last may work.
const report = `<!doctype html><meta charset=utf-8><title>x</title>
<style>h1{color:rgb(1, 2, 3)} body{background:url(/api/tasks?from=css)}</style>
<body onload="parent.document.title='taken'"><h1 id=head>Report 报告</h1><p id=inline style="font-weight:900">styled</p>
<script>parent.document.title='taken';fetch('/api/tasks?from=script')</script>
<script src="/theme.js"></script><img src="/api/tasks?from=img" onerror="parent.document.title='taken'">
<iframe src="/api/tasks?from=frame"></iframe><form action="/api/tasks?from=form"><button>Send</button></form>
<meta http-equiv=refresh content="0;url=/api/tasks?from=refresh"><a id=away href="/api/tasks?from=link" target=_top>away</a>`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><script>parent.document.title='taken'</script><rect width="60" height="40" fill="teal"/></svg>`;
const pdf = '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n';

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

describe('artifacts', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('are shown as what they are, and a web page among them can do nothing', async (t) => {
    const server = await Server.start(t);
    const task = await server.run(
      `cd "$ERRAND_ARTIFACTS"; printf %s ${pixel} | base64 -d > dot.png; printf %s ${quoted(svg)} > drawing.svg; printf %s ${quoted(report)} > report.html; printf %s ${quoted(pdf)} > paper.pdf`,
    );
    await server.at_rest(task.id);
    const person = await browser.person(t, server);
    // What the policy and the sandbox refuse is told on the console: that is what is tested.
    person.allowed = /Content Security Policy|sandboxed|Blocked script|Refused to|violates/i;
    const page = await person.login(`/chat?taskId=${task.id}&tab=artifacts`);
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    const open = (name) => page.locator(`[data-artifact="${name}"] button`).first().click();
    await open('dot.png');
    const picture = page.locator('[data-artifact="dot.png"]').getByTestId('artifact-picture');
    await until(() => picture.evaluate((image) => image.naturalWidth === 1), { what: 'the picture is drawn' });
    await open('drawing.svg');
    await until(() => page.locator('[data-artifact="drawing.svg"] img').evaluate((image) => image.naturalWidth === 60), { what: 'the drawing is drawn' });
    await open('report.html');
    const frame = page.frameLocator('[data-artifact="report.html"] iframe');
    await frame.getByRole('heading', { name: 'Report 报告' }).waitFor();
    await until(() => frame.locator('#head').evaluate((each) => getComputedStyle(each).color === 'rgb(1, 2, 3)'), { what: 'its own styles hold' });
    assert.equal(await frame.locator('#inline').evaluate((each) => getComputedStyle(each).fontWeight), '900');
    await shot(page, 'artifacts');
    await frame.locator('#away').click({ noWaitAfter: true });
    await frame.getByRole('button', { name: 'Send' }).click({ noWaitAfter: true });
    // Something that is answered behind all that it tried.
    await page.locator('[data-artifact="report.html"]').getByRole('button', { name: 'Show its text' }).click();
    await page.getByText('parent.document.title=').first().waitFor();
    assert.ok(page.url().includes(task.id), 'it led nowhere');
    assert.doesNotMatch(await page.title(), /taken/);
    assert.deepEqual(asked.filter((url) => /from=(script|frame|form|refresh|link)/.test(url)), []);
    await open('paper.pdf');
    await page.locator('[data-artifact="paper.pdf"] iframe').waitFor();
    assert.match(await page.getByRole('link', { name: 'Open in a new tab' }).getAttribute('href'), /^blob:/);
    await check_accessible(page, 'artifacts that are shown');
  });
});
