/** The options of a device, and the records that it hands to the app. */

import type { FaultWord } from './fault.ts';
import type { Message, Texts } from './message.ts';
import type { AckState, PushAddress, Store } from './state.ts';

/**
 * The result of a handler: the state to acknowledge; nothing: the default; `kept`: see
 * {@link Handling}.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers of both kinds are welcome.
export type Handled = AckState | 'kept' | undefined | void;

/**
 * The result of an async handler: a {@link Handled}. In such a function the compiler takes the text
 * of `return 'kept'` for any text.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: as above.
export type HandledLater = Promise<string | undefined | void>;

export interface Handling {
  message: Message;
  /** The texts in the language of the device. */
  texts: Texts;
  /** The action of a command: `update-subscription` and others; empty: a notification. */
  action: string;
  /**
   * The state of the device with this message in it. An app that writes it to its store in the
   * transaction of its own effect returns `kept`: then the message is handled exactly once, else at
   * least once.
   */
  state: string;
}

/** Why a stream is closed, a device refused, or a place ended. */
export interface Why {
  /**
   * A word for the program: of the server (`link_limit_reached`, `slot_freed`), of the connection,
   * or `store`, `no_websocket`, `other_device`; empty: the server gave none.
   */
  reason: FaultWord | 'store' | 'no_websocket' | 'other_device' | (string & {});
  /** A text for the user. The server's is in the language of `locale`. */
  text: string;
  /** When it happened, as the server writes times. */
  at?: string;
  /** How many devices the link admits. */
  limit?: number;
  /** The page on which the user can free a slot. */
  freeUrl?: string;
}

/**
 * `ended`: the slot or link at one provider ended, and the device keeps the others;
 * `closed`: it tries again by itself; after `refused` and `replaced` it does not.
 */
export type DeviceState = 'open' | 'closed' | 'ended' | 'refused' | 'replaced';

export interface DeviceOptions {
  /** `https://HOST` of the appliance. */
  url: string;
  /** The path of the device protocol on the host: `/device` unless a subscription names another. */
  base?: string | undefined;
  /**
   * Fields of `POST /device/register` except `hwid` and `push`: the link, system, model, versions.
   */
  registration: Readonly<Record<string, unknown>>;
  store: Store;
  /** The HWID that the app has already; without it the device draws one and stores it. */
  hwid?: string | undefined;
  /** The language of texts, such as `pt-BR`. */
  locale?: string | undefined;
  push?: PushAddress | undefined;
  /** `poll` where no socket may stay open. */
  mode?: 'stream' | 'poll' | undefined;
  /** The seconds between two pings of a stream, 15 to 600: more lets a phone sleep longer. */
  ping?: number | undefined;
  /** The most bytes of a frame, 1,024 to 65,536, where memory is scarce. */
  frameMax?: number | undefined;
  /** Multiplies all pauses and time limits, for tests. */
  pace?: number | undefined;
  /**
   * Handles a new message. If it throws, the message is acknowledged as `failed`. It must not wait
   * for a method of the device, because the device waits for it.
   */
  onMessage(handling: Handling): Handled | HandledLater;
  /** `detail` is a line for a log; `why` is null for `open`, and for `closed` without a fault. */
  onState?(state: DeviceState, detail: string, why: Why | null): unknown;
  /** Gets a line for each call and each end of a stream, without tokens and links. */
  log?(line: string): unknown;
}

/** Why a device ended: it was closed, another stream uses its token, or the server refused it. */
export type Ending = 'closed' | 'replaced' | 'refused';
