/**
 * The links of the model of copied HWIDs: honest households and those whose HWIDs are copied.
 * Devices report what test/support/app-headers.ts recorded.
 *
 * A household has one to three phones, which for 60 days update system and app, roam, change SIM,
 * are installed again, renamed or replaced, and have a second app. Some updates of an app spell the
 * model differently, and some people go back to the old version for days.
 */

import { DAY_MS, HOUR_MS } from '../../src/core/calendar.ts';
import type { DeviceFacts } from '../../src/core/port/device.ts';
import type { PhoneDoor } from '../../src/core/port/phone.ts';
import { APP_HEADERS, type AppHeaders } from './app-headers.ts';
import { Random } from './random.ts';

/** Kinds of links; the number is of 10,000. */
export const KINDS = {
  household: { links: 7_900, is: 'honest households' },
  overlap: { links: 100, is: 'a phone restored from a backup, the old one stays on for days' },
  typed: { links: 400, is: 'one HWID typed into different apps and systems' },
  models: { links: 400, is: 'one HWID in one app on other models' },
  proxy: { links: 400, is: 'a proxy sends one HWID for all' },
  alike: { links: 400, is: 'one HWID, the same app and model' },
  copied: { links: 400, is: 'all headers copied' },
} as const;
export type Kind = keyof typeof KINDS;

/** The kinds that change nothing but `x-hwid`. */
export const HWID_ALONE: readonly Kind[] = ['typed', 'models', 'proxy'];

const START_MS = Date.UTC(2026, 8, 1);

/** A device with one app: what it sends, and when. */
export interface Sender {
  hwid: string;
  door: PhoneDoor;
  facts(atMs: number): DeviceFacts;
  everyMs: number;
  fromMs: number;
  toMs: number;
}

const ANDROID =
  'SM-S918B SM-S911B SM-S921B SM-S928B SM-A546E SM-A556E SM-A155F SM-A536B SM-G991B SM-A127F 2201116SG 23049PCD8G 2312DRA50G 23106RN0DA 22101316G M2101K6G 2412DPC0AG 24069PC21G CPH2449 CPH2581 RMX3085 RMX3890 V2250 TECNO-KG5j X6833B ELP-NX1 ANY-LX1 I2306'
    .split(' ')
    .concat(
      'Pixel 6',
      'Pixel 7a',
      'Pixel 8',
      'Pixel 8 Pro',
      'Pixel 9',
      'Redmi Note 8',
      'moto g(60)',
    );
const IPHONES: readonly (readonly [string, string])[] = [
  ['iPhone 11', 'iPhone12,1'],
  ['iPhone 12', 'iPhone13,2'],
  ['iPhone 13', 'iPhone14,5'],
  ['iPhone 13 Pro', 'iPhone14,2'],
  ['iPhone 14', 'iPhone14,7'],
  ['iPhone 14 Pro', 'iPhone15,2'],
  ['iPhone 14 Pro Max', 'iPhone15,3'],
  ['iPhone 15', 'iPhone15,4'],
  ['iPhone 15 Pro', 'iPhone16,1'],
  ['iPhone 16', 'iPhone17,3'],
  ['iPhone 16 Pro', 'iPhone17,1'],
  ['iPad Pro', 'iPad13,4'],
];

const rows = (filter: (row: AppHeaders) => boolean) => APP_HEADERS.filter(filter);
const isBy = (app: string, os: string) => (row: AppHeaders) => row.app === app && row.os === os;

/** Without the tools that say that they are an app: in a household nobody has them. */
const APPS = rows(({ app }) => !app.startsWith('a tool'));

