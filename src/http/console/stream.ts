/**
 * `GET /console/stream?at=CODE`: an open page learns which links, messages and jobs of a provider
 * changed, and reloads them. While streams are open, compares the newest rows once a second after
 * commits. Checks session and role again before each event.
 */

import { PartyQueue } from '../../base/queue.ts';
import { holds, LOOK } from '../../core/account/roles.ts';
import { isOfAppliance, lookSignedIn, type SignedIn } from '../../core/account/session.ts';
import { Changes } from '../../core/changes.ts';
import { readProviderCode } from '../../core/formats.ts';
import { isRefused, Refused } from '../../core/outcome.ts';
import type { Provider } from '../../core/port/provider.ts';
import { nextTurn } from '../../core/turn.ts';
import { reportFault } from '../interpreter.ts';
import { parseQuery, valueIn } from '../request/query.ts';
import type { ConsoleDeps } from './answer.ts';
import { LiveStream } from './live-stream.ts';
import { INSECURE, isOfOwnPage, siteOf, tokenIn } from './site.ts';

export const LIVE_PATH = '/console/stream';

/** The interval of looks for changes, ms. */
const LOOK_MS = 1_000;
/** The interval of checks of a session, with and without commits since, ms. */
const CHECK_MS = 5_000;
const QUIET_CHECK_MS = 60_000;
/** The most streams at once: a browser has one for each provider in its tabs. */
export const STREAM_BOUNDS = { session: 4, owner: 16 };
/**
 * The most streams of all providers, and, as a reserve, those of accounts of the appliance. In a
 * full one a new stream ends the newest of the provider, or account, with most.
 */
export const STREAM_SHARES = { providers: { waitingMax: 256 }, operators: { waitingMax: 64 } };
/** Streams that are checked in one turn of the event loop. */
const PER_TURN = 16;

const STATUS: Readonly<Record<string, number>> = {
  signed_out: 401,
  insecure: 403,
  other_origin: 403,
  no_right: 403,
  wrong_method: 405,
  too_many_streams: 429,
  stopping: 503,
  fault: 503,
};

const HEADERS = {
  'cache-control': 'no-store',
  'content-type': 'text/event-stream',
  'x-content-type-options': 'nosniff',
  // nginx would buffer events.
  'x-accel-buffering': 'no',
};

