/** The form in which the table of panels describes their APIs. */

import type { Figures } from '../port/subscription-figures.ts';
import type { PanelSignIn } from './account.ts';
import type { PanelLimit } from './limit-rule.ts';
import type { PanelRecord } from './record.ts';

/** Returns the JSON of the API at a path; null: no such record. Throws {@link Silent}. */
export type AskPanel = (path: string) => Promise<unknown>;

/**
 * Reads a record that many users share. What `read` returns is kept for a while, so it must be what
 * a limit needs: such records have secrets of the panel.
 */
export type AskSettings = <T>(path: string, read: (answer: unknown) => T) => Promise<T>;

/** Returns a reader of such records that keeps nothing. */
export const settingsBy =
  (ask: AskPanel): AskSettings =>
  async (path, read) =>
    read(await ask(path));

/** The fault of an API that does not answer, or not as documented. */
export class Silent extends Error {
  constructor(
    /** The code for the log: `API_401`, `ECONNREFUSED`. */
    readonly code: string,
    /** True: other questions would fail too. False: only the one about this user. */
    readonly isOfPanel = false,
    /** The text of the panel about it; empty: none. */
    readonly said = '',
  ) {
    super(code);
  }
}

/**
 * A user as the API of a panel describes it, with its figures: the numbers are as they came, see
 * `plausible` of core/subscription-figures.ts.
 */
export interface PanelApiUser extends Figures {
  /** The permanent id, by which a link remembers its user; null: the key is the id. */
  readonly id: string | null;
  /** True if the panel lets the user in. */
  readonly isActive: boolean;
  readonly createdAtMs: number | null;
  /** The address of the subscription with a new token; empty: the API has none. */
  readonly subscriptionUrl: string;
  /** Returns whether it belongs to a `panel_admin`, by the meaning of that at its panel. */
  belongsTo(panelAdmin: string): boolean;
  /** The fields from which {@link PanelApi.limitOf} reads the limit, and no other. */
  readonly record: PanelRecord;
}

/** Where the API says whose users a token shows. */
interface PanelTokenView {
  readonly path: string;
  /** Returns the admin whose users alone the token shows; empty: it shows all users. */
  adminIn(answer: unknown): string;
}

export interface PanelApi {
  /** Returns the headers by which a token authorizes a request. */
  headersOf(token: string): Readonly<Record<string, string>>;
  /** Gives a token for a name and a password; null: its tokens last until they are revoked. */
  readonly signIn: PanelSignIn | null;
  /** Null: each token shows all users. */
  readonly view: PanelTokenView | null;
  /** Returns the id in a key, null if the key is the id; undefined: only the API knows it. */
  idIn(key: string): string | null | undefined;
  /**
   * Yields keys: that of the user whose id a link notes, or with `listsKeys` those of all users.
   * Throws {@link Silent}.
   */
  keysFor(id: string, ask: AskPanel): AsyncIterable<string>;
  /** True if no id leads to a key. */
  readonly listsKeys: boolean;
  /** Returns the path at which the API describes the user of a key; null: it knows no such key. */
  userPath(key: string): string | null;
  /** The text of its 403 there for a user of another admin than that of the token; null: none. */
  readonly ofOtherAdmin: RegExp | null;
  /**
   * Reads the user of a key from the answer at that path; null: the panel has no such user. Throws
   * {@link Silent} if the answer decides neither.
   */
  userIn(answer: unknown, key: string): PanelApiUser | null;
  /** Reads the limit of a user; `settings` reads records that many users share. */
  limitOf(record: PanelRecord, settings: AskSettings): Promise<PanelLimit>;
  /** A key that no user has. */
  strangersKey(): string;
  /** A made-up user whose limit needs each record of settings that a limit can need. */
  readonly strangersRecord: PanelRecord;
}

/**
 * Returns whether a status speaks of the API, and not of the user in the question. One key could
 * cause any other status; the API must stay open for all others.
 */
export const isStatusOfPanel = (status: number): boolean =>
  status >= 500 || [401, 403, 429].includes(status);

/** Returns a name as a segment of a path; null: servers would read another path. */
export const segmentOf = (name: string): string | null =>
  /(?:^|[/\\])\.{1,2}(?:$|[/\\])/.test(name) ? null : encodeURIComponent(name);

/** Returns the fault of an answer that is not that of the panel. */
export const unexpected = (): Silent => new Silent('API_ANSWER');

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
