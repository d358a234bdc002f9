/**
 * The printed ways that the walk goes on the package, in order: every command of these parts is run
 * as the page has it, in /root. `test/packaging/ways.test.ts` finds printed commands that no test
 * runs.
 */

import type { Part } from '../../test/support/transcript.ts';

const docs = (page: string, heading?: string, more: Partial<Part> = {}): Part => ({
  path: `docs/${page}.md`,
  ...(heading !== undefined && { heading }),
  ...more,
});

/** Where Telegram and the authority are on this machine. */
const OWN_SETTINGS = 'cp /walk/walk.toml /etc/gatepost/gatepost.d/walk.toml';

/** The service shows what the unit may write: a command by hand may write more. */
const SERVICE_WRITES = `pid=$(systemctl show --value --property MainPID gatepost)
nsenter --target $pid --mount setpriv --reuid=gatepost --regid=gatepost --clear-groups \\
  touch /srv/backups/gatepost/written && rm /srv/backups/gatepost/written`;

const NEXT_VERSION = `mv gatepost_VERSION_amd64.deb gatepost_OLDER_amd64.deb
cp /packages/next.deb gatepost_VERSION_amd64.deb`;

/** On the first machine, from its first hour to the day when it moves away. */
export const FIRST: readonly Part[] = [
  docs('first-hour'),
  docs('trouble'),
  docs('telegram', undefined, { before: `${OWN_SETTINGS}\nsystemctl restart gatepost` }),
  docs('bots'),
  docs('device-protocol'),
  docs('configuration', 'Configuration', { isExample: true }),
  docs('configuration', 'A folder of files'),
  docs('configuration', 'Commands beside a server', { isExample: true }),
  docs('messages-in-apps', 'Messages in the apps that people have', { isExample: true }),
  docs('monitoring', 'Probes', { isExample: true }),
  docs('monitoring', 'Without Prometheus'),
  docs('audit', undefined, { isExample: true }),
  docs('backups', 'Making one'),
  docs('backups', 'By the clock'),
  docs('backups', 'With a passphrase', { before: SERVICE_WRITES }),
  docs('backups', 'Checking one'),
  docs('backups', 'Restoring'),
  docs('backups', 'From the old one'),
];

/** On the second machine, until the package is removed from it. */
export const SECOND: readonly Part[] = [
  docs('backups', 'To the new one'),
  docs('installing', 'Drop-ins'),
  docs('tls', 'Certificate files'),
  docs('tls', 'Certificates by ACME', { before: OWN_SETTINGS }),
  docs('several-nodes', 'The database'),
  docs('several-nodes', 'There', { before: 'rm /etc/gatepost/gatepost.d/tls.toml' }),
  docs('several-nodes', 'The nodes', { isExample: true }),
  docs('several-nodes', 'And back'),
  docs('upgrading', 'The order', { before: NEXT_VERSION }),
  docs('upgrading', 'Going back'),
  docs('installing', 'Debian and Ubuntu'),
  docs('installing', 'Removing it'),
];

/** Printed commands that the walk cannot run, and why; without a heading of the whole page. */
export const NOT_WALKED: readonly { path: string; heading?: string; why: string }[] = [
  {
    path: 'docs/configuration.md',
    heading: 'Mistakes',
    why: 'a file with mistakes: test/cli/config.test.ts',
  },
  {
    path: 'docs/add-a-device-limit.md',
    why: 'they wait for an app: test/kits',
  },
  {
    path: 'docs/cut-off.md',
    why: 'they need a panel that proved the link: test/cli/cuts.test.ts, test/panels',
  },
  {
    path: 'docs/discovery.md',
    why: 'they need a panel and a proxy: test/e2e/discovery.test.ts',
  },
  {
    path: 'docs/gate.md',
    why: 'they need fetches that name two links: test/cli/link-ties.test.ts',
  },
  { path: 'docs/gateways.md', why: 'they need accounts of Google and Apple: test/gateway' },
  {
    path: 'docs/messages-in-apps.md',
    heading: 'How soon',
    why: 'it counts as a second message to all within five minutes of the first hour',
  },
  { path: 'docs/operating.md', why: 'messages and gateways of another installation' },
  {
    path: 'docs/several-nodes.md',
    heading: 'Backups',
    why: 'the tools of PostgreSQL, with an address that the reader fills in',
  },
  {
    path: 'docs/proxy-protocol.md',
    why: 'they need another program on the machine: test/e2e/proxy-protocol.test.ts',
  },
  { path: 'docs/webhooks.md', why: 'they need a receiver with HTTPS: test/e2e/webhook.test.ts' },
  ...['3x-ui', 'hiddify', 'marzban', 'pasarguard', 'remnawave'].map((panel) => ({
    path: `docs/panel-${panel}.md`,
    why: 'they need the panel: test/guides/panels.test.ts',
  })),
  ...['README.md', 'docs/README.fa.md', 'docs/README.ru.md', 'docs/README.zh-CN.md'].map(
    (path) => ({
      path,
      why: 'from source: test/guides/readme.test.ts',
    }),
  ),
];
