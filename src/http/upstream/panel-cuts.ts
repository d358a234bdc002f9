/**
 * Has panels make the credentials of customers new. A user is read right before, and read back:
 * done is what the panel then says. No text has a credential, a key, or the name of a user.
 */

import type { Clock } from '../../base/clock.ts';
import { unlessAborted } from '../../base/deadline.ts';
import { Silent } from '../../core/panel/api.ts';
import {
  type CredentialHolder,
  differencesOf,
  isRenewed,
  type PanelCutOff,
  printOf,
  type TiedPanelUser,
} from '../../core/panel/credentials.ts';
import {
  type CanCut,
  type CutOrder,
  type CutOutcome,
  type CutUpstream,
  canCut,
  type PanelCuts,
} from '../../core/panel/cut-off.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { isProvedBy } from '../../core/panel/proof.ts';
import type { Store } from '../../core/port/store.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { UpstreamClient } from './client.ts';
import { answerIn, withToken } from './panel-api.ts';
import { callPanel } from './panel-call.ts';
import { type PanelSource, sourceOf } from './panel-source.ts';
import { type PanelTokens, SIGN_IN_REFUSED } from './panel-tokens.ts';
import type { Upstream, UpstreamSettings } from './settings.ts';

interface Deps {
  store: Pick<Store, 'findProvider' | 'findTiedLink'>;
  clock: Clock;
  settings: Pick<UpstreamSettings, 'gateUpstreams'>;
  tokens: PanelTokens;
}

/** The time of one call to a panel, ms: a change has Xray reload. */
const CALL_MAX_MS = 15_000;
/** The largest answer, bytes: a page of clients with long notes. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
/** The time between the reading of a user and the change, ms. */
const FRESH_MS = 1_000;
/** The readings until one is fresh enough, and those after a change. */
const READINGS_MAX = 3;

export class PanelCutOffs implements PanelCuts {
  constructor(private readonly deps: Deps) {}

  canCut(upstream: CutUpstream): CanCut {
    return canCut(upstream, this.deps.settings.gateUpstreams);
  }

  async changeCredentials(
    { host }: CutUpstream,
    order: CutOrder,
    deadline: AbortSignal,
  ): Promise<CutOutcome> {
    const upstream = this.deps.settings.gateUpstreams.find((one) => one.host === host);
    if (upstream === undefined) return impossible('the settings have no upstream with this host');
    const can = this.canCut(upstream);
    if (!can.possible) return impossible(can.why);
    const source = sourceOf(upstream);
    if (source === null) return impossible('the settings name no API of the panel');
    const { cutOff } = PANEL_TRAITS[source.panel];
    if ('why' in cutOff) return impossible(cutOff.why);
    const user = await this.#userOf(upstream, order.subscriptionKeyHash);
    if (typeof user === 'string') return impossible(user);
    const calls = new Calls(source, this.deps.tokens, deadline);
    try {
      return await new Cut({ ...this.deps, calls, cutOff, user, order }, upstream).run();
    } finally {
      calls.close();
    }
  }

  /** Returns the user of a link that this panel proved; a text: why there is none. */
  async #userOf(upstream: Upstream, keyHash: string): Promise<TiedPanelUser | string> {
    const { store } = this.deps;
    const panel = panelOf(upstream);
    const provider = await store.findProvider(upstream.provider);
    const link = provider && (await store.findTiedLink(provider.id, keyHash));
    if (panel === null || link === null) return 'the provider has no link with this key any more';
    if (!isProvedBy(panel, link)) return NOT_PROVED;
    const { panelUser } = link;
    return {
      id: (panelUser ?? '').slice(panel.length + 1),
      hasKey: (key) => subscriptionKeyHash(key) === keyHash,
    };
  }
}

const NOT_PROVED =
  'this panel never proved the key of the link: no subscription, import or follow brought it';
const GONE = 'the panel has no such user, or does not show it to this token';
const NOT_THEIRS = 'the user does not belong to panel_admin of the upstream';
const BARE = 'the user has no credentials';

const impossible = (why: string): CutOutcome => ({ is: 'impossible', why });

interface CutDeps {
  clock: Clock;
  calls: Calls;
  cutOff: PanelCutOff;
  user: TiedPanelUser;
  order: CutOrder;
}

