/** Checks that the names of the settings resolve, and lead to this machine where that matters. */

import { networkInterfaces } from 'node:os';
import { wordsOfErrno } from '../base/errno.ts';
import { about, type Finding } from '../base/finding.ts';
import type { Config } from '../config/settings/index.ts';
import { isCallable } from '../core/outbox/address.ts';
import { type Resolve, systemResolve } from '../outgoing/resolve.ts';

const say = about('names');
/** The most names that are looked up; the resolver has its own time limit for each. */
const NAMES_MAX = 64;
/** Ends of names of the documentation (RFC 2606), of this machine and of its network. */
const LOCAL_ENDS =
  /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|localhost|local|internal|home\.arpa)$/;
const IS_ADDRESS = /^\[|^[\d.]+$|:/;

interface Machine {
  resolve: Resolve;
  /** Returns whether the name servers of the Internet may know a name. */
  mayKnow(name: string): boolean;
  /** The addresses of this machine. */
  addresses: readonly string[];
}

const thisMachine = (): Machine => ({
  resolve: systemResolve,
  mayKnow: (name) => name.includes('.') && !LOCAL_ENDS.test(name),
  addresses: Object.values(networkInterfaces()).flatMap((of) =>
    (of ?? []).map(({ address }) => address.toLowerCase()),
  ),
});

type NameSettings = Pick<
  Config,
  | 'acmeChallenge'
  | 'acmeDomains'
  | 'databaseUrl'
  | 'gateUpstreams'
  | 'host'
  | 'ownHosts'
  | 'tlsCertificate'
  | 'trustedProxies'
>;

/** Looks up the names of the server and of its panels. `isProxied`: a proxy is trusted. */
export async function checkServerNames(
  settings: NameSettings,
  isProxied: boolean,
  machine = thisMachine(),
): Promise<Finding[]> {
  const { acmeDomains, ownHosts, gateUpstreams } = settings;
  const isLooked = (name: string) =>
    !name.startsWith('*') && !IS_ADDRESS.test(name) && machine.mayKnow(name);
  const own = new Set([...acmeDomains, ...gateUpstreams.map(({ host }) => host), ...ownHosts]);
  const panels = new Set(gateUpstreams.map(({ url }) => new URL(url).hostname));
  const names = [...new Set([...own, ...panels])].filter(isLooked).slice(0, NAMES_MAX);
  const answers = await Promise.all(names.map((name) => lookUp(name, machine.resolve)));
  const silent = answers.find(({ isSilent }) => isSilent);
  if (silent !== undefined && answers.every(({ addresses }) => addresses.length === 0)) {
    const why = `the name servers of this machine do not answer: ${silent.why}`;
    return [
      say.problem(
        'name_servers_silent',
        why,
        "check /etc/resolv.conf and the network ('resolvectl status'): nothing is reached until then",
      ),
    ];
  }
  // Behind a proxy or on one of several nodes another machine has the names.
  const mustBeHere = !isProxied && settings.databaseUrl === null && hasOwnTls(settings);
  return answers.flatMap((answer) => {
    if (answer.addresses.length === 0) return [unresolved(answer, own, panels)];
    const foreign =
      mustBeHere && own.has(answer.name) ? foreignOf(answer.addresses, machine.addresses) : [];
    return foreign.length === 0 ? [] : [elsewhere(answer.name, foreign, settings)];
  });
}

const hasOwnTls = ({ acmeDomains, tlsCertificate, host }: NameSettings) =>
  (acmeDomains.length > 0 || tlsCertificate !== '') && !/^(?:127\.|::1$|localhost$)/.test(host);

interface LookedUp {
  name: string;
  addresses: readonly string[];
  why: string;
  /** True: no name server answered, so that nothing is known of the name. */
  isSilent: boolean;
}

async function lookUp(name: string, resolve: Resolve): Promise<LookedUp> {
  try {
    return { name, addresses: await resolve(name), why: '', isSilent: false };
  } catch (fault) {
    const cause = fault instanceof Error ? (fault.cause ?? fault) : fault;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const isKnown = code === '' || code === 'ENOTFOUND' || code === 'ENODATA';
    const why = code === '' ? 'the name has no address' : wordsOfErrno(code);
    return { name, addresses: [], why, isSilent: !isKnown };
  }
}

function unresolved(
  { name, why }: LookedUp,
  own: ReadonlySet<string>,
  panels: ReadonlySet<string>,
): Finding {
  const use = panels.has(name)
    ? 'devices get 502 until then'
    : 'no app, bot or certificate authority reaches this server by it until then';
  const todo = own.has(name)
    ? `add an A record for it at your DNS provider, or correct the setting; ${use}`
    : `correct url of gate.upstream, or the DNS; ${use}`;
  return say.problem('name_unresolved', `${name} does not resolve: ${why}`, todo, name);
}

/** Returns the addresses of a name that are not this machine's, of families it has in public. */
function foreignOf(addresses: readonly string[], own: readonly string[]): string[] {
  const isV6 = (address: string) => address.includes(':');
  const shown = own.filter((address) => isCallable(address, []));
  const hasV4 = shown.some((address) => !isV6(address));
  const hasV6 = shown.some(isV6);
  // A machine whose IPv4 address is its own has its IPv6 address too, or none.
  const isComparable = (address: string) => (isV6(address) ? hasV6 || hasV4 : hasV4);
  return addresses.filter((address) => isComparable(address) && !own.includes(address));
}

function elsewhere(name: string, foreign: readonly string[], settings: NameSettings): Finding {
  const isProved = settings.acmeDomains.includes(name) && settings.acmeChallenge === 'http-01';
  const effect = isProved ? ': the certificate authority asks there' : '';
  return say.warning(
    'name_leads_elsewhere',
    `${name} leads to ${foreign.join(', ')}, which is no address of this machine${effect}`,
    'correct its A and AAAA records; if a CDN or proxy is there on purpose, name its networks in server.trusted_proxies',
    name,
  );
}
