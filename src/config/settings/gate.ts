import { INSTALL_LIMIT } from '../../core/formats.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { listed, PANEL_KEYS, PANELS, signs, signsIn, titlesOf } from '../../core/panel/kind.ts';
import {
  absolutePath,
  array,
  baseUrl,
  boolean,
  followInterval,
  hostOfUrl,
  integer,
  keyPaths,
  languageTag,
  networksOrTrusted,
  oneOf,
  optionalBaseUrl,
  optionalLine,
  passPaths,
  providerCode,
  shortText,
  TRUSTED_PROXIES,
  text,
} from '../readers.ts';
import { live } from '../setting.ts';
import { exampleKey, listOfTables, namedTables, tableKey } from '../tables.ts';

const panelKey = oneOf(...PANEL_KEYS);

const named = (panels: readonly string[]) =>
  listed(
    panels.map((panel) => `\`${panel}\``),
    'or',
  );
const TOKENS = named(PANELS.filter(signs));
const UUIDS = named(PANELS.filter((panel) => PANEL_TRAITS[panel].keys === 'uuid'));
const ODD = listed(
  PANELS.filter((panel) => PANEL_TRAITS[panel].keysHaveDelimiters).map((one) => `\`"${one}"\``),
  'or',
);
/** The meaning of `panel_admin` at each panel. */
const OWNERS = [
  ...Map.groupBy(PANELS, (panel) => {
    const { cutOff } = PANEL_TRAITS[panel];
    return 'why' in cutOff ? '' : cutOff.owner;
  }),
]
  .filter(([owner]) => owner !== '')
  .map(([owner, panels]) => `${titlesOf((panel) => panels.includes(panel))}: ${owner}`)
  .join('; ');
const rideLevel = oneOf('off', 'notifications', 'on');
/** A week at most: an app that fetches less often misses messages. */
const UPDATE_INTERVAL = integer(0, 168);

