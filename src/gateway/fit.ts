/** Cuts payloads to the size that gateways accept. */

import { byteLength } from '../core/json-input.ts';
import type { PushContent } from '../core/port/outbox.ts';

/** Most bytes of a payload at FCM and APNs. */
export const PAYLOAD_BYTES_MAX = 4096;

const CUT = '\u2026';

/**
 * Writes a content as JSON of at most `bytesMax` bytes. To fit, it leaves out in this order: the
 * whole message, the end of the body, picture and link, the end of the title.
 */
export function fitted(
  content: PushContent,
  bytesMax: number,
  compose: (content: PushContent) => unknown,
): string {
  const write = (what: PushContent) => JSON.stringify(compose(what));
  const fits = (json: string) => byteLength(json) <= bytesMax;
  let json = write(content);
  if (fits(json)) return json;
  const short = { ...content, inboxMessage: null };
  const bare = { ...short, image: null, link: null };
  for (const what of [short, bare]) {
    json = longest(what.body, (body) => write({ ...what, body }), fits);
    if (fits(json)) return json;
  }
  return longest(content.title, (title) => write({ ...bare, title, body: CUT }), fits);
}

/** Returns the JSON with the longest beginning of a text that fits; with none if none does. */
function longest(
  text: string | null,
  write: (text: string | null) => string,
  fits: (json: string) => boolean,
): string {
  const whole = write(text);
  if (text === null || fits(whole)) return whole;
  // Characters, not UTF-16 units: a surrogate pair must not be cut in two.
  const characters = [...text];
  let [least, most] = [0, characters.length];
  const cut = (count: number) => write(`${characters.slice(0, count).join('').trimEnd()}${CUT}`);
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(cut(middle))) least = middle;
    else most = middle - 1;
  }
  return cut(least);
}

/** A cache of payloads: a content that goes to many devices is written once. */
export class PayloadCache {
  readonly #entries = new WeakMap<PushContent, { ttl: number; text: string }>();

  /** Returns the text that `write` made of a content for the same TTL, s. */
  of(content: PushContent, ttl: number, write: () => string): string {
    const entry = this.#entries.get(content);
    if (entry?.ttl === ttl) return entry.text;
    const text = write();
    this.#entries.set(content, { ttl, text });
    return text;
  }
}
