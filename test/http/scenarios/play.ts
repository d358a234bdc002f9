/**
 * Plays scenarios: what was so before, what was asked, the whole answer, what changed in the
 * database and, by comparing all of it, what did not.
 */

import { afterAll, describe, expect, test } from 'bun:test';
import { WriteFailed } from '../../../src/core/port/store.ts';
import { addProvider, type Credentials } from '../../../src/core/provider.ts';
import { hashKey, keyFingerprint } from '../../../src/core/secret.ts';
import { endpoints } from '../../../src/http/endpoints/index.ts';
import {
  call,
  type Reply,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/app.ts';
import { auditEntries, deedOf } from '../../support/audit.ts';
import { Faults } from '../../support/faults.ts';
import { answerAt, answerBreaches, answerSchemaAt } from '../../support/openapi.ts';
import { STORE } from '../../support/place.ts';
import { difference, takeSnapshot } from '../../support/snapshot.ts';
import { DEEDS } from './deeds.ts';
import { scenarios } from './index.ts';
import { DRAWN_CODE, DRAWN_TOKEN, FOREIGN, OWN, posted, type Scenario } from './scenario.ts';

/** Stands for what an error of ours may hold: paths, SQL, values. No client may ever see it. */
const SECRET = 'secret-of-the-fault';

/** What has tests of its own: the audit log, and counts that follow every change. */
const COUNTED = new RegExp(
  [
    '^audit ',
    '^appliance ',
    '^device \\d+ holder_count:',
    '^device_provider \\d+/\\d+ home_left_at_ms:',
    '^(provider_day|install_refusal|refused_device) ',
    '^provider \\d+ (kept_bytes|ledger_count|send(s_from_ms|_count)):',
    '^provider_key \\d+ first_used_at_ms:',
    '^provider \\d+ (changes_from_ms|audit_day|(change|alone)(_day)?_count):',
  ].join('|'),
);

/** The endpoints by test file in `test/http/coverage/`. */
export const FILES = {
  link: /^\/api\/(?:\w+-install|free-slots|list-ties|(?:tie|untie|set)-keys)$/,
  'domain-hwid':
    /^\/api\/(?:\w+-domain|\w+-hwid|list-refused|stats|policy|\w+-(?:cuts?|bars?|copies))$/,
  webhook: /^\/api\/(?:webhook|reminder)-/,
  notification: /^\/remote\/notification$/,
  command: /^\/remote\/(?:command|list|cancel|receipts)$/,
  device: /^\/(?:device\/|install$|provider$)/,
};

/** Tests every answer of a file's endpoints. One appliance serves all of them. */
export function playScenarios(file: keyof typeof FILES): void {
  afterAll(closeShared);
  for (const { path } of endpoints.filter((endpoint) => FILES[file].test(endpoint.path))) {
    describe(path, () => {
      for (const scenario of scenarios.filter((candidate) => candidate.path === path)) {
        test(`${scenario.says}: ${scenario.name}`, () => playOnStage(scenario));
        // PostgreSQL never answers at once.
        if (scenario.says !== 'ok' || STORE === 'postgres') continue;
        // A store may answer at once or not: nothing that continues without waiting may rely on it.
        test(`${scenario.name}, on a store that answers nothing at once`, () =>
          playOnStage(scenario, true));
      }
    });
  }
}

/** What every entry about a request says beside the deed. */
function whoAndWhen(app: TestApp, credentials: Credentials | null) {
  return {
    at: new Date(app.clock.nowMs()).toISOString(),
    who: 'provider',
    name: credentials?.code,
    key: keyFingerprint(hashKey(credentials?.authKey ?? '')),
    from: '127.0.0.1',
  };
}

/** An appliance and the faults that its store may have. */
interface Stage {
  app: TestApp;
  faults: Faults;
}

/** The appliances that the scenarios of a file share, each reset after a scenario. */
const shared = new Map<'usual' | 'slow', Stage>();

async function startStage(options: TestAppOptions): Promise<Stage> {
  const faults = new Faults();
  return { app: await startTestApp(options, faults.wrap), faults };
}

async function closeShared(): Promise<void> {
  for (const { app } of shared.values()) await app.close();
  shared.clear();
}

/** Plays a scenario on the appliance that the file shares, unless it needs one of its own. */
async function playOnStage(scenario: Scenario, isSlow = false): Promise<void> {
  if (scenario.isAlone || scenario.options !== undefined) {
    const stage = await startStage({ ...scenario.options, isSlow });
    try {
      await play(scenario, stage);
    } finally {
      await stage.app.close();
    }
    return;
  }
  const name = isSlow ? 'slow' : 'usual';
  const stage = shared.get(name) ?? (await startStage({ isSlow }));
  shared.set(name, stage);
  try {
    await play(scenario, stage);
  } finally {
    stage.faults.disarm();
    await stage.app.reset();
  }
}

async function play(scenario: Scenario, { app, faults }: Stage): Promise<void> {
  await settle(app, scenario);
  const before = await takeSnapshot(app);
  const noted = await auditEntries(app.core);
  const { fault, path, request, headers = {}, credentials = OWN } = scenario;
  if (fault) {
    const error = fault.kind === 'broken' ? new Error(SECRET) : new WriteFailed(SECRET);
    faults.arm(fault.method, error);
    app.expectFault(SECRET);
  }
  const init = { ...posted(scenario.body), headers };
  const reply = await call(app, path, credentials, request, init);

  expect(withoutRandomness(reply.text)).toBe(scenario.answer);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('cache-control')).toBe('no-store');
  expect(ownHeaders(reply.headers)).toEqual(scenario.answerHeaders ?? {});
  const changes = difference(before, await takeSnapshot(app));
  const told = changes.filter((line) => !COUNTED.test(line)).map(withoutRandomness);
  expect(told).toEqual([...(scenario.changed ?? [])]);
  const entries = (await auditEntries(app.core)).slice(noted.length);
  expect(entries.map(deedOf)).toEqual([...(DEEDS[path]?.[scenario.name] ?? [])]);
  for (const entry of entries) expect(entry).toMatchObject(whoAndWhen(app, credentials));
  expectDocumented(path, reply);
  const detail = reply.headers.get('x-error-detail');
  if (fault) {
    expectReported(app, scenario, detail ?? '');
  } else {
    expect(detail).toBe(scenario.detail ?? null);
    expect(app.logLines).toEqual([]);
  }
}

