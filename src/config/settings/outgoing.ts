import {
  array,
  boolean,
  integer,
  outgoingNetworks,
  ports,
  proxyAddress,
  text,
} from '../readers.ts';
import { live } from '../setting.ts';

const proxy = (name: string, what: string, more: readonly string[] = []) =>
  live(`outgoing.proxy.${name}`, '', proxyAddress, [
    `The proxy for calls to ${what}: \`socks5://HOST:PORT\` or \`http://HOST:PORT\` (CONNECT).`,
    'Nothing is called or looked up without it. Empty: none.',
    ...more,
  ]);

export const outgoingSettings = {
  // A caller that names an address to call could reach services that only this machine can reach.
  outgoingAllow: live('outgoing.allow', '', array(outgoingNetworks), [
    'Networks (`10.0.0.0/8`) or addresses that are not public, but allowed for webhooks of',
    'providers and push services of devices. Each opens that network to them.',
  ]),
  outgoingAllowHttp: live('outgoing.allow_http', 'false', boolean, [
    'Whether their URLs may begin with `http:`, which every network in between can read.',
  ]),
  // The rate of about four calls at a time, so that a backlog does not overload a small receiver.
  outgoingOriginRate: live('outgoing.origin_rate', '200', integer(1, 100_000), [
    'The most calls in a second to one host that a provider or a device named.',
  ]),
  outgoingCaFile: live('outgoing.ca_file', '', text, [
    'A PEM file with certificates of authorities to trust, beside the usual ones, in all calls to',
    'gateways, push services and webhooks.',
  ]),
  // Where sellers are, Telegram is often blocked.
  outgoingProxyTelegram: proxy('telegram', 'Telegram'),
  outgoingProxyFcm: proxy('fcm', 'FCM and its access tokens'),
  outgoingProxyApns: proxy('apns', 'APNs'),
  outgoingProxyUpdate: proxy('update', '`update.url`'),
  outgoingProxyWebhooks: proxy('webhooks', 'webhooks and push services', [
    'Names that a provider or a device gave are looked up here, and must have public addresses.',
  ]),
  outgoingProxyLoginFile: live('outgoing.proxy.login_file', '', text, [
    'A file (mode 0600) with the logins of these proxies: a line with `HOST:PORT`, name and',
    'password for each that asks for one.',
  ]),
  outgoingProxyPorts: live('outgoing.proxy.ports', '443', array(ports), [
    'The ports that these proxies are asked for.',
  ]),
} as const;
