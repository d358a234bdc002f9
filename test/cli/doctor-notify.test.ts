/** `gatepost doctor --notify`: chats get what is new, also where no server runs. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { about, type Finding } from '../../src/base/finding.ts';
import type { AttemptVerdict, EventSenders } from '../../src/core/outbox/carrier.ts';
import type { StoredEvent } from '../../src/core/port/event.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { STORE } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';

const say = about('gate');
const HOST = 'panel.example.org';
const SILENT = say.problem('panel_silent', `the panel of ${HOST} does not answer`, 'look', HOST);
const SOON = say.warning('certificate_ends_soon', 'it ends on 2026-12-01', 'renew it');
const TOKEN = `123456789:${'s3cret'.repeat(6)}`;

let database: TestDatabase | null;
let line: CommandLine;
let findings: Finding[];
let verdict: AttemptVerdict;
let sent: StoredEvent[];
const sender = {
  concurrency: 1,
  spacingMs: 0,
  deliver: async (_: unknown, event: StoredEvent) => {
    sent.push(event);
    return verdict;
  },
};
const eventSenders: EventSenders = { webhook: sender, telegram: sender };

beforeEach(async () => {
  findings = [];
  verdict = { verdict: 'accepted' };
  sent = [];
  database = STORE === 'postgres' ? await freshDatabase() : null;
  line = makeLine();
  await line.run('provider', 'add', '--name', 'n', '--code', 'Provide1');
});
afterEach(async () => {
  line.close();
  await database?.drop();
});

/** A command line on the data; on PostgreSQL that of a node. */
function makeLine(node = 'one', dataDir?: string): CommandLine {
  const env = database && {
    GATEPOST_DATABASE_URL: database.url,
    GATEPOST_DATABASE_NODE: node,
  };
  return commandLine({
    eventSenders,
    examine: async () => [say.ok('all is well'), ...findings],
    ...(dataDir && { dataDir }),
    ...(env && { env }),
  });
}

const addChat = (...more: string[]) =>
  line.run(
    'webhook',
    'add',
    '--telegram',
    '-100123',
    '--token-file',
    line.secretFile(TOKEN),
    ...more,
  );

async function tell(...words: string[]) {
  const before = sent.length;
  const { code, stderr, stdout } = await line.run('doctor', '--notify', ...words);
  const told = sent.slice(before).map(({ kind, data }) => `${kind} ${data['name'] ?? data['day']}`);
  return { code, stderr, stdout, told };
}

test('tells each finding once, then its end, and is silent between', async () => {
  await addChat();
  expect(await tell()).toEqual({ code: 0, stderr: '', stdout: '', told: [] });
  findings = [SILENT, SOON];
  expect(await tell()).toMatchObject({
    code: 0,
    stdout: '2 messages\n',
    told: ['doctor.found panel_silent', 'doctor.found certificate_ends_soon'],
  });
  // Another process, as after a restart.
  expect(await tell()).toMatchObject({ code: 0, stdout: '', told: [] });
  findings = [SOON];
  expect(await tell('--json')).toMatchObject({
    stdout: '{"sent":1}\n',
    told: ['doctor.over panel_silent'],
  });
  expect(await tell('--json')).toMatchObject({ stdout: '{"sent":0}\n', told: [] });
});

test('two runs at the same moment tell each finding once', async () => {
  await addChat();
  findings = [SILENT, SOON];
  const beside = makeLine('one', line.dataDir);
  const runs = [line, beside, line].map((one) => one.run('doctor', '--notify'));
  expect((await Promise.all(runs)).map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(sent.map(({ data }) => data['name']).sort()).toEqual([SOON.name, SILENT.name]);
});

test.skipIf(STORE !== 'postgres')(
  'what one node finds is not over because another does not',
  async () => {
    await addChat();
    findings = [SILENT];
    await tell();
    const other = makeLine('two');
    findings = [];
    await other.run('doctor', '--notify');
    expect(sent).toHaveLength(1);
    expect((await tell()).told).toEqual(['doctor.over panel_silent']);
    other.close();
  },
);

test('the messages hold no names', async () => {
  await addChat();
  findings = [SILENT];
  await tell();
  findings = [];
  await tell();
  expect(sent.map(({ data }) => data['finding'])).toEqual([
    'the panel of host-1 does not answer',
    'the panel of host-1 does not answer',
  ]);
  expect(JSON.stringify(sent)).not.toContain('example.org');
});

test('without a chat that wants it, it says so, prints the problems and ends with 1', async () => {
  findings = [SILENT, SOON];
  const none = await tell();
  expect(none.code).toBe(1);
  expect(none.stderr).toContain('gatepost webhook add --telegram');
  expect(none.stderr).toContain(`PROBLEM   gate: the panel of ${HOST} does not answer`);
  await addChat('--events', 'backup.failed');
  expect((await tell()).code).toBe(1);
  // No chat got it, so it is news for the first one.
  await addChat('--events', 'doctor.found,doctor.over');
  expect(await tell()).toMatchObject({
    code: 0,
    told: expect.arrayContaining(['doctor.found panel_silent']),
  });
});

test('a chat that does not answer is named, and gets the news with the next run', async () => {
  await addChat();
  findings = [SILENT];
  verdict = { verdict: 'retry', afterMs: null, problem: 'Telegram does not answer' };
  const failed = await tell();
  expect(failed).toMatchObject({ code: 1, told: ['doctor.found panel_silent'] });
  expect(failed.stderr).toContain(
    'webhook 1 did not get doctor.found: Telegram does not answer; it waits for the next attempt',
  );
  verdict = { verdict: 'failed', problem: 'Telegram rejects this text' };
  findings = [SOON];
  expect((await tell()).stderr).toContain('Telegram rejects this text; it is not sent again');
});

test('figures of the day before come once a day, if they are wanted', async () => {
  await addChat();
  expect((await tell()).told).toEqual([]);
  expect((await tell('--figures')).told).toEqual(['doctor.figures 2026-11-19']);
  expect((await tell('--figures')).told).toEqual([]);
  expect(sent.at(-1)?.data).toEqual({
    day: '2026-11-19',
    admitted: 0,
    refused: 0,
    seen: 0,
    links: 0,
    sends: 0,
    delivered: 0,
  });
  expect((await line.run('doctor', '--figures')).code).toBe(2);
});

test('without a database it cannot tell, and says so', async () => {
  const other = commandLine({ eventSenders, examine: async () => [SILENT] });
  const { code, stderr } = await other.run('doctor', '--notify');
  expect(stderr).toContain('does not exist');
  expect(code).toBe(1);
  expect(stderr).toContain('PROBLEM   gate:');
  other.close();
});
