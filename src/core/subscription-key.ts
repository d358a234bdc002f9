/** The keys of subscriptions: plain ones, and the users whose tokens open links. */

import { text } from './formats.ts';
import { SIGNED_FORMS } from './panel/kind.ts';

export const SUBSCRIPTION_KEY_LENGTH_MAX = 256;

// Excludes dot segments of paths, white space, control characters, and invisible characters, which
// some servers drop, but for those that join the parts of an emoji.
const EMOJI_JOINT = String.raw`(?<=[\p{Extended_Pictographic}\p{EMod}\uFE0F])[\uFE0F\u200D]`;
const PLAIN_KEY = String.raw`(?!\.{1,2}$)(?:(?![\p{DI}\p{White_Space}])[^/\\\p{Cc}\p{Cs}\uFFFD]|${EMOJI_JOINT}){1,256}`;
/** Keys of links that a panel's tokens open: see core/panel/token.ts. */
export const PANEL_USER = SIGNED_FORMS.map(({ pattern }) => pattern).join('|');
const PLAIN_KEY_RULE = `1 to ${SUBSCRIPTION_KEY_LENGTH_MAX} visible characters without / and \\`;

/**
 * A panel's key of a subscription in a path, percent-decoded: base64url, an id, a UUID, a token, or
 * a name or e-mail address in any script, in its exact spelling. It has no slash: no path spells a
 * user of a panel.
 */
export const readPlainKey = text(new RegExp(`^${PLAIN_KEY}$`, 'u'), PLAIN_KEY_RULE).read;

/** The key of a link: a plain one, or the user whose tokens open it. */
export const SUBSCRIPTION_KEY = text(
  new RegExp(`^(?:${PLAIN_KEY}|${PANEL_USER})$`, 'u'),
  [`${PLAIN_KEY_RULE}; or `, SIGNED_FORMS.map(({ rule }) => rule).join(', ')].join(''),
);
export const readSubscriptionKey = SUBSCRIPTION_KEY.read;
