/**
 * Changes at the provider while the page is open. The tabs of a browser share one stream: the tab
 * with the lock reads it and sends the events to the others.
 */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { askMe } from '../state.ts';

type LiveKind = 'links' | 'messages' | 'jobs';
/** Receives the ids of changed records; an empty list: reload everything. */
type Handler = (ids: readonly number[]) => void;
type Event = Partial<Record<LiveKind, readonly number[]>> & { isOver?: true };

const KINDS: readonly LiveKind[] = ['links', 'messages', 'jobs'];
const PAUSE_MIN_MS = 2_000;
const PAUSE_MAX_MS = 60_000;
/** A stream that was open for this long counts as healthy: the next pause is short, ms. */
const GOOD_MS = 30_000;
/** A stream that opens while the page is younger than this has missed no change, ms. */
const SOON_MS = 3_000;

/** A stream that is silent for longer is lost, ms: the server sends a beat each 20 s. */
const SILENCE_MS = 70_000;

/**
 * True while the stream is lost and the server cannot be reached. `navigator.onLine` is not asked:
 * it says nothing about a server on this machine, in this network or behind a VPN.
 */
export const isOffline = signal(false);

const handlers = new Map<LiveKind, Set<Handler>>(KINDS.map((kind) => [kind, new Set()]));

/** Calls a handler for each change of a kind, until the returned function is called. */
export function onLive(kind: LiveKind, handler: Handler): () => void {
  const all = handlers.get(kind);
  all?.add(handler);
  return () => all?.delete(handler);
}

/** Like {@link onLive}, while the component is shown. */
export function useLive(kind: LiveKind, handler: Handler, key = ''): void {
  useEffect(() => onLive(kind, handler), [key]);
}

/** The least time between two reloads of a whole page, ms. */
const SLOW_MS = 5_000;

/** Reloads an expensive page after changes: the first at once, then at intervals. */
export function useLiveSlowly(kinds: readonly LiveKind[], load: () => void, key = ''): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isDue = false;
    const run = () => {
      isDue = false;
      load();
      timer = setTimeout(() => {
        timer = undefined;
        if (isDue) run();
      }, SLOW_MS);
    };
    const forget = kinds.map((kind) =>
      onLive(kind, () => {
        if (timer === undefined) run();
        else isDue = true;
      }),
    );
    return () => {
      clearTimeout(timer);
      for (const one of forget) one();
    };
  }, [key]);
}

function tell(event: Event): void {
  for (const kind of KINDS) {
    const ids = event[kind];
    if (ids === undefined) continue;
    for (const handler of handlers.get(kind) ?? []) handler(ids);
  }
}

const ANYTHING: Event = { links: [], messages: [], jobs: [] };

/** Follows the changes at a provider until the returned function is called. */
export function follow(at: string): () => void {
  const leaving = new AbortController();
  const channel = new BroadcastChannel(`gatepost ${at}`);
  channel.onmessage = ({ data }: MessageEvent<Event | { isLost: boolean }>) => {
    if ('isLost' in data) isOffline.value = data.isLost;
    else tell(data);
  };
  let isFirst = true;
  setTimeout(() => {
    isFirst = false;
  }, SOON_MS);
  const lead = async () => {
    const pass = (event: Event) => {
      channel.postMessage(event);
      tell(event);
    };
    const note = (isLost: boolean) => {
      channel.postMessage({ isLost });
      isOffline.value = isLost;
    };
    await readOn(at, { pass, note, isFirst: () => isFirst, leaving: leaving.signal });
  };
  navigator.locks
    .request(`gatepost ${at}`, { signal: leaving.signal }, lead)
    // The tab closed while it waited for the lock.
    .catch(() => undefined);
  return () => {
    leaving.abort();
    channel.close();
  };
}

type StreamEnd = 'good' | 'bad' | 'silent';

interface Reading {
  pass: (event: Event) => void;
  note: (isLost: boolean) => void;
  /** True while no change can have been missed. */
  isFirst: () => boolean;
  leaving: AbortSignal;
}

/** Reads the stream, and reopens it after growing pauses. */
async function readOn(at: string, { pass, note, isFirst, leaving }: Reading): Promise<void> {
  let pauseMs = PAUSE_MIN_MS;
  let failures = 0;
  while (!leaving.aborted) {
    const end = await readOnce(at, leaving, pass, () => {
      failures = 0;
      note(false);
      // Changes between two streams are unknown.
      if (!isFirst()) pass(ANYTHING);
    });
    if (leaving.aborted) return;
    pauseMs = end === 'good' ? PAUSE_MIN_MS : Math.min(2 * pauseMs, PAUSE_MAX_MS);
    failures += 1;
    // A call on a silent connection would wait as long again.
    if (end === 'silent') note(true);
    // The first failure may be the normal end of a stream.
    else if (failures >= 2) await askMe().catch(() => note(true));
    await pause(pauseMs * (0.75 + Math.random() / 2), leaving);
  }
}

/**
 * Reads one stream to its end. Returns `silent` if nothing came for {@link SILENCE_MS}, else `good`
 * if it was open for {@link GOOD_MS}.
 */
function readOnce(
  at: string,
  leaving: AbortSignal,
  pass: (event: Event) => void,
  onOpen: () => void,
): Promise<StreamEnd> {
  return new Promise((resolve) => {
    const source = new EventSource(`/console/stream?at=${encodeURIComponent(at)}`);
    let how: StreamEnd = 'bad';
    let timer: ReturnType<typeof setTimeout>;
    let silence: ReturnType<typeof setTimeout>;
    const end = () => {
      source.close();
      leaving.removeEventListener('abort', end);
      clearTimeout(timer);
      clearTimeout(silence);
      resolve(how);
    };
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        how = 'silent';
        end();
      }, SILENCE_MS);
    };
    heard();
    leaving.addEventListener('abort', end);
    source.onopen = () => {
      timer = setTimeout(() => {
        how = 'good';
      }, GOOD_MS);
      heard();
      onOpen();
    };
    source.onerror = end;
    source.addEventListener('beat', heard);
    source.onmessage = ({ data }: MessageEvent<string>) => {
      heard();
      const event = JSON.parse(data) as Event;
      // The session has ended, or the role was removed: asks the server which.
      if (event.isOver) void askMe().catch(() => undefined);
      else pass(event);
    };
  });
}

/** Waits; ends early when the browser is online again. */
function pause(ms: number, leaving: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      leaving.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
    leaving.addEventListener('abort', end);
  });
}
