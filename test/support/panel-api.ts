/**
 * The APIs of the five panels, as far as the door asks them: the answers that the real panels gave
 * (test/fixtures/panels), with the users of a test; those of Remnawave by its contract.
 */

import { systemClock } from '../../src/base/clock.ts';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import { signedForm } from '../../src/core/panel/kind.ts';
import { PanelTokens } from '../../src/http/upstream/panel-tokens.ts';
import { notesIn } from '../../src/http/upstream/sign-in-notes.ts';
import { recordingOf, textOf } from './recorded.ts';
import { isForwarded, ANSWERS as REMNAWAVE_ANSWERS, userAnswer } from './remnawave.ts';

export const API_TOKEN = 'token-of-the-panel';

/** A user of a panel; absent times: it has none of them. */
export interface ApiUser {
  id: number;
  name: string;
  /** The key in the address of a plain panel. */
  key: string;
  isActive: boolean;
  createdAtMs: number;
  /** Its end; absent: none. */
  endsAtMs?: number;
  /** The traffic that it has, and used; absent: unlimited, and none. */
  totalBytes?: number;
  usedBytes?: number;
  /** The panel takes no token from before this time. */
  revokedAtMs?: number;
}

const DAY_MS = 86_400_000;
const isoOf = (atMs?: number) => (atMs ? new Date(atMs).toISOString() : null);
const naive = (atMs: number) => new Date(atMs).toISOString().replace('Z', '000');

/** The answer about a user, by the paths of each panel; null: another path. */
type Answering = (path: string, url: URL, users: readonly ApiUser[]) => unknown;

const NO_USER = Symbol('no user');
const found = (user: ApiUser | undefined, answer: (user: ApiUser) => unknown) =>
  user === undefined ? NO_USER : answer(user);

interface Answers {
  answer: Answering;
  noUser: object;
  refused: { status: number; body: string };
}

/** Returns what a panel said to a wrong token, and of a user who was deleted. */
function faultsOf(panel: PanelKind): Omit<Answers, 'answer'> {
  const { faults } = recordingOf(panel);
  const refusal = faults['a wrong token, at the door'];
  if (refusal === undefined) throw new Error(`${panel} was recorded without a wrong token`);
  return {
    noUser: Object(faults['a customer who was deleted']?.body),
    refused: { status: refusal.status, body: textOf(refusal) },
  };
}

type Body = Readonly<Record<string, unknown>>;

/** Returns what a panel said about a user who is active, or disabled. */
function userOf(panel: PanelKind, isActive: boolean): Body {
  const state = isActive ? 'active' : 'disabled';
  const recorded = recordingOf(panel).users.find(({ customer }) => customer.state === state);
  return Object(recorded?.exchanges[0]?.body);
}

