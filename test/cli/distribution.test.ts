/** `gatepost distribution …`: its output is true at any moment. */

import { afterEach, expect, test } from 'bun:test';
import { send } from '../store/contract/message-fixture.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeDevices, makeProvider, openEngine } from '../support/delivery.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0)) await thing.close();
});

interface Seed {
  status?: number;
  recipients?: number;
  payload?: unknown;
  /** Rows of the ledger: did it receive the message? */
  ledger?: boolean[];
  /** How many of it there are. */
  copies?: number;
  /** It goes to these. */
  hwids?: readonly string[];
}

/** How a distribution comes from 10 Created to a status. */
const WAYS: Readonly<Record<number, readonly number[]>> = {
  30: [20, 30],
  40: [20, 5, 40],
  100: [20, 5, 40, 100],
  130: [130],
  140: [140],
};

/** A data directory with one distribution, or with several that are the same. */
async function withDistribution({
  status = 100,
  recipients = 0,
  payload = { body: 'hello' },
  ledger = [],
  copies = 1,
  hwids,
}: Seed): Promise<CommandLine> {
  const engine = await openEngine();
  const line = commandLine({ dataDir: engine.dataDir });
  opened.push(line, engine);
  const { id: providerId } = await makeProvider(engine);
  for (let n = 0; n < copies; n++) {
    const targets = hwids && { targetOs: null, targetHwid: hwids.join(',') };
    const content = { payload: JSON.stringify(payload), ...targets };
    const id = await send(engine.core.store, providerId, content);
    for (const next of WAYS[status] ?? []) {
      engine.db
        .query('UPDATE distribution SET status = ?, recipient_count = ? WHERE id = ?')
        .run(next, recipients, id);
    }
  }
  const deviceIds = makeDevices(
    engine,
    ledger.map((_, n) => `phone-${n}`),
  );
  ledger.forEach((isReceived, n) => {
    engine.db
      .query(
        `INSERT INTO recipient (distribution_id, device_id, state, queued_at_ms, sent_at_ms,
           received_at_ms, is_waiting, inbox) VALUES (1, ?, 2, 1, 1, ?, ?, 1)`,
      )
      .run(deviceIds[n] ?? 0, isReceived ? 2 : null, isReceived ? 0 : 1);
  });
  return line;
}

const SAYS: [string, Seed, string][] = [
  ['created', { status: 10 }, 'Not delivered yet: it is Created.'],
  ['scheduled', { status: 30 }, 'Not delivered yet: it is Pending.'],
  [
    'in delivery',
    { status: 40, recipients: 2, ledger: [true] },
    'Not delivered yet: it is Sending.',
  ],
  ['cancelled', { status: 130 }, 'Cancelled: no further device gets it.'],
  [
    'blocked',
    { status: 140, recipients: 1, ledger: [true] },
    'Blocked: no further device gets it.',
  ],
  ['sent without recipients', {}, 'It had no recipients.'],
  ['received by all', { recipients: 2, ledger: [true, true] }, 'All recipients received it.'],
  [
    'sent to one who was forgotten',
    { recipients: 2, ledger: [true] },
    '1 of 2 received it; the others were deleted since.',
  ],
];

test.each(SAYS)('show of what is %s', async (_, seed, sentence) => {
  const line = await withDistribution(seed);
  const { code, stdout, stderr } = await line.run('distribution', 'show', '1');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(sentence);
});

test('a list counts the HWIDs of a filter, and names those of a call', async () => {
  const few = await withDistribution({ hwids: ['a', 'b', 'c', 'd', 'e'] });
  expect((await few.run('distribution', 'list')).stdout).toContain(' a,b,c,d,e ');
  const many = await withDistribution({ hwids: ['a', 'b', 'c', 'd', 'e', 'f'] });
  expect((await many.run('distribution', 'list')).stdout).toContain(' 6 HWIDs ');
  const [{ target_hwid: all }] = JSON.parse(
    (await many.run('distribution', 'list', '--json')).stdout,
  );
  expect(all).toBe('a,b,c,d,e,f');
});

test('show names who is missing, and says when it does not name all', async () => {
  const line = await withDistribution({ recipients: 3, ledger: [true, false, false] });
  const { stdout, stderr } = await line.run('distribution', 'show', '1', '--limit', '1');
  expect(stdout).toMatch(/NOT RECEIVED BY +STATE .*\nphone-1 +sent /);
  expect(stdout).not.toContain('phone-2');
  expect(stderr).toBe('1 of 2 recipients: --all or --limit shows more\n');
});

test('show prints the message, so that no terminal obeys it, and not without end', async () => {
  const payload = {
    title: 'up\u001b[2J \u202eright to left',
    body: 'b'.repeat(3_000),
    locales: Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`k${n}`, { body: 'x' }])),
  };
  const line = await withDistribution({ payload });
  const { stdout } = await line.run('distribution', 'show', '1');
  const message = stdout.slice(stdout.indexOf('Message\n'), stdout.indexOf('\n\nLedger'));
  expect(message).toContain('"title": "up\\u001b[2J \\u202eright to left"');
  expect(message).toMatch(/b{180,200}… \(\d+ more\)\n/);
  expect(message).toMatch(/\n {2}… \(\d+ more lines: see --json\)$/);
  expect(stdout).not.toMatch(/[\u001b\u202e]/);
  expect(message.length).toBeLessThan(3_000);
  const { stdout: json } = await line.run('distribution', 'show', '1', '--json');
  expect(JSON.parse(json).payload).toEqual(payload);
});

test('show of a message that is gone says so', async () => {
  const line = await withDistribution({ payload: null });
  const { code, stdout } = await line.run('distribution', 'show', '1');
  expect(code).toBe(0);
  expect(stdout).toContain('\n\nThe message was deleted with its ledger.\n\n');
});

test('a list that ends before all is shown says so', async () => {
  const line = await withDistribution({ copies: 60 });
  const { stdout, stderr } = await line.run('distribution', 'list', '--json');
  expect(JSON.parse(stdout)).toHaveLength(50);
  expect(stderr).toBe('50 of 60 distributions: --all or --limit shows more\n');
  const whole = await line.run('distribution', 'list', '--json', '--all');
  expect(JSON.parse(whole.stdout)).toHaveLength(60);
  expect(whole.stderr).toBe('');
});
