/**
 * Asks the API of a panel at the door. All that a caller can cause is bounded: questions in flight,
 * answers in memory, and the time of each question. After a failure the API is left alone for a
 * minute.
 */

import type { Clock } from '../../base/clock.ts';
import { unlessAborted } from '../../base/deadline.ts';
import type { Log } from '../../base/log.ts';
import {
  type AskPanel,
  type AskSettings,
  isStatusOfPanel,
  Silent,
  settingsBy,
} from '../../core/panel/api.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { idIn, recordIn } from '../../core/panel/record.ts';
import { panelApiUser } from '../../core/panel/user.ts';
import { MinuteLine } from '../bound/limiter.ts';
import { UpstreamClient } from './client.ts';
import { callPanel } from './panel-call.ts';
import type { PanelSource } from './panel-source.ts';
import type { PanelTokens } from './panel-tokens.ts';

export interface PanelApiDeps {
  clock: Clock;
  log: Log;
  tokens: PanelTokens;
}

/** Returns the headers of a question with its token, which wins. */
export const withToken = (
  access: Readonly<Record<string, string>>,
  { panel }: PanelSource,
  token: string,
) => ({ ...access, ...PANEL_TRAITS[panel].api.headersOf(token) });

/** The pause after a failure of the API, ms. */
const PAUSE_MS = 60_000;
/** The time of a question with all its parts, ms: a subscription waits no longer. */
const ASK_MAX_MS = 2_000;
/** The time for which answers about settings hold, ms. */
const SETTINGS_HOLD_MS = 3_600_000;
/** The most questions in flight to one panel. */
const ASKED_AT_ONCE = 8;
/** The most answers in memory, for each panel and kind of question. */
const REMEMBERED_MAX = 50_000;

/** The parts of a question. */
export interface Parts {
  /** Asks about a user. */
  ask: AskPanel;
  /** Asks for a record that many users share, once an hour. */
  settings: AskSettings;
  /** Asks for the status of an answer without a token. */
  statusOf(path: string): Promise<number>;
}

export class PanelApi {
  readonly #settings = new Map<string, { atMs: number; answer: Promise<unknown> }>();
  readonly #failures = new MinuteLine();
  #pauseUntilMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;

  constructor(
    readonly source: PanelSource,
    private readonly deps: PanelApiDeps,
  ) {}

