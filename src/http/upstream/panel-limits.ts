/**
 * Copies the limits of users from panels to links. Asks the API of a panel at most once an hour for
 * each key, and updates the link. Keeps the last limit while the panel is away.
 */

import type { Clock } from '../../clock.ts';
import { actingAs, type Core } from '../../core/core.ts';
import { updateInstall } from '../../core/install.ts';
import { isRefused } from '../../core/outcome.ts';
import { panelLimitOf, Silent } from '../../core/panel/limit.ts';
import type { PanelLimit } from '../../core/panel/limit-rule.ts';
import type { Actor } from '../../core/port/audit.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import type { Log } from '../../log.ts';
import { reportFault } from '../interpreter.ts';
import { UpstreamClient } from './ask.ts';
import { Failure } from './exchange.ts';
import type { Panel } from './panels.ts';
import type { Upstream } from './settings.ts';

interface Deps {
  core: Core;
  clock: Clock;
  log: Log;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
}

/** The time for which an answer of the API holds, ms. */
const HOLDS_MS = 3_600_000;
/** The pause after a failure of the API, ms. */
const PAUSE_MS = 60_000;
/** The time for all questions about a key, ms: a subscription waits no longer. */
const ASK_MAX_MS = 2_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
/** The most questions in flight to one panel. */
const ASKED_AT_ONCE = 8;
/** The most keys and settings with a remembered time, for each panel. */
const REMEMBERED_MAX = 50_000;

const PANEL: Actor = { kind: 'system', name: 'panel', from: 'local' };

interface Said {
  atMs: number;
  limit: PanelLimit;
  /** True: the link has more devices than this limit; a slot that one leaves is not free. */
  isOver: boolean;
}

/** The answers of one panel's API. */
class Memory {
  /** The last answer for each key, the oldest first. */
  readonly said = new Map<string, Said>();
  /** Answers that many users share, with the questions in flight for them. */
  readonly settings = new Map<string, { atMs: number; answer: Promise<unknown> }>();
  /** Keys with a question in flight. */
  readonly asking = new Map<string, Promise<PanelLimit>>();
  pauseUntilMs = Number.NEGATIVE_INFINITY;
}

export class PanelLimits {
  /** By panel: a panel object lives through changes of its settings. */
  readonly #memories = new WeakMap<Panel, Memory>();

  constructor(private readonly deps: Deps) {}

  /** Returns whether the panel must be asked for a key now. */
  isDue(panel: Panel, key: string): boolean {
    const { limits, panelTokenFile } = panel.upstream;
    if (limits !== 'panel' || this.deps.secretOf(panelTokenFile) === null) return false;
    const memory = this.#memoryOf(panel);
    const nowMs = this.deps.clock.steadyMs();
    if (nowMs < memory.pauseUntilMs) return false;
    if (memory.asking.has(key)) return true;
    const lastMs = memory.said.get(key)?.atMs ?? Number.NEGATIVE_INFINITY;
    return nowMs - lastMs >= HOLDS_MS && memory.asking.size < ASKED_AT_ONCE;
  }

  /** Returns whether a link keeps more slots than its panel's limit, for devices that hold them. */
  isOver(panel: Panel, key: string): boolean {
    return this.#memoryOf(panel).said.get(key)?.isOver === true;
  }

  /**
   * Returns the limit for the link of a key, `unlimitedAs` if its user has none; null: the panel
   * sets none, or is away.
   */
  async of(panel: Panel, key: string): Promise<number | null> {
    const limit = await this.#said(panel, key);
    return limit === 'unlimited' ? panel.upstream.unlimitedAs : limit;
  }

