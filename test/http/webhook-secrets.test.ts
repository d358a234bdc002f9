/** No secret of a webhook comes out again: neither a token, nor a key, nor the path of a URL. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { auditBlocks } from '../../src/core/audit/chain.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';

const MARK = 'PLANTED';
const TOKEN = `123456789:${MARK.repeat(5)}`;
const URL = `https://bot.example.com/${MARK}?key=${MARK}#`;

let app: TestApp;
let own: Credentials;
beforeAll(async () => {
  const dead = {
    concurrency: 1,
    spacingMs: 0,
    deliver: async () => ({ verdict: 'dead', problem: 'gone' }) as const,
  };
  app = await startTestApp({ logRequests: true, eventSenders: { webhook: dead, telegram: dead } });
  own = await seedProvider(app);
});
afterAll(() => app.close());

test('not in an answer, a header, the log, the metrics or the audit log', async () => {
  const said: string[] = [];
  async function ask(path: string, query: Record<string, string | number>): Promise<string> {
    const reply = await call(app, `/api/webhook-${path}`, own, query);
    said.push(reply.text, JSON.stringify([...reply.headers]));
    return reply.text;
  }
  const url = URL.slice(0, -1);
  const added = JSON.parse(await ask('add', { url }));
  expect(added).toMatchObject({ rc: 1, id: 1 });
  // Shown this once.
  const shown = said.splice(0).join('');
  expect(shown).toContain(added.secret);
  expect(shown).not.toContain(MARK);

  await ask('add', { chat: '1', bot_token: TOKEN });
  // Each of these is refused.
  await ask('add', { url: URL });
  await ask('add', { url: `http://user:${MARK}@bot.example.com/` });
  await ask('add', { chat: MARK, bot_token: TOKEN });
  await ask('add', { chat: '1', bot_token: `${MARK} ` });
  await ask('add', { url, events: MARK });
  await ask('update', { id: 2, url });
  await ask('update', { id: 1, chat: MARK });
  await ask('rotate', { id: 1, bot_token: TOKEN });
  for (const id of [1, 2]) {
    await ask('update', { id, events: 'link.full' });
    await ask('test', { id });
    await ask('deliveries', { id });
  }
  const rotated = JSON.parse(await ask('rotate', { id: 1 }));
  said.pop();
  expect(said.pop()).toContain(rotated.secret);
  await ask('rotate', { id: 2, bot_token: TOKEN.replace('1', '2') });
  await ask('list', {});
  await ask('remove', { id: 1 });

  for await (const { block } of auditBlocks(app.core)) said.push(block.entries);
  said.push(...app.logLines, await app.metrics.text());
  expect(app.logLines.length).toBeGreaterThan(15);
  const all = said.join('\n');
  for (const secret of [MARK, added.secret, rotated.secret]) expect(all).not.toContain(secret);
});
