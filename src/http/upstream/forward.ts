/** Requests of the proxy to a panel: place in its queue, headers, and failures. */

import type { Clock } from '../../base/clock.ts';
import { Deadline } from '../../base/deadline.ts';
import type { Log } from '../../base/log.ts';
import { panelOf } from '../../core/panel/kind.ts';
import { decodedFor } from './decoded-response.ts';
import { Failure, type UpstreamResponse } from './exchange.ts';
import type { Forwarding } from './forwarding.ts';
import { type Provenance, requestHeaders } from './headers.ts';
import { withKnownQuery } from './known-query.ts';
import type { Panel } from './panels.ts';
import type { ProxyError } from './responses.ts';

export interface ForwardDeps {
  clock: Clock;
  log: Log;
  provenanceOf(request: Request): Provenance;
  /** Returns the party of a request in the queue of a panel. */
  partyOf(request: Request): string;
  /** Sets the time that a response may take, if longer than the server's idle time, s. */
  grantPatience(request: Request, seconds: number): void;
  /** Returns whether the server waits for no more responses. */
  isEnding(): boolean;
}

/** The longest idle time of Bun, s. */
const PATIENCE_MAX_S = 255;
const GRACE_S = 10;

/**
 * Returns what a panel does not know that closed the connection without a response; null: it is
 * away. Whether the panel knows a token, or the key of a link, it would have said.
 */
export function meansUnknown(
  { isDropped }: Failure,
  panel: Panel,
  { isForAll, isNewKey, isOtherPath, isUnproven }: Omit<Asked, 'holdsSlot'>,
  clock: Clock,
): 'key' | 'path' | null {
  if (!isDropped) return null;
  if (isNewKey && !isUnproven) return panel.dropsUnknown(clock.steadyMs()) ? 'key' : null;
  return isForAll && !isOtherPath && panel.dropsAlways ? 'path' : null;
}

type Asked = Pick<Forwarding, 'holdsSlot' | 'isForAll' | 'isNewKey' | 'isOtherPath' | 'isUnproven'>;

/**
 * Returns how long a request may wait for a free place, ms, and how long its client may get no
 * byte, s. The panel has all of `timeoutMs`; a long one leaves less for the queue, because of
 * {@link PATIENCE_MAX_S}.
 */
export function timesOf(timeoutMs: number): { waitMs: number; patienceS: number } {
  const leftMs = (PATIENCE_MAX_S - GRACE_S) * 1_000 - timeoutMs;
  const waitMs = Math.min(timeoutMs, leftMs);
  return { waitMs, patienceS: (waitMs + timeoutMs) / 1_000 + GRACE_S };
}

/** Asks the panel when a place is free. */
export async function forward(
  { clock, log, isEnding, partyOf, provenanceOf, grantPatience }: ForwardDeps,
  request: Request,
  panel: Panel,
  { path, isWhole, isInfo = false }: { path: string; isWhole: boolean; isInfo?: boolean },
  forwarding: Asked,
): Promise<UpstreamResponse | Failure | ProxyError> {
  const { client, upstream } = panel;
  const { signal } = request;
  const method = request.method === 'HEAD' && !isInfo ? 'HEAD' : 'GET';
  const { waitMs, patienceS } = timesOf(upstream.timeoutMs);
  grantPatience(request, patienceS);
  const provenance = provenanceOf(request);
  const asked = `${upstream.host}${/:\d+$/.exec(request.headers.get('host') ?? '')?.[0] ?? ''}`;
  const sent = upstream.hostHeader === 'upstream' ? client.host : asked;
  const isSubscription = !forwarding.isForAll;
  const kinds = { isWhole, isSubscription };
  const headers = requestHeaders(request, { sent, asked }, provenance, kinds);
  // The proxy reads the response itself.
  if (isInfo) headers['accept-encoding'] = 'identity';
  const patience = new Deadline(waitMs, signal, clock.steadyMs);
  const leave = await panel.takePlace(partyOf(request), !forwarding.holdsSlot, patience.signal);
  patience.end();
  if (typeof leave === 'string') return signal.aborted ? 'client_left' : 'upstream_busy';
  if (isEnding()) {
    leave();
    return 'upstream_busy';
  }
  const onFailure = (failure: Failure) => {
    if (!failure.kind.startsWith('upstream_')) return;
    if (meansUnknown(failure, panel, forwarding, clock) !== null) return;
    panel.logFailure(failure, log, clock.steadyMs());
  };
  const onEnd = (failure: Failure | null) => {
    leave();
    if (failure !== null) onFailure(failure);
  };
  const asking = withKnownQuery(path, isSubscription ? panelOf(upstream) : null);
  const response = await client.send(upstream, { method, path: asking, headers, signal, onEnd });
  if (response instanceof Failure) return response;
  panel.noteAnswer(clock.steadyMs());
  return isInfo ? decodedFor(response, { ...upstream, accepted: null, onFailure }) : response;
}
