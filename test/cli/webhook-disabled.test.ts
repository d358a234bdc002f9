/** Disabled webhooks: what doctor, `webhook list`, the console and the metric say is the same. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { listFailingWebhooks } from '../../src/core/outbox/state.ts';
import { DISABLED_BY_OWNER } from '../../src/core/port/webhook.ts';
import type { Snapshot } from '../../src/monitor/metric-row.ts';
import { METRICS } from '../../src/monitor/metric-table.ts';
import { NOW_MS } from '../store/contract/fixture.ts';
import { addWebhook } from '../store/contract/webhook.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openData } from '../support/links.ts';

const WHY = 'Telegram answered 400: the topic is closed';
const CODE = 'Provide1';
const TELEGRAM = { kind: 'telegram', chat: '-100', locale: 'en' } as const;

let line: CommandLine;
beforeEach(() => {
  line = commandLine();
});
afterEach(() => line.close());

const json = async (...words: string[]) => JSON.parse((await line.run(...words, '--json')).stdout);

test('page, metric, command and doctor count the same disabled webhooks', async () => {
  await line.run('provider', 'add', '--name', 'n', '--code', CODE);
  const core = await openData(line.dataDir);
  const { store } = core;
  const provider = (await store.findProvider(CODE))?.id ?? 0;
  const add = async (owner: number | null, reasons: readonly (string | null)[]) => {
    for (const why of reasons) {
      const id = await addWebhook(store, owner, { target: TELEGRAM });
      if (why === null) continue;
      await store.updateWebhook(id, owner, { disabled: { atMs: NOW_MS, why } }, ACT);
    }
  };
  await add(null, [WHY, null, DISABLED_BY_OWNER]);
  await add(provider, [WHY, WHY, DISABLED_BY_OWNER, null]);
  const { webhooks, disabledCounts } = await listFailingWebhooks(core, NOW_MS);
  const disabled = await store.readDisabledWebhooks(0);
  await store.close();

  const shown = (isOwn: boolean) =>
    webhooks.filter((one) => (one.provider === null) === isOwn && one.disabled !== null);
  expect(webhooks.every(({ problem }) => problem === WHY)).toBe(true);
  const metric = METRICS.find(({ name }) => name === 'gatepost_webhooks_disabled');
  const samples = metric?.read({ disabled } as unknown as Snapshot, '') ?? [];
  const failed = (list: { disabled_why: string | null }[]) =>
    list.filter(({ disabled_why: why }) => why !== null && why !== DISABLED_BY_OWNER).length;
  const listed: { provider_code: string | null; disabled_why: string | null }[] = await json(
    ...['webhook', 'list'],
  );
  const { findings } = await json('doctor', '--names');
  const found = (name: string) =>
    findings.filter((one: { name: string }) => one.name.endsWith(name));
  const own = found('webhook_disabled');
  const providers = found('provider_webhooks_disabled');
  expect({
    page: [shown(true).length, shown(false).length],
    counts: [disabledCounts.operator, disabledCounts.provider],
    metric: samples.map(({ value }) => value),
    command: [
      failed(listed.filter(({ provider_code: code }) => code === null)),
      failed(await json('webhook', 'list', '--provider', CODE)),
    ],
    doctor: [own.length, providers[0].what.match(/\(([\d, ]+)\)/)[1].split(',').length],
  }).toEqual({
    page: [1, 2],
    counts: [1, 2],
    metric: [1, 2],
    command: [1, 2],
    doctor: [1, 2],
  });
  expect(own[0]).toMatchObject({ level: 'problem', subject: '1' });
  expect(providers).toMatchObject([{ level: 'warning', subject: CODE }]);
});
