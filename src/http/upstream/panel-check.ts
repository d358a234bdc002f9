/** Asks a panel whether it answers, for the doctor and for an operator who adds an upstream. */

import { hostInUrl } from '../../base/whereabouts.ts';
import { panelOf } from '../../core/panel/kind.ts';
import type { PanelReaction } from '../../core/port/upstream.ts';
import { Failure } from './exchange.ts';
import { type Probe, probe, told } from './probe.ts';
import type { Upstream } from './settings.ts';
import { askAsStranger, type StrangerAnswer } from './strangers.ts';

/**
 * Asks a panel at most three questions in turn; the last one asks all templates at once. Passes the
 * header `Date` of the first answer to `onDate`.
 */
export async function checkPanel(
  upstream: Upstream,
  { host, port }: { readonly host: string; readonly port: number },
  onDate: (date: string) => void = () => {},
): Promise<PanelReaction> {
  if (isOwnAddress(upstream, host, port)) return { state: 'own_address', detail: '' };
  const { asked, outcome } = await firstStatus(upstream, onDate);
  if (outcome instanceof Failure) {
    if (outcome.isDropped) return { state: 'drops', detail: '' };
    const why = told(outcome);
    return { state: OF_CERTIFICATE.test(why) ? 'not_trusted' : 'silent', detail: why };
  }
  const answers = await askAsStranger(upstream);
  const served = answers.find((answer) => isServed(upstream, answer));
  if (served !== undefined) {
    return { state: 'answers_any_key', detail: `${said(served)} with a made-up key` };
  }
  const fails = answers.length === 0 ? outcome >= 500 : answers.some(isFault);
  const all = new Set([`${outcome} to ${asked}`, ...answers.map(said)]);
  return { state: fails ? 'fails' : 'answers', detail: [...all].join(', ') };
}

/** A panel without a name is held to no subscription: each 2xx may be one. */
function isServed(upstream: Upstream, { outcome, makesLink }: StrangerAnswer): boolean {
  if (makesLink) return true;
  const isGood = typeof outcome === 'number' && outcome >= 200 && outcome < 300;
  return isGood && panelOf(upstream) === null;
}

const isFault = ({ outcome }: StrangerAnswer) =>
  outcome instanceof Failure ? !outcome.isDropped : outcome >= 500;

const said = ({ text, outcome }: StrangerAnswer) =>
  `${outcome instanceof Failure ? told(outcome) : outcome} to GET ${text}`;

/** Faults of a certificate, as OpenSSL and Node call them. */
const OF_CERTIFICATE = /CERT|SIGNATURE|ISSUER|CRL/;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

function isOwnAddress({ url }: Upstream, host: string, port: number): boolean {
  const { hostname, port: panelPort, protocol } = new URL(url);
  const isPort = Number(panelPort || (protocol === 'https:' ? 443 : 80)) === port;
  return isPort && (hostname === hostInUrl(host) || LOOPBACK.test(hostname));
}

const HEAD: Probe = { method: 'HEAD', path: '/' };

/**
 * Sends a request that a panel answers with any status. Some, such as the page of Remnawave, close
 * the connection for every path without a known key, but answer a preflight.
 */
async function firstStatus(
  upstream: Upstream,
  onDate: (date: string) => void,
): Promise<{ asked: string; outcome: number | Failure }> {
  const outcome = await probe(upstream, HEAD, async ({ status, headers }) => {
    const date = headers.get('date');
    if (date !== null) onDate(date);
    return status;
  });
  const isDropped = outcome instanceof Failure && outcome.isDropped;
  if (!isDropped) return { asked: 'HEAD /', outcome };
  const headers = {
    origin: `https://${upstream.host}`,
    'access-control-request-method': 'GET',
  };
  const request: Probe = { method: 'OPTIONS', path: '/', headers };
  const second = await probe(upstream, request, async ({ status }) => status);
  return { asked: 'OPTIONS /', outcome: second };
}
