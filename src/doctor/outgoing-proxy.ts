/** Checks that the proxies of outgoing calls pass calls on. */

import { about, type Finding } from '../base/finding.ts';
import type { Config } from '../config/settings/index.ts';
import { type OutgoingAnswer, type OutgoingCall, OutgoingFailure } from '../outgoing/call.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';
import { type Destination, proxyOf } from '../outgoing/proxy.ts';
import { reachProxy } from '../outgoing/tunnel.ts';

const say = about('gateways');
const MEND = 'start the proxy or correct its settings; what goes through it waits until then';
/** The time limit of an answer, ms. */
const PROBE_MAX_MS = 5_000;

/** Returns the destinations to ask, by address; FCM and APNs are asked with their gateways. */
function proxied(config: Config): [Destination, string][] {
  const all: [Destination, string][] = [
    ['telegram', `${config.telegramEndpoint}/`],
    ['update', config.updateUrl],
  ];
  return all.filter(([name, url]) => url !== '' && proxyOf(config, name) !== null);
}

/** Returns whether the settings name a proxy that {@link checkOutgoingProxies} asks. */
export const hasProxies = (config: Config) =>
  config.outgoingProxyWebhooks !== null || proxied(config).length > 0;

/** Asks each destination that has a proxy, and the proxy of webhooks whether it is there. */
export function checkOutgoingProxies(config: Config, outgoing: Outgoing): Promise<Finding[]> {
  const found = (name: string, problem: string | null) =>
    problem === null
      ? say.ok(`the proxy of outgoing.proxy.${name} passes calls on`)
      : say.warning('outgoing_proxy_failed', `outgoing.proxy.${name}: ${problem}`, MEND, name);
  const probed = proxied(config).map(async ([destination, url]) => {
    const answer = await probe(outgoing, { destination, url });
    return found(destination, answer instanceof OutgoingFailure ? answer.problem : null);
  });
  const { outgoingProxyWebhooks: proxy } = config;
  const webhooks =
    proxy === null ? [] : [reachProxy(proxy).then((problem) => found('webhooks', problem))];
  return Promise.all([...probed, ...webhooks]);
}

/** Asks an address of the operator: any answer shows that it can be reached. */
export function probe(
  outgoing: Outgoing,
  to: Pick<OutgoingCall, 'destination' | 'url' | 'http2'>,
): Promise<OutgoingAnswer | OutgoingFailure> {
  return outgoing.send(
    {
      method: 'GET',
      trust: 'operator',
      headers: {},
      body: null,
      timeoutMs: PROBE_MAX_MS,
      answerBytesMax: 1_024,
      originConcurrency: 1,
      ...to,
    },
    new AbortController().signal,
  );
}
