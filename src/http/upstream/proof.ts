/** Tells by the response of a panel whether it knows the key: only a subscription proves one. */

import { listsServers, SUBSCRIPTION_HEADERS } from '../../core/subscription.ts';
import { Decoder } from './decoder.ts';
import type { FailureKind, UpstreamResponse } from './exchange.ts';
import { isPage } from './headers.ts';

/** The decoded bytes of a body that are read. */
const LOOK_BYTES = 64 * 1024;

/**
 * The kinds of answers with a status of success:
 *
 * | | the response |
 * |---|---|
 * | `subscription` | a 200 with a header of subscriptions and a body, or with a list of servers |
 * | `other` | a 200 with another body |
 * | `unclear` | a 200 whose body was not waited for |
 * | `none` | another status, a page, or no body |
 */
type Proof = (typeof PROOFS)[number];
const PROOFS = ['subscription', 'other', 'unclear', 'none'] as const;

export const isProof = (found: Proof | FailureKind): found is Proof =>
  (PROOFS as readonly string[]).includes(found);

/**
 * Reads the proof in a response to GET; the response stays complete. Waits for as much of the body
 * as decides, or with `waits` false only for its beginning. Returns a kind of failure if the panel
 * fails meanwhile.
 */
export async function proofIn(
  { status, headers, peek }: UpstreamResponse,
  waits: boolean,
): Promise<Proof | FailureKind> {
  if (status !== 200) return 'none';
  const isHtml = isPage(headers);
  const isNamed = !isHtml && SUBSCRIPTION_HEADERS.some((name) => headers.has(name));
  const decoder = Decoder.of(headers.get('content-encoding'), LOOK_BYTES);
  let isEmpty = true;
  let lists = decoder === null ? false : (null as boolean | null);
  // A panel that writes byte by byte must not make each byte costly.
  let decideFrom = 0;
  const failure = await peek(async (part, isLast) => {
    isEmpty &&= part.length === 0;
    if (isNamed || decoder === null) return !isEmpty;
    await decoder.add(part);
    const isAll = isLast || decoder.isFull;
    if (isAll || decoder.length >= decideFrom) {
      lists = listsServers(decoder.bytes.toString(), isAll);
      decideFrom = decoder.length * 1.25;
    }
    return lists !== null || !(waits || isHtml || isEmpty);
  });
  const start = decoder?.bytes.toString() ?? '';
  decoder?.end();
  if (failure !== null) return failure.kind;
  if (isEmpty) return 'none';
  if (isNamed || lists === true) return 'subscription';
  if (lists === null && !waits && !isHtml) return 'unclear';
  if (lists === null && listsServers(start, true)) return 'subscription';
  return isHtml ? 'none' : 'other';
}
