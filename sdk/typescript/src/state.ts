/** The data that a device keeps over restarts: one text in the store of the app. */

const ACK_STATES = ['received', 'opened', 'executed', 'failed'] as const;
export type AckState = (typeof ACK_STATES)[number];

export const isAckState = (value: unknown): value is AckState =>
  ACK_STATES.some((state) => state === value);

export interface Ack {
  id: number;
  state: AckState;
  detail?: string;
}

/** The address for pushes: `token` is a text, or the subscription of Web Push. */
export interface PushAddress {
  gateway: 'fcm' | 'apns' | 'webpush';
  token: unknown;
}

/** The store of the app: one text. */
export interface Store {
  /** Returns the last written text; null: none. */
  read(): Promise<string | null> | string | null;
  /** Writes the text atomically: a partial text must never be read. */
  write(text: string): Promise<void> | void;
}

export interface State {
  hwid: string;
  token: string | null;
  /** The acknowledged states of the last messages, the oldest first. */
  seen: readonly (readonly [number, AckState])[];
  /** Acknowledgements that the server has not confirmed. */
  acks: readonly Ack[];
}

/** The most remembered messages, and the most waiting acknowledgements. */
const SEEN_MAX = 1_000;
const ACKS_MAX = 1_000;
const DETAIL_LENGTH_MAX = 255;

/**
 * Reads a state. A missing or invalid one makes a new device, with the given HWID or a random one.
 */
export function readState(text: string | null, givenHwid: string | undefined): State {
  const fresh = { hwid: givenHwid ?? drawHwid(), token: null, seen: [], acks: [] };
  if (text === null) return fresh;
  try {
    const { hwid, token, seen, acks, version } = JSON.parse(text);
    const isWhole = version === 1 && typeof hwid === 'string' && Array.isArray(seen);
    if (!isWhole || !Array.isArray(acks)) return fresh;
    // The token belongs to the HWID that was registered.
    if (givenHwid !== undefined && givenHwid !== hwid) return fresh;
    return { hwid, token: typeof token === 'string' ? token : null, seen, acks };
  } catch {
    return fresh;
  }
}

export const writeState = (state: State): string => JSON.stringify({ version: 1, ...state });

/** Returns the acknowledged state of a message; null: it is new. */
export const seenIn = ({ seen }: State, id: number): AckState | null =>
  seen.find(([known]) => known === id)?.[1] ?? null;

/** Returns the state with this message and its pending acknowledgement. */
export function knowing(state: State, ack: Ack): State {
  const seen = [...state.seen.filter(([id]) => id !== ack.id), [ack.id, ack.state] as const];
  return owing({ ...state, seen: seen.slice(-SEEN_MAX) }, ack);
}

/** Returns the state with one more pending acknowledgement. */
export function owing(state: State, { id, state: said, detail }: Ack): State {
  const others = state.acks.filter((ack) => ack.id !== id || ack.state !== said);
  const line = detail?.replace(/\p{Cc}+/gu, ' ').slice(0, DETAIL_LENGTH_MAX);
  const ack = { id, state: said, ...(line && { detail: line }) };
  return { ...state, acks: [...others, ack].slice(-ACKS_MAX) };
}

/** Returns the state without the acknowledgements that the server confirmed. */
export const without = (state: State, sent: readonly Ack[]): State => ({
  ...state,
  acks: state.acks.filter(
    (ack) => !sent.some((one) => one.id === ack.id && one.state === ack.state),
  ),
});

/** Returns 32 random hexadecimal digits, which do not identify the phone. */
function drawHwid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the headers that identify a device when it fetches a subscription, and ask for more. */
export function headersOf(
  hwid: string,
  registration: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const all = {
    'x-device-protocol': '1',
    'x-hwid': hwid,
    'x-device-os': registration['os'],
    'x-ver-os': registration['os_version'],
    'x-device-model': registration['device_name'],
    'x-app-version': registration['app_version'],
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) =>
      typeof value === 'string' && value !== '' ? [[name, value]] : [],
    ),
  );
}
