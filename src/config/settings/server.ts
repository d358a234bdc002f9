import { integer, networks, notEmpty, utcOffset } from '../readers.ts';
import { setting } from '../setting.ts';

export const serverSettings = {
  dataDir: setting({
    key: 'data',
    env: 'GATEPOST_DATA',
    default: './data',
    read: notEmpty,
    about: ['The data directory.', 'Flag `--data`, which every command takes.'],
  }),
  host: setting({
    key: 'server.host',
    env: 'GATEPOST_HOST',
    // Open to the machine alone until the operator decides otherwise.
    default: '127.0.0.1',
    read: notEmpty,
    about: [
      'The address to listen on; by default only this machine can call.',
      'Flag `--host` of `serve`.',
    ],
  }),
  port: setting({
    key: 'server.port',
    env: 'GATEPOST_PORT',
    default: '8080',
    ...integer(0, 65_535),
    about: ['The port to listen on; 0 picks a free one.', 'Flag `--port` of `serve`.'],
  }),
  drainSeconds: setting({
    key: 'server.drain_seconds',
    env: 'GATEPOST_DRAIN_SECONDS',
    // A single server has nobody who would answer in its place.
    default: '0',
    ...integer(0, 300),
    about: [
      'For how many seconds after the order to stop all is still served, while `/readyz` says 503:',
      'the time in which a load balancer notices. A second order ends it.',
    ],
    isLive: true,
  }),
  outputOffsetMinutes: setting({
    key: 'server.output_zone',
    env: 'GATEPOST_OUTPUT_ZONE',
    // The zone of send_date and send_time, so that a provider can compare them.
    default: '+03:00',
    read: utcOffset,
    about: [
      'The zone of the times in answers, as an offset from UTC.',
      'The default is the zone in which the contract has its dates.',
    ],
    isLive: true,
  }),
  trustedProxies: setting({
    key: 'server.trusted_proxies',
    env: 'GATEPOST_TRUSTED_PROXIES',
    // Anybody can write X-Forwarded-For.
    default: '',
    types: ['array'],
    read: networks,
    about: ['Networks whose `X-Forwarded-For` is believed; see also `gate.proxies`.'],
    isLive: true,
  }),
} as const;
