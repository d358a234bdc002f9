/**
 * Asks addresses that the operator types whether the panel is reached there beside the gate: with a
 * made-up key of its form, and compares with the panel's own answer to that key.
 */

import { lookup } from 'node:dns/promises';
import type { Config } from '../config/settings/index.ts';
import { isCallable } from '../core/outbox/address.ts';
import { about, type Finding } from '../finding.ts';
import { madeUpKey } from '../http/upstream/look.ts';
import type { Upstream } from '../http/upstream/settings.ts';

const say = about('outside');
const ASK_MAX_MS = 5_000;
const BODY_BYTES_MAX = 64 * 1024;

/** An answer without what changes from one to the next. */
interface Said {
  status: number;
  type: string;
  body: string;
}

/** Asks each address once for each panel. */
export async function checkOutside(
  {
    gateUpstreams,
    outgoingAllow,
  }: { gateUpstreams: readonly Upstream[] } & Pick<Config, 'outgoingAllow'>,
  places: readonly string[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const place of places) {
    const origin = /^https?:\/\//i.test(place) ? place : `https://${place}`;
    const url = URL.canParse(origin) ? new URL(origin) : null;
    if (url === null || !(await isPublic(url.hostname, outgoingAllow))) {
      findings.push(
        say.warning(`${place} is not a public address, and is not asked`, 'give its public one'),
      );
      continue;
    }
    for (const upstream of gateUpstreams) findings.push(await compare(upstream, url, place));
  }
  return findings;
}

async function isPublic(name: string, allow: Config['outgoingAllow']): Promise<boolean> {
  const host = name.replace(/^\[|\]$/g, '');
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.length > 0 && found.every(({ address }) => isCallable(address, allow));
}

async function compare(upstream: Upstream, url: URL, place: string): Promise<Finding> {
  const { host, keyPaths } = upstream;
  const template = keyPaths[0]?.text;
  if (template === undefined) return say.ok(`${host} has no key_path, and is not looked for`);
  const path = template.replace('{key}', madeUpKey(upstream));
  const [own, outside] = [
    await ask(`${upstream.url}${path}`, host),
    await ask(`${url.origin}${path}`, host),
  ];
  if (typeof outside === 'string')
    return say.ok(`${place} does not answer for ${host} (${outside})`);
  if (typeof own === 'string') {
    const todo = 'check url of gate.upstream';
    return say.warning(`the panel of ${host} does not answer (${own}): nothing to compare`, todo);
  }
  const isSame =
    own.status === outside.status && own.type === outside.type && own.body === outside.body;
  if (!isSame) {
    return say.ok(`${place} answers ${outside.status} for ${host}, and not as the panel does`);
  }
  const curl = `curl -sik -H 'Host: ${host}' '${url.origin}${path}'`;
  return say.problem(
    `${place} answers for ${host} as the panel does (${own.status}), asked from this machine: customers reach it beside the gate, without a limit`,
    `let only Gatepost reach the panel there (its page in docs/ says how); from another machine ask by  ${curl}`,
  );
}

/** Asks without a header that names us, and without following a redirect. */
async function ask(url: string, host: string): Promise<Said | string> {
  try {
    const answer = await fetch(url, {
      headers: { host, accept: '*/*', 'user-agent': 'Mozilla/5.0' },
      redirect: 'manual',
      signal: AbortSignal.timeout(ASK_MAX_MS),
      // By an address the certificate names another host.
      tls: { rejectUnauthorized: false },
    });
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of answer.body ?? []) {
      parts.push(part);
      length += part.length;
      if (length >= BODY_BYTES_MAX) break;
    }
    const body = Buffer.concat(parts).subarray(0, BODY_BYTES_MAX).toString('latin1');
    const type = answer.headers.get('content-type') ?? '';
    return { status: answer.status, type, body };
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown };
    return String(code ?? name ?? 'no answer');
  }
}
