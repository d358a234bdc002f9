import { integer } from '../readers.ts';
import { setting } from '../setting.ts';

export const limitsSettings = {
  linksPerProviderMax: setting({
    key: 'limits.links_per_provider_max',
    env: 'GATEPOST_LINKS_PER_PROVIDER_MAX',
    default: '100000',
    ...integer(0, 1_000_000_000),
    about: [
      'How many limited links a provider may have, unless it has a number of its own',
      '(`gatepost provider set --max-links`).',
    ],
    isLive: true,
  }),
  authFailuresPerMinuteMax: setting({
    key: 'limits.auth_failures_per_minute_max',
    env: 'GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX',
    // A bot with an old key retries about twice a second; it need not be slowed down.
    default: '120',
    ...integer(0, 1_000_000_000),
    about: [
      'How many calls with wrong credentials in a minute from one address (IPv6: one /64) are',
      'answered at once; the answers to more are delayed by a second.',
      'Valid credentials are never delayed.',
    ],
    isLive: true,
  }),
  registrationsPerMinuteMax: setting({
    key: 'limits.registrations_per_minute_max',
    env: 'GATEPOST_REGISTRATIONS_PER_MINUTE_MAX',
    // Many phones share the address of a mobile carrier.
    default: '600',
    ...integer(0, 1_000_000_000),
    about: [
      'How many devices may register for messages, make their first call to `/provider`, or have',
      'a link made for a new key by Gatepost as the proxy, in a minute from one address (IPv6: one',
      '/64).',
      'Many phones share the address of a mobile carrier.',
    ],
    isLive: true,
  }),
  domainsPerProviderMax: setting({
    key: 'limits.domains_per_provider_max',
    env: 'GATEPOST_DOMAINS_PER_PROVIDER_MAX',
    // A provider has a handful; what looks for its devices goes through all of them.
    default: '1000',
    ...integer(0, 100_000),
    about: ['How many bindings a provider may have, disabled ones included.'],
    isLive: true,
  }),
  sendsPerMinuteMax: setting({
    key: 'limits.sends_per_minute_max',
    env: 'GATEPOST_SENDS_PER_MINUTE_MAX',
    // A bot that writes to its users one by one gets done; one that loops does not fill the disk.
    default: '600',
    ...integer(0, 1_000_000_000),
    about: ['How many notifications and commands a provider may send in a minute.'],
    isLive: true,
  }),
  keptBytesMax: setting({
    key: 'limits.kept_bytes_per_provider_max',
    env: 'GATEPOST_KEPT_BYTES_PER_PROVIDER_MAX',
    default: '268435456',
    ...integer(0, Number.MAX_SAFE_INTEGER),
    about: [
      'How many bytes of notifications and commands are kept for a provider: what they say, their',
      'HWIDs, and 200 bytes for each. They count until their ledger is pruned.',
    ],
    isLive: true,
  }),
  ledgerRowsMax: setting({
    key: 'limits.ledger_rows_per_provider_max',
    env: 'GATEPOST_LEDGER_ROWS_PER_PROVIDER_MAX',
    // 100,000 devices, two messages a day, 90 days; some 2.5 GB.
    default: '20000000',
    ...integer(0, 1_000_000_000_000),
    about: [
      'How many recipients are kept in the ledger for a provider. They count until it is pruned;',
      'with as many, nothing is sent.',
    ],
    isLive: true,
  }),
  unboundCommandsPerDayMax: setting({
    key: 'limits.unbound_commands_per_day_max',
    env: 'GATEPOST_UNBOUND_COMMANDS_PER_DAY_MAX',
    // Enough to hand out first subscriptions, too few to write to strangers.
    default: '10',
    ...integer(0, 1_000_000_000),
    about: [
      'To how many HWIDs that are not linked to it a provider may send a command',
      '(`import-data`) in 24 hours.',
    ],
    isLive: true,
  }),
  waitingPerDeviceMax: setting({
    key: 'limits.waiting_per_device_max',
    env: 'GATEPOST_WAITING_PER_DEVICE_MAX',
    // More than anybody reads; a device that was away for a month of daily messages has 30.
    default: '1000',
    // They are counted for each device that a message is for.
    ...integer(1, 10_000),
    about: [
      'How many messages of one provider may wait for one device. Beyond it that device does not',
      'get a message, and the ledger says so.',
    ],
    isLive: true,
  }),
  streamCountMax: setting({
    key: 'limits.streams_max',
    env: 'GATEPOST_STREAMS_MAX',
    // Each costs some 6 KB of memory and a file descriptor.
    default: '20000',
    ...integer(0, 1_000_000),
    about: [
      'How many WebSocket streams of devices may be open at a time.',
      'Each takes a file descriptor: see that the process may open as many (`ulimit -n`).',
    ],
    isLive: true,
  }),
} as const;