/** Apps of phones that have a HWID of their own, with their shares. */
const POPULAR: readonly (readonly [number, AppHeaders[]])[] = [
  [28, rows(isBy('Happ', 'Android'))],
  [22, rows(isBy('Happ', 'iOS'))],
  [7, rows(isBy('Happ', 'Windows'))],
  [4, rows(isBy('Happ', 'macOS'))],
  [9, rows(isBy('v2RayTun', 'Android'))],
  [8, rows(isBy('v2RayTun', 'iOS'))],
  [3, rows(isBy('v2RayTun', 'Windows'))],
  [4, rows((row) => row.app === 'INCY')],
  [6, rows((row) => row.app === 'FlClashX')],
  [3, rows((row) => row.app === 'Koala Clash')],
  [2, rows((row) => row.app === 'Prizrak-Box')],
  [2, rows((row) => row.app === 'Karing')],
  [1, rows((row) => row.app === 'PassWall')],
  [1, rows((row) => row.app === 'Throne')],
];

/** Apps into which people type a HWID, one row for each kind of device. */
const TYPED: readonly (readonly AppHeaders[])[] = [
  rows(({ app, userAgent }) => app === 'v2rayNG' || userAgent.endsWith('verge Platform/android')),
  rows(({ app, userAgent }) => app === 'v2rayN' || userAgent.endsWith('verge Platform/windows')),
  rows(({ app }) => app === 'PassWall'),
  rows(isBy('Karing', 'iOS')),
  rows(({ userAgent }) => userAgent.endsWith('Platform/macos')),
];

const CHANCE = {
  fetchMissed: 0.2,
  factsMissed: 0.02,
  appUpdateDays: 12,
  systemUpdateDays: 30,
  /** Of updates of an app. */
  spellsOtherwise: 0.02,
  goesBack: 0.01,
};

