/** Builds responses from the table of messages. */

import { type MessageKey, messages } from '../messages.ts';

/** Headers of every answer. */
const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/** An answer as it goes out. */
export interface Outgoing {
  /** The serialised body: {@link bodyOf}. */
  payload: string | Blob;
  /** The sentence for `x-error-detail`, instead of the message's own. */
  detail?: string | undefined;
  /** Headers of this answer alone. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The id of the request in the log. */
  requestId?: string | undefined;
  /** True if the connection closes after it. */
  isLast?: boolean | undefined;
}

/** Builds the responses of one endpoint. */
export class Responses {
  readonly #headers: Readonly<Record<string, string>>;
  /** Built once: a Response with Headers takes 0.2 µs, with an object 0.7 µs (measured). */
  readonly #made = new Map<MessageKey, ResponseInit>();

  /** `headers` are those of the endpoint. */
  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = { ...HEADERS, ...headers };
  }

  respond(says: MessageKey, { payload, detail, headers, requestId, isLast }: Outgoing): Response {
    const isUsual = detail === undefined && requestId === undefined && headers === undefined;
    if (isUsual && !isLast) return new Response(payload, this.#usual(says));
    const all = {
      ...this.#headers,
      ...(isLast && { connection: 'close' }),
      ...headersOf(says, detail),
      ...headers,
      ...(requestId && { 'x-request-id': requestId }),
    };
    return new Response(payload, { headers: all });
  }

  #usual(says: MessageKey): ResponseInit {
    const made = this.#made.get(says);
    if (made !== undefined) return made;
    const init = { headers: new Headers({ ...this.#headers, ...headersOf(says) }) };
    this.#made.set(says, init);
    return init;
  }
}

function headersOf(
  says: MessageKey,
  detail: string | undefined = messages[says].detail,
): Record<string, string> {
  return { ...(detail && { 'x-error-detail': detail }), ...messages[says].headers };
}

const responses = new Responses();

/** Builds the response to a request for no endpoint. */
export function respond(says: MessageKey, more: Omit<Outgoing, 'payload'> = {}): Response {
  return responses.respond(says, { ...more, payload: bodyOf(says) });
}

/** Bodies of answers without fields. */
const bareTexts = Object.fromEntries(
  Object.entries(messages).map(([says, { rc, msg }]) => [says, JSON.stringify({ rc, msg })]),
) as Record<MessageKey, string>;

/** Serialises the body of an answer: `rc` and `msg`, then its fields. */
export function bodyOf(says: MessageKey, body?: Readonly<Record<string, unknown>>): string {
  if (body === undefined) return bareTexts[says];
  const { rc, msg } = messages[says];
  return JSON.stringify({ rc, msg, ...body });
}
