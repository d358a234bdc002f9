/**
 * Asks addresses that the operator typed whether the panel is reached there, beside the gate:
 * `gatepost doctor --outside`.
 */

import { about, type Finding } from '../base/finding.ts';
import { Failure } from '../http/upstream/exchange.ts';
import { probe, told } from '../http/upstream/probe.ts';
import type { Upstream } from '../http/upstream/settings.ts';
import { strangersPathOf } from '../http/upstream/strangers.ts';
import { askOutside, NOT_PUBLIC, OUTSIDE_BYTES_MAX, OUTSIDE_HEADERS } from '../outgoing/outside.ts';
import type { Resolve } from '../outgoing/resolve.ts';

/** The parts of an answer that are compared. */
interface Seen {
  status: number;
  /** The media type. */
  type: string;
  body: string;
}

interface Outside {
  upstreams: readonly Upstream[];
  /** The roots of servers, such as `https://panel.example.com/`. */
  places: readonly URL[];
  /** Networks that count as public. */
  allow: Parameters<typeof askOutside>[2]['allow'];
  /** For tests; absent: the machine's. */
  resolve?: Resolve;
}

const say = about('outside');

/** Asks each place once for each upstream. */
export async function checkOutside(outside: Outside): Promise<Finding[]> {
  const { upstreams, places } = outside;
  if (places.length === 0) return [];
  if (upstreams.length === 0) {
    const todo = 'run it where gate.upstream names the panel';
    return [
      say.warning(
        'outside_no_upstream',
        'there is no upstream whose panel could be compared with',
        todo,
      ),
    ];
  }
  const found = await Promise.all(upstreams.map((upstream) => checkUpstream(upstream, outside)));
  return found.flat();
}

async function checkUpstream(upstream: Upstream, outside: Outside): Promise<Finding[]> {
  const { host, url } = upstream;
  const path = strangersPathOf(upstream);
  const own = path === null ? 'it has no key_path' : await askPanel(upstream, path);
  if (path === null || typeof own === 'string') {
    return [
      say.warning(
        'outside_panel_silent',
        `the panel of ${host} gives no answer to a made-up key (${own}): no host was compared with it`,
        'ask the hosts from another network, with the path of a subscription: no servers may come',
        host,
      ),
    ];
  }
  // The panel has the path of the upstream's URL before that of the clients.
  const whole = new URL(url).pathname.replace(/\/$/, '') + path;
  const findings = outside.places.map((place) =>
    checkPlace({ upstream, own, place, path: whole }, outside),
  );
  const curl = `curl -sik -m 10 '${outside.places[0]?.origin}${whole}'`;
  const note = `asked from this machine, which a firewall may let through; ask from another one too: ${curl}`;
  return [
    ...(await Promise.all(findings)),
    say.ok(`${note}; the panel of ${host} itself answers ${show(own)}`),
  ];
}

interface Case {
  upstream: Upstream;
  /** The panel's own answer. */
  own: Seen;
  place: URL;
  path: string;
}

async function checkPlace(
  { upstream, own, place, path }: Case,
  { upstreams, allow, resolve }: Outside,
): Promise<Finding> {
  const name = place.host;
  const panel = `the panel of ${upstream.host}`;
  if (upstreams.some(({ host }) => host === place.hostname)) {
    const todo = 'name hosts and addresses of the panel';
    return say.warning(
      'outside_host_is_ours',
      `${name} is a host of the gate: it was not asked`,
      todo,
      name,
    );
  }
  const answer = await askOutside(place, path, { allow, resolve });
  if (answer === NOT_PUBLIC) {
    const todo = 'name the public addresses of the panel, and hosts that have one';
    return say.warning(
      'outside_not_public',
      `${name} has no public address: it was not asked`,
      todo,
      name,
    );
  }
  if (typeof answer === 'string') {
    return say.ok(`${panel} is not reached there: ${answer}`);
  }
  const { status, text: body } = answer;
  const seen: Seen = { status, type: typeOf(answer.header('content-type')), body };
  const { hostname, host: panelHost } = new URL(upstream.url);
  const isSame =
    seen.status === own.status &&
    seen.type === own.type &&
    bare(seen.body, [place.host, place.hostname]) ===
      bare(own.body, [upstream.host, panelHost, hostname]);
  if (!isSame)
    return say.ok(`${name} answers a made-up key otherwise than ${panel}: ${show(seen)}`);
  return say.problem(
    'panel_reached_beside_gate',
    `${name} answers a made-up key as ${panel} does (${show(own)}): the panel is reached beside the gate`,
    'let the panel answer the address of the gate alone: docs/gate.md, "The way beside"',
    name,
  );
}

/** Removes what differs by the way of a question: the hosts in order, and the scheme. */
const bare = (body: string, hosts: readonly string[]) =>
  hosts.reduce((text, host) => text.replaceAll(host, ''), body.replace(/https?:\/\//g, '//'));

const show = ({ status, type, body }: Seen) =>
  [status, type, `${Buffer.byteLength(body)} bytes`].filter(Boolean).join(', ');

const typeOf = (header: string | null) => header?.split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Asks the panel by its URL. Returns the reason if there is no answer. */
async function askPanel(upstream: Upstream, path: string): Promise<Seen | string> {
  const headers = { ...OUTSIDE_HEADERS, 'accept-encoding': 'identity' };
  const seen = await probe(upstream, { method: 'GET', path, headers }, async (answer) => {
    const { status, headers: given, body } = answer;
    const bytes = await new Response(body()).bytes().catch(() => null);
    if (bytes === null) return 'the answer broke off';
    const type = typeOf(given.get('content-type'));
    return { status, type, body: Buffer.from(bytes.subarray(0, OUTSIDE_BYTES_MAX)).toString() };
  });
  return seen instanceof Failure ? told(seen) : seen;
}