  /** Returns whether the API may be asked now. */
  isReady(): boolean {
    if (this.#inFlight >= ASKED_AT_ONCE) return false;
    if (this.deps.clock.steadyMs() < this.#pauseUntilMs) return false;
    return this.deps.tokens.has(this.source);
  }

  /**
   * Asks a question of several parts, by default as fast as a subscription may wait. Throws
   * {@link Silent} without an answer; if that speaks of the panel, the API is left alone for a
   * minute.
   */
  async ask<T>(
    question: (parts: Parts) => Promise<T>,
    signal: AbortSignal = AbortSignal.timeout(ASK_MAX_MS),
  ): Promise<T> {
    const { clock, log, tokens } = this.deps;
    const { host, url } = this.source;
    const client = new UpstreamClient(url);
    const access = tokens.accessOf(this.source);
    let token: string | null = null;
    this.#inFlight += 1;
    try {
      // A sign-in may take longer, and goes on for the next question.
      token = await unlessAborted(signal, tokens.of(this.source));
      if (token === null) throw new Silent('API_SLOW', true);
      const all = withToken(access, this.source, token);
      const ask = (path: string) => askApi(client, path, all, signal);
      return await question({
        ask,
        settings: (path, read) => this.#shared(path, ask, read),
        statusOf: (path) => statusOf(client, path, access, signal),
      });
    } catch (fault) {
      if (!(fault instanceof Silent)) throw fault;
      const nowMs = clock.steadyMs();
      const isOver = fault.code === 'API_401' && token !== null;
      const isRenewed = isOver && tokens.refused(this.source, token ?? '');
      if (fault.isOfPanel && !isRenewed) this.#pauseUntilMs = nowMs + PAUSE_MS;
      const count = this.#failures.due(nowMs);
      const about = { host: host || 'gate', kind: 'panel_api', code: fault.code, count };
      if (count > 0) log.warn('panel_api_failed', about);
      throw fault;
    } finally {
      this.#inFlight -= 1;
      client.close();
    }
  }

  #shared<T>(path: string, ask: AskPanel, read: (answer: unknown) => T): Promise<T> {
    const nowMs = this.deps.clock.steadyMs();
    const known = this.#settings.get(path);
    if (known && nowMs - known.atMs < SETTINGS_HOLD_MS) return known.answer as Promise<T>;
    const answer = ask(path).then(read);
    remember(this.#settings, path, { atMs: nowMs, answer });
    // The next key asks again; callers that wait get the failure.
    answer.catch(() => this.#settings.delete(path));
    return answer;
  }
}

/** The answers of an API to one kind of question, each asked at most once in a time. */
export class Answers<T> {
  /** The oldest first; null: the API could not tell. */
  readonly #said = new Map<string, { atMs: number; answer: T | null }>();
  readonly #asking = new Map<string, Promise<T | null>>();

  constructor(
    readonly api: PanelApi,
    private readonly clock: Clock,
    /** The time for which an answer holds, ms. */
    private readonly holdsMs: number,
    private readonly question: (parts: Parts, key: string) => Promise<T>,
  ) {}

  /** Returns whether the API must be asked for a key now. */
  isDue(key: string): boolean {
    if (this.#asking.has(key)) return true;
    const lastMs = this.#said.get(key)?.atMs ?? Number.NEGATIVE_INFINITY;
    return this.clock.steadyMs() - lastMs >= this.holdsMs && this.api.isReady();
  }

  /** Returns the last answer; null: there is none. */
  last(key: string): T | null {
    return this.#said.get(key)?.answer ?? null;
  }

  /** Remembers an answer that came with another question. */
  learn(key: string, answer: T): void {
    remember(this.#said, key, { atMs: this.clock.steadyMs(), answer });
  }

  /** Returns the answer for a key, the last one if it is not due; null: it is not known. */
  async of(key: string): Promise<T | null> {
    const begun = this.#asking.get(key);
    if (begun !== undefined) return begun;
    if (!this.isDue(key)) return this.last(key);
    const asked = this.#ask(key).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  }

  async #ask(key: string): Promise<T | null> {
    try {
      const answer = await this.api.ask((parts) => this.question(parts, key));
      this.learn(key, answer);
      return answer;
    } catch (fault) {
      if (!(fault instanceof Silent)) throw fault;
      // The fault is of this user alone: it is not asked again until then.
      if (!fault.isOfPanel) {
        remember(this.#said, key, { atMs: this.clock.steadyMs(), answer: this.last(key) });
      }
      return null;
    }
  }
}

async function statusOf(
  client: UpstreamClient,
  path: string,
  access: Readonly<Record<string, string>>,
  signal: AbortSignal,
) {
  const call = { path, headers: access, signal, timeoutMs: ASK_MAX_MS };
  const response = await callPanel(client, call);
  response.cancel();
  return response.status;
}

/** Asks the API for a path; null: it has no such user. */
async function askApi(
  client: UpstreamClient,
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  return answerIn(await callPanel(client, { path, headers, signal, timeoutMs: ASK_MAX_MS }));
}

/** Reads the answer to a question; null: the panel has no such user. Throws {@link Silent}. */
export async function answerIn(response: Awaited<ReturnType<typeof callPanel>>): Promise<unknown> {
  const { status } = response;
  if (![200, 403, 404].includes(status)) {
    response.cancel();
    throw new Silent(`API_${status}`, isStatusOfPanel(status));
  }
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Silent(status === 200 ? 'API_ANSWER' : `API_${status}`, isStatusOfPanel(status));
  }
  if (status === 200) return json;
  const { message, detail } = recordIn(json);
  const said = idIn(message) || idIn(detail);
  // A path that the server does not have means a wrong URL, and not that the user is gone.
  if (status === 404 && NO_USER.test(said)) return null;
  throw new Silent(`API_${status}`, isStatusOfPanel(status), said);
}

/** The error by which panels say that they have no such user. */
const NO_USER = /^user\b.*\bnot found$/i;

/** The answer of an API to the doctor. */
interface ApiLook {
  /** The code of the failure; null: it answers. */
  code: string | null;
  /** The admin whose users alone the token shows; empty: it shows all users. */
  admin: string;
}

/**
 * Asks the API of a panel for a user that it does not have, whose users its token shows, and, if
 * `givesLimits`, for the settings that a limit needs.
 */
export async function lookAtApi(
  source: PanelSource,
  tokens: PanelTokens,
  givesLimits: boolean,
): Promise<ApiLook> {
  const client = new UpstreamClient(source.url);
  const { panel } = source;
  try {
    const all = withToken(tokens.accessOf(source), source, await tokens.of(source));
    const signal = AbortSignal.timeout(ASK_MAX_MS);
    const ask = (path: string) => askApi(client, path, all, signal);
    const { strangersKey, strangersRecord, limitOf, view } = PANEL_TRAITS[panel].api;
    await panelApiUser(panel, strangersKey(), ask);
    if (givesLimits) await limitOf(strangersRecord, settingsBy(ask));
    return { code: null, admin: view === null ? '' : view.adminIn(await ask(view.path)) };
  } catch (fault) {
    if (fault instanceof Silent) return { code: fault.code, admin: '' };
    throw fault;
  } finally {
    client.close();
  }
}

/** Remembers a value as the newest; forgets the oldest beyond the bound. */
export function remember<K, T>(map: Map<K, T>, key: K, value: T): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > REMEMBERED_MAX ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
