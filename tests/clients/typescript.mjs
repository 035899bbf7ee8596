// The official TypeScript client: connect, list, call delete_note, answer its question, read the result; the same for a resource and a prompt.
//
//     typescript.mjs ENDPOINT
//
// Prints "ok ..." for each step; ends with status 1 at the first that fails.

import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [endpoint] = process.argv.slice(2);
const answers = { confirm: true, show: true, present: 'Ada Example', decided: 'Mend it.', style: 'brief' };
const asked = [];

const client = new Client(
  { name: 'askback-clients', version: '1.0.0' },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
);
client.setRequestHandler('elicitation/create', async ({ params }) => {
  asked.push(params.message);
  const fields = Object.keys(params.requestedSchema.properties);
  return { action: 'accept', content: Object.fromEntries(fields.map((field) => [field, answers[field]])) };
});

await client.connect(new StreamableHTTPClientTransport(new URL(endpoint)));
assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
console.log('ok the TypeScript client connects, at revision 2026-07-28');

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ['book_table', 'delete_note', 'provision_database']);
const { resourceTemplates } = await client.listResourceTemplates();
assert.deepEqual(resourceTemplates.map((template) => template.uriTemplate), ['note://{note_id}']);
const { prompts } = await client.listPrompts();
assert.deepEqual(prompts.map((prompt) => prompt.name), ['write_minutes']);
console.log('ok it lists tools, resource templates and prompts');

const done = await client.callTool({ name: 'delete_note', arguments: { note_id: '7' } });
assert.deepEqual(asked, ['Delete note 7 for good? It says: Buy flour, eggs, and milk.']);
assert.equal(done.content[0].text, 'Deleted note 7.');
assert.equal(done.structuredContent.result, 'Deleted note 7.');
console.log('ok it calls delete_note, answers the question, and has the result');

const { contents } = await client.readResource({ uri: 'note://15' });
assert.equal(contents[0].text, 'Call the dentist.');
console.log('ok it reads a private note once its question is answered');

const { messages } = await client.getPrompt({ name: 'write_minutes', arguments: { topic: 'the roof' } });
assert.match(messages[0].content.text, /Present: Ada Example/);
console.log('ok it gets a prompt once both of its questions are answered');

await assert.rejects(client.callTool({ name: 'no_such_tool' }), { code: -32602 });
console.log('ok it is told that there is no such tool');

await client.close();
