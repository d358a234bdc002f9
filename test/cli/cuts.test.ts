/** `gatepost link free --cut-off`, `link cut-off` and `cuts …`. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { barHashOf } from '../../src/core/bar.ts';
import { hwidOfHash } from '../../src/core/formats.ts';
import { proverOf } from '../../src/core/panel/cut-off.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import { CODE, knock } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink, openData } from '../support/links.ts';

const HOST = 'sub.example.org';
const KEY = subscriptionKeyHash('panel-key');

let line: CommandLine;
let answers: (string | null)[];
let config: string;
beforeEach(async () => {
  answers = [];
  line = commandLine({ answers });
  const token = line.secretFile('token');
  config = line.secretFile(
    `[[gate.upstream]]
host = "${HOST}"
url = "http://127.0.0.1:9"
provider = "Provide1"
default_limit = 3
panel = "3x-ui"
key_path = ["/sub/{key}"]
panel_token_file = "${token}"
cut_off = true
`,
  );
  await makeLink(line.dataDir, async ({ store }, { installId, providerId }) => {
    await store.updateLink(providerId, installId, { subscriptionKeyHash: KEY }, ACT);
    for (const hwid of ['Phone-A', 'b']) await knock(store, hwid);
    const prover = proverOf({ host: HOST, url: 'http://127.0.0.1:9', panelUrl: '' });
    await store.noteKeyProof(providerId, KEY, prover, 0);
  });
});
afterEach(() => line.close());

const run = (...words: string[]) => line.run(...words, '--config', config);

async function json(...words: string[]) {
  const { code, stdout, stderr } = await run(...words, '--json');
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout);
}

test('a device is freed and barred after a question, which says who must fetch again', async () => {
  answers.push('no');
  const refused = await run('link', 'free', CODE, 'Phone-A', '--cut-off');
  expect(refused.code).toBe(1);
  expect(line.questions[0]).toContain('1 other device must update the subscription');
  expect(refused.stderr).toContain('only copied_hwid count or refuse keeps it out');
  expect(await json('cuts', 'list')).toEqual([]);
  answers.push('yes');
  const freed = await run('link', 'free', CODE, 'Phone-A', '--cut-off');
  expect([freed.code, freed.stdout]).toEqual([0, expect.stringContaining('cut-off 1 waits')]);
  expect(await json('cuts', 'list', '--waiting')).toMatchObject([
    { id: 1, host: HOST, state: 'waiting', by_user: false },
  ]);
  const hwid = hwidOfHash(barHashOf('Phone-A'));
  expect(await json('cuts', 'bars', CODE)).toMatchObject([{ hwid }]);
  expect((await run('link', 'why', CODE, 'phonea', '--domain', 'a'.repeat(64))).stdout).toContain(
    'cut off from the link',
  );
  expect(await json('cuts', 'lift', CODE, hwid)).toMatchObject({ lifted: 1 });
  expect(await json('cuts', 'lift', CODE, 'phone-a')).toMatchObject({ lifted: 0 });
  expect(await json('cuts', 'cancel', '1')).toMatchObject({ done: 'cancelled' });
  expect(await json('cuts', 'list', '--provider', 'Provide1')).toMatchObject([
    { id: 1, state: 'cancelled' },
  ]);
});

test('a link alone, and one that no panel proved', async () => {
  expect(await json('link', 'cut-off', CODE, '--yes')).toMatchObject({ state: 'waiting' });
  const { store } = await openData(line.dataDir);
  const link = await store.findLink(CODE);
  const other = { subscriptionKeyHash: subscriptionKeyHash('typed') };
  await store.updateLink(link?.providerId ?? 0, link?.id ?? 0, other, ACT);
  await store.close();
  const refused = await run('link', 'cut-off', CODE, '--yes');
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('no panel has proved the subscription key of the link'),
  ]);
  // The device goes in any case.
  const freed = await json('link', 'free', CODE, 'b', '--cut-off', '--yes');
  expect(freed).toMatchObject({ freed: 1 });
});

test('an upstream that stopped is shown, and goes on', async () => {
  const { store } = await openData(line.dataDir);
  const link = await store.findLink(CODE);
  const wanted = { installId: link?.id ?? 0, hwid: null, keyHash: KEY, host: HOST, why: null };
  await store.askCut(link?.providerId ?? 0, { ...wanted, isByUser: false }, ACT);
  const lease = { owner: 'one', leaseUntilMs: ACT.atMs + 1, perHourMax: 1 };
  await store.claimCut(HOST, { ...lease, nowMs: ACT.atMs });
  const end = { state: 'differs', fields: ['expire'], fetchUntilMs: 0 } as const;
  await store.endCutAttempt({ id: 1, owner: 'one' }, end, ACT);
  await store.close();
  const listed = await run('cuts', 'list');
  expect(listed.stdout).toContain(`${HOST} makes no cut-offs: its panel changed expire too`);
  expect(await json('cuts', 'resume', HOST, '--yes')).toMatchObject({ done: 'resumed' });
  expect((await run('cuts', 'list')).stdout).not.toContain('makes no cut-offs');
});
