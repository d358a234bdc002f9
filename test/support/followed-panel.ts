/** A panel whose API lists its users, a few on a page, and an appliance that follows it. */

import type { FollowLine } from '../../src/core/moving/follow.ts';
import { listedUsers } from '../../src/core/moving/follow-user.ts';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import type { PanelUserState } from '../../src/core/port/follow.ts';
import type { FoundLink } from '../../src/core/port/panel-tie.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { subscriptionKeyHash } from '../../src/core/secret.ts';
import type { Upstream } from '../../src/http/upstream/settings.ts';
import { type Follower, makeFollower } from '../../src/jobs/follow.ts';
import { readPanel } from '../../src/panel/panel-read.ts';
import { followedPanels } from '../../src/parts/live-follow.ts';
import { seedProvider, startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { API_TOKEN, tokensOf } from './panel-api.ts';
import { READING } from './reading.ts';
import { HOST, upstreamTo } from './upstream.ts';

/** A user of a panel of any kind. */
export interface SomeUser {
  id: number;
  name: string;
  /** The key of plain panels; UUIDs of Hiddify. */
  key: string;
  state: PanelUserState;
  /** Null: none; 0: unlimited. */
  limit: number | null;
  endsAtMs: number | null;
  totalBytes: number;
  usedBytes: number;
  note: string;
  createdAtMs: number;
}

const GB = 1024 ** 3;
export const madeAtMs = Date.UTC(2026, 0, 1);

export const someUser = (id: number, more: Partial<SomeUser> = {}): SomeUser => ({
  id,
  name: `user${id}`,
  key: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
  state: 'active',
  limit: 2,
  endsAtMs: Date.UTC(2027, 0, 1),
  totalBytes: 8 * GB,
  usedBytes: 2 * GB,
  note: '',
  createdAtMs: madeAtMs + id * 1_000,
  ...more,
});

const iso = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());
const seconds = (atMs: number | null) => (atMs === null ? null : Math.floor(atMs / 1_000));

const BY_KIND: Readonly<Record<PanelKind, (user: SomeUser) => object>> = {
  remnawave: ({ id, name, key, state, limit, endsAtMs, note, createdAtMs, ...traffic }) => ({
    id,
    shortUuid: key,
    username: name,
    description: note,
    status: state.toUpperCase(),
    hwidDeviceLimit: limit,
    expireAt: iso(endsAtMs),
    createdAt: iso(createdAtMs),
    trafficLimitBytes: traffic.totalBytes,
    userTraffic: { usedTrafficBytes: traffic.usedBytes },
  }),
  '3x-ui': ({ name, key, state, limit, endsAtMs, note, createdAtMs, ...traffic }) => ({
    email: name,
    subId: key,
    enable: state === 'active',
    limitHwid: limit ?? 0,
    comment: note,
    expiryTime: endsAtMs ?? 0,
    createdAt: createdAtMs,
    totalGB: traffic.totalBytes,
    traffic: { up: 0, down: traffic.usedBytes },
  }),
  marzban: ({ name, state, endsAtMs, note, createdAtMs, ...traffic }) => ({
    username: name,
    status: state,
    expire: seconds(endsAtMs),
    data_limit: traffic.totalBytes,
    used_traffic: traffic.usedBytes,
    note,
    created_at: iso(createdAtMs)?.replace('Z', ''),
  }),
  pasarguard: ({ id, name, state, limit, endsAtMs, note, createdAtMs, ...traffic }) => ({
    id,
    username: name,
    status: state,
    hwid_limit: limit,
    expire: iso(endsAtMs),
    data_limit: traffic.totalBytes,
    used_traffic: traffic.usedBytes,
    note,
    created_at: iso(createdAtMs),
    admin: { id: 1, username: 'keeper' },
  }),
  hiddify: ({ id, name, key, state, limit, note, totalBytes, usedBytes }) => ({
    id,
    uuid: key,
    name,
    comment: note,
    enable: state !== 'disabled',
    is_active: state === 'active',
    max_ips: limit ?? 100,
    start_date: '2026-01-01',
    package_days: 365,
    usage_limit_GB: totalBytes / GB,
    current_usage_GB: usedBytes / GB,
  }),
};

export interface ListingPanel {
  url: string;
  users: SomeUser[];
  /** The admin of the token; empty: one that sees all. */
  admin: string;
  /** Users on a page. */
  pageCount: number;
  /** The paths that were asked. */
  asked: string[];
  /** Answers in place of the panel; null: the panel answers. */
  odd: ((path: string) => Response | Promise<Response> | null) | null;
  stop(): Promise<void>;
}

const PATHS_OF_USERS: readonly string[] = [
  '/api/users',
  '/panel/api/clients/list',
  '/api/v2/admin/user/',
];