const ANSWERS: Readonly<Record<PanelKind, Answers>> = {
  remnawave: {
    noUser: REMNAWAVE_ANSWERS['no-user'],
    refused: { status: 401, body: '{}' },
    answer(path, _, users) {
      const [, ofKey, name = ''] = /^\/api\/users\/(by-short-uuid\/)?([^/]+)$/.exec(path) ?? [];
      if (name === '') return null;
      return found(
        users.find(({ id, key }) => name === (ofKey ? key : String(id))),
        ({ id, key, isActive, createdAtMs, endsAtMs, totalBytes = 0, usedBytes = 0 }) =>
          userAnswer({
            id,
            shortUuid: key,
            status: isActive ? 'ACTIVE' : 'DISABLED',
            createdAt: new Date(createdAtMs).toISOString(),
            trafficLimitBytes: totalBytes,
            userTraffic: { usedTrafficBytes: usedBytes },
            ...(endsAtMs !== undefined && { expireAt: new Date(endsAtMs).toISOString() }),
          }),
      );
    },
  },
  '3x-ui': {
    ...faultsOf('3x-ui'),
    answer(path, url, users) {
      if (path !== '/panel/api/clients/list/paged') return null;
      // SQLite makes only letters of ASCII small.
      const small = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
      const search = (url.searchParams.get('search') ?? '').toLowerCase();
      const items = users
        .filter((user) => small(user.key).includes(search) || small(user.name).includes(search))
        .map(({ key, name, isActive, createdAtMs, endsAtMs, totalBytes = 0, usedBytes = 0 }) => ({
          ...clientOf(isActive),
          email: name,
          subId: key,
          enable: isActive,
          limitHwid: 2,
          createdAt: createdAtMs,
          expiryTime: endsAtMs ?? 0,
          totalGB: totalBytes,
          traffic: { up: 0, down: usedBytes },
        }));
      const said = userOf('3x-ui', true);
      return { ...said, obj: { ...Object(said['obj']), items, filtered: items.length } };
    },
  },
  marzban: {
    ...faultsOf('marzban'),
    answer(path, _, users) {
      const name = /^\/api\/user\/([^/]+)$/.exec(path)?.[1];
      if (name === undefined) return null;
      return found(
        users.find((user) => user.name === name),
        ({ isActive, createdAtMs, endsAtMs, totalBytes = null, usedBytes = 0 }) => ({
          ...userOf('marzban', isActive),
          data_limit: totalBytes,
          used_traffic: usedBytes,
          username: name,
          created_at: naive(createdAtMs),
          expire: endsAtMs === undefined ? null : endsAtMs / 1_000,
          subscription_url: `/sub/fresh-of-${name}`,
        }),
      );
    },
  },
  pasarguard: {
    ...faultsOf('pasarguard'),
    answer(path, _, users) {
      const id = Number(/^\/api\/user\/by-id\/(\d+)$/.exec(path)?.[1]);
      if (Number.isNaN(id)) return null;
      return found(
        users.find((user) => user.id === id),
        ({ isActive, createdAtMs, endsAtMs, name, totalBytes = null, usedBytes = 0 }) => ({
          ...userOf('pasarguard', isActive),
          data_limit: totalBytes,
          used_traffic: usedBytes,
          id,
          username: name,
          hwid_limit: 2,
          created_at: new Date(createdAtMs).toISOString(),
          expire: isoOf(endsAtMs),
          subscription_url: `https://sub.example.org/sub/fresh-of-${name}`,
        }),
      );
    },
  },
  hiddify: {
    ...faultsOf('hiddify'),
    answer(path, _, users) {
      if (path === '/api/v2/admin/user/') return users.map(({ key }) => ({ uuid: key }));
      const key = /^\/api\/v2\/admin\/user\/([^/]+)\/$/.exec(path)?.[1];
      if (key === undefined) return null;
      return found(
        users.find((user) => user.key === key),
        ({ id, isActive, endsAtMs, name, totalBytes = 0, usedBytes = 0 }) => ({
          ...userOf('hiddify', isActive),
          usage_limit_GB: totalBytes / 1024 ** 3,
          current_usage_GB: usedBytes / 1024 ** 3,
          id,
          name,
          uuid: key,
          start_date: isoOf(endsAtMs && endsAtMs - 30 * DAY_MS)?.slice(0, 10) ?? null,
          package_days: 30,
        }),
      );
    },
  },
};

/** The client of 3x-ui in such an answer. */
function clientOf(isActive: boolean): Body {
  const { items } = Object(userOf('3x-ui', isActive)['obj']);
  return Object(items?.[0]);
}

/** The admin of the token, who sees all users. */
const ADMINS: Partial<Record<PanelKind, readonly [path: string, answer: object]>> = {
  marzban: ['/api/admin', { username: 'admin', is_sudo: true }],
  pasarguard: ['/api/admin', { id: null, username: 'admin', role: { is_owner: true } }],
  hiddify: ['/api/v2/admin/me/', { uuid: 'uuid-of-admin', mode: 'super_admin' }],
};

const AUTHORIZED: Readonly<Record<PanelKind, (headers: Headers) => boolean>> = (() => {
  const bearer = (headers: Headers) => headers.get('authorization') === `Bearer ${API_TOKEN}`;
  return {
    remnawave: (headers) => bearer(headers) && isForwarded(headers),
    '3x-ui': bearer,
    marzban: bearer,
    pasarguard: (headers) => headers.get('x-api-key') === API_TOKEN,
    hiddify: (headers) => headers.get('hiddify-api-key') === API_TOKEN,
  };
})();

/** The answer to a wrong token: 3x-ui hides its API from all but its own page. */
function refusalOf(panel: PanelKind, headers: Headers): Response {
  const isOfPage = headers.get('x-requested-with') === 'XMLHttpRequest';
  if (panel === '3x-ui' && !isOfPage) return new Response(null, { status: 404 });
  const { refused } = ANSWERS[panel];
  return new Response(refused.body, { status: refused.status });
}

