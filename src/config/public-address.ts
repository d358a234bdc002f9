/** The addresses by which people, bots and apps reach this server, as far as the settings say. */

import { hereInUrl, hostInUrl } from '../base/whereabouts.ts';
import type { Config } from './settings/index.ts';

type Addressed = Pick<
  Config,
  | 'acmeDomains'
  | 'gateUpstreams'
  | 'host'
  | 'myUrl'
  | 'ownHosts'
  | 'port'
  | 'strangers'
  | 'tlsCertificate'
>;

const IP_ADDRESS = /^[\d.]+$|:/;
const HTTPS_PORT = 443;

/**
 * Returns the URLs of Gatepost itself for other machines, the likeliest first; none: no setting
 * names one. `names`: those of the served certificate; null: there is none.
 */
export function publicUrls(config: Addressed, names: readonly string[] | null): string[] {
  const { acmeDomains, gateUpstreams, myUrl, ownHosts, port, strangers, tlsCertificate } = config;
  const hasTls = tlsCertificate !== '' || acmeDomains.length > 0;
  // A proxy in front has the usual port.
  const place = hasTls && port !== HTTPS_PORT ? `:${port}` : '';
  const isOfPanel = new Set(gateUpstreams.map(({ host }) => host));
  const hosts = [...ownHosts, ...(names ?? [])].filter(
    (host) =>
      !host.startsWith('*') &&
      host !== 'localhost' &&
      !IP_ADDRESS.test(host) &&
      !isOfPanel.has(host),
  );
  const urls = [
    ...(myUrl === '' ? [] : [myUrl]),
    ...hosts.map((host) => `https://${host}${place}`),
  ];
  const isClosed = strangers === 'quiet' && ownHosts.length > 0;
  const answers = urls.filter((url) => !isClosed || ownHosts.includes(new URL(url).hostname));
  return [...new Set(answers)];
}

/**
 * Returns the URL at which a browser opens the server: a public one, else one on this machine.
 * `listensAt`: where it listens now; null: unknown.
 */
export function urlForPeople(
  config: Addressed,
  names: readonly string[] | null,
  listensAt: string | null,
): string {
  const { acmeDomains, host, ownHosts, port, strangers, tlsCertificate } = config;
  const listens = listensAt === null ? null : new URL(listensAt);
  const at = listens === null ? {} : { port: Number(listens.port) || HTTPS_PORT };
  const [first] = publicUrls({ ...config, ...at }, names);
  if (first !== undefined) return first;
  const hasTls = tlsCertificate !== '' || acmeDomains.length > 0;
  const here = new URL(listens ?? `${hasTls ? 'https' : 'http'}://${hostInUrl(host)}:${port}`);
  const isClosed = strangers === 'quiet' && ownHosts.length > 0;
  const local = isClosed ? ownHosts.find((one) => /^(?:localhost$|127\.)/.test(one)) : undefined;
  here.hostname = local ?? hereInUrl(here.hostname.replace(/^\[(.*)\]$/, '$1'));
  return here.origin;
}