/** A text in which tokens and secrets that were drawn are all the same. */
function withoutRandomness(text: string): string {
  return text
    .replace(/"device_token":"[-_A-Za-z0-9]{43}"/, DRAWN_TOKEN)
    .replace(/("install_code":")\w{12}(?=","id":\d+,"freed")/, `$1${DRAWN_CODE}`)
    .replace(/(install_code: "LinkCode0001" -> ")\w{12}/, `$1${DRAWN_CODE}`)
    .replace(/wh(?:sec|pk)_[A-Za-z0-9+/]{43}=/g, '(drawn)');
}

/** The OpenAPI document has this answer, with these headers. */
function expectDocumented(path: string, { headers, json }: Reply): void {
  expect(answerBreaches(answerSchemaAt(path), json)).toEqual([]);
  const own = [...headers.keys()].filter((name) => name.startsWith('x-'));
  expect(Object.keys(answerAt(path).headers)).toEqual(expect.arrayContaining(own));
}

async function settle(app: TestApp, { given = [] }: Scenario): Promise<void> {
  for (const { code, authKey } of [OWN, FOREIGN]) {
    const draft = { name: code, plan: 'basic' as const, code, authKey };
    const rest = { activeUntilMs: null, installCountMax: null };
    await addProvider(app.core, { ...draft, ...rest }, app.clock.nowMs());
  }
  for (const step of given) await step(app);
}

/** The client learns an id and nothing else; under the same id the log has the reason. */
function expectReported(app: TestApp, scenario: Scenario, detail: string): void {
  const [, id = ''] =
    /internal fault ([0-9a-f]{8}-\d+), see the log of the server$/.exec(detail) ?? [];
  expect(detail).toBe(`${scenario.detail}${id}, see the log of the server`);
  expect(app.logLines).toHaveLength(1);
  const line = JSON.parse(app.logLines[0] ?? '');
  expect(line).toMatchObject({ level: 'error', event: 'fault', id, path: scenario.path });
  expect(line.reason).toContain(SECRET);
  expect(app.logLines[0]).not.toContain(OWN.authKey);
}

function ownHeaders(headers: Headers): Record<string, string> {
  const isOwn = (name: string) =>
    name.startsWith('x-hwid') ||
    ['x-install-id', 'x-note', 'x-wait-max', 'x-cut-off'].includes(name);
  return Object.fromEntries([...headers].filter(([name]) => isOwn(name)));
}