  async #said(panel: Panel, key: string): Promise<PanelLimit> {
    const { asking, said } = this.#memoryOf(panel);
    if (!this.isDue(panel, key)) return said.get(key)?.limit ?? null;
    const begun = asking.get(key);
    if (begun !== undefined) return begun;
    const asked = this.#ask(panel, key).finally(() => asking.delete(key));
    asking.set(key, asked);
    return asked;
  }

  /**
   * Sets the limit of a link to that of its panel. Returns whether it changed. A limit below the
   * number of taken slots becomes that number: those devices stay, new ones are refused.
   */
  async follow(panel: Panel, key: string): Promise<boolean> {
    const limit = await this.of(panel, key);
    if (limit === null) return false;
    const core = actingAs(this.deps.core, () => PANEL);
    const provider = await core.store.findProvider(panel.upstream.provider);
    if (provider === null) return false;
    const link = await core.store.findInstallByKey(provider.id, subscriptionKeyHash(key));
    if (link === null) return false;
    const installLimit = Math.max(limit, link.deviceCount);
    const said = this.#memoryOf(panel).said.get(key);
    if (said !== undefined) said.isOver = installLimit > limit;
    if (installLimit === link.installLimit) return false;
    const nowMs = this.deps.clock.nowMs();
    // A device came meanwhile; the next answer corrects the limit.
    return !isRefused(await updateInstall(core, provider, link.id, { installLimit }, nowMs));
  }

  /** Follows the limit as {@link follow} does, without delaying the request. */
  followLater(panel: Panel, key: string): void {
    const report = (fault: unknown) => {
      reportFault(this.deps.log, 'upstream', fault, crypto.randomUUID());
    };
    this.follow(panel, key).catch(report);
  }

  #memoryOf(panel: Panel): Memory {
    const known = this.#memories.get(panel);
    if (known !== undefined) return known;
    const memory = new Memory();
    this.#memories.set(panel, memory);
    return memory;
  }

  async #ask(panel: Panel, key: string): Promise<PanelLimit> {
    const { clock, log } = this.deps;
    const { upstream } = panel;
    const { panel: panelApi } = upstream;
    if (panelApi === '') return null;
    const memory = this.#memoryOf(panel);
    const client = new UpstreamClient(upstream.panelUrl || upstream.url);
    const token = this.deps.secretOf(upstream.panelTokenFile) ?? '';
    const signal = AbortSignal.timeout(ASK_MAX_MS);
    const user = (path: string) => askApi(upstream, client, { token, path, signal });
    const settings = (path: string) => {
      const known = memory.settings.get(path);
      if (known && clock.steadyMs() - known.atMs < HOLDS_MS) return known.answer;
      const answer = user(path);
      remember(memory.settings, path, { atMs: clock.steadyMs(), answer });
      // The next key asks again; callers that wait get the failure.
      answer.catch(() => memory.settings.delete(path));
      return answer;
    };
    try {
      const limit = await panelLimitOf(panelApi, key, user, settings);
      remember(memory.said, key, { atMs: clock.steadyMs(), limit, isOver: false });
      return limit;
    } catch (fault) {
      if (!(fault instanceof Silent)) throw fault;
      memory.pauseUntilMs = clock.steadyMs() + PAUSE_MS;
      panel.logFailure(new Failure('upstream_away', fault.code), log, clock.steadyMs());
      return null;
    } finally {
      client.close();
    }
  }
}

/** Asks the API for a path; null: 404. */
async function askApi(
  upstream: Upstream,
  client: UpstreamClient,
  { token, path, signal }: { token: string; path: string; signal: AbortSignal },
): Promise<unknown> {
  const headers = {
    ...{ host: client.host, accept: 'application/json', authorization: `Bearer ${token}` },
    // PasarGuard has API keys besides its tokens; Remnawave drops connections that no proxy
    // forwards.
    ...(upstream.panel === 'pasarguard' && !token.includes('.') && { 'x-api-key': token }),
    ...{ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' },
  };
  const question = { method: 'GET' as const, path, headers, signal, onEnd: () => {} };
  const bounds = { timeoutMs: ASK_MAX_MS, answerBytesMax: ANSWER_BYTES_MAX };
  const answer = await client.ask({ ...upstream, ...bounds }, question);
  if (answer instanceof Failure) throw new Silent(signal.aborted ? 'API_SLOW' : answer.code);
  if (answer.status !== 200) answer.cancel();
  if (answer.status === 404) return null;
  if (answer.status !== 200) throw new Silent(`API_${answer.status}`);
  try {
    return await new Response(answer.body()).json();
  } catch {
    throw new Silent(signal.aborted ? 'API_SLOW' : 'API_ANSWER');
  }
}

/**
 * Asks the API of a panel for a user that it does not have. Returns the code of the failure; null:
 * it answers.
 */
export async function lookAtApi(upstream: Upstream, token: string): Promise<string | null> {
  const { panel, panelUrl, url } = upstream;
  if (panel === '') return null;
  const client = new UpstreamClient(panelUrl || url);
  const signal = AbortSignal.timeout(ASK_MAX_MS);
  const ask = (path: string) => askApi(upstream, client, { token, path, signal });
  const key = panel === 'pasarguard' ? 'pasarguard/999999999' : crypto.randomUUID();
  try {
    await panelLimitOf(panel, key, ask, ask);
    return null;
  } catch (fault) {
    if (fault instanceof Silent) return fault.code;
    throw fault;
  } finally {
    client.close();
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > REMEMBERED_MAX ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
