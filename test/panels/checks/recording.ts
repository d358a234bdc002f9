/**
 * Records what a panel answers, for the tests that play it without a panel. `PANEL_RECORD=1` writes
 * it to test/fixtures/panels; else the answers must have the form of those that are there.
 */

import { expect } from 'bun:test';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { layersOf, strangeIn } from '../../support/made-up.ts';
import { doorKeyOf, userAt, usersAt } from '../../support/panel-readers.ts';
import {
  type Exchange,
  RECORDED,
  type RecordedCustomer,
  type Recording,
  recordedFolder,
  recordingIn,
} from '../../support/recorded.ts';
import type { Customer, RealPanel, State, UserSpec } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';
import { namesIn, recordApi, recordSubscription } from '../recorder.ts';
import { Scrubber } from '../scrubber.ts';

/** Notes of several scripts, with signs that mean something elsewhere. */
const NOTES = ['paid until May', 'оплачено до мая', 'پرداخت شد', '付到五月', `"a" <b> & 'c' 😀`];
/** Limits of customers who are active: one of their own, one that means none. */
const LIMITS = [5, 0];

const AGENTS: Readonly<Record<string, Record<string, string>>> = {
  app: { 'user-agent': 'Happ/3.1' },
  'sing-box': { 'user-agent': 'SFA/1.12 (sing-box 1.12)' },
  clash: { 'user-agent': 'clash-verge/v2.4.2' },
  browser: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', accept: 'text/html' },
};

const nameOf = (state: State) => state.replace('-', '_');

type Known = Customer & Omit<RecordedCustomer, 'path'>;

class Run {
  readonly customers: Known[] = [];

  constructor(readonly panel: RealPanel) {}

  async add(spec: UserSpec): Promise<void> {
    const { note = NOTES[this.customers.length % NOTES.length] ?? '', limit = null } = spec;
    const state = spec.state ?? 'active';
    const made = await this.panel.users.add({ ...spec, note });
    this.customers.push({ ...made, note, state, limit });
  }

  named(name: string): Known {
    const known = this.customers.find((one) => one.name === name);
    if (known === undefined) throw new Error(`no customer ${name}`);
    return known;
  }

  set(name: string, fields: Partial<Known>): void {
    Object.assign(this.named(name), fields);
  }

  /** The customers as they are now. */
  now(): RecordedCustomer[] {
    return this.customers.map((known) => {
      const { name, note, limit, state, key, path } = known;
      return { name, note, limit, state, key, path };
    });
  }
}

async function record(panel: RealPanel): Promise<Recording> {
  const { kind, version, commit, users, api } = panel;
  const run = new Run(panel);
  const recorder = recordApi(api.url);
  const at = { panel: kind, url: recorder.url, token: api.token };
  const lists: Recording['lists'] = [];
  const list = async (after: string) => {
    await usersAt(at);
    lists.push({ after, customers: run.now(), exchanges: recorder.taken() });
  };
  const made: Recording['users'] = [];
  const faults: Recording['faults'] = {};
  const fault = async (name: string, reading: () => Promise<unknown>) => {
    await reading().catch(() => {});
    const last = recorder.taken().at(-1);
    if (last !== undefined) faults[name] = last;
  };
  try {
    for (const state of users.states) await run.add({ name: nameOf(state), state });
    for (const spec of panel.odd) await run.add(spec);
    for (const limit of LIMITS) await run.add({ name: `limit_${limit}`, limit });
    await list('they were made');
    for (const [nth, customer] of run.now().entries()) {
      await userAt(at, doorKeyOf(kind, run.customers[nth]?.key ?? ''));
      made.push({ customer, exchanges: recorder.taken() });
    }
    const subscriptions = await subscriptionsOf(panel, run);

    await users.change(run.named('active'), { note: 'a new note' });
    run.set('active', { note: 'a new note' });
    await users.setState(run.named('disabled'), 'active');
    run.set('disabled', { state: 'active' });
    await users.setState(run.named('limit_5'), 'disabled');
    run.set('limit_5', { state: 'disabled' });
    await users.rename(run.named('expired'), 'renamed').then(
      (customer) => run.set('expired', customer),
      () => {},
    );
    const gone = run.named('limit_0');
    await users.remove(gone);
    run.customers.splice(run.customers.indexOf(gone), 1);
    await fault('a customer who was deleted', () => userAt(at, doorKeyOf(kind, gone.key)));
    await run.add({ name: 'limit_0', limit: 0 });
    await list('a note, a name and two states changed, and one was deleted and made again');

    const wrong = { ...at, token: 'none' };
    await fault('a wrong token, by an import', () => usersAt(wrong));
    const { key } = run.named('active');
    await fault('a wrong token, at the door', () => userAt(wrong, doorKeyOf(kind, key)));
    const nowhere = { ...at, url: `${recorder.url}/none` };
    await fault('a wrong address, at the door', () => userAt(nowhere, doorKeyOf(kind, key)));
    return { panel: kind, version, commit, lists, users: made, faults, subscriptions };
  } finally {
    await recorder.stop();
    for (const customer of run.customers) await users.remove(customer).catch(() => {});
  }
}

