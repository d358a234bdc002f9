/** Settings that exclude each other, each with the reason. */

import { bareHost } from '../core/outbox/address.ts';
import { canCut } from '../core/panel/cut-off.ts';
import { PANEL_TRAITS } from '../core/panel/index.ts';
import {
  knowsUsersOf,
  type PanelKey,
  type PanelKind,
  panelOf,
  signs,
  signsIn,
  titlesOf,
} from '../core/panel/kind.ts';
import { isOnThisMachine } from './database-url.ts';
import type { Config } from './settings/index.ts';

/** Returns a sentence for each conflict with `database.url`; none without it. */
export function databaseConflicts(config: Config): string[] {
  const { databaseUrl: url, databaseCaFile, databaseInsecure, databasePasswordFile } = config;
  if (url === null) return [];
  const isPlainAsked = url.wantsTls === false && !isOnThisMachine(url);
  const wantsTls = databaseCaFile !== '' || url.wantsTls === true;
  const isBare = databaseCaFile !== '' && (url.socket !== null || url.wantsTls === false);
  return [
    ...when(
      config.acmeDomains.length > 0,
      'acme.domains and database.url cannot be combined: each node would request a ' +
        'certificate, but the authority calls only one of them for the proof; ' +
        'end TLS at the load balancer, or set tls.certificate and tls.key',
    ),
    ...when(
      config.backupAt !== '',
      'backup.at and database.url cannot be combined: Gatepost backs up only a database file; ' +
        'PostgreSQL has its own tools, such as pg_dump',
    ),
    ...when(
      config.webpushSubject !== '' && config.webpushKeyFile === '',
      'gateway.webpush.key_file is required with database.url: a subscription belongs to one key, ' +
        'so all nodes need a copy of it',
    ),
    ...when(
      isPlainAsked && !databaseInsecure,
      'database.url: sslmode=disable sends passwords and keys over the network unencrypted: ' +
        'remove it, or set database.insecure if no third party can read that network',
    ),
    ...when(
      databaseInsecure && wantsTls,
      'database.insecure and TLS cannot be combined: remove it, or database.ca_file and sslmode',
    ),
    ...when(
      isBare && !databaseInsecure,
      'database.ca_file is set, but the connection to database.url does not use TLS',
    ),
    ...when(
      !url.isNameChecked && databaseCaFile === '',
      'database.url: sslmode=verify-ca needs database.ca_file: a public authority signs certificates for any host',
    ),
    ...when(
      url.password !== '' && databasePasswordFile !== '',
      'both database.url and database.password_file give a password: remove one of them',
    ),
  ];
}

/** Returns a sentence for a command that would get backups in clear. */
export function backupConflicts(config: Config): string[] {
  const { backupAfter, backupAfterClear, backupPassphrase, backupPassphraseFile } = config;
  const isClear = backupPassphrase === '' && backupPassphraseFile === '';
  return when(
    backupAfter.length > 0 && isClear && !backupAfterClear,
    'backup.after needs backup.passphrase_file: the backups would leave this machine in clear, ' +
      'with all keys and secrets; backup.after_clear = true agrees to that',
  );
}

/**
 * Returns a sentence for each kind of key that lacks a setting, or has one that it does not use.
 */
export function gateConflicts(config: Config): string[] {
  const { gateKey, gateKeySecretFile, gateUpstreams } = config;
  const isIdle = (key: PanelKey, file: string) => !signs(key) && file !== '';
  return [
    ...when(
      signs(gateKey) && gateKeySecretFile === '',
      `gate.key = "${gateKey}" needs gate.key_secret_file: behind /gate only the secret proves a token`,
    ),
    ...when(
      isIdle(gateKey, gateKeySecretFile),
      'gate.key_secret_file is for tokens of a panel: set gate.key, or remove it',
    ),
    ...gatePanelConflicts(config),
    ...gateUpstreams.flatMap(({ host, key, keySecretFile }) =>
      when(
        isIdle(key, keySecretFile),
        `gate.upstream: key_secret_file of ${host} is for tokens of a panel: set key, or remove it`,
      ),
    ),
    ...sharedFollows(gateUpstreams),
    ...sharedCutOffs(gateUpstreams),
    ...gateUpstreams.flatMap((upstream) =>
      panelConflicts(upstream).map((sentence) => `gate.upstream: ${sentence} (${upstream.host})`),
    ),
  ];
}