const upstreamKeys = {
  host: exampleKey('host', null, 'sub.example.org', hostOfUrl, [
    'The host name in the URLs of subscriptions; no two upstreams have the same.',
  ]),
  url: exampleKey('url', null, 'http://127.0.0.1:8000', baseUrl, [
    'The URL of the panel: `http` or `https`, host, port, and a path to put before each path.',
  ]),
  provider: exampleKey('provider', null, 'Ab3dE5gH', providerCode, [
    'The code of the provider that owns the links.',
  ]),
  keyPaths: tableKey('key_path', '/sub/{key}', array(keyPaths), [
    'Where a path holds the key of a subscription, as in `gate.key_paths`. With `[]` only',
    '`installid` in the query names a link, no link is made, and a URL without it is one of',
    '`other_paths`.',
  ]),
  key: tableKey('key', 'plain', panelKey, [
    `What that segment is: \`plain\`, the key itself; ${UUIDS}, a UUID in any case of letters; or`,
    `${TOKENS}, a signed token of which the user is the key: all tokens of one user`,
    'are one link.',
  ]),
  codesAsKeys: tableKey('codes_as_keys', 'false', boolean, [
    'Whether a key that no link has names the link with this code, if that has no key: for bots that',
    'make the user of the panel under the code of the link. Codes are secrets then.',
  ]),
  keySecretFile: exampleKey('key_secret_file', '', '/etc/gatepost/panel-secret', text, [
    'The file with the secret by which the panel signs (mode 0600): a wrong token is refused before',
    'the panel is asked. Empty: the panel is asked first, and its subscription proves the token.',
  ]),
  passPaths: exampleKey('pass_paths', '', '/assets/*', array(passPaths), [
    "Paths of the panel's page that belong to no subscription: GET and HEAD pass without a HWID",
    'and without a limit. `/assets/*` stands for all paths under `/assets`. Case matters. A path',
    'that matches `key_path` passes only if its key is written out here.',
  ]),
  // Only the operator knows how many devices a customer paid for.
  defaultLimit: exampleKey(
    'default_limit',
    null,
    '3',
    integer(INSTALL_LIMIT.minimum, INSTALL_LIMIT.maximum),
    ['The limit of a link that is made for a new key.'],
  ),
  limits: tableKey('limits', 'own', oneOf('own', 'panel'), [
    'Who says how many devices a link admits: `own`, Gatepost, or `panel`, whose API is asked at',
    'most once an hour and key. While the panel is away the last limit holds.',
  ]),
  read: tableKey('read', 'proxy', oneOf('proxy', 'panel'), [
    'Where end and traffic of subscriptions are read, for providers with `subscription_figures`: in',
    'the answers that pass, or with `panel` also from the API, at most once an hour and link. That is',
    'also read with `limits = "panel"`.',
  ]),
  // The largest: what such links had before this setting existed.
  unlimitedAs: tableKey(
    'unlimited_as',
    '100',
    integer(INSTALL_LIMIT.minimum, INSTALL_LIMIT.maximum),
    [
      'The limit of links whose user has none in the panel: with `limits = "panel"`, and for `import`',
      'without `--unlimited-as`. 100 stops no device.',
    ],
  ),
  panel: exampleKey('panel', '', 'remnawave', oneOf('', ...PANELS), [
    'The panel, whose API `limits` and `read` ask, and as which `refused_as` refuses:',
    `${named(PANELS)}. Empty: the one that \`key\` names, if it`,
    'names one.',
  ]),
  panelUrl: exampleKey('panel_url', '', 'http://127.0.0.1:3000', optionalBaseUrl, [
    'The URL of that API, with the path under which the panel has it; empty: `url`.',
  ]),
  panelTokenFile: exampleKey('panel_token_file', '', '/etc/gatepost/panel-token', text, [
    'The file with a token for that API (mode 0600).',
  ]),
  panelAccountFile: exampleKey('panel_account_file', '', '/etc/gatepost/panel-account', text, [
    `In place of a token that ends, for ${titlesOf(signsIn)}: the file with the name and, in its`,
    'second line, the password of an account (mode 0600). The URL of the API must be `https` or on',
    'this machine.',
  ]),
  panelHeadersFile: exampleKey('panel_headers_file', '', '/etc/gatepost/panel-headers', text, [
    'A file with further headers for that API (mode 0600), each a line `NAME: VALUE`: for a panel',
    'behind an access gateway.',
  ]),
  followMs: exampleKey('follow', '', '5m', followInterval, [
    'How often the panel is asked for all of its users, from `1m` to `1d`: links of new ones are',
    'made, and limits, keys and ends are taken over. Needs `panel_token_file` or `panel_file`. Empty:',
    'never.',
  ]),
  panelFile: exampleKey('panel_file', '', '/opt/panel/db.sqlite3', absolutePath, [
    "The panel's SQLite file on this machine, which `follow` reads in place of that API.",
  ]),
  followGone: tableKey('follow_gone', 'tell', oneOf('tell', 'disable'), [
    'What becomes of the link of a user who is missing in two whole passes of `follow`: it stays,',
    'and the log tells, or it is disabled.',
  ]),
  followNotes: tableKey('follow_notes', 'false', boolean, [
    'Whether `follow` brings names and notes of users as notes of their links.',
  ]),
  // It writes to the panel, with a token that can change users.
  cutOff: tableKey('cut_off', 'false', boolean, [
    'Whether Gatepost may have the panel make new credentials for a customer when a device is freed',
    `with cut-off. Not for ${titlesOf((panel) => 'why' in PANEL_TRAITS[panel].cutOff)}. Needs`,
    '`panel_token_file` or `panel_account_file`, of an account that can change users.',
  ]),
  panelAdmin: exampleKey('panel_admin', '', 'seller-1', optionalLine, [
    "The provider's users at the panel: a cut-off changes no other, and limits, ends and traffic",
    'are read of no other.',
    `${OWNERS}. Empty: all users, unless`,
    'another provider has an upstream at the same panel: then it is needed.',
  ]),
  enforce: tableKey('enforce', 'true', boolean, [
    'Whether full links refuse new devices; `false` only counts those over the limit. A link or a',
    'provider with `enforce` of its own decides for itself.',
  ]),
  browsers: tableKey('browsers', 'refuse', oneOf('pass', 'refuse'), [
    'The answer to a browser, which sends no HWID: `pass`, the HTML page of the panel and no other',
    'content, or `refuse`.',
  ]),
  otherPaths: tableKey('other_paths', 'refuse', oneOf('pass', 'refuse'), [
    'The answer to a path that matches no template: `pass`, without a limit, or `refuse`.',
  ]),
  refusedAs: tableKey('refused_as', 'own', oneOf('own', 'panel'), [
    'How apps are refused: `own`, as the next two keys say, or `panel`, with the status, headers and',
    'body of the panel that `panel` names.',
  ]),
  // An app that does not know the convention keeps its last configuration.
  refusedStatus: tableKey('refused_status', '404', integer(200, 599), [
    'The HTTP status of a refusal.',
  ]),
  // It replaces the servers in a refused app.
  placeholder: tableKey('placeholder', 'false', boolean, [
    'Whether a refused app gets 200 with one server, named with the reason, in the format of the',
    'app: it replaces the servers that the app has.',
  ]),
  // Bun ends a connection that was idle for 255 s.
  timeoutMs: tableKey(
    'timeout_seconds',
    '30',
    { types: ['integer'], read: (text) => integer(1, 240).read(text) * 1_000 },
    ['Seconds for which the panel may be silent, before its answer and within it.'],
  ),
  answerBytesMax: tableKey('answer_bytes_max', '67108864', integer(1_024, 1_073_741_824), [
    'The largest answer of the panel, bytes; a longer one is cut off.',
  ]),
  requestsMax: tableKey('requests_max', '256', integer(1, 1_000), [
    'The most requests to the panel at a time.',
  ]),
  hostHeader: tableKey('host_header', 'original', oneOf('original', 'upstream'), [
    'The `Host` that the panel receives: that of the request, or that of `url`.',
  ]),
  // Notifications change nothing in an app; commands do.
  ride: tableKey('ride', 'notifications', rideLevel, [
    'What rides on subscriptions, in headers that apps read: `off`, `notifications`, or `on`,',
    'commands too. A provider may have less.',
  ]),
  announce: tableKey('announce', 'message', oneOf('message', 'panel', 'both'), [
    'What an app shows if both a message rides and the panel has an announcement: the message, the',
    "announcement of the panel, or both, of which the panel's is cut first.",
  ]),
  providerIdFile: exampleKey('provider_id_file', '', '/etc/gatepost/happ-provider-id', text, [
    'The file with the Provider ID of Happ (mode 0600), which its extended headers need. The app',
    'then reports its HWID, its system and the hash of the domain to the service of its maker',
    'daily. Empty: none.',
  ]),
  updateIntervalHours: tableKey('update_interval_hours', '0', UPDATE_INTERVAL, [
    'Hours after which apps fetch a subscription again (`profile-update-interval`); 0: as the panel',
    'says.',
  ]),
};

