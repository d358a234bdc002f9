/** Checks a notification whose sender asks to fill placeholders. */

import { PUSH_ENCODED_MAX } from '../formats.ts';
import { isAbsent, nameForDetail } from '../json-input.ts';
import { type Misfit, malformed, Refused } from '../outcome.ts';
import { htmlParts, longestFilled, placeholderIn, unknownPlaceholder } from './fill.ts';
import { mapBodies, type StoredNotification } from './filling.ts';
import { encodePayload, type NotificationPayload } from './notification.ts';

/** Reads the field `fill` of a send. */
export function readFill(value: unknown): boolean | Misfit {
  if (isAbsent(value) || value === 0 || value === '0' || value === false) return false;
  const isAsked = value === 1 || value === '1' || value === true;
  return isAsked || malformed('fill must be 0 or 1');
}

/**
 * Marks a notification to be filled. Refuses `malformed` for a placeholder that is unknown, or
 * outside of the bodies' text, and `message_too_large` if the payload could be too large once
 * filled: each placeholder counts with the longest value that it can get.
 */
export function markFilled(
  payload: NotificationPayload,
): StoredNotification | Refused<'message_too_large'> | Misfit {
  const { background_image: image, body, link_for_open: link, locales = {}, title } = payload;
  const bodies: [name: string, html: string][] = [['body', body]];
  const others: [name: string, text: string | undefined][] = [
    ['title', title],
    ['link_for_open', link],
    ['background_image', image],
  ];
  for (const [tag, one] of Object.entries(locales)) {
    if (one.body !== undefined) bodies.push([`locales.${tag}.body`, one.body]);
    others.push([`locales.${tag}.title`, one.title]);
    others.push([`locales.${tag}.link-for-open`, one['link-for-open']]);
  }
  for (const [name, html] of bodies) {
    const { tags, texts } = htmlParts(html);
    const unknown = unknownPlaceholder(texts.join('<'));
    if (unknown !== null)
      return malformed(`${name} has an unknown placeholder ${nameForDetail(unknown)}`);
    others.push([`a link, image or other tag of ${name}`, tags.join('')]);
  }
  for (const [name, text = ''] of others) {
    const found = placeholderIn(text);
    if (found !== null) {
      return malformed(
        `${name} has ${nameForDetail(found)}: placeholders are filled in texts of bodies`,
      );
    }
  }
  const marked = { ...payload, fill: 1 } as const;
  return lengthOf(marked) > PUSH_ENCODED_MAX ? new Refused('message_too_large') : marked;
}

/** Returns the greatest length of an encoded payload: filled with the longest values. */
export function lengthOf({ fill, ...payload }: StoredNotification): number {
  return encodePayload(fill ? mapBodies(payload, longestFilled) : payload).length;
}