/** Returns a sentence for each setting that a question of `/gate` to a panel's API lacks. */
function gatePanelConflicts(config: Config): string[] {
  const { gateKey: key, gatePanelUrl: url, gatePanelTokenFile: tokenFile } = config;
  const panel = panelOf({ panel: config.gatePanel, key });
  const asks = tokenFile !== '' || config.gatePanelAccountFile !== '';
  const file = tokenFile !== '' ? 'gate.panel_token_file' : 'gate.panel_account_file';
  const tokenless = 'needs gate.panel_token_file, the token of that API';
  return [
    ...when(asks && panel === null, `${file} needs gate.panel, the panel to ask`),
    ...when(
      asks && panel !== null && url === '',
      `${file} needs gate.panel_url, the URL of that API`,
    ),
    ...when(
      !asks && config.gateRead === 'panel',
      'gate.read = "panel" needs gate.panel_token_file, the token of that API',
    ),
    ...when(!asks && url !== '', `gate.panel_url ${tokenless}`),
    ...when(!asks && config.gatePanelHeadersFile !== '', `gate.panel_headers_file ${tokenless}`),
    ...(asks && panel !== null ? strangeKey(panel, key, 'gate.') : []),
    ...accountConflicts(
      { panel, url, tokenFile, accountFile: config.gatePanelAccountFile },
      'gate.',
    ),
  ];
}

interface Access {
  panel: PanelKind | null;
  /** The URL of the API. */
  url: string;
  tokenFile: string;
  accountFile: string;
}

/** Returns a sentence for each reason not to send the password in a file to a panel. */
function accountConflicts({ panel, url, tokenFile, accountFile }: Access, place = ''): string[] {
  if (accountFile === '') return [];
  const name = `${place}panel_account_file`;
  const isOpen = url !== '' && !/^https:/.test(url) && !isLocalUrl(url);
  return [
    ...when(panel === null && place === '', `${name} needs panel, the kind of panel to ask`),
    ...when(tokenFile !== '', `${name} and ${place}panel_token_file cannot be combined`),
    ...when(
      panel !== null && !signsIn(panel),
      `${name} is for ${titlesOf(signsIn)}: tokens of ${panel} last, see ${place}panel_token_file`,
    ),
    ...when(
      isOpen,
      `${name} needs https, or a panel on this machine: the password would cross the network unencrypted`,
    ),
  ];
}

/** Returns a sentence if the API of a panel knows no users by a kind of key. */
function strangeKey(panel: PanelKind, key: string, place = ''): string[] {
  if (knowsUsersOf(panel, key)) return [];
  const named = `${place}panel = "${panel}"`;
  return [
    knowsUsersOf(panel, 'plain')
      ? `${named} does not know the users of ${place}key = "${key}"`
      : `${named} needs ${place}key = "${panel}": its API knows users, not tokens`,
  ];
}

type Upstream = Config['gateUpstreams'][number];

/**
 * Returns a sentence for each setting that `limits`, `read`, `follow`, `cut_off` or `refused_as`
 * lacks.
 */
export function panelConflicts(upstream: Upstream): string[] {
  return [
    ...limitConflicts(upstream),
    ...readConflicts(upstream),
    ...followConflicts(upstream),
    ...cutOffConflicts(upstream),
    ...accountConflicts(accessOf(upstream)),
  ];
}

function accessOf(upstream: Upstream): Access {
  const { panelAccountFile: accountFile, panelTokenFile: tokenFile, panelUrl, url } = upstream;
  return { panel: panelOf(upstream), url: panelUrl || url, tokenFile, accountFile };
}

function followConflicts(upstream: Upstream): string[] {
  const { followGone, followMs, followNotes, key, panelFile } = upstream;
  if (followMs === 0) {
    return [
      ...when(panelFile !== '', 'panel_file needs follow, which reads it'),
      ...when(followGone !== 'tell', 'follow_gone needs follow'),
      ...when(followNotes, 'follow_notes needs follow'),
    ];
  }
  const asked = panelOf(upstream);
  const sourceless = 'follow needs panel_token_file, the token of the API, or panel_file';
  return [
    ...when(asked === null, 'follow needs panel, the kind of panel to read'),
    ...when(isTokenless(upstream) && panelFile === '', sourceless),
    ...(asked === null || upstream.limits === 'panel' ? [] : strangeKey(asked, key)),
  ];
}