const textKey = (key: string, example: string, about: string) =>
  exampleKey(key, '', example, shortText, [about]);

const textKeys = {
  hwid_required: textKey(
    'hwid_required',
    'This app does not tell its device. Use one that sends a HWID.',
    'The app sent no HWID, or an invalid one.',
  ),
  link_not_found: textKey(
    'link_not_found',
    'This subscription does not exist.',
    'No link has this key or code, or its domain is not bound.',
  ),
  link_disabled: textKey(
    'link_disabled',
    'This subscription is switched off.',
    'The link is disabled.',
  ),
  link_limit_reached: textKey(
    'link_limit_reached',
    'Device limit reached for this subscription. Write to @support.',
    'All slots of the link are taken.',
  ),
  not_named: textKey(
    'not_named',
    'This device is not on the list. Write to @support.',
    'The HWID is not on the link, which admits only those that are, by `when_new`.',
  ),
  barred: textKey(
    'barred',
    'This device was removed. Write to @support.',
    'The HWID was cut off from the link.',
  ),
  copied_hwid: textKey(
    'copied_hwid',
    'This HWID is that of another phone. Write to @support.',
    'Another phone has the slot of the HWID, by `copied_hwid` of the link.',
  ),
  subscription_ended: textKey(
    'subscription_ended',
    'This subscription ended on {date}. Renew it at @shop.',
    'The panel refuses a device that has a slot, and the customer has ended; `{date}` is the day.',
  ),
  traffic_used_up: textKey(
    'traffic_used_up',
    'Your traffic is used up. Renew at @shop.',
    'The same for a customer whose traffic is used up.',
  ),
  slot_freed: textKey(
    'slot_freed',
    'This device was removed. Write to @support.',
    'The slot of a device that gets messages was freed: its app shows this.',
  ),
  link_ended: textKey(
    'link_ended',
    'This link has ended. Write to @support.',
    'The same where its link was removed.',
  ),
  link_replaced: textKey(
    'link_replaced',
    'You have a new link: ask @support.',
    'The same where its link got another code.',
  ),
};

