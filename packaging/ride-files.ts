/** The files of docs/gate with a line for each header that rides: nginx and Caddy have no loops. */

import { APP_MOVES } from '../src/core/app-moves.ts';
import {
  RIDE_HEADERS,
  SUPPORT_URL,
  UPDATE_INTERVAL,
  WEB_PAGE_URL,
} from '../src/core/ride/headers.ts';

const MADE = 'Made by `make generate`, as no person edits it.';

/** The name as a variable. */
const variable = (name: string) => `ride_${name.replaceAll('-', '_')}`;

/** The header of the panel's answer, as a variable of nginx. */
const ofPanel = (name: string) => `$upstream_http_${name.replaceAll('-', '_')}`;
/** The same if it sends apps to a host of the list. */
const ofOwnHost = (name: string) => `$own_${name.replaceAll('-', '_')}`;

/** Before the name in some stores of objects: Clod Clash reads the rest. nginx has no patterns. */
const STORE_PREFIXES = ['x-amz-meta-', 'x-obs-meta-'];

/**
 * Finds the host of one URL or host name, which stands behind the list of hosts and a line feed, in
 * that list.
 */
const TO_OWN_HOST = [
  ...['~*^(?=[^\\n]*\\n((?:https?://)?([a-z0-9.-]+)(?::\\d+)?', '(?:[/?#][^\\s,;|@\\x5c]*)?)$)'],
  '(?:[^\\n]* )?\\2[ \\n]',
].join('');

/** Conditions of a request, as variables of nginx. */
const CONDITIONS = [
  ...['if_none_match', 'if_modified_since', 'if_range', 'if_match', 'if_unmodified_since'],
  'range',
];

/** A map of nginx that has one value beside the default. */
const map = (of: string, to: string, otherwise: string, pattern: string, value: string) =>
  `map "${of}" ${to} { default ${otherwise}; "${pattern}" ${value}; }`;

function nginxMaps(): string {
  const lines = RIDE_HEADERS.map((name) => {
    const kept = APP_MOVES.includes(name) ? ofOwnHost(name) : ofPanel(name);
    const panel = name === 'announce-url' ? '$panel_announce_url' : kept;
    const header = variable(name);
    return map(`$ride_fits$${header}`, `$sent_${header}`, panel, '~^1(.+)$', '$1');
  });
  return [
    `# For nginx.conf beside this file: each header of a message in place of the panel's. ${MADE}`,
    '',
    '# 1: the panel has answered 2xx, and does not refuse the device itself.',
    map(
      '$status $upstream_http_x_hwid_max_devices_reached $upstream_http_x_hwid_not_supported $upstream_http_x_hwid_limit',
      ...(['$ride_fits', '""', '~*^2\\d\\d(?: (?:false)?){3}$', '1'] as const),
    ),
    '',
    '# While something rides, the answer of the panel must be whole: it is asked without conditions.',
    ...CONDITIONS.map((name) => map('$rides', `$asked_${name}`, '""', '', `$http_${name}`)),
    '',
    '# An answer with a message is for one person, and for now.',
    ...[
      ['$ride_vary', 'x-hwid', '"x-hwid, accept-language, x-device-locale, user-agent"'] as const,
      ['$ride_cache_control', '$gate_cache_control', '"private, no-cache"'] as const,
    ].map(([to, otherwise, value]) => map('$ride_fits$rides', to, otherwise, '~^1.', value)),
    '',
    '# Headers that send apps to another address of their subscription: to a host of the list alone.',
    ...APP_MOVES.map((name) =>
      map(`$gate_hosts\\n${ofPanel(name)}`, ofOwnHost(name), '""', TO_OWN_HOST, '$1'),
    ),
    '',
    '# A link of the panel belongs to its own text.',
    map('$ride_fits$ride_announce', '$panel_announce_url', ofPanel('announce-url'), '~^1.', '""'),
    '',
    ...lines,
    '',
  ].join('\n');
}

/** Lines of nginx that put a value in place of the panel's header. */
const replaced = (name: string, value: string) =>
  `proxy_hide_header ${name}; add_header ${name} ${value} always;`;

function nginxHeaders(): string {
  return [
    '# For the location of nginx.conf beside this file: what Gatepost hands out, and what the app gets.',
    `# ${MADE}`,
    'auth_request_set $rides $upstream_http_x_gatepost_rides;',
    ...RIDE_HEADERS.map((name) => {
      const taken = `auth_request_set $${variable(name)} ${ofPanel(name)};`;
      return `${taken} ${replaced(name, `$sent_${variable(name)}`)}`;
    }),
    '# Headers that send apps to another address of their subscription.',
    ...APP_MOVES.filter((name) => !RIDE_HEADERS.includes(name)).map((name) =>
      replaced(name, ofOwnHost(name)),
    ),
    ...APP_MOVES.flatMap((name) =>
      STORE_PREFIXES.map((prefix) => `proxy_hide_header ${prefix}${name};`),
    ),
    '',
  ].join('\n');
}

/** The name as Go writes it. */
const canonical = (name: string) => name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** Headers that go with each answer that a device may have; they are never empty. */
const ALWAYS: readonly string[] = [SUPPORT_URL, WEB_PAGE_URL, UPDATE_INTERVAL];

function caddySnippets(): string {
  const handedOut = RIDE_HEADERS.map(
    (name) => `\tvars ${variable(name)} {rp.header.${canonical(name)}}`,
  );
  const added = RIDE_HEADERS.flatMap((name) => {
    const matcher = ALWAYS.includes(name)
      ? `not vars {vars.${variable(name)}} ""`
      : `vars_regexp {vars.rides} (^|,\\s)${name}(,|$)`;
    return [
      `\t@${variable(name)} ${matcher}`,
      `\theader @${variable(name)} {`,
      `\t\t${canonical(name)} {vars.${variable(name)}}`,
      '\t\tdefer',
      '\t}',
    ];
  });
  return [
    "# For Caddyfile beside this file: each header of a message in place of the panel's.",
    `# ${MADE}`,
    '',
    '# What Gatepost hands out.',
    '(gate_rides) {',
    '\tvars rides {rp.header.X-Gatepost-Rides}',
    ...handedOut,
    '}',
    '',
    '# What the app gets.',
    '(panel_rides) {',
    ...added,
    '}',
    '',
  ].join('\n');
}

/** The files by their names in docs/gate. */
export const RIDE_FILES: Readonly<Record<string, string>> = {
  'nginx-rides-maps.conf': nginxMaps(),
  'nginx-rides.conf': nginxHeaders(),
  'rides.caddy': caddySnippets(),
};
