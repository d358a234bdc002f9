/** Answers of real panels, as `test/panels` recorded them, and a panel that gives them again. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import { ROOT } from './process.ts';

export const RECORDED = join(ROOT, 'test/fixtures/panels');

/** A request to a panel and its answer. */
export interface Exchange {
  /** The method; absent: GET. */
  method?: string;
  /** What was sent, JSON. */
  sent?: unknown;
  /** The path and the query. */
  path: string;
  /** Headers that choose the answer. */
  asked?: Readonly<Record<string, string>>;
  status: number;
  /** Headers that subscriptions have, and the type. */
  headers: Readonly<Record<string, string>>;
  /** JSON, or a text; long lists of servers are shortened. */
  body: unknown;
}

/** A customer as the run made it, by the panel's own API. */
export interface RecordedCustomer {
  name: string;
  note: string;
  /** The limit that was asked for; null: as the panel has it for everybody. */
  limit: number | null;
  state: string;
  key: string;
  path: string;
}

export interface Recording {
  panel: PanelKind;
  version: string;
  commit: string;
  /** What an import asks, after each change, with the customers as they are then. */
  lists: { after: string; customers: RecordedCustomer[]; exchanges: Exchange[] }[];
  /** What the door asks about a customer. */
  users: { customer: RecordedCustomer; exchanges: Exchange[] }[];
  /** Answers that are no user: by what is wrong. */
  faults: Record<string, Exchange>;
  /** Subscriptions by route and agent, and what is none. */
  subscriptions: (Exchange & { name: string; isSubscription: boolean })[];
}

/** What a cut-off of a customer asks and changes. */
export interface RecordedCutOff {
  /** The key of the customer's link, and the id at the panel; null: the key is the id. */
  key: string;
  id: string | null;
  /** By the outcome. */
  exchanges: Record<'done' | 'gone' | 'refused', Exchange[]>;
}

const CUT_OFF = 'cut-off.json';

/** Returns what a panel answered to cut-offs; null: it was not recorded. */
export function recordedCutOff(folder: string): RecordedCutOff | null {
  const file = join(RECORDED, folder, CUT_OFF);
  return existsSync(file) ? readJson(file) : null;
}

export function writeCutOff(folder: string, recorded: RecordedCutOff): void {
  writeFileSync(join(RECORDED, folder, CUT_OFF), `${JSON.stringify(recorded, null, 1)}\n`);
}

const PARTS = ['lists', 'users', 'faults', 'subscriptions'] as const;
export type RecordedPart = (typeof PARTS)[number];

/** The folder of what a panel of that version answered, and of what was found with it. */
export const recordedFolder = (panel: PanelKind, version: string): string =>
  `${panel}-${version.replace(/^v/, '')}`;

/** The folders of recordings: `PANEL-VERSION`. */
export const recordedFolders = (): string[] =>
  readdirSync(RECORDED, { withFileTypes: true })
    .filter((entry) => existsSync(join(RECORDED, entry.name, 'panel.json')))
    .map(({ name }) => name)
    .toSorted();

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

export function recordingIn(folder: string): Recording {
  const at = join(RECORDED, folder);
  const parts = PARTS.map((part) => [part, readJson(join(at, `${part}.json`))]);
  return { ...readJson(join(at, 'panel.json')), ...Object.fromEntries(parts) };
}

const read = new Map<PanelKind, Recording>();

/** The newest recording of a panel; throws where it has none. */
export function recordingOf(panel: PanelKind): Recording {
  const known = read.get(panel);
  if (known !== undefined) return known;
  const folder = recordedFolders().findLast((name) => name.startsWith(`${panel}-`));
  if (folder === undefined) throw new Error(`${panel} was not recorded`);
  const recording = recordingIn(folder);
  read.set(panel, recording);
  return recording;
}

export const textOf = ({ body }: Exchange): string =>
  typeof body === 'string' ? body : JSON.stringify(body);

/** Returns the answer to a path: to that query, or else to another one. */
export function answerTo(exchanges: readonly Exchange[], path: string): Exchange | undefined {
  const isOf = (each: Exchange) => each.path.split('?')[0] === path.split('?')[0];
  return exchanges.find((each) => each.path === path) ?? exchanges.find(isOf);
}

export const responseOf = (exchange: Exchange): Response =>
  new Response(textOf(exchange), { status: exchange.status, headers: exchange.headers });

export interface Played {
  url: string;
  /** Paths that were asked and not recorded. */
  missing: string[];
  stop(): Promise<void>;
}

/** Starts a panel that gives recorded answers; another path is a 501. */
export function play(exchanges: readonly Exchange[]): Played {
  const missing: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      const { pathname, search } = new URL(url);
      const answer = answerTo(exchanges, pathname + search);
      if (answer !== undefined) return responseOf(answer);
      missing.push(pathname + search);
      return new Response('not recorded', { status: 501 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, missing, stop: () => server.stop(true) };
}
