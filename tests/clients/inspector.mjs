// The MCP Inspector in a headless browser, used as a person would: connect, list, call delete_note, answer the form, read the result.
//
//     inspector.mjs INSPECTOR_URL ENDPOINT BROWSER [SCREENSHOT_FOLDER]
//
// Then the page, from its own origin, calls the endpoint itself: a browser's preflight and the API's CORS settings have to let it.
// Prints "ok ..." for each step; ends with status 1 and what the page shows at the first that fails.

import { chromium } from 'playwright-core';

const [inspector, endpoint, executablePath, folder] = process.argv.slice(2);
const STEP_MS = 30_000;

const browser = await chromium.launch({
  executablePath,
  headless: true,
  args: [
    '--no-sandbox', // as root there is none
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
page.setDefaultTimeout(STEP_MS);
// Fonts from elsewhere are neither needed nor reachable.
await page.route((url) => !['127.0.0.1', 'localhost'].includes(url.hostname), (route) => route.abort());

let shown = 0;
async function step(what, action) {
  await action();
  console.log(`ok ${what}`);
  if (folder) await page.screenshot({ path: `${folder}/${++shown}.png` });
}

const person = {
  async connect() {
    await page.goto(inspector);
    await page.getByText('Disconnected', { exact: true }).waitFor();
    // the switch itself is invisible, its track takes the click
    await page.getByRole('switch').first().dispatchEvent('click');
    await page.getByText('MCP 2026-07-28').waitFor();
  },
  async list() {
    await page.getByText('Tools', { exact: true }).first().click();
    for (const tool of ['Book a table', 'Delete a note', 'Provision a database']) {
      await page.getByText(tool, { exact: true }).first().waitFor();
    }
  },
  async call() {
    await page.getByText('Delete a note', { exact: true }).first().click();
    await page.getByRole('textbox', { name: 'Note Id' }).fill('12');
    await page.getByRole('button', { name: 'Execute Tool' }).click();
    await page.getByText('Delete note 12 for good?').first().waitFor();
  },
  async answer() {
    const form = page.getByRole('dialog');
    await form.getByRole('checkbox').check();
    await form.getByRole('button', { name: /submit|accept/i }).click();
    await page.getByText('Deleted note 12.').first().waitFor();
  },
};

/** In the page: one request to the endpoint, which lies at another origin. */
async function fromThePage({ endpoint, method, params, name }) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'page', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name ? { 'mcp-name': name } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  });
  return response.json();
}

async function direct() {
  const ask = (request) => page.evaluate(fromThePage, { endpoint, ...request });
  const { result } = await ask({ method: 'tools/list', params: {} });
  if (!result.tools.some((tool) => tool.name === 'delete_note')) throw new Error('delete_note is not listed');
  const call = { name: 'delete_note', arguments: { note_id: '15' } };
  const asked = (await ask({ method: 'tools/call', params: call, name: call.name })).result;
  const inputResponses = { ask_to_confirm: { action: 'accept', content: { confirm: true } } };
  const retry = { ...call, inputResponses, requestState: asked.requestState };
  const done = (await ask({ method: 'tools/call', params: retry, name: call.name })).result;
  if (done.content[0].text !== 'Deleted note 15.') throw new Error(JSON.stringify(done));
}

try {
  await step('the Inspector connects, at revision 2026-07-28', person.connect);
  await step('it lists the three tools', person.list);
  await step('it calls delete_note and shows the question', person.call);
  await step('the form is filled in and sent, and the result shown', person.answer);
  await step('its page calls the endpoint itself, across origins', direct);
} catch (problem) {
  console.error(`${problem}\n${await page.evaluate(() => document.body.innerText)}`);
  if (folder) await page.screenshot({ path: `${folder}/failed.png` });
  process.exitCode = 1;
} finally {
  await browser.close();
}
