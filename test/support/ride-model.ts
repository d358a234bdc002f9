/**
 * Judges from outside what rode on the answers to fetches, without knowing in which order
 * concurrent calls took effect. A call takes effect at some instant between its start and its
 * answer, so a message rode *possibly* from the start of its send and *certainly* from the moment
 * at which somebody saw that it rides; and to its end alike. An answer that was under way during
 * the whole of a certain time must carry it, one outside its possible time must not.
 *
 * Each message rides in places: for all devices of a system, or for one device, and there in parts
 * (`message`, `domain`, `set:KEY`). In a place and part the later message replaces the earlier one.
 */

import type { Call } from './slot-history.ts';

/** The parts that the soak sends. */
export const SOAK_PARTS = ['message', 'domain', 'url', 'set:ip', 'set:dns'] as const;
export type SoakPart = (typeof SOAK_PARTS)[number];

/** A message as it was accepted. */
export interface SentMessage {
  /** Unique in the run; numbers of a provider rise in the order of their sends. */
  number: number;
  provider: number;
  parts: readonly SoakPart[];
  /** Systems, or HWIDs. */
  to: { os: readonly string[] } | { hwids: readonly string[] };
  /** From the first attempt to the answer. */
  sent: Call;
  isCommand: boolean;
  /** True: it is loaded at its time, and not in the order of sends. */
  isScheduled: boolean;
  /** The message may be loaded from here, and ride: later than `sent` for a scheduled one. */
  mayBeginMs: number;
  /** It was seen loaded, so that nothing older of the same place rides. */
  loadedMs: number;
  /** It was seen to ride, or must by the time that has passed. */
  ridesMs: number;
  /** It may have ended from here. */
  mayEndMs: number;
  /** It has ended here. */
  endedMs: number;
}

export function sentMessage(
  of: Pick<
    SentMessage,
    'number' | 'provider' | 'parts' | 'to' | 'sent' | 'isCommand' | 'isScheduled'
  >,
): SentMessage {
  const never = Number.POSITIVE_INFINITY;
  const open = { loadedMs: never, ridesMs: never, mayEndMs: never, endedMs: never };
  return { ...of, ...open, mayBeginMs: of.isCommand || of.isScheduled ? never : of.sent.startMs };
}

/** What an answer carried: the number of the message of each part. */
export type Carried = Partial<Record<SoakPart, number>>;

/** An answer that admitted a device. */
export interface Answer extends Call {
  provider: number;
  hwid: string;
  /** As targets name it; null: another system. */
  os: string | null;
  /** True: other systems have general notifications too. */
  ridesOnDesktop: boolean;
  /** Null: the link is not the device's home; else the call by which it took its slot there. */
  home: Call | null;
  /** Parts that its app and way show. */
  shows: readonly SoakPart[];
  carried: Carried;
}

/** The time of one message in one place. */
interface Window {
  message: SentMessage;
  mayBeginMs: number;
  ridesMs: number;
  mayEndMs: number;
  endedMs: number;
}

const keyOf = (provider: number, place: string, part: SoakPart) => `${provider} ${place} ${part}`;
const placesOf = ({ to }: SentMessage) =>
  'os' in to ? to.os.map((os) => `os ${os}`) : to.hwids.map((hwid) => `hwid ${hwid}`);

/** The clocks of a machine's processes agree to that, ms. */
const CLOCK_MS = 3;

export class RideModel {
  readonly #messages = new Map<number, SentMessage>();
  readonly #windows = new Map<string, Window[]>();

  constructor(messages: readonly SentMessage[], answers: readonly Answer[]) {
    for (const message of messages) this.#messages.set(message.number, { ...message });
    for (const { carried, endMs } of answers) {
      for (const number of Object.values(carried)) this.#seen(number, endMs);
    }
    for (const message of this.#messages.values()) this.#place(message);
    for (const windows of this.#windows.values()) replace(windows);
  }

  /** What an answer carried rode when it ended, and for all that came later. */
  #seen(number: number, atMs: number): void {
    const message = this.#messages.get(number);
    if (message === undefined) return;
    message.loadedMs = Math.min(message.loadedMs, atMs);
    message.ridesMs = Math.min(message.ridesMs, atMs);
  }

  #place(message: SentMessage): void {
    const { mayBeginMs, ridesMs, mayEndMs, endedMs } = message;
    for (const place of placesOf(message)) {
      for (const part of message.parts) {
        const key = keyOf(message.provider, place, part);
        const windows = this.#windows.get(key) ?? [];
        windows.push({ message, mayBeginMs, ridesMs, mayEndMs, endedMs });
        this.#windows.set(key, windows);
      }
    }
  }

  /** Returns what was wrong with an answer, in one sentence each. */
  problemsOf(answer: Answer): string[] {
    return SOAK_PARTS.flatMap((part) => {
      const got = answer.carried[part];
      const windows = this.#windowsFor(answer, part);
      const says = got === undefined ? missing(answer, windows) : wrong(answer, windows, got);
      return says === null ? [] : [`${part}: ${says}${timesOf(answer, windows)}`];
    });
  }

