import { array, hostList, integer } from '../readers.ts';
import { live } from '../setting.ts';

export const rideSettings = {
  // Most apps fetch their subscription within a day; three days also cover a weekend.
  rideHours: live('ride.hours', '72', integer(1, 720), [
    'Hours for which a message rides on subscriptions at most; one that expires earlier ends then.',
  ]),
  // A stolen key must not move a provider's users to a host of the thief.
  rideHosts: live('ride.hosts', '', array(hostList), [
    'The hosts that a command may move subscriptions to (`new-domain` and `new-url` in apps).',
    'Empty: none, so that no such command rides.',
  ]),
} as const;
