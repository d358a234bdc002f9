/**
 * The forms of addresses that public bots hand out, as their repositories had them in November
 * 2026. What follows # never leaves an app.
 */

import type { Upstream } from '../../src/http/upstream/settings.ts';
import { keyPath } from './upstream.ts';

export interface BotForm {
  form: string;
  /** How the bot gets its code: it names one, draws one, or makes a link at each view of a page. */
  code: 'named' | 'drawn' | 'drawn at each view';
  /** The upstream that the form needs. */
  upstream: Partial<Upstream>;
  address(key: string, code: string): string;
  /** The code is the key of the subscription. */
  isKey?: boolean;
  /** The app asks about the code before it fetches. */
  asks?: boolean;
  /** The link that counts without a patch: the one that was paid, or one that the gate makes. */
  counts: 'paid' | 'made';
}

const at = (...paths: string[]): Partial<Upstream> => ({ keyPaths: paths.map(keyPath) });
const SUB = at('/sub/{key}');
const CODES = { codesAsKeys: true };

export const BOT_FORMS: readonly BotForm[] = [
  {
    form: 'URL#Title?installid=CODE',
    code: 'drawn',
    upstream: SUB,
    address: (key, code) => `/sub/${key}#Title?installid=${code}`,
    counts: 'made',
  },
  {
    form: 'URL#Title?installid=CODE of a page',
    code: 'drawn at each view',
    upstream: at('/api/sub/{key}'),
    address: (key, code) => `/api/sub/${key}#My_VPN?installid=${code}`,
    counts: 'made',
  },
  {
    form: 'URL#Title?installid=CODE&providerid=P&hide-settings=1',
    code: 'drawn',
    upstream: SUB,
    address: (key, code) => `/sub/${key}#Title?installid=${code}&providerid=P&hide-settings=1`,
    counts: 'made',
  },
  {
    form: '/subscription/CODE#Title?installid=CODE',
    code: 'named',
    upstream: { ...at('/subscription/{key}'), ...CODES },
    address: (_, code) => `/subscription/${code}#Title?installid=${code}`,
    isKey: true,
    counts: 'paid',
  },
  {
    form: '/sub/CODE',
    code: 'named',
    upstream: { ...SUB, ...CODES },
    address: (_, code) => `/sub/${code}`,
    isKey: true,
    counts: 'paid',
  },
  {
    form: '/subscription/CODE',
    code: 'named',
    upstream: { ...at('/sub/{key}', '/subscription/{key}'), ...CODES },
    address: (_, code) => `/subscription/${code}`,
    isKey: true,
    counts: 'paid',
  },
  {
    form: 'URL?installid=CODE',
    code: 'drawn',
    upstream: SUB,
    address: (key, code) => `/sub/${key}?installid=${code}`,
    counts: 'paid',
  },
  {
    form: 'URL?InstallID=CODE',
    code: 'drawn at each view',
    upstream: SUB,
    address: (key, code) => `/sub/${key}?InstallID=${code}`,
    counts: 'paid',
  },
  {
    form: 'URL?name=N&InstallID=CODE#Title',
    code: 'drawn',
    upstream: SUB,
    address: (key, code) => `/sub/${key}?name=My+VPN&InstallID=${code}#Title`,
    counts: 'paid',
  },
  {
    form: '/KEY?InstallID=CODE, at the root of the host',
    code: 'drawn at each view',
    upstream: at('/{key}'),
    address: (key, code) => `/${key}?InstallID=${code}`,
    counts: 'paid',
  },
  {
    form: 'one URL for all, ?installid=CODE',
    code: 'drawn',
    upstream: { keyPaths: [] },
    address: (_, code) => `/all?installid=${code}`,
    counts: 'paid',
  },
  {
    form: 'happ://install/PROVIDER/CODE beside the URL',
    code: 'named',
    upstream: SUB,
    address: (key) => `/sub/${key}`,
    asks: true,
    counts: 'made',
  },
  {
    form: 'URL?providerid=P&hide-settings=1, without the code',
    code: 'drawn',
    upstream: SUB,
    address: (key) => `/sub/${key}?providerid=P&hide-settings=1`,
    counts: 'made',
  },
];

/** What an app sends of an address. */
export const sentOf = (address: string): string => address.split('#', 1)[0] ?? '';