/** The streams of the console at this server. */
export class LiveStreams {
  readonly #shares = {
    providers: new PartyQueue<LiveStream>(() => STREAM_SHARES.providers),
    operators: new PartyQueue<LiveStream>(() => STREAM_SHARES.operators),
  };
  #changes: Changes;
  #isLooking = false;
  readonly #deps: ConsoleDeps;

  constructor(deps: ConsoleDeps) {
    this.#deps = deps;
    this.#changes = new Changes(deps.core.store);
    deps.stopping.addEventListener('abort', () => this.endAll());
  }

  get count(): number {
    return this.#shares.providers.size + this.#shares.operators.size;
  }

  #all(): LiveStream[] {
    return [...this.#shares.providers.items(), ...this.#shares.operators.items()];
  }

  /** Ends all streams; their pages reconnect. */
  endAll(): void {
    for (const stream of this.#all()) stream.end();
  }

  /** Answers a request for a stream. */
  answer = async (request: Request): Promise<Response> => {
    const { log, traffic } = this.#deps;
    const tally = traffic.tallyOf(LIVE_PATH);
    let outcome: Response | Refused<string>;
    try {
      outcome = await this.#open(request);
    } catch (fault) {
      const detail = reportFault(log, LIVE_PATH, fault, traffic.requestIdOf(request));
      outcome = new Refused('fault', { detail });
    }
    const says = outcome instanceof Refused ? outcome.says : 'ok';
    traffic.count(tally, { request, says, tookMs: null });
    if (outcome instanceof Response) return outcome;
    const body = { refused: says, detail: outcome.detail ?? null };
    return Response.json(body, {
      status: STATUS[says] ?? 403,
      headers: { 'cache-control': 'no-store' },
    });
  };

  async #open(request: Request): Promise<Response | Refused<string>> {
    const { clock, connectionOf, core, grantPatience, stopping } = this.#deps;
    const site = siteOf(request, connectionOf(request));
    if (site === null) return new Refused('insecure', { detail: INSECURE.trim() });
    if (request.method !== 'GET') return new Refused('wrong_method');
    if (!isOfOwnPage(request, site)) return new Refused('other_origin');
    const token = tokenIn(request);
    const signedIn = await lookSignedIn(core, token, clock.nowMs());
    if (signedIn === null) return new Refused('signed_out');
    const at = readProviderCode(valueIn(parseQuery(request.url, false), 'at'));
    const provider = isRefused(at) ? null : await core.store.findProvider(at);
    if (provider === null || !mayWatch(signedIn, provider)) return new Refused('no_right');
    const { accountId, id: sessionId } = signedIn.session;
    const owner = accountId === null ? `provider ${provider.id}` : `account ${accountId}`;
    if (this.#isFull(sessionId, owner)) return new Refused('too_many_streams');
    if (stopping.aborted) return new Refused('stopping');
    const of = { provider, sessionId, owner, token };
    const isOperators = isOfAppliance(signedIn);
    const share = this.#shares[isOperators ? 'operators' : 'providers'];
    const party = isOperators ? owner : `provider ${provider.id}`;
    const stream = new LiveStream(of, clock.steadyMs(), () => share.remove(party, stream));
    const surplus = share.add(party, stream);
    if (surplus === stream) return new Refused('too_many_streams');
    surplus?.end();
    request.signal.addEventListener('abort', () => stream.end());
    // Bun closes an answer that sends no bytes; the beats keep this one open.
    grantPatience(request, 0);
    this.#begin();
    try {
      // Reads the state at once: the next look would miss changes until then.
      await this.#changes.meet(provider, clock.nowMs());
    } catch (fault) {
      stream.end();
      throw fault;
    }
    return new Response(stream.body(), { headers: HEADERS });
  }

  #isFull(sessionId: number, owner: string): boolean {
    const all = this.#all();
    const { session, owner: ofOwner } = STREAM_BOUNDS;
    return (
      all.filter(({ of }) => of.sessionId === sessionId).length >= session ||
      all.filter(({ of }) => of.owner === owner).length >= ofOwner
    );
  }

  /** Starts looking for changes while there are streams. The looks are one party of the queue. */
  #begin(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { core } = this.#deps;
    core.store.onBehalfOf('console', String, () => void this.#run());
  }

  async #run(): Promise<void> {
    const { clock, core, log, traffic } = this.#deps;
    this.#changes = new Changes(core.store);
    try {
      while (this.count > 0) {
        await this.#look();
        await clock.sleep(LOOK_MS);
      }
    } catch (fault) {
      reportFault(log, LIVE_PATH, fault, traffic.requestIdOf(new Request('http://localhost/')));
      this.endAll();
    } finally {
      this.#isLooking = false;
    }
  }

  async #look(): Promise<void> {
    const { clock } = this.#deps;
    const providers = new Map(this.#all().map(({ of }) => [of.provider.id, of.provider]));
    const changes = await this.#changes.look([...providers.values()], clock.nowMs());
    const nowMs = clock.steadyMs();
    let checked = 0;
    for (const stream of this.#all()) {
      const change = changes?.get(stream.of.provider.id);
      stream.isUnsure ||= changes !== null;
      const dueMs = stream.checkedAtMs + (stream.isUnsure ? CHECK_MS : QUIET_CHECK_MS);
      if (change !== undefined || nowMs >= dueMs) {
        if (!(await this.#isGood(stream))) {
          stream.send({ isOver: true });
          stream.end();
        }
        checked += 1;
        if (checked % PER_TURN === 0) await nextTurn();
      }
      if (change === undefined) stream.beat(nowMs);
      else stream.send(change);
    }
  }

  /** Checks session, role and provider again. */
  async #isGood(stream: LiveStream): Promise<boolean> {
    const { clock, core } = this.#deps;
    const { provider, token } = stream.of;
    stream.checkedAtMs = clock.steadyMs();
    stream.isUnsure = false;
    const signedIn = await lookSignedIn(core, token, clock.nowMs());
    if (signedIn === null || !mayWatch(signedIn, provider)) return false;
    return (await core.store.findProvider(provider.code)) !== null;
  }
}

const mayWatch = ({ grants }: SignedIn, { id }: Provider) => holds(LOOK, grants, id);