/** One cut-off: of all holders of one user, in turn. */
class Cut {
  /** The prints of the credentials that are to go. */
  #seen: readonly string[];

  constructor(
    private readonly deps: CutDeps,
    private readonly upstream: Upstream,
  ) {
    this.#seen = deps.order.seen?.split(' ') ?? [];
  }

  async run(): Promise<CutOutcome> {
    try {
      return await this.#changeAll();
    } catch (fault) {
      if (!(fault instanceof Silent)) throw fault;
      const isOthers = fault instanceof OfOther;
      return isOthers ? impossible(GONE) : this.#failed(whyOf(fault.code));
    }
  }

  #failed(why: string): CutOutcome {
    return { is: 'failed', why, seen: this.#seen.length === 0 ? null : this.#seen.join(' ') };
  }

  async #changeAll(): Promise<CutOutcome> {
    const { calls, cutOff, user, order } = this.deps;
    const names = await cutOff.find(user, calls.ask);
    if (names.length === 0) return impossible(GONE);
    const holders = await Promise.all(names.map((name) => this.#read(name)));
    if (holders.includes(null)) return impossible(GONE);
    // All belong to the provider, or none is changed.
    const known = holders.filter((holder) => holder !== null);
    const obstacle = known.map((one) => this.#obstacleOf(one)).find((why) => why !== null);
    if (obstacle) return impossible(obstacle);
    const prints = known.map(printOf);
    const isOld = (print: string) => order.seen === null || this.#seen.includes(print);
    const old = names.filter((_, at) => isOld(prints[at] ?? ''));
    if (old.length === 0) return { is: 'changed_already' };
    if (order.seen === null) this.#seen = prints;
    for (const name of old) {
      const outcome = await this.#change(name);
      if (outcome !== null) return outcome;
    }
    return { is: 'done', interval: await this.#interval() };
  }

  /** Changes one holder; null: it has new credentials. */
  async #change(name: string): Promise<CutOutcome | null> {
    const { calls, clock, cutOff } = this.deps;
    for (let reading = 0; reading < READINGS_MAX; reading++) {
      const readAtMs = clock.steadyMs();
      const before = await this.#read(name);
      if (before === null) return impossible(GONE);
      const obstacle = this.#obstacleOf(before);
      if (obstacle !== null) return impossible(obstacle);
      const call = before.change();
      if (clock.steadyMs() - readAtMs > FRESH_MS) continue;
      const fault = await calls.change(call, cutOff).catch((each: unknown) => each);
      if (fault !== null && !(fault instanceof Silent)) throw fault;
      return this.#judge(name, before, fault);
    }
    return this.#failed('the panel is too slow: it must answer within a second');
  }

  /** Judges a change by what the panel says after it, whatever it answered. */
  async #judge(
    name: string,
    before: CredentialHolder,
    fault: Silent | null,
  ): Promise<CutOutcome | null> {
    const after = await this.#readBack(name);
    if (after === null) return impossible(GONE);
    const fields = differencesOf(before, after);
    if (fields.length > 0) return { is: 'differs', fields };
    if (this.#obstacleOf(after) === null && isRenewed(before, after)) return null;
    return this.#failed(
      fault === null
        ? 'the panel answered that it changed the credentials, and still has the old ones'
        : whyOf(fault.code),
    );
  }

  #read(name: string): Promise<CredentialHolder | null> {
    const { calls, cutOff } = this.deps;
    return cutOff.read(name, calls.ask);
  }

  /** Reads a holder after its change, even past the deadline: no later attempt sees the outcome. */
  async #readBack(name: string): Promise<CredentialHolder | null> {
    const { calls, cutOff } = this.deps;
    for (let reading = 1; ; reading++) {
      try {
        return await cutOff.read(name, calls.askLate);
      } catch (fault) {
        if (!(fault instanceof Silent) || reading >= READINGS_MAX) throw fault;
      }
    }
  }

  /** Returns why the credentials of a holder must not be changed; null: they may. */
  #obstacleOf(holder: CredentialHolder): string | null {
    const { panelAdmin } = this.upstream;
    if (!holder.keys.some(this.deps.user.hasKey)) return 'the user has another key by now';
    if (panelAdmin !== '' && !holder.belongsTo(panelAdmin)) return NOT_THEIRS;
    return Object.keys(holder.credentials).length === 0 ? BARE : null;
  }

  /** Returns the hours after which apps fetch again; null: the panel does not say. */
  async #interval(): Promise<number | null> {
    const { calls, cutOff } = this.deps;
    if (cutOff.interval === null) return null;
    try {
      return cutOff.interval.read(await calls.askLate(cutOff.interval.path));
    } catch (fault) {
      if (fault instanceof Silent) return null;
      throw fault;
    }
  }
}

