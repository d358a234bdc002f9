/** Checks that the proxies of outgoing calls pass calls on. */

import { systemClock } from '../base/clock.ts';
import { about, type Finding } from '../base/finding.ts';
import type { Config } from '../config/settings/index.ts';
import { readOutgoingFiles } from '../outgoing/authorities.ts';
import { OutgoingFailure } from '../outgoing/call.ts';
import { Outgoing } from '../outgoing/outgoing.ts';
import { type Destination, proxyOf } from '../outgoing/proxy.ts';
import { reachProxy } from '../outgoing/tunnel.ts';
import { probe } from './gateway.ts';

const say = about('gateways');
const MEND = 'start the proxy or correct its settings; what goes through it waits until then';

/** FCM and APNs are asked with their gateways. */
export async function checkOutgoingProxies(config: Config): Promise<Finding[]> {
  const asked: [Destination, string][] = [
    ['telegram', `${config.telegramEndpoint}/`],
    ['update', config.updateUrl],
  ];
  const through = asked.filter(([name, url]) => url !== '' && proxyOf(config, name) !== null);
  const outgoing = new Outgoing({
    settings: config,
    clock: systemClock,
    files: readOutgoingFiles(config),
  });
  const found = (name: string, problem: string | null) =>
    problem === null
      ? say.ok(`the proxy of outgoing.proxy.${name} passes calls on`)
      : say.warning('outgoing_proxy_failed', `outgoing.proxy.${name}: ${problem}`, MEND, name);
  try {
    const probed = through.map(async ([destination, url]) => {
      const answer = await probe(outgoing, { destination, url });
      return found(destination, answer instanceof OutgoingFailure ? answer.problem : null);
    });
    const { outgoingProxyWebhooks: proxy } = config;
    const webhooks =
      proxy === null ? [] : [reachProxy(proxy).then((problem) => found('webhooks', problem))];
    return await Promise.all([...probed, ...webhooks]);
  } finally {
    outgoing.close();
  }
}