export interface PanelApiServer {
  url: string;
  /** The paths that were asked with the token of the API. */
  asked: string[];
  /** The tokens whose `info` was asked. */
  tokensAsked: string[];
  users: ApiUser[];
  /** The header `X-Access` of each question that had one. */
  access: string[];
  /** Answers instead of the API; null: the API answers. */
  odd: (() => Response | Promise<Response>) | null;
  /** The forms by which clients signed in, in the spelling that came. */
  signIns: string[];
  /** Answers a sign-in; null: this panel has none. */
  signIn: ((form: string) => Response | Promise<Response>) | null;
  /** Tokens beside {@link API_TOKEN} that authorize. */
  tokens: Set<string>;
  /** False: a proxy in front passes no `info` on. */
  passesInfo: boolean;
  stop(): Promise<void>;
}

/** Starts the API of a panel; `signedAt` reads the time of a token, ms. */
export function startPanelApi(
  panel: PanelKind,
  users: ApiUser[],
  readToken: (token: string) => { name: string; signedAtMs: number } | null = () => null,
  port = 0,
): PanelApiServer {
  const { answer, noUser } = ANSWERS[panel];
  const infoStatus = (token: string): number => {
    if (!api.passesInfo) return 404;
    const fresh = /^fresh-of-(.+)$/.exec(token)?.[1];
    const read = fresh ? { name: fresh, signedAtMs: Infinity } : readToken(token);
    const user = api.users.find(({ name }) => name === read?.name);
    if (user === undefined || read === null) return 404;
    const { createdAtMs, revokedAtMs = 0 } = user;
    return read.signedAtMs < Math.max(createdAtMs, revokedAtMs) ? 404 : 200;
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    async fetch(request) {
      const url = new URL(request.url);
      if (request.method === 'POST' && api.signIn !== null) {
        const form = await request.text();
        api.signIns.push(`${url.pathname}?${form}`);
        return api.signIn(form);
      }
      const access = request.headers.get('x-access');
      if (access !== null) api.access.push(access);
      const token = /^\/sub\/(.+)\/info$/.exec(url.pathname)?.[1];
      if (token === undefined) api.asked.push(url.pathname + url.search);
      else api.tokensAsked.push(token);
      if (api.odd !== null) return api.odd();
      if (token !== undefined) return Response.json({}, { status: infoStatus(token) });
      const bearer = request.headers.get('authorization')?.slice('Bearer '.length) ?? '';
      const isAuthorized = api.tokens.has(bearer) || AUTHORIZED[panel](request.headers);
      if (!isAuthorized) return refusalOf(panel, request.headers);
      const [adminPath, admin] = ADMINS[panel] ?? [];
      if (url.pathname === adminPath) return Response.json(admin);
      const body = answer(url.pathname, url, api.users);
      if (body === null) return Response.json({ detail: 'Not Found' }, { status: 404 });
      return body === NO_USER ? Response.json(noUser, { status: 404 }) : Response.json(body);
    },
  });
  const api: PanelApiServer = {
    url: `http://127.0.0.1:${server.port}`,
    asked: [],
    tokensAsked: [],
    users,
    odd: null,
    signIns: [],
    signIn: null,
    tokens: new Set(),
    passesInfo: true,
    access: [],
    stop: () => server.stop(true),
  };
  return api;
}

/** The key of a user's link at the door, and the segment of its address. */
export function keyOf(panel: PanelKind, { id, key, name }: ApiUser): string {
  const user = panel === 'marzban' ? name : String(id);
  return signedForm(panel)?.keyOfUser(user) ?? key;
}

/** Tokens from files with these secrets; accounts are in real files. */
export const tokensOf = (
  secretOf: (file: string) => string | null,
  { clock = systemClock, notes = notesIn(null) } = {},
): PanelTokens => new PanelTokens({ clock, secretOf, notes });

/** Makes a JWT as the panels sign them; `endMs`: its end, null without one. */
export function jwtUntil(endMs: number | null): string {
  const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const claims = { sub: 'reader', ...(endMs !== null && { exp: Math.floor(endMs / 1_000) }) };
  const id = crypto.randomUUID();
  return `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...claims, id })}.${'s'.repeat(43)}`;
}
