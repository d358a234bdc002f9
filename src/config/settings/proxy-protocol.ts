import { array, boolean, proxyNetworks } from '../readers.ts';
import { setting } from '../setting.ts';

export const proxyProtocolSettings = {
  proxyNetworks: setting('proxy_protocol.networks', '', array(proxyNetworks), [
    'Networks of proxies that pass on connections and say by a header of the PROXY protocol',
    '(version 1 or 2) who made them. Their connections must begin with it, all others must not.',
  ]),
  // A customer of a tunnel that ends on this machine may come from there too.
  proxyLoopback: setting('proxy_protocol.loopback', 'false', boolean, [
    'Whether those networks may have addresses of this machine itself, such as `127.0.0.1`.',
  ]),
  proxySocket: setting('proxy_protocol.socket', 'false', boolean, [
    'Whether connections by `server.socket` begin with that header too. They are those of clients',
    'then, and no proxies; with a certificate they go on with TLS, as those of the address.',
  ]),
} as const;