/** The fault of a user that the panel does not show to this token. */
class OfOther extends Silent {}

/** Calls the API of a panel within a deadline. */
class Calls {
  readonly #client: UpstreamClient;

  constructor(
    private readonly source: PanelSource,
    private readonly tokens: PanelTokens,
    private readonly deadline: AbortSignal,
  ) {
    this.#client = new UpstreamClient(source.url);
  }

  close(): void {
    this.#client.close();
  }

  /** Asks within the deadline. */
  readonly ask = (path: string): Promise<unknown> => this.#ask(path, this.deadline);

  /** Asks even past the deadline. */
  readonly askLate = (path: string): Promise<unknown> =>
    this.#ask(path, AbortSignal.timeout(CALL_MAX_MS));

  /** Changes a user; returns null, or throws {@link Silent}. */
  async change(
    { method, path, body }: ReturnType<CredentialHolder['change']>,
    { isDone }: PanelCutOff,
  ): Promise<null> {
    const response = await this.#send(path, this.deadline, { method, body });
    const { status } = response;
    if (status < 200 || status > 299) {
      response.cancel();
      throw new Silent(`API_${status}`);
    }
    if (!isDone(parsed(await response.text()))) throw new Silent('API_REFUSED');
    return null;
  }

  async #ask(path: string, within: AbortSignal): Promise<unknown> {
    try {
      return await answerIn(await this.#send(path, within));
    } catch (fault) {
      const { ofOtherAdmin } = PANEL_TRAITS[this.source.panel].api;
      if (!(fault instanceof Silent) || fault.code !== 'API_403') throw fault;
      throw ofOtherAdmin?.test(fault.said) ? new OfOther(fault.code) : fault;
    }
  }

  async #send(
    path: string,
    within: AbortSignal,
    change?: { method: 'POST' | 'PUT'; body: unknown },
  ): Promise<Awaited<ReturnType<typeof callPanel>>> {
    const { source, tokens } = this;
    const signal = AbortSignal.any([within, AbortSignal.timeout(CALL_MAX_MS)]);
    for (let isAgain = false; ; isAgain = true) {
      const token = await unlessAborted(signal, tokens.of(source));
      if (token === null) throw new Silent('API_SLOW');
      const headers = withToken(tokens.accessOf(source), source, token);
      const bounds = { signal, timeoutMs: CALL_MAX_MS, answerBytesMax: ANSWER_BYTES_MAX };
      const call = { path, headers, ...bounds, ...(change && { change }) };
      const response = await callPanel(this.#client, call);
      const isOver = response.status === 401 && tokens.refused(source, token);
      // A change waits for no sign-in: the user was read a moment ago.
      if (!isOver || isAgain || change !== undefined) return response;
      response.cancel();
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const WHY: Readonly<Record<string, string>> = {
  API_401: 'the panel refuses the token (401)',
  API_403: 'the panel does not allow it to this token (403)',
  API_SLOW: 'the panel did not answer in time',
  API_ANSWER: 'the answer of the panel is not that of its API',
  API_REFUSED: 'the panel answered that it did not do it',
  API_CHANGED: 'the panel was changing its users at that moment',
  API_MANY: 'the panel has more clients of the link than can be changed',
  [SIGN_IN_REFUSED]: 'the panel refuses the name and the password of panel_account_file',
};

/** Returns a sentence for a failure. */
function whyOf(code: string): string {
  const status = /^API_(\d{3})$/.exec(code)?.[1];
  return (
    WHY[code] ??
    (status === undefined
      ? `the panel is not reached (${code})`
      : `the panel answered with HTTP ${status}`)
  );
}