export const gateSettings = {
  // The behaviour before this setting existed: an upgrade closes no gate.
  gateProxies: live('gate.proxies', TRUSTED_PROXIES, array(networksOrTrusted), [
    'Networks of the proxies that may call `/gate`; `[]` is none. The default stands for those of',
    '`server.trusted_proxies`: set this if one of them passes requests from outside to `/gate`, or',
    'never calls it.',
  ]),
  // The path of most panels.
  gateKeyPaths: live('gate.key_paths', '/sub/{key}', array(keyPaths), [
    'Where `/gate` finds the key of a subscription in the path that a proxy names: `{key}` stands',
    'for one whole segment, the rest is compared without regard to case, and more segments may',
    'follow. The first match counts.',
  ]),
  gateKey: live('gate.key', 'plain', panelKey, [
    `What that segment is: as \`key\` of an upstream. Tokens of ${titlesOf(signs)} need`,
    '`gate.key_secret_file`.',
  ]),
  gateKeySecretFile: live('gate.key_secret_file', '', text, [
    'The file with the secret by which the panel signs (mode 0600), for `gate.key`.',
  ]),
  gatePanel: live('gate.panel', '', oneOf('', ...PANELS), [
    `The panel behind the proxies that call \`/gate\`: as \`panel\` of an upstream. With ${ODD} a key`,
    'may hold `;`, `%` and `&`. Empty: the one that `gate.key` names, if it names one.',
  ]),
  gatePanelUrl: live('gate.panel_url', '', optionalBaseUrl, [
    'The URL of the API of that panel, with the path under which the panel has it. `/gate` asks it',
    'for the user of a key before a new device takes a slot, at most once an hour and link: a key',
    'whose user the panel does not have, and a revoked token, is refused.',
  ]),
  gatePanelTokenFile: live('gate.panel_token_file', '', text, [
    'The file with a token for that API (mode 0600). Empty: the panel is not asked.',
  ]),
  gatePanelAccountFile: live('gate.panel_account_file', '', text, [
    'In place of that token, the file with the name and password of an account (mode 0600): as',
    '`panel_account_file` of an upstream.',
  ]),
  gatePanelHeadersFile: live('gate.panel_headers_file', '', text, [
    'A file with further headers for that API (mode 0600): as `panel_headers_file` of an upstream.',
  ]),
  // Each link that fetches is a question to the panel.
  gateRead: live('gate.read', 'off', oneOf('off', 'panel'), [
    'Whether end and traffic of subscriptions are read from that API, as with `read = "panel"` of an',
    'upstream: `/gate` sees no answer of the panel.',
  ]),
  gateLanguage: live('gate.language', 'en', languageTag, [
    'The language of refusals for apps that ask for no language that has texts: most apps ask for',
    'none.',
  ]),
  // Files of proxies before 0.11 do not pass the headers on.
  gateRide: live('gate.ride', 'off', rideLevel, [
    'What rides on subscriptions behind proxies that call `/gate`: as `ride` of an upstream. Whether',
    'it replaces what the panel announces is said in the file of the proxy.',
  ]),
  gateProviderIdFile: live('gate.provider_id_file', '', text, [
    'The file with the Provider ID of Happ for `/gate`: as `provider_id_file` of an upstream.',
  ]),
  gateUpdateIntervalHours: live('gate.update_interval_hours', '0', UPDATE_INTERVAL, [
    'Hours after which apps behind `/gate` fetch a subscription again; 0: as the panel says.',
  ]),
  // Each one adds a host name to look up and its own gate.
  gateUpstreams: live(
    'gate.upstream',
    '',
    listOfTables({ keys: upstreamKeys, countMax: 64, distinct: 'host' }),
    [
      'A panel behind Gatepost as its proxy; up to 64.',
      'In the environment: a JSON array of objects.',
    ],
  ),
  gateTexts: live(
    'gate.text',
    '',
    namedTables({
      keys: textKeys,
      countMax: 64,
      exampleName: 'en',
      readName: languageTag,
    }),
    [
      'The texts of refusals in a language; each is one line of up to 200 characters and replaces',
      'the built-in one. Up to 64 languages.',
      'In the environment: a JSON object of objects.',
    ],
  ),
} as const;

/** The keys of the tables, for the documents. */
export const GATE_TABLES = { upstreamKeys, textKeys };