export class World extends Random {
  /** A whole number below `count`. */
  below(count: number): number {
    return this.int(0, count - 1);
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  app(): AppHeaders {
    let at = this.next() * POPULAR.reduce((sum, [share]) => sum + share, 0);
    for (const [share, of] of POPULAR) {
      at -= share;
      if (at < 0) return this.pick(of);
    }
    return this.pick(rows(isBy('Happ', 'Android')));
  }

  /** A device's own names: as a code, as an identifier, as the name of a computer. */
  model() {
    const [name, identifier] = this.pick(IPHONES);
    const host = `${this.pick(['DESKTOP', 'LAPTOP', 'Home', 'PC'])}-${this.below(1e6)}`;
    const edition = this.pick(['Windows 10 Pro', 'Windows 11 Pro', 'Windows 11 Home']);
    const router = this.pick(['Xiaomi Mi Router AX3000T', 'Cudy TR3000 v1', 'GL.iNet GL-MT3000']);
    return { code: this.pick(ANDROID), name, identifier, host, edition, router };
  }
}

type Model = ReturnType<World['model']>;

function modelText(row: AppHeaders, model: Model, atHome: boolean): string {
  const put = (text: string) => row.model?.replace(/\{.*\}/, text) ?? '';
  if (row.modelIs === 'code') return put(model.code);
  if (row.modelIs === 'identifier') return put(model.identifier);
  if (row.modelIs === 'name') return put(row.os === 'OpenWrt' ? model.router : model.name);
  // The network names a Mac.
  if (row.modelIs === 'host') return put(row.os === 'macOS' && !atHome ? 'host-7' : model.host);
  return row.modelIs === 'edition' && row.os === 'Windows' ? model.edition : (row.model ?? '');
}

/** How a version of an app spells the model. */
const SPELLINGS: readonly ((row: AppHeaders, model: Model, text: string) => string)[] = [
  (_row, _model, text) => text,
  (row, model, text) => (row.os === 'iOS' ? model.identifier : `Samsung ${text}`),
  (row, model) => (row.os === 'iOS' ? 'iPhone' : `Galaxy of ${model.code}`),
];

interface Change {
  atMs: number;
  version: number;
  spelling: number;
}

/** The versions of an app on one device. */
function versions(world: World, fromMs: number, toMs: number): Change[] {
  const changes: Change[] = [{ atMs: fromMs, version: world.below(2), spelling: 0 }];
  let atMs = fromMs;
  for (;;) {
    atMs += world.between(0.5, 1.5) * CHANCE.appUpdateDays * DAY_MS;
    const last = changes.at(-1) as Change;
    if (atMs > toMs) return changes;
    const isSpelt = world.chance(CHANCE.spellsOtherwise);
    const next = { version: last.version + 1, spelling: isSpelt ? world.below(3) : last.spelling };
    changes.push({ ...next, atMs });
    if (!world.chance(CHANCE.goesBack)) continue;
    changes.push({ ...last, atMs: atMs + world.between(0.1, 3) * DAY_MS });
    // The new version again, once the person lets it.
    atMs += world.between(5, 14) * DAY_MS;
    changes.push({ ...next, atMs });
  }
}

const at = <T extends { atMs: number }>(changes: readonly T[], nowMs: number): T =>
  changes.findLast(({ atMs }) => atMs <= nowMs) ?? (changes[0] as T);

interface Life {
  hwid: string;
  row: AppHeaders;
  model?: Model;
  fromMs?: number;
  toMs?: number;
  door?: PhoneDoor;
  /** From then on the app sends the name that its provider gave it. */
  hiddenFromMs?: number;
}

/** A device with one app. */
function device(world: World, life: Life): Sender {
  const { hwid, row, model = world.model(), door = 'subscription' } = life;
  const { fromMs = START_MS, toMs = START_MS + 60 * DAY_MS, hiddenFromMs = Infinity } = life;
  const changes = versions(world, fromMs, toMs);
  const updateMs = world.between(1, CHANCE.systemUpdateDays) * DAY_MS;
  const renamedMs = world.chance(0.03) ? world.between(0, 60) * DAY_MS + START_MS : Infinity;
  const renamed = { ...model, host: `${model.host}-new`, edition: 'Windows 11 Pro' };
  const facts = (nowMs: number): DeviceFacts => {
    const { version, spelling } = at(changes, nowMs);
    const text = modelText(row, nowMs < renamedMs ? model : renamed, world.chance(0.6));
    const spelt = SPELLINGS[row.modelIs === null ? 0 : spelling] ?? SPELLINGS[0];
    const userAgent =
      nowMs >= hiddenFromMs ? 'Chrome/126' : row.userAgent.replace(/\d+(?=[\s/)]|$)/, `${version}`);
    const isMissed = world.chance(CHANCE.factsMissed);
    const system = `${row.osVersion}${nowMs - fromMs > updateMs ? '.1' : ''}`;
    return {
      userAgent,
      os: isMissed ? '' : (row.os ?? ''),
      osVersion: row.osVersion === null ? '' : system,
      deviceName: isMissed || row.model === null ? '' : (spelt?.(row, model, text) ?? text),
      appVersion: row.appVersion === null ? '' : `9.${version}`,
    };
  };
  const everyMs = world.pick([6, 12, 12, 24]) * HOUR_MS;
  return { hwid, door, facts, everyMs, fromMs: fromMs + world.between(0, 12) * HOUR_MS, toMs };
}

interface Link {
  limit: number;
  senders: Sender[];
}

function household(world: World): Link {
  const hiddenFromMs = world.chance(0.05) ? START_MS + world.between(5, 50) * DAY_MS : Infinity;
  const phones = 1 + world.below(3);
  const senders = Array.from({ length: phones }, (_, number) =>
    phone(world, `own-${number}`, hiddenFromMs),
  );
  return { limit: phones + 2, senders: senders.flat() };
}

