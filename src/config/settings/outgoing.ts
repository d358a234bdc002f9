import { array, boolean, integer, outgoingNetworks, text } from '../readers.ts';
import { live } from '../setting.ts';

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
} as const;
