/**
 * Asks the public addresses of this server whether what it needs comes through: upgrades, streams,
 * the host and long headers. By `https` alone, with no credentials.
 */

import { randomBytes } from 'node:crypto';
import { systemClock } from '../base/clock.ts';
import { about, type Finding } from '../base/finding.ts';
import { publicUrls } from '../config/public-address.ts';
import type { Config } from '../config/settings/index.ts';
import {
  PROBE_FILL_BYTES,
  PROBE_HEADER,
  PROBE_PATH,
  PROBE_PAUSE_MS,
  type ProbeSeen,
  signProbe,
} from '../core/public-probe.ts';
import type { OutgoingAnswer } from '../outgoing/call.ts';
import { askOutside, NOT_PUBLIC } from '../outgoing/outside.ts';
import type { Resolve } from '../outgoing/resolve.ts';

interface PublicOptions {
  config: Config;
  /** Names of the served certificate; null: there is none. */
  names: readonly string[] | null;
  /** The key of the database; null: it cannot be read. */
  signingKey: Uint8Array | null;
  nowMs: number;
  /** For tests; absent: the machine's. */
  resolve?: Resolve | undefined;
}

const say = about('public address');
/** Most addresses that are asked. */
const COUNT_MAX = 20;
const PAGE = 'docs/trouble.md, "Behind a proxy"';
const STREAM_PATH = '/device/stream';

/** Asks each address once for each fact. */
export async function checkPublic(options: PublicOptions): Promise<Finding[]> {
  const { config, names, signingKey } = options;
  if (signingKey === null) return [];
  const own = publicUrls(config, names).map((url) => ({ url: new URL(url), isOwn: true }));
  const panels = config.gateUpstreams.map(({ host }) => ({
    url: new URL(`https://${host}`),
    isOwn: false,
  }));
  const asked = [...own, ...panels].filter(({ url }) => url.protocol === 'https:');
  if (asked.length === 0) {
    return [say.ok('no setting names a public address, so none was asked: my.url does')];
  }
  const found = await Promise.all(
    asked.slice(0, COUNT_MAX).map((place) => checkPlace(place, { ...options, signingKey })),
  );
  return found.flat();
}

interface Place {
  url: URL;
  /** Whether bots, apps and people reach Gatepost itself there; else a panel. */
  isOwn: boolean;
}

type Known = PublicOptions & { signingKey: Uint8Array };

async function checkPlace({ url, isOwn }: Place, known: Known): Promise<Finding[]> {
  const { config } = known;
  const name = url.origin;
  const ask: Ask = (path, more) =>
    askOutside(url, path, { allow: config.outgoingAllow, resolve: known.resolve, ...more });
  const signature = signProbe(known.signingKey, known.nowMs);
  const path = `${PROBE_PATH}?sign=${signature}`;
  const answer = await ask(path);
  if (answer === NOT_PUBLIC) {
    const todo = 'ask from another machine, or name its network in outgoing.allow';
    const what = `${name} has no public address here: it was not asked`;
    return [say.warning('public_address_not_public', what, todo, name)];
  }
  if (typeof answer === 'string') {
    const todo = `ask from another machine: curl -si -m 10 '${name}${STREAM_PATH}' answers 401`;
    const what = `this machine does not reach ${name}: ${answer}`;
    return [say.warning('public_address_unreached', what, todo, name)];
  }
  const seen = seenIn(answer, signature);
  if (seen === null) return [elsewhere(name, answer.status, isOwn ? say.problem : say.warning)];
  const changed = arrival(name, url, seen);
  const findings = [
    ...changed,
    ...((await isHeldBack(ask, path)) ? [buffered(name)] : []),
    ...(ridesIn(config) ? cut(name, await ask(`${path}&fill=1`)) : []),
    // A request for another host reaches no stream.
    ...(isOwn && changed.length === 0
      ? notUpgraded(name, await ask(STREAM_PATH, { headers: handshake() }))
      : []),
  ];
  return findings.length > 0 ? findings : [say.ok(`${name} passes all that Gatepost needs`)];
}

type Ask = (
  path: string,
  more?: { headers?: Record<string, string>; onPart?: () => void },
) => ReturnType<typeof askOutside>;