/** A phone of a household, with its apps, and the one that replaces it. */
function phone(world: World, hwid: string, hiddenFromMs: number): Sender[] {
  const row = world.app();
  const lives: Life[] = [{ hwid, row }];
  if (world.chance(0.15)) {
    // A second app has the same HWID where it was typed, or made in the same way.
    const typed = row.os === 'Android' && world.chance(0.1) ? ['v2rayNG'] : [];
    const others = APPS.filter(({ os, app }) =>
      typed.length > 0 ? typed.includes(app) : os === row.os && app !== row.app,
    );
    const second = typed.length > 0 || world.chance(0.2) ? hwid : `${hwid}-second`;
    if (others.length > 0) lives.push({ hwid: second, row: world.pick(others) });
  }
  // The app asks at another door too, and spells its model differently there.
  if (row.app === 'Happ' && world.chance(0.1)) lives.push({ hwid, row, door: 'install' });
  const own = world.model();
  const changeMs = START_MS + world.between(5, 55) * DAY_MS;
  const [toMs, next] = world.chance(0.06)
    ? [changeMs, world.chance(0.5) ? { model: world.model() } : { again: '-again' }]
    : [undefined, undefined];
  return lives.flatMap((life) => {
    const live = (model: Model, more: Partial<Life>) => {
      const spelt = life.door === 'install' ? { ...model, code: model.name, host: 'PC' } : model;
      const hides = life.row.app === 'Happ' ? { hiddenFromMs } : {};
      return device(world, { ...life, ...hides, ...more, model: spelt });
    };
    if (toMs === undefined) return [live(own, {})];
    const later = { fromMs: toMs, hwid: `${life.hwid}${next?.again ?? ''}` };
    return [live(own, { toMs }), live(next?.model ?? own, later)];
  });
}

function overlap(world: World): Link {
  const row = world.pick(rows(({ os, app }) => app === 'Happ' && os === 'iOS'));
  const changeMs = START_MS + world.between(5, 40) * DAY_MS;
  const old = { hwid: 'own', row, toMs: changeMs + world.between(0.1, 7) * DAY_MS };
  const senders = [device(world, old), device(world, { hwid: 'own', row, fromMs: changeMs })];
  return { limit: 3, senders };
}

const HWID = 'x';

const toMs = START_MS + 21 * DAY_MS;

function typed(world: World): Link {
  const kinds = [...TYPED].sort(() => world.next() - 0.5);
  const count = 2 + world.below(3);
  const senders = kinds
    .slice(0, count)
    .map((apps) => device(world, { hwid: HWID, row: world.pick(apps), toMs }));
  return { limit: 2, senders };
}

/** The same app on models that differ. */
function models(world: World): Link {
  const apps = rows(({ modelIs }) => modelIs === 'code' || modelIs === 'name');
  const row = world.pick(apps.filter(({ os }) => os !== 'OpenWrt'));
  const taken = new Set<string>();
  const count = 2 + world.below(4);
  const senders: Sender[] = [];
  while (senders.length < count) {
    const model = world.model();
    const own = row.modelIs === 'name' ? model.name : model.code;
    if (taken.has(own)) continue;
    taken.add(own);
    senders.push(device(world, { hwid: HWID, row, model, toMs }));
  }
  return { limit: 2, senders };
}

function proxy(world: World): Link {
  const count = 3 + world.below(10);
  const senders = Array.from({ length: count }, () =>
    device(world, { hwid: HWID, row: world.app(), toMs }),
  );
  return { limit: 2, senders };
}

function alike(world: World): Link {
  const life = { hwid: HWID, row: world.app(), model: world.model(), toMs };
  const count = 2 + world.below(4);
  const senders = Array.from({ length: count }, () => device(world, life));
  return { limit: 2, senders };
}

function copied(world: World): Link {
  const one = device(world, { hwid: HWID, row: world.app(), toMs });
  const senders = Array.from({ length: 2 + world.below(4) }, () => {
    const { everyMs, fromMs } = device(world, { hwid: HWID, row: world.app(), toMs });
    return { ...one, everyMs, fromMs };
  });
  return { limit: 2, senders };
}

export const MAKES = { household, overlap, typed, models, proxy, alike, copied } as const;

export function schedule(world: World, senders: readonly Sender[]) {
  const all: { sender: Sender; atMs: number }[] = [];
  for (const sender of senders) {
    let atMs = sender.fromMs;
    while (atMs < sender.toMs) {
      if (!world.chance(CHANCE.fetchMissed)) all.push({ sender, atMs });
      atMs += sender.everyMs * world.between(0.8, 1.2);
    }
  }
  return all.sort((one, other) => one.atMs - other.atMs);
}
