/**
 * Finds the number of the user in an old token of a panel whose old tokens have the name, new ones
 * the number, and which knows both.
 */

import type { KeyInPath } from '../../core/key-path.ts';
import type { SignedForm } from '../../core/panel/key-form.ts';
import { readPanelToken } from '../../core/panel/token.ts';
import { Failure, type UpstreamResponse } from './exchange.ts';
import type { ProxyError } from './responses.ts';

/** The most users of a panel whose numbers are cached. */
const KEPT_MAX = 10_000;
const BODY_BYTES_MAX = 64 * 1024;

/** Returns the path at which the panel describes the user of the token in a path. */
export function infoPathOf(form: SignedForm, path: string): string {
  const segments = path.split('/');
  const at = segments.findIndex((segment) => readPanelToken(form, segment) !== null);
  return [...segments.slice(0, at + 1), 'info'].join('/');
}

/**
 * Finds the link of the user in an old token, so that all tokens of one user are one link. The
 * panel's 2xx proves the token. A panel that has no numbers yet keeps the name as the key. Null:
 * the panel refuses the token.
 */
export async function askForUser(
  { keyOfUser }: SignedForm,
  userIds: Map<string, string>,
  named: KeyInPath,
  name: string,
  ask: () => Promise<UpstreamResponse | Failure | ProxyError>,
): Promise<KeyInPath | ProxyError | null> {
  const known = userIds.get(name);
  if (known !== undefined) return { ...named, key: keyOfUser(known) };
  const response = await ask();
  if (typeof response === 'string') return response;
  if (response instanceof Failure) return response.kind;
  const { status } = response;
  if (status < 200 || status > 299) {
    response.cancel();
    return status >= 400 && status < 500 ? null : 'upstream_malformed';
  }
  const { id, username } = await readInfo(response);
  if (username !== name) return 'upstream_malformed';
  if (id === undefined) return { ...named, isProven: true };
  if (!Number.isSafeInteger(id) || Number(id) < 1) return 'upstream_malformed';
  if (userIds.size >= KEPT_MAX) userIds.clear();
  userIds.set(name, String(id));
  return { key: keyOfUser(String(id)), isProven: true };
}

/** Parses the JSON of a response; returns an empty record if it is invalid or too long. */
async function readInfo(response: UpstreamResponse): Promise<{ id?: unknown; username?: unknown }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of new Response(response.body()).body ?? []) {
      length += part.length;
      if (length > BODY_BYTES_MAX) throw new RangeError('the answer is too long');
      parts.push(part);
    }
    const info: unknown = JSON.parse(Buffer.concat(parts).toString());
    return typeof info === 'object' && info !== null ? info : {};
  } catch {
    // A loop that throws cancels the body.
    return {};
  }
}