/** Returns whether both parts of an answer come together, twice: once this machine may be slow. */
async function isHeldBack(ask: Ask, path: string): Promise<boolean> {
  for (let attempt = 1; attempt <= 2; attempt++) {
    const parts: number[] = [];
    await ask(`${path}&parts=2`, { onPart: () => void parts.push(systemClock.steadyMs()) });
    const apartMs = (parts.at(-1) ?? 0) - (parts[0] ?? 0);
    if (apartMs >= PROBE_PAUSE_MS / 2) return false;
  }
  return true;
}

/** Returns what the server saw; null: the answer is that of another one. */
function seenIn({ header, text }: OutgoingAnswer, signature: string): ProbeSeen | null {
  if (header(PROBE_HEADER) !== signature) return null;
  const [, json = ''] = /^data: (\{.*\})$/m.exec(text) ?? [];
  try {
    return JSON.parse(json) as ProbeSeen;
  } catch {
    return null;
  }
}

function elsewhere(name: string, status: number, level: typeof say.problem): Finding {
  return level(
    'public_address_elsewhere',
    `${name} does not lead to this Gatepost: another server answers ${status}`,
    `let the name and the proxy in front lead here, with ${PROBE_PATH} as all other paths: ${PAGE}`,
    name,
  );
}

/** Compares how a question arrived with how it was asked. */
function arrival(name: string, url: URL, { host, scheme, proxy }: ProbeSeen): Finding[] {
  if (proxy === 'untrusted') {
    return [
      say.problem(
        'public_proxy_not_trusted',
        `${name} comes through a proxy that is not in server.trusted_proxies: all clients count as one`,
        `add the address of the proxy to server.trusted_proxies: ${PAGE}`,
        name,
      ),
    ];
  }
  const isHost = host.replace(/:\d+$/, '') === url.host.replace(/:\d+$/, '');
  return [
    ...(isHost
      ? []
      : [
          say.problem(
            'public_host_changed',
            `at ${name} the proxy sends the host ${host}: the console does not open, and no panel or binding is found`,
            `let it send the host of the client: ${PAGE}`,
            name,
          ),
        ]),
    ...(scheme === 'https'
      ? []
      : [
          say.problem(
            'public_scheme_lost',
            `at ${name} the proxy does not say that the client came by https: the console does not open`,
            `let it send X-Forwarded-Proto, and name it in server.trusted_proxies: ${PAGE}`,
            name,
          ),
        ]),
  ];
}

const buffered = (name: string) =>
  say.warning(
    'public_streams_buffered',
    `at ${name} the proxy holds back the parts of an answer until its end: open pages of the console learn of nothing`,
    `turn its buffering off for Gatepost: ${PAGE}`,
    name,
  );

/** Returns whether messages ride on subscriptions. */
const ridesIn = ({ gateRide, gateUpstreams }: Config) =>
  gateRide !== 'off' || gateUpstreams.some(({ ride }) => ride !== 'off');

function cut(name: string, answer: OutgoingAnswer | typeof NOT_PUBLIC | string): Finding[] {
  if (typeof answer === 'object' && answer.header('announce')?.length === PROBE_FILL_BYTES)
    return [];
  const what = typeof answer === 'object' ? `it answers ${answer.status}` : String(answer);
  return [
    say.problem(
      'public_headers_too_long',
      `${name} does not pass headers of ${PROBE_FILL_BYTES} bytes, as a message that rides has (${what})`,
      'in nginx set proxy_buffer_size 32k and proxy_buffers 8 32k: docs/trouble.md, "502, 503, 504, or an app that shows nothing"',
      name,
    ),
  ];
}

/** Makes the headers of a handshake without a token. */
const handshake = () => ({
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': randomBytes(16).toString('base64'),
});

function notUpgraded(name: string, answer: OutgoingAnswer | typeof NOT_PUBLIC | string): Finding[] {
  if (typeof answer === 'object' && answer.status === 101) return [];
  const what = typeof answer === 'object' ? `it answers ${answer.status}` : String(answer);
  return [
    say.problem(
      'public_upgrades_missing',
      `at ${name}${STREAM_PATH} no WebSocket opens (${what}): devices poll in place of streams`,
      `let the proxy pass the headers Upgrade and Connection, by HTTP/1.1: ${PAGE}`,
      name,
    ),
  ];
}
