/** One call to the API of a panel, with bounded time and answer. Redirects are not followed. */

import { Silent } from '../../core/panel/api.ts';
import type { UpstreamClient } from './client.ts';
import { decodedFor } from './decoded-response.ts';
import { Failure, type FailureKind } from './exchange.ts';

const ANSWER_BYTES_MAX = 1024 * 1024;

interface PanelCall {
  path: string;
  headers: Readonly<Record<string, string>>;
  /** Ends the call; the panel may be silent for `timeoutMs`. */
  signal: AbortSignal;
  timeoutMs: number;
  /** The largest answer, bytes; absent: {@link ANSWER_BYTES_MAX}. */
  answerBytesMax?: number;
  /** The fields of a form, which is sent by POST; absent: GET. */
  form?: Readonly<Record<string, string>>;
  /** A change, which is sent as JSON. */
  change?: { method: 'POST' | 'PUT'; body: unknown };
}

/** Returns the body of a call with its type; null: a GET has none. */
function bodyOf({ change, form }: PanelCall): { type: string; text: string } | null {
  if (change !== undefined) return { type: 'application/json', text: JSON.stringify(change.body) };
  if (form === undefined) return null;
  return {
    type: 'application/x-www-form-urlencoded',
    text: new URLSearchParams(form).toString(),
  };
}

/** Calls the API. Throws {@link Silent} without a response. */
export async function callPanel(client: UpstreamClient, call: PanelCall) {
  const { answerBytesMax = ANSWER_BYTES_MAX, path, signal, timeoutMs } = call;
  const sent = bodyOf(call);
  const body = sent?.text ?? '';
  const ofBody = sent !== null && {
    'content-type': sent.type,
    'content-length': String(Buffer.byteLength(body)),
  };
  const own = { host: client.host, accept: 'application/json' };
  const headers = { ...own, ...call.headers, ...ofBody };
  let ended: Failure | null = null;
  const onEnd = (failure: Failure | null) => {
    ended = failure;
  };
  const method = call.change?.method ?? (sent === null ? 'GET' : 'POST');
  const bounds = { timeoutMs, answerBytesMax };
  const response = await client.send(bounds, { method, path, headers, signal, onEnd, body });
  const silence = ({ kind, code }: Failure) =>
    new Silent(signal.aborted ? 'API_SLOW' : code, !OF_QUESTION.includes(kind));
  if (response instanceof Failure) throw silence(response);
  const reading = { ...bounds, accepted: null, onFailure: onEnd };
  const plain = await decodedFor(response, reading);
  if (plain instanceof Failure) throw silence(plain);
  const text = () =>
    new Response(plain.body()).text().catch(() => {
      throw ended === null ? new Silent('API_ANSWER') : silence(ended);
    });
  return { status: response.status, cancel: response.cancel, text };
}

/** Failures that one user of a panel can cause. */
const OF_QUESTION: readonly FailureKind[] = ['upstream_too_large', 'bad_request'];
