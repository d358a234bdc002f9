/** Browsers of links, which get messages on the page of users: their part of the port. */

import type { DeviceFacts } from './device.ts';
import type { Maybe } from './maybe.ts';
import type { PushAddress } from './registration.ts';

export interface NewBrowser {
  installId: number;
  /** Drawn by the server. */
  hwid: string;
  facts: DeviceFacts;
  locale: string | null;
  push: PushAddress;
  tokenHash: Uint8Array;
  /** SHA-256 of the token that the browser has; null: it has none. */
  heldTokenHash: Uint8Array | null;
  /** Most browsers of a link. */
  countMax: number;
  nowMs: number;
}

/** A notification that a browser got. */
export interface BrowserMessage {
  id: number;
  createdAtMs: number;
  payload: unknown;
}

export interface BrowserStore {
  /**
   * Ties a browser to a link, with a new token; one that shows its token keeps its place, and one
   * of another link leaves that. Returns `browser_limit_reached` beyond `countMax`, and
   * `link_not_found` for a link whose page is shut. It takes no slot.
   */
  registerBrowser(browser: NewBrowser): Promise<'ok' | 'browser_limit_reached' | 'link_not_found'>;
  /** Ends the browser of a link with a token; null: all of them. Returns their number. */
  endBrowsers(installId: number, tokenHash: Uint8Array | null): Promise<number>;
  countBrowsers(installId: number): Promise<number>;
  /** Finds the link of the browser with a token; null: no browser has it. */
  findBrowser(tokenHash: Uint8Array): Maybe<{ installId: number } | null>;
  /** Lists the notifications that a browser got, and that have not expired, latest first. */
  listNews(tokenHash: Uint8Array, nowMs: number, countMax: number): Maybe<BrowserMessage[]>;
}
