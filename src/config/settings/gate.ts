import { INSTALL_LIMIT } from '../../core/formats.ts';
import {
  baseUrl,
  hostOfUrl,
  integer,
  keyPaths,
  languageTag,
  networksOrTrusted,
  oneOf,
  passPaths,
  providerCode,
  shortText,
  TRUSTED_PROXIES,
} from '../readers.ts';
import { setting } from '../setting.ts';
import { listOfTables, namedTables, tableKey } from '../tables.ts';

const upstreamKeys = {
  host: tableKey({
    key: 'host',
    default: null,
    example: 'sub.example.org',
    read: hostOfUrl,
    about: ['The host name in the URLs that people have; no two upstreams have the same.'],
  }),
  url: tableKey({
    key: 'url',
    default: null,
    example: 'http://127.0.0.1:8000',
    read: baseUrl,
    about: ['Where the panel answers: `http` or `https`, host, port, and a path to put in front.'],
  }),
  provider: tableKey({
    key: 'provider',
    default: null,
    example: 'Ab3dE5gH',
    read: providerCode,
    about: ['The code of the provider whose links these are.'],
  }),
  keyPaths: tableKey({
    key: 'key_path',
    default: '/sub/{key}',
    types: ['array'],
    read: keyPaths,
    about: [
      'Where the key of a subscription is, as in `gate.key_paths`. With `[]` links are named by',
      '`installid` in the query alone, none is made, and a URL without it is one of `other_paths`.',
    ],
  }),
  passPaths: tableKey({
    key: 'pass_paths',
    default: '',
    example: '/assets/*',
    types: ['array'],
    read: passPaths,
    about: [
      "Paths of the panel's page that are no subscription's: GET and HEAD pass there, without a",
      'HWID and a limit. `/assets/*` stands for all paths under `/assets`. The case counts, and a',
      'path that fits `key_path` passes only if its key is written out here.',
    ],
  }),
  defaultLimit: tableKey({
    key: 'default_limit',
    // How many devices somebody paid for is nothing to guess.
    default: null,
    example: '3',
    ...integer(INSTALL_LIMIT.minimum, INSTALL_LIMIT.maximum),
    about: ['The limit of a link that is made when its key is first seen.'],
  }),
  browsers: tableKey({
    key: 'browsers',
    default: 'refuse',
    read: oneOf<'pass' | 'refuse'>('pass', 'refuse'),
    about: [
      'What a browser gets, which has no HWID: `pass`, the page of the panel and no other kind of',
      'answer, or `refuse`.',
    ],
  }),
  otherPaths: tableKey({
    key: 'other_paths',
    default: 'refuse',
    read: oneOf<'pass' | 'refuse'>('pass', 'refuse'),
    about: ['What a path gets that fits no template: `pass`, without a limit, or `refuse`.'],
  }),
  refusedStatus: tableKey({
    key: 'refused_status',
    default: '404',
    ...integer(200, 599),
    // An app that does not know the convention keeps what it has.
    about: ['The HTTP status of a refusal.'],
  }),
  timeoutMs: tableKey({
    key: 'timeout_seconds',
    default: '30',
    types: ['integer'],
    // Bun ends a connection that was idle for 255 s.
    read: (text) => integer(1, 240).read(text) * 1_000,
    about: ['For how many seconds the panel may say nothing, before its answer and within it.'],
  }),
  answerBytesMax: tableKey({
    key: 'answer_bytes_max',
    default: '67108864',
    ...integer(1_024, 1_073_741_824),
    about: ['How many bytes an answer of the panel may have; a longer one is cut off.'],
  }),
  requestsMax: tableKey({
    key: 'requests_max',
    default: '256',
    ...integer(1, 1_000),
    about: ['How many requests may be under way at the panel at a time.'],
  }),
  hostHeader: tableKey({
    key: 'host_header',
    default: 'original',
    read: oneOf<'original' | 'upstream'>('original', 'upstream'),
    about: ['The host that the panel is told: that of the request, or that of `url`.'],
  }),
};

const textKey = (key: string, example: string, about: string) =>
  tableKey({ key, default: '', example, read: shortText, about: [about] });

const textKeys = {
  hwid_required: textKey(
    'hwid_required',
    'This app does not tell its device. Use one that sends a HWID.',
    'The app sent no HWID, or one that is none.',
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
    'All devices of this subscription are taken. Write to @support.',
    'All slots of the link are taken.',
  ),
};

export const gateSettings = {
  gateProxies: setting({
    key: 'gate.proxies',
    env: 'GATEPOST_GATE_PROXIES',
    // As before there was this setting: no upgrade shuts a gate.
    default: TRUSTED_PROXIES,
    types: ['array'],
    read: networksOrTrusted,
    about: [
      'Networks of the proxies that may ask `/gate`; `[]` is none. The default stands for those of',
      '`server.trusted_proxies`: set this where one of them passes requests from outside to',
      '`/gate`, or asks nothing there.',
    ],
    isLive: true,
  }),
  gateKeyPaths: setting({
    key: 'gate.key_paths',
    env: 'GATEPOST_GATE_KEY_PATHS',
    // Where most panels have their subscriptions.
    default: '/sub/{key}',
    types: ['array'],
    read: keyPaths,
    about: [
      'Where `/gate` finds the key of a subscription in the path that a proxy asks about: `{key}`',
      'stands for one whole segment, the rest is compared without regard to case, and more may',
      'follow. The first that fits holds.',
    ],
    isLive: true,
  }),
  gateLanguage: setting({
    key: 'gate.language',
    env: 'GATEPOST_GATE_LANGUAGE',
    default: 'en',
    read: languageTag,
    about: [
      'The language of refusals for those who ask for none that there is a text in: most apps name',
      'none.',
    ],
    isLive: true,
  }),
  gateUpstreams: setting({
    key: 'gate.upstream',
    env: 'GATEPOST_GATE_UPSTREAM',
    default: '',
    types: [],
    // Each is one more host name that requests are looked up by, and a gate of its own.
    ...listOfTables({ keys: upstreamKeys, countMax: 64, distinct: 'host' }),
    about: [
      'A panel that Gatepost stands in front of; up to 64.',
      'In the environment: a JSON array of objects.',
    ],
    isLive: true,
  }),
  gateTexts: setting({
    key: 'gate.text',
    env: 'GATEPOST_GATE_TEXT',
    default: '',
    types: [],
    ...namedTables({
      keys: textKeys,
      countMax: 64,
      exampleName: 'en',
      readName: languageTag,
    }),
    about: [
      'What people read in a language when they are refused; each text is one line of up to 200',
      'characters, and replaces the one that Gatepost has. Up to 64 languages.',
      'In the environment: a JSON object of objects.',
    ],
    isLive: true,
  }),
} as const;

/** The rows of the keys of tables, for the documents. */
export const GATE_TABLES = { upstreamKeys, textKeys };