function answerOf(kind: PanelKind, { users, admin, pageCount }: ListingPanel, url: URL): unknown {
  const { pathname, searchParams } = url;
  const all = users.map(BY_KIND[kind]);
  const isWhole = admin === '';
  if (!PATHS_OF_USERS.includes(pathname)) {
    if (pathname === '/api/subscription-settings') return { response: { hwidSettings: null } };
    if (pathname === '/api/external-squads') return { response: { externalSquads: [], total: 0 } };
    if (pathname === '/api/settings') return { hwid: { enabled: false } };
    if (pathname === '/api/admins') return { admins: [] };
    if (pathname === '/api/admin') {
      const role = { is_owner: isWhole, permissions: { users: { read: { scope: 1 } } } };
      return { username: admin || 'keeper', is_sudo: isWhole, role };
    }
    if (pathname === '/api/v2/admin/me/') {
      return { uuid: admin || 'keeper', mode: isWhole ? 'super_admin' : 'agent' };
    }
    return null;
  }
  if (kind === '3x-ui') return { success: true, obj: all };
  if (kind === 'hiddify') return all;
  const at = Number(searchParams.get('start') ?? searchParams.get('offset'));
  const page = { users: all.slice(at, at + pageCount), total: all.length };
  return kind === 'remnawave' ? { response: page } : page;
}

export function startListingPanel(kind: PanelKind, users: SomeUser[]): ListingPanel {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      panel.asked.push(url.pathname + url.search);
      const odd = await panel.odd?.(url.pathname + url.search);
      if (odd != null) return odd;
      const said = [...request.headers.values()].some((value) => value.endsWith(API_TOKEN));
      if (!said) return Response.json({}, { status: 401 });
      const answer = answerOf(kind, panel, url);
      return answer === null ? new Response('', { status: 404 }) : Response.json(answer);
    },
  });
  const panel: ListingPanel = {
    url: `http://127.0.0.1:${server.port}`,
    users,
    admin: '',
    pageCount: 3,
    asked: [],
    odd: null,
    stop: () => server.stop(true),
  };
  return panel;
}

export const EVERY_MS = 300_000;

export interface FollowingApp {
  app: TestApp;
  panel: ListingPanel;
  own: Credentials;
  providerId: number;
  follower: Follower;
  /** Moves the clock on, and makes the pass that is due. */
  pass(aheadMs?: number): Promise<void>;
  /** Sets keys of the upstream. */
  set(more: Partial<Upstream>): void;
  link(user: SomeUser): Promise<FoundLink | null>;
  /** Returns what is kept of users. */
  known(): ReturnType<TestApp['core']['store']['listFollowed']>;
  follow(): Promise<Awaited<ReturnType<TestApp['core']['store']['listFollows']>>[number]>;
  /** Returns the links of all users of the panel, and the number of all. */
  stop(): Promise<void>;
}

/** Returns the key of the link of a user. */
export function keyOfUser(kind: PanelKind, { id, key, name }: SomeUser): string {
  if (kind === 'marzban') return `marzban/${name}`;
  return kind === 'pasarguard' ? `pasarguard/${id}` : key;
}

/** Makes what follows the panels of an appliance, and reads them in this process. */
export function followerOf(app: Pick<TestApp, 'core' | 'clock' | 'log' | 'settings'>): Follower {
  const { core, clock, log } = app;
  const panels = () =>
    followedPanels(
      app.settings.gateUpstreams,
      tokensOf(() => API_TOKEN, { clock }),
      async function* (job, listing, signal): AsyncGenerator<FollowLine> {
        const reading = { ...READING, signal, sleep: async () => {}, onProgress: () => {} };
        const quick = 'url' in job ? { ...job, callsPerSecondMax: 1e6 } : job;
        const { users: found, view } = await readPanel({ ...quick, isOfUsers: true }, reading);
        const all = listedUsers(found, listing);
        yield { view };
        for (const listed of all) yield { listed };
        yield 'round';
        for (const listed of all) yield { listed };
      },
    );
  return makeFollower({ core, clock, log, panels });
}

/** Starts an appliance that follows a panel by its API, read in this process. */
export async function startFollowing(
  kind: PanelKind,
  users: SomeUser[],
  more: Partial<Upstream> = {},
  options: TestAppOptions = {},
): Promise<FollowingApp> {
  const panel = startListingPanel(kind, users);
  const app = await startTestApp(options);
  const own = await seedProvider(app);
  const provider = await app.core.store.findProvider(own.code);
  const providerId = provider?.id ?? 0;
  const signing = kind === 'marzban' || kind === 'pasarguard' ? kind : 'plain';
  const upstream: Partial<Upstream> = {
    panel: kind,
    key: signing,
    panelTokenFile: '/token',
    panelUrl: panel.url,
    followMs: EVERY_MS,
  };
  app.settings.gateUpstreams = [upstreamTo(panel.url, own.code, { ...upstream, ...more })];
  const follower = followerOf(app);
  const { clock, core } = app;
  const { store } = core;
  return {
    app,
    panel,
    own,
    providerId,
    follower,
    async pass(aheadMs = EVERY_MS) {
      clock.advance(aheadMs);
      await follower.tick();
      await follower.idle();
    },
    set(changed) {
      const [first] = app.settings.gateUpstreams;
      if (first !== undefined) app.settings.gateUpstreams = [{ ...first, ...changed }];
    },
    async link(user) {
      const hash = subscriptionKeyHash(keyOfUser(kind, user));
      return (await store.listTiedLinks(providerId, [hash]))[0] ?? null;
    },
    known: async () => {
      const id = (await store.listFollows())[0]?.id ?? 0;
      return store.listFollowed(id, { afterUser: '', countMax: 100 });
    },
    async follow() {
      const found = (await store.listFollows()).find(({ host }) => host === HOST);
      if (found === undefined) throw new Error('it is not followed');
      return found;
    },
    async stop() {
      await follower.stop();
      await app.close();
      await panel.stop();
    },
  };
}
