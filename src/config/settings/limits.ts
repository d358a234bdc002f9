import { array, integer, sharedAddresses } from '../readers.ts';
import { live } from '../setting.ts';

const COUNT = integer(0, 1_000_000_000);

export const limitsSettings = {
  linksPerProviderMax: live('limits.links_per_provider_max', '100000', COUNT, [
    'The most limited links of a provider, unless it has a number of its own',
    '(`gatepost provider set --max-links`).',
  ]),
  // Each one leaves the other devices of a customer without servers until they fetch again.
  cutsPerHourMax: live('limits.cuts_per_hour_max', '20', integer(0, 1_000), [
    'The most cut-offs (`cut_off` of an upstream) that begin for a provider within an hour; further',
    'ones wait. Those by users of links have ten times as many of their own.',
  ]),
  // A bot with an old key retries about twice a second, which is harmless.
  authFailuresPerMinuteMax: live('limits.auth_failures_per_minute_max', '120', COUNT, [
    'Calls with wrong credentials from one address (IPv6: one /64) that are answered at once in a',
    'minute; answers to further ones are delayed by a second.',
    'Valid credentials are never delayed.',
  ]),
  registrationsPerMinuteMax: live('limits.registrations_per_minute_max', '600', COUNT, [
    'The most devices that may, in a minute from one address (IPv6: one /64), register for',
    'messages, make their first call to `/provider`, or have a link made for a new key by Gatepost',
    'as the proxy.',
    'Many phones share the address of a mobile carrier.',
  ]),
  // Apps fetch through the tunnel too, so all customers of an exit have its address.
  sharedAddresses: live('limits.shared_addresses', '', array(sharedAddresses), [
    'Networks of exits, from whose addresses many customers come. A call from them that names a link',
    'counts for that link instead of the address. Wrong keys and codes, registrations and links for',
    'new keys count for the address, with ten times the bound; sign-ins and keys of the API as',
    'always. Never a network of a carrier: the bounds would be ten times as high for its customers.',
  ]),
  // A provider has a handful; a search for its devices reads all of them.
  domainsPerProviderMax: live('limits.domains_per_provider_max', '1000', integer(0, 100_000), [
    'The most bindings of a provider, disabled ones included.',
  ]),
  // Enough for a bot that writes to its users one by one; a bot in a loop does not fill the disk.
  sendsPerMinuteMax: live('limits.sends_per_minute_max', '600', COUNT, [
    'The most notifications and commands that a provider may send in a minute.',
  ]),
  keptBytesMax: live(
    'limits.kept_bytes_per_provider_max',
    '268435456',
    integer(0, Number.MAX_SAFE_INTEGER),
    [
      'The most bytes of notifications and commands that are kept for a provider: their contents,',
      'their HWIDs, and 200 bytes for each. They count until their ledger is pruned.',
    ],
  ),
  // 100,000 devices, two messages a day, 90 days; some 2.5 GB.
  ledgerRowsMax: live(
    'limits.ledger_rows_per_provider_max',
    '20000000',
    integer(0, 1_000_000_000_000),
    [
      'The most recipients in the ledgers of a provider. They count until a ledger is pruned; at',
      'the limit sends are refused.',
    ],
  ),
  // Enough to hand out first subscriptions, too few to write to strangers.
  unboundCommandsPerDayMax: live('limits.unbound_commands_per_day_max', '10', COUNT, [
    'The most HWIDs without a link of the provider to which it may send a command',
    '(`import-data`) in 24 hours.',
  ]),
  // A device that was offline for a month of daily messages has 30. Each send counts them.
  waitingPerDeviceMax: live('limits.waiting_per_device_max', '1000', integer(1, 10_000), [
    'The most messages of one provider that may wait for one device. Further ones are not delivered',
    'to it, and the ledger says so.',
  ]),
  // Each costs 3 to 4 KB of memory and a file descriptor.
  streamCountMax: live('limits.streams_max', '20000', integer(0, 1_000_000), [
    'The most open WebSocket streams of devices.',
    'Each takes a file descriptor: the process must be allowed as many (`ulimit -n`).',
  ]),
  // Proxies end an answer that is late: nginx after 60 s by default, Cloudflare after 100 s.
  pollSecondsMax: live('limits.poll_seconds_max', '60', integer(1, 300), [
    'The longest wait of a poll at `/device/inbox`, seconds; answers name it in `x-wait-max`. Less',
    'than the proxies in front wait for an answer.',
  ]),
  // Proxies also end a WebSocket that is silent: nginx and HAProxy after the time they are given.
  pingSecondsMax: live('limits.ping_seconds_max', '600', integer(15, 600), [
    'The longest silence between two pings of a stream for which a device may ask, seconds. Less',
    'than the silence that the proxies in front allow a WebSocket.',
  ]),
} as const;