  /** Returns the numbers of messages that ride at a moment to whoever may see them. */
  ridingAt(atMs: number): Set<number> {
    const now = [...this.#windows.values()].flat();
    const riding = now.filter(({ ridesMs, mayEndMs }) => ridesMs <= atMs && mayEndMs > atMs);
    return new Set(riding.map(({ message }) => message.number));
  }

  /** The windows of all that may ride on an answer; none of a part that the app does not show. */
  #windowsFor(answer: Answer, part: SoakPart): Window[] {
    if (!answer.shows.includes(part)) return [];
    const { provider, hwid, os, home, ridesOnDesktop } = answer;
    const at = (place: string) => this.#windows.get(keyOf(provider, place, part)) ?? [];
    const general = os === null ? [...at('os android'), ...at('os ios')] : at(`os ${os}`);
    const isShown = ({ message }: Window) => !message.isCommand && (os !== null || ridesOnDesktop);
    const own = home === null ? [] : at(`hwid ${hwid}`);
    // A URL is one user's: it rides to named devices alone.
    const commands = os === null || home === null || part === 'url' ? [] : general;
    return [
      ...general.filter(isShown),
      ...[...own, ...commands.filter(({ message }) => message.isCommand)].filter(
        ({ message }) => home !== null && home.startMs - CLOCK_MS <= message.sent.endMs,
      ),
    ];
  }
}

/** Cuts each window where another of its place and part begins. */
function replace(windows: readonly Window[]): void {
  const found = windows.map((one) => {
    const others = windows.filter((other) => other !== one);
    const may = others.filter((other) => !isLoadedAfter(one, other));
    const must = others.filter((other) => isLoadedAfter(other, one));
    return {
      mayEndMs: Math.min(one.mayEndMs, ...may.map(mayLoadMs)),
      endedMs: Math.min(one.endedMs, ...must.map(({ ridesMs }) => ridesMs)),
    };
  });
  for (const [at, window] of windows.entries()) Object.assign(window, found[at]);
}

/** A command takes its place when it is loaded, though it rides later. */
const mayLoadMs = ({ message }: Window) =>
  message.isCommand ? message.sent.startMs : message.mayBeginMs;

/** Returns whether one was certainly loaded after another. */
function isLoadedAfter(one: Window, other: Window): boolean {
  const areInTurn = !one.message.isScheduled && !other.message.isScheduled;
  if (areInTurn) return one.message.number > other.message.number;
  return mayLoadMs(one) > other.message.loadedMs;
}

/** Tells the times of all that may ride, ms from the start of the answer. */
function timesOf({ startMs, endMs }: Answer, windows: readonly Window[]): string {
  const near = (atMs: number) => Math.abs(atMs - startMs) < 60_000;
  const times = windows
    .filter(({ endedMs, mayEndMs }) => near(endedMs) || near(mayEndMs) || endedMs > startMs)
    .map(({ message, mayBeginMs, ridesMs, mayEndMs, endedMs }) => {
      const from = [message.sent.startMs, mayBeginMs, ridesMs, mayEndMs, endedMs];
      return `${message.number}: ${from.map((atMs) => atMs - startMs).join(' ')}`;
    });
  return ` (took ${endMs - startMs} ms; ${times.join('; ')})`;
}

function mustRide({ startMs, endMs, home }: Answer, window: Window): boolean {
  const { message } = window;
  const isNamed = message.isCommand || 'hwids' in message.to;
  const isOlderSlot = home !== null && home.endMs + CLOCK_MS < message.sent.startMs;
  if (isNamed && !isOlderSlot) return false;
  return window.ridesMs + CLOCK_MS < startMs && window.mayEndMs - CLOCK_MS > endMs;
}

const mayRide = ({ startMs, endMs }: Answer, window: Window) =>
  window.mayBeginMs - CLOCK_MS <= endMs && window.endedMs + CLOCK_MS >= startMs;

function missing(answer: Answer, windows: readonly Window[]): string | null {
  const due = windows.find((window) => mustRide(answer, window));
  return due === undefined ? null : `nothing rode, and ${due.message.number} had to`;
}

function wrong(answer: Answer, windows: readonly Window[], got: number): string | null {
  const own = windows.filter(({ message }) => message.number === got);
  const [window] = own;
  if (window === undefined) return `${got} rode to a device that must never see it`;
  if (answer.endMs + CLOCK_MS < window.mayBeginMs) return `${got} rode before its time`;
  if (!own.some((one) => mayRide(answer, one))) {
    const lateMs = Math.round(answer.startMs - Math.max(...own.map(({ endedMs }) => endedMs)));
    return `${got} rode ${lateMs} ms after its end`;
  }
  const newer = windows.find((other) => mustRide(answer, other) && isNewer(other, window));
  return newer === undefined ? null : `${got} rode, and ${newer.message.number} is newer`;
}

/** Returns whether one certainly began to ride after the other, in whatever place. */
function isNewer(one: Window, other: Window): boolean {
  return one.message !== other.message && isLoadedAfter(one, other);
}