/**
 * Returns a sentence if two providers follow one panel by one token: each would get links for the
 * customers of the other.
 */
function sharedFollows(upstreams: readonly Upstream[]): string[] {
  const followed = upstreams.filter(({ followMs }) => followMs > 0);
  const sources = Map.groupBy(followed, ({ panelFile, url, ...one }) =>
    JSON.stringify(
      panelFile === ''
        ? [one.panelUrl || url, one.panelTokenFile, one.panelAccountFile]
        : [panelFile],
    ),
  );
  return [...sources.values()].flatMap((same) =>
    when(
      new Set(same.map(({ provider }) => provider)).size > 1,
      `gate.upstream: ${same.map(({ host }) => host).join(' and ')} follow one panel for two providers: give each the token of an admin of its own, who sees its customers alone`,
    ),
  );
}

function cutOffConflicts(upstream: Upstream): string[] {
  const { cutOff, key, limits, panelAdmin } = upstream;
  if (!cutOff) return when(panelAdmin !== '', 'panel_admin needs cut_off = true');
  const asked = panelOf(upstream);
  if (asked === null) return ['cut_off needs panel, the kind of panel to ask'];
  const { cutOff: way } = PANEL_TRAITS[asked];
  if ('why' in way) return [`cut_off is not possible: ${way.why}`];
  return [
    ...when(isTokenless(upstream), 'cut_off needs panel_token_file, the token of its API'),
    ...(limits === 'panel' ? [] : strangeKey(asked, key)),
  ];
}

/**
 * Returns a sentence for each upstream with cut-off at whose panel another provider has upstreams
 * too, if no `panel_admin` parts their users.
 */
function sharedCutOffs(upstreams: readonly Upstream[]): string[] {
  const asking = upstreams.filter((one) => one.cutOff && cutOffConflicts(one).length === 0);
  return asking.flatMap((upstream) => {
    const can = canCut(upstream, upstreams);
    return can.possible ? [] : [`gate.upstream: cut_off of ${upstream.host}: ${can.why}`];
  });
}

const isTokenless = ({ panelAccountFile, panelTokenFile }: Upstream): boolean =>
  panelTokenFile === '' && panelAccountFile === '';

function readConflicts(upstream: Upstream): string[] {
  const { key, limits, read } = upstream;
  if (read === 'proxy' || limits === 'panel') return [];
  const asked = panelOf(upstream);
  return [
    ...when(asked === null, 'read = "panel" needs panel, the kind of panel to ask'),
    ...when(isTokenless(upstream), 'read = "panel" needs panel_token_file, the token of its API'),
    ...(asked === null ? [] : strangeKey(asked, key)),
  ];
}

function limitConflicts(upstream: Upstream): string[] {
  const { key, limits, panel, panelHeadersFile, refusedAs } = upstream;
  const nameless = 'refused_as = "panel" needs panel, the kind of panel to imitate';
  const asked = panelOf(upstream);
  if (limits === 'own') {
    const tokenless = 'panel_headers_file needs panel_token_file, the token of the API';
    return [
      ...when(refusedAs === 'panel' && panel === '', nameless),
      ...when(panelHeadersFile !== '' && isTokenless(upstream), tokenless),
    ];
  }
  return [
    ...when(asked === null, 'limits = "panel" needs panel, the kind of panel to ask'),
    ...when(isTokenless(upstream), 'limits = "panel" needs panel_token_file, the token of its API'),
    ...(asked === null ? [] : strangeKey(asked, key)),
  ];
}

function when(condition: boolean, sentence: string): string[] {
  return condition ? [sentence] : [];
}

/** Returns whether the host of a URL is this machine. */
function isLocalUrl(url: string): boolean {
  const host = bareHost(new URL(url).hostname);
  return isOnThisMachine({ host, socket: null });
}
