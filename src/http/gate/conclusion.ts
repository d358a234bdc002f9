/** Conclusions of the gate, and the responses that proxies get for them. */

import type { RefusedAtDoor } from '../../core/door-refusals.ts';
import { HWID } from '../../core/formats.ts';
import type { Denied } from '../../core/named-link.ts';
import { respond } from '../answer/respond.ts';
import type { MessageKey } from '../messages.ts';
import { announcing, hasText, type TextSettings, textFor, textNameOf } from './texts.ts';

export interface Conclusion {
  says: MessageKey;
  /** A detail instead of the message's own. */
  detail?: string | undefined;
  /** A more precise reason than the message, for the log and the metrics. */
  reason?: string | undefined;
  /** The refusal of the door. */
  refused?: RefusedAtDoor;
  requestId?: string;
  /** True if it reveals to a guesser that there is no such link. */
  isGuess?: boolean;
  /** True if no link was looked for. */
  isUnnamed?: boolean;
  /** Headers for the response of the panel, if the device takes a slot. */
  headers?: Record<string, string>;
}

export const ADMITTED: Conclusion = { says: 'ok' };

export const conclusionOf = ({ refused, isGuess, isUnnamed }: Denied): Conclusion => ({
  says: refused.says,
  detail: refused.detail,
  reason: refused.reason,
  refused,
  isGuess,
  isUnnamed,
});

/**
 * Refusals of requests that name no link. To strangers a proxy answers as at any other path of its
 * own, so where strangers are answered quietly these have no header.
 */
const UNNAMED: ReadonlySet<MessageKey> = new Set([
  'gate_method',
  'gate_unclear',
  'gate_untrusted',
  'unknown_error',
]);

export const LET_THROUGH_HEADERS = { 'x-hwid-active': 'true', 'cache-control': 'no-store' };
const LET_THROUGH = { status: 204, headers: new Headers(LET_THROUGH_HEADERS) };

/** Details in place of those of messages that were written for another call. */
const DETAILS: Readonly<Partial<Record<MessageKey, string>>> = {
  hwid_required: `the app tells no device: x-hwid must be ${HWID.rule}`,
  link_not_found:
    'the request names no limited link, or its host is not actively bound to the provider',
};

/** Makes the response that lets a request through. */
export function letThrough({ headers }: Conclusion): Response {
  return new Response(null, headers === undefined ? LET_THROUGH : { status: 204, headers });
}

export const isGuess = (conclusion: Conclusion): boolean =>
  conclusion.says === 'link_not_found' || conclusion.isGuess === true;

/** Returns whether a refusal is that of a request that names no link. */
export const isOfStranger = (conclusion: Conclusion): boolean =>
  isGuess(conclusion) || conclusion.isUnnamed === true || UNNAMED.has(conclusion.says);

interface Refusing {
  settings: TextSettings;
  /** The address where the user may free a place; null: none. */
  page: string | null;
  requestId: string | undefined;
}

/** Makes a refusal, with a text in the language of the request. */
export function refusalOf(
  { says, detail = DETAILS[says], reason }: Conclusion,
  request: Request,
  { settings, page, requestId }: Refusing,
): Response {
  const { body, headers } = respond(says, { detail, requestId });
  headers.set('x-hwid-active', 'true');
  if (hasText(says)) {
    const wording = textFor(settings, textNameOf({ says, reason }), request.headers, page);
    const forPeople = announcing(wording, page, request.headers.get('user-agent'));
    for (const [name, value] of Object.entries(forPeople)) headers.set(name, value);
  }
  return new Response(body, { status: says === 'unknown_error' ? 500 : 403, headers });
}
