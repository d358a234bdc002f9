/** Browsers of links, which show messages on the page of users: their part of the port. */

import type { DeviceFacts } from './device.ts';
import type { Maybe } from './maybe.ts';
import type { PushAddress } from './registration.ts';

export interface NewBrowser {
  installId: number;
  /** The HWID, drawn by the server. */
  hwid: string;
  facts: DeviceFacts;
  locale: string | null;
  push: PushAddress;
  tokenHash: Uint8Array;
  /** SHA-256 of the browser's token; null: it has none. */
  heldTokenHash: Uint8Array | null;
  /** The most browsers of a link. */
  countMax: number;
  nowMs: number;
}

/** A notification in the inbox of a browser. */
export interface BrowserMessage {
  id: number;
  createdAtMs: number;
  payload: unknown;
}

export interface BrowserStore {
  /**
   * Attaches a browser to a link, with a new token. A browser that shows its token keeps its place;
   * one of another link leaves that link. Takes no slot. Returns `browser_limit_reached` beyond
   * `countMax`, and `link_not_found` for a link without an open page.
   */
  registerBrowser(browser: NewBrowser): Promise<'ok' | 'browser_limit_reached' | 'link_not_found'>;
  /**
   * Removes the browser of a link with a token (null: all of its browsers). Returns their number.
   */
  endBrowsers(installId: number, tokenHash: Uint8Array | null): Promise<number>;
  countBrowsers(installId: number): Promise<number>;
  /** Finds the link of the browser with a token; null: no browser has it. */
  findBrowser(tokenHash: Uint8Array): Maybe<{ installId: number } | null>;
  /** Lists the unexpired notifications of a browser, latest first. */
  listNews(tokenHash: Uint8Array, nowMs: number, countMax: number): Maybe<BrowserMessage[]>;
}