async function subscriptionsOf(panel: RealPanel, run: Run): Promise<Recording['subscriptions']> {
  const found: Recording['subscriptions'] = [];
  const add = async (
    name: string,
    path: string,
    asked: Record<string, string>,
    isSubscription = true,
  ) => {
    const exchange = await recordSubscription(panel.url, path, asked);
    found.push({ name, isSubscription, ...exchange });
  };
  const active = run.named('active');
  const [first] = panel.routes(active);
  for (const { name, path, headers = {} } of panel.routes(active)) {
    await add(name, path, { ...AGENTS['app'], ...headers });
  }
  const path = first?.path ?? active.path;
  for (const [name, headers] of Object.entries(AGENTS).slice(1)) {
    await add(`${first?.name}, ${name}`, path, headers, name !== 'browser');
  }
  for (const state of panel.users.states.slice(1)) {
    const { path } = run.named(nameOf(state));
    const before = found.length;
    await add(`a customer who is ${state}`, path, AGENTS['app'] ?? {});
    const got = found[before];
    // Some panels refuse such a customer themselves.
    if (got !== undefined) got.isSubscription = got.status === 200 && got.body !== '';
  }
  const stranger = active.path.replace(active.key, crypto.randomUUID());
  await add('a key that no customer has', stranger, AGENTS['app'] ?? {}, false);
  return found;
}

/** Returns the recording with made-up values in place of all secrets. */
function cleaned(panel: RealPanel, recording: Recording): Recording {
  const scrubber = new Scrubber(panel.kind);
  const paths = [new URL(panel.api.url).pathname, ...recording.lists.flatMap(pathsIn)];
  for (const part of paths.flatMap((path) => path.split('/'))) {
    if (part.length >= 8 && /\d/.test(part)) scrubber.learn(part);
  }
  scrubber.learn(panel.api.token);
  scrubber.learnFrom(recording);
  const clean = scrubber.clean(recording);
  const layers = layersOf(JSON.stringify(clean));
  // No secret of this run is left, and nothing that has the form of one.
  const left = scrubber.secrets.filter((secret) => layers.some((layer) => layer.includes(secret)));
  expect(left).toEqual([]);
  expect(strangeIn(JSON.stringify(clean))).toEqual([]);
  return clean;
}

/** The paths that a panel has for its customers alone; a token there is no word. */
const pathsIn = ({ customers }: Recording['lists'][number]) =>
  customers.map(({ path, key }) => path.replace(key, ''));

function write(folder: string, recording: Recording): void {
  const { panel, version, commit, ...parts } = recording;
  const at = join(RECORDED, folder);
  mkdirSync(at, { recursive: true });
  const all = { panel: { panel, version, commit }, ...parts };
  for (const [name, part] of Object.entries(all)) {
    writeFileSync(join(at, `${name}.json`), `${JSON.stringify(part, null, 1)}\n`);
  }
}

/** The names in what the readers ask; bodies of subscriptions change with the servers. */
const formOf = ({ lists, users, faults }: Recording) => {
  const bodies = (exchanges: readonly Exchange[]) => exchanges.map(({ body }) => body);
  const all = [...lists, ...users].map(({ exchanges }) => bodies(exchanges));
  return [...namesIn([...all, bodies(Object.values(faults))])].toSorted();
};

export const recordingChecks: Checks = (check) => {
  check('its answers have the form of those that are recorded', async (panel) => {
    const recording = cleaned(panel, await record(panel));
    const folder = recordedFolder(panel.kind, panel.version);
    if (process.env['PANEL_RECORD'] === '1') write(folder, recording);
    if (!existsSync(join(RECORDED, folder))) {
      return { held: false, note: `nothing is recorded of ${folder}` };
    }
    expect(formOf(recording)).toEqual(formOf(recordingIn(folder)));
    const count = [...recording.lists, ...recording.users].flatMap((one) => one.exchanges).length;
    return `${count} answers, ${recording.subscriptions.length} subscriptions`;
  });
};
