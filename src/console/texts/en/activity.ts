import type { Got } from '../../../call/table.ts';
import { count } from './count.ts';

type Entry = Got<'activity.list'>['rows'][number];
type About = Entry['object'];
/** A sentence for each action of the audit log; a missing one does not compile. */
type Sentences = Record<Entry['action'], (about: About) => string>;

const devices = (n: unknown) => count(Number(n), 'device', 'devices');
const scopes: Readonly<Record<string, string>> = {
  read: 'reading',
  links: 'links',
  send: 'sends',
  ties: 'tying subscriptions',
  cuts: 'links and cut-offs',
};
const cutStates: Readonly<Record<string, string>> = {
  done: 'done',
  impossible: 'impossible',
  differs: 'another field changed too',
  ended: 'ended without success',
  changed: 'the credentials were new already',
};
const roles: Readonly<Record<string, string>> = {
  owner: 'owner',
  sender: 'sender',
  support: 'support',
  reader: 'reader',
  operator: 'operator',
  observer: 'observer',
};
const target = ({ hwids, os }: About) => (os ? `all on ${os}` : devices(hwids));

export const activity = {
  title: 'Activity',
  groups: {
    all: 'All',
    links: 'Links',
    messages: 'Messages',
    domains: 'Domains',
    people: 'Keys and staff',
    webhooks: 'Webhooks',
  },
  group: 'What',
  actor: 'By',
  actors: {
    all: 'All actors',
    account: 'Staff',
    provider: 'Provider key',
    operator: 'Operator',
    system: 'Gatepost',
    user: 'Users',
  },
  byKey: (key: string) => `key ${key}`,
  from: (address: string) => `from ${address}`,
  folded: (n: number, by: string) => `${n} such changes together, the last one shown; by ${by}`,
  unlisted: (n: number) => `${count(n, 'change', 'changes')} before it had no entry`,
  none: 'Nothing here yet',
  noneHint: 'Each change leaves an entry: of links, domains, messages, keys and staff.',
  noMatch: 'No such entry',
  noMatchHint: 'Choose another filter.',
  looking: 'None among the newest entries. You can search older ones.',
  shown: (n: number) => count(n, 'entry shown', 'entries shown'),
  change: (field: string, before: string, after: string) => `${field}: ${before} → ${after}`,
  changed: (field: string) => `${field} changed`,
  nothing: 'none',
  /** The words of values by field; `usual` stands for null where that means the default. */
  usual: 'default',
  values: {
    page: { on: 'on' },
    enabled: { true: 'yes', false: 'no' },
  },
  sentences: {
    'install.add': ({ id, install_limit: n }) => `Link ${id} created for ${devices(n)}`,
    'install.update': ({ id }) => `Link ${id} changed`,
    'install.import': ({ id, hwids }) => `Link ${id} moved in with ${devices(hwids)}`,
    'install.free': ({ id, hwids }) => `${devices(hwids)} removed from link ${id}`,
    'install.update-many': ({ links, looked_at }) => `Links changed: ${links} of ${looked_at}`,
    'install.remove-many': ({ links }) => `Links removed: ${links}`,
    'install.revoke': ({ id, hwids }) => `Link ${id} got a new code and lost ${devices(hwids)}`,
    'install.remove': ({ id, hwids }) => `Link ${id} removed with ${devices(hwids)}`,
    'install.tie': ({ id }) => `A key tied to link ${id}`,
    'install.untie': ({ id }) => `Key of link ${id} untied`,
    'hwid.name': ({ install_id: id }) => `Devices named for link ${id}`,
    'hwid.delete': ({ install_id: id }) => `A device removed from link ${id}`,
    'hwid.ignore-copies': ({ install_id: id }) =>
      `The phones of a HWID of link ${id} are one person's`,
    'cut.ask': ({ install_id: id, cut: n }) => `Link ${id} is to be cut off (${n})`,
    'cut.cancel': ({ install_id: id, cut: n }) => `Cut-off ${n} of link ${id} cancelled`,
    'cut.end': ({ install_id: id, cut: n, state }) =>
      `Cut-off ${n} of link ${id} ended: ${cutStates[`${state}`] ?? state}`,
    'cut.resume': ({ host }) => `Cut-offs at ${host} may go on`,
    'bar.lift': ({ install_id: id }) => `A device that was cut off from link ${id} may come back`,
    'domain.add': ({ id }) => `Domain ${id} bound`,
    'domain.activate': ({ id }) => `Domain ${id} bound again`,
    'domain.rename': ({ id }) => `Domain ${id} got another name`,
    'domain.delete': ({ id }) => `Domain ${id} disabled`,
    'domain.import': ({ id }) => `Domain ${id} moved in`,
    'notification.send': (about) => `Message ${about['id']} sent to ${target(about)}`,
    'command.send': (about) =>
      `Command ${about['id']}, ${about['action_type']}, sent to ${target(about)}`,
    'distribution.cancel': ({ id }) => `Message ${id} cancelled`,
    'distribution.block': ({ id }) => `Message ${id} blocked`,
    'provider.add': ({ plan }) => `Provider created with plan ${plan}`,
    'provider.set': () => 'Settings of the provider changed',
    'provider.suspend': () => 'Gatepost plan suspended',
    'provider.resume': () => 'Gatepost plan resumed',
    'provider.ties': ({ ties }) =>
      ties === 'on' ? 'Ties of keys switched on' : 'Ties of keys switched off',
    'provider.rotate-key': () => 'The provider got a new key',
    'provider.visit': () => 'Pages of the provider opened',
    'database.download': () => 'A copy of the database was downloaded',
    'provider.remove': ({ links }) =>
      `Removal began, with ${count(Number(links), 'link', 'links')}`,
    'account.add': ({ id, role }) => `Account ${id} joined as ${roles[`${role}`] ?? role}`,
    'account.change-role': ({ id }) => `Account ${id} got another role`,
    'account.remove-role': ({ id, role }) =>
      `Account ${id} is no longer ${roles[`${role}`] ?? role}`,
    'account.set-password': ({ password }) =>
      password === 'set' ? 'Password set' : 'Password removed',
    'account.set-second-factor': () => 'Second factor changed',
    'account.use-recovery-code': ({ left }) => `Recovery code used, ${left} left`,
    'account.add-passkey': () => 'Passkey added',
    'account.rename-passkey': () => 'Passkey renamed',
    'account.remove-passkey': () => 'Passkey removed',
    'account.invite': ({ role }) =>
      role ? `Invitation made for: ${roles[`${role}`] ?? role}` : 'One-time sign-in link made',
    'session.open': () => 'Signed in',
    'session.end': ({ count: n }) => `${count(Number(n), 'session', 'sessions')} ended`,
    'key.add': ({ key, scope }) => `Key ${key} made for ${scopes[`${scope}`] ?? scope}`,
    'key.remove': ({ key }) => `Key ${key} removed`,
    'bot.add': ({ host }) => `Bot trusted at ${host}`,
    'bot.remove': ({ host }) => `Bot at ${host} trusted no more`,
    'reminder.add': ({ id }) => `Reminder ${id} added`,
    'reminder.set': ({ id }) => `Reminder ${id} changed`,
    'reminder.remove': ({ id }) => `Reminder ${id} removed`,
    'reminder.resume': () => 'Reminders go on',
    'reminder.confirm': () => 'Changes by API keys confirmed',
    'webhook.add': ({ id }) => `Webhook ${id} added`,
    'webhook.update': ({ id }) => `Webhook ${id} changed`,
    'webhook.rotate': ({ id }) => `Webhook ${id} got a new secret`,
    'webhook.remove': ({ id }) => `Webhook ${id} removed`,
    'upstream.add': ({ host }) => `Upstream added for ${host}`,
    'upstream.update': ({ host }) => `The upstream of ${host} changed`,
    'upstream.remove': ({ host }) => `The upstream of ${host} removed`,
    'follow.accept': ({ host, missing }) =>
      `Following the panel of ${host} may go on: missing users ${missing}`,
    'device.forget': () => 'A device removed from everywhere',
    'database.restore': () => 'Database restored from a backup',
    'database.move': () => 'Database moved to another kind',
    'clock.trust': ({ count }) => `Clocks taken for right: ${count}`,
    'audit.prune': ({ entries }) => `${entries} old entries deleted`,
  } satisfies Sentences as Sentences,
};
