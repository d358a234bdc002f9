/** Meanings of events for the documents. */

import type { StoredEvent } from '../port/event.ts';

interface Meaning {
  about: string;
  /** Fields of its data in their order. */
  fields: readonly string[];
}

const LINK = ['install_id', 'install_count', 'install_limit'] as const;
const TRAFFIC = ['total_bytes', 'used_bytes', 'read_at'] as const;
const FIGURES = ['ends_at', ...TRAFFIC] as const;
const FAILING = ['what', 'failures', 'failing_since'] as const;
const ENDED = [
  ...(['distribution_id', 'type', 'status', 'recipients', 'sent', 'failed'] as const),
  ...(['reachable', 'now', 'by_push', 'at_next_fetch', 'not_known', 'cannot'] as const),
  ...(['carried', 'at_least'] as const),
];

export const EVENT_MEANINGS: Readonly<Record<StoredEvent['kind'], Meaning>> = {
  'link.created': { about: 'a limited link was made', fields: ['install_id', 'install_limit'] },
  'link.updated': {
    about: 'limit, note, status, policy, buttons or subscription key of a link changed',
    fields: [...LINK, 'status', 'changed'],
  },
  'link.revoked': {
    about: 'a link got a new code and lost its subscription key; all its devices lost their slots',
    fields: ['install_id', 'freed', 'had_subscription_key'],
  },
  'link.removed': {
    about: 'a link was removed; all its devices lost their slots',
    fields: ['install_id', 'freed'],
  },
  'link.tie': {
    about:
      'the key of a subscription became that of a link (`state` is `tied`), waits for that (`waits`), or is its key no more (`undone`); `former_id` is the link that had it, of whose devices `moved` moved and `left_out` lost their slots, or would',
    fields: ['install_id', 'state', 'former_id', 'moved', 'left_out'],
  },
  'link.cut_off': {
    about:
      'a cut-off of a link ended: `state` is `done` or `changed` if its credentials are new, and `devices` then fetch again, until `fetch_until` by themselves; else `impossible`, `differs`, `ended` or `cancelled`, and `why` says the reason',
    fields: ['install_id', 'cut_id', 'state', 'why', 'devices', 'fetch_until'],
  },
  'link.full': { about: 'the last free slot of a link was taken', fields: LINK },
  'link.over_limit': {
    about: 'a link that only counts admitted a device over its limit, which it would refuse',
    fields: [...LINK, 'hwid'],
  },
  'link.refused': {
    about:
      'a link refused a device: for the first, 10th, 100th … time on a UTC day; with `has_page`, true, if its user may free a place, and with `former_hwid`, if the policy `same_phone` asks whether it is that device',
    fields: [
      ...['install_id', 'code', 'note', 'reason', 'count', 'day'],
      ...['hwid', 'device_name', 'os'],
    ],
  },
  'link.ending': {
    about:
      'the subscription of a link ends in 3 days, in one day, or in the time of a reminder: once for each in a period',
    fields: ['install_id', 'days', ...FIGURES],
  },
  'link.ended': { about: 'it has ended', fields: ['install_id', 'ended_at', ...TRAFFIC] },
  'link.renewed': {
    about:
      'its end moved by a day or more, or its traffic grew by a tenth, as two reads an hour apart agree; once a day at most',
    fields: ['install_id', ...FIGURES],
  },
  'link.traffic_low': {
    about:
      '80 or 95 percent of its traffic are used, or those of a reminder: once for each in a period',
    fields: ['install_id', 'percent', ...FIGURES],
  },
  'link.inactive': {
    about: 'no app has fetched the subscription of a link for the days of a reminder',
    fields: ['install_id', 'inactive_days', 'last_seen_at'],
  },
  'device.admitted': { about: 'a new device took a slot', fields: [...LINK, 'hwid'] },
  'device.removed': {
    about: 'a device lost its slot: deleted, freed by its user, or forgotten by the operator',
    fields: [...LINK, 'hwid', 'why'],
  },
  'device.replaced': {
    about:
      'a newcomer took the place of the device not seen for longest; with `same_phone`, true, of the one that it seems to have been',
    fields: ['install_id', 'hwid', 'new_hwid', 'last_seen_at'],
  },
  'device.inactive': {
    about: 'a newcomer took the place of a device that was inactive',
    fields: ['install_id', 'hwid', 'new_hwid', 'last_seen_at'],
  },
  'hwid.copied': {
    about:
      'several phones send one HWID: once a week for a HWID of a link, with the number of phones that are certain and their systems and apps; from the 21st of a UTC day on, one event has the number of the others (`more`, `day`) instead',
    fields: ['install_id', 'hwid', 'copies', 'systems'],
  },
  'reminders.stopped': {
    about:
      'the reminders of the provider stopped, as many of its links were renewed or began to end within an hour; they wait for a person',
    fields: ['moved_links', 'all_links'],
  },
  'distribution.finished': {
    about: 'a notification or command was sent, to some devices at least',
    fields: ENDED,
  },
  'distribution.failed': { about: 'it could be sent to no device', fields: ENDED },
  'distribution.blocked': {
    about: 'it was blocked: by the operator, or as the subscription or plan had ended',
    fields: ENDED,
  },
  'distribution.cancelled': { about: 'the provider cancelled it', fields: ENDED },
  'subscription.ending': {
    about: 'the subscription of the provider ends in so many days',
    fields: ['days', 'ends_at'],
  },
  'subscription.ended': { about: 'it has ended', fields: ['ended_at'] },
  'quota.reached': {
    about:
      '80 or 100 percent of what the provider may have are used: `links`, `domains`, `kept_bytes` or `ledger_rows`',
    fields: ['quota', 'percent', 'used', 'limit'],
  },
  'key.rotated': { about: 'the provider got a new key', fields: ['old_key_until'] },
  'key.first_use': {
    about:
      'a key used for the first time a right that keys did not have from the beginning: `right` is `ties`, `cuts`, `figures`, or `add_hwid` if the keys of the provider named over 100 HWIDs on a UTC day; once for each key and right',
    fields: ['provider_code', 'right', 'key', 'key_name'],
  },
  'change.waiting': {
    about:
      'a key changed an address of the provider or of a link, or the texts of a reminder (`changed`): reminders and the page of users show it from `used_from` on, or when a person confirms it in the console',
    fields: [
      ...['provider_code', 'install_id', 'reminder_id', 'changed'],
      ...['old_host', 'new_host', 'used_from'],
    ],
  },
  'webhook.disabled': {
    about: 'another webhook of the same owner was disabled, as it did not accept its events',
    fields: ['webhook_id', 'target', 'why'],
  },
  'backup.failed': {
    about:
      'a backup was not made (`what` is `backup`), or the command of `backup.after` failed (`copy`): at the first failure, and once a week while it fails',
    fields: ['reason', ...FAILING],
  },
  'backup.recovered': { about: 'it works again after such an event', fields: FAILING },
  'certificate.ending': {
    about: 'the served certificate ends soon, and was not renewed',
    fields: ['days', 'ends_at'],
  },
  'disk.low': { about: 'the disk of the data is nearly full', fields: ['free_bytes'] },
  'doctor.found': {
    about: '`gatepost doctor --notify` found a problem or a warning that it had not told',
    fields: ['name', 'level', 'check', 'finding', 'todo'],
  },
  'doctor.over': {
    about: 'it finds that no longer',
    fields: ['name', 'level', 'check', 'finding', 'since'],
  },
  'doctor.figures': {
    about: 'the figures of a UTC day, with `--figures`',
    fields: ['day', 'admitted', 'refused', 'seen', 'links', 'sends', 'delivered'],
  },
  'gateway.stopped': {
    about: 'a gateway refuses our credentials: pushes wait until they are mended',
    fields: ['gateway', 'problem'],
  },
  'release.available': {
    about: 'the page of `update.url` has a newer version: once for each',
    fields: ['version', 'installed'],
  },
  'provider.added': { about: 'a provider was added', fields: ['provider_code', 'plan'] },
  'provider.changed': {
    about: 'plan, end, cap, policy, terms of what rides, buttons or name of a provider changed',
    fields: ['provider_code', 'plan', 'active_until', 'changed'],
  },
  'provider.suspended': { about: 'a subscription was suspended', fields: ['provider_code'] },
  'provider.resumed': { about: 'a suspension ended', fields: ['provider_code'] },
  'provider.key-rotated': {
    about: 'a provider got a new key',
    fields: ['provider_code', 'old_key_until'],
  },
  'provider.removed': {
    about: 'a provider was removed, with all that was its own',
    fields: ['provider_code'],
  },
  'events.folded': {
    about: 'events that were not sent to this receiver one by one, in an hour that is over',
    fields: ['refusals', 'phones', 'install_ids', 'events', 'since'],
  },
  'webhook.test': { about: 'the webhook is being tried out', fields: ['webhook_id'] },
};
