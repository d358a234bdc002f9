/** Builds responses: all have the same headers, and no answer's words but those of the table. */

import { type MessageKey, messages } from './messages.ts';

/** Headers of every answer. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
};

/** Builds the response for an answer; `headers` has those of {@link HEADERS} too. */
export function respond(
  says: MessageKey,
  more: {
    body?: Readonly<Record<string, unknown>> | undefined;
    /** The body as text, if it has been written already. */
    payload?: string | Blob | undefined;
    detail?: string | undefined;
    headers?: Readonly<Record<string, string>> | undefined;
    /** Under which the request is in the log. */
    requestId?: string | undefined;
  } = {},
): Response {
  const message = messages[says];
  const { body, detail = message.detail, headers = HEADERS, requestId } = more;
  const { payload = textOf(says, body) } = more;
  if (!detail && !message.headers && !requestId) return new Response(payload, { headers });
  const named = {
    ...(detail && { 'x-error-detail': detail }),
    ...(requestId && { 'x-request-id': requestId }),
    ...message.headers,
  };
  return new Response(payload, { headers: { ...headers, ...named } });
}

/** The body of an answer: `rc` and `msg`, then the fields that it has. */
export function textOf(
  says: MessageKey,
  body: Readonly<Record<string, unknown>> | undefined,
): string {
  const { rc, msg } = messages[says];
  return JSON.stringify({ rc, msg, ...body });
}
