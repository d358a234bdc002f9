import { integer, outgoingNetworks, text, yesOrNo } from '../readers.ts';
import { setting } from '../setting.ts';

export const outgoingSettings = {
  outgoingAllow: setting({
    key: 'outgoing.allow',
    env: 'GATEPOST_OUTGOING_ALLOW',
    // Whoever may name an address that this machine calls could reach what only it can reach.
    default: '',
    types: ['array'],
    read: outgoingNetworks,
    about: [
      'Networks (`10.0.0.0/8`) or addresses that webhooks of providers and push services of',
      'devices may have although they are not public. Each is a door into that network.',
    ],
    isLive: true,
  }),
  outgoingAllowHttp: setting({
    key: 'outgoing.allow_http',
    env: 'GATEPOST_OUTGOING_ALLOW_HTTP',
    default: 'false',
    types: ['boolean'],
    read: yesOrNo,
    about: ['Whether such addresses may begin with `http:`, which everybody on the way can read.'],
    isLive: true,
  }),
  outgoingOriginRate: setting({
    key: 'outgoing.origin_rate',
    env: 'GATEPOST_OUTGOING_ORIGIN_RATE',
    // Four calls at a time make about as many: a small receiver is not run over by a backlog.
    default: '200',
    ...integer(1, 100_000),
    about: ['Most calls in a second to one host that a provider or a device named.'],
    isLive: true,
  }),
  outgoingCaFile: setting({
    key: 'outgoing.ca_file',
    env: 'GATEPOST_OUTGOING_CA_FILE',
    default: '',
    read: text,
    about: [
      'A PEM file with certificates of authorities that are believed, beside the usual ones,',
      'in all calls to gateways, push services and webhooks.',
    ],
  }),
} as const;
