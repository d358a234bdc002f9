/** The size of what travels: gateways refuse a message that is too large. */

import { byteLength } from '../core/json-input.ts';
import type { PushContent } from '../core/port/outbox.ts';

/** Bytes of a payload at FCM and APNs. */
export const PAYLOAD_BYTES_MAX = 4096;

const CUT = '\u2026';

/**
 * Writes a content as JSON of at most `bytesMax` bytes. What does not fit is left out in this
 * order: the whole message, the end of the body, picture and link, the end of the title.
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

/** The JSON with as much of a text as fits; with next to nothing of it if even that does not. */
function longest(
  text: string | null,
  write: (text: string | null) => string,
  fits: (json: string) => boolean,
): string {
  const whole = write(text);
  if (text === null || fits(whole)) return whole;
  // Characters, not UTF-16 units: half of one is none.
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

/** Texts of contents that go to many devices, one after the other: each is written once. */
export class KeptTexts {
  readonly #kept = new WeakMap<PushContent, { mark: number; text: string }>();

  /** The text of a content, as `write` gave it last for the same `mark`. */
  of(content: PushContent, mark: number, write: () => string): string {
    const kept = this.#kept.get(content);
    if (kept?.mark === mark) return kept.text;
    const text = write();
    this.#kept.set(content, { mark, text });
    return text;
  }
}
