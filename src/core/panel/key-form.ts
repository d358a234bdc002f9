/** How panels write their users in the addresses of subscriptions. */

/** Signed tokens. A panel makes others at each read, so the user in one is the key of the link. */
export interface SignedForm {
  /** The pattern of the keys of its links, as a part of a regular expression. */
  readonly pattern: string;
  /** The same for people: `marzban/NAME`. */
  readonly rule: string;
  /** Returns the key of the user of its API and of its current tokens: a name, or a number. */
  keyOfUser(user: string): string;
  /** Returns the key of a user whose token has the name. */
  keyOfName(name: string): string;
  /** The prefix of keys of old tokens, whose users have numbers by now; null: there are none. */
  readonly oldNames: string | null;
  /** The text of current tokens, with groups for the number of the user and the time. */
  readonly idAndTime: RegExp | null;
  /** True: current tokens end with a dot and a MAC; false: with a digest. */
  readonly hasMac: boolean;
  /** True: some versions write a digest in hexadecimal digits. */
  readonly digestsInHex: boolean;
  /** Returns the text of a token of no user. */
  strangersText(random: number, time: number): string;
}

/** `plain`: the key itself; `uuid`: a UUID in any case of letters; or signed tokens. */
export type KeyForm = 'plain' | 'uuid' | SignedForm;
