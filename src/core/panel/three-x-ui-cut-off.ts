/**
 * Makes the credentials of clients of 3x-ui new. Its API has no call for that alone, so a client is
 * sent back whole (`service/client_crud.go`, main of 2026-08-23).
 */

import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { type AskPanel, type PanelApi, Silent, segmentOf, unexpected } from './api.ts';
import {
  countersIn,
  inboundsIn,
  type PanelCutOff,
  type TiedPanelUser,
  without,
} from './credentials.ts';
import { countIn, idIn, only, type PanelRecord, recordIn } from './record.ts';

/** The most clients of a page, and the most pages that are read to find a client. */
const PAGE_CLIENTS = 200;
const PAGES_MAX = 1_000;
/** The most clients of a subscription whose credentials are changed. */
const HOLDERS_MAX = 20;

/** Returns the object of an answer, whose status is 200 also for a fault. */
function objIn(answer: unknown): unknown {
  const { obj, success } = recordIn(answer);
  if (success !== true) throw new Silent('API_REFUSED');
  return obj;
}

interface ClientPage {
  items: readonly PanelRecord[];
  /** The clients that match, on all pages. */
  filtered: number;
}

function pageIn(answer: unknown): ClientPage {
  const { items, filtered } = recordIn(objIn(answer));
  const count = countIn(filtered);
  if (!Array.isArray(items) || count === null) throw unexpected();
  return { items: items.map(recordIn), filtered: count };
}

/** Yields the keys of all clients, page by page. */
export async function* clientKeys(ask: AskPanel): AsyncGenerator<string> {
  let first: number | null = null;
  for (let page = 1; page <= PAGES_MAX; page++) {
    const path = `/panel/api/clients/list/paged?page=${page}&pageSize=${PAGE_CLIENTS}`;
    const { items, filtered } = pageIn(await ask(path));
    yield* items.map(({ subId }) => idIn(subId)).filter((subId) => subId !== '');
    first ??= filtered;
    // A client that was deleted moves all later ones, and one of them past this reading.
    if (filtered < first) throw new Silent('API_CHANGED');
    if (page * PAGE_CLIENTS >= filtered) return;
  }
  throw new Silent('API_MANY');
}

/** Finds the key of a link, of which only the hash is known; null: no client has it. */
async function findKey({ hasKey }: TiedPanelUser, ask: AskPanel): Promise<string | null> {
  for await (const key of clientKeys(ask)) if (hasKey(key)) return key;
  return null;
}

/** The form of a secret of MTProto: its host stays. */
const MTPROTO = /^(ee|dd)?[\da-f]{32}([\da-f]*)$/i;

/** Returns a new password that has the form of the old one: some methods need a key of a length. */
function newPassword(old: string): string {
  const bytes = Buffer.from(old, 'base64');
  const isKey = bytes.toString('base64') === old && [16, 32].includes(bytes.length);
  return isKey ? randomBytes(bytes.length).toString('base64') : randomBytes(16).toString('hex');
}

/** Makes a pair of keys of WireGuard, base64. */
function newKeyPair(): { privateKey: string; publicKey: string } {
  const { d = '', x = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  const base64 = (key: string) => Buffer.from(key, 'base64url').toString('base64');
  return { privateKey: base64(d), publicKey: base64(x) };
}

/** Makes a new value of each credential that a client has. */
function newCredentials(had: Readonly<Record<string, string>>): Record<string, string> {
  const { uuid, password, auth, secret, privateKey } = had;
  return {
    id: uuid === undefined ? '' : randomUUID(),
    ...(password !== undefined && { password: newPassword(password) }),
    ...(auth !== undefined && { auth: newPassword(auth) }),
    ...(secret !== undefined && {
      secret: secret.replace(MTPROTO, (_, kind = '', host = '') =>
        [kind, randomBytes(16).toString('hex'), host].join(''),
      ),
    }),
    ...(privateKey !== undefined && newKeyPair()),
  };
}

const CREDENTIALS = ['uuid', 'password', 'auth', 'secret', 'privateKey'];

function credentialsIn(client: PanelRecord): Record<string, string> {
  const given = CREDENTIALS.map((name) => [name, idIn(client[name])] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}

/**
 * Returns a client as `clients/update` takes it, which takes it whole. It has other names and types
 * there than in `clients/get`: `id` is a number here and the UUID there, `allowedIPs` a list there.
 */
function clientToSend(client: PanelRecord, credentials: Record<string, string>): PanelRecord {
  const { allowedIPs, createdAt, reverse } = client;
  const networks = idIn(allowedIPs)
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return {
    ...without(client, 'uuid', 'reverse', 'createdAt', 'updatedAt', 'allowedIPs'),
    ...(reverse != null && { reverse }),
    ...(networks.length > 0 && { allowedIPs: networks }),
    created_at: createdAt,
    ...credentials,
  };
}

/** Returns whether a client is of a group, or all of its inbounds are among `inbound:1,2`. */
export function isOf(panelAdmin: string, group: unknown, inboundIds: unknown): boolean {
  if (group === panelAdmin) return true;
  const list = inboundsIn(panelAdmin);
  const ids = Array.isArray(inboundIds) ? inboundIds.map(String) : [];
  return ids.length > 0 && ids.every((id) => list.includes(id));
}

/** `service/client_crud.go`, `Update`. */
export const threeXUiCutOff = (userPath: PanelApi['userPath']): PanelCutOff => ({
  owner: "the client's group, or `inbound:1,2` with the numbers of its inbounds",
  async find(user, ask) {
    const key = await findKey(user, ask);
    const path = key === null ? null : userPath(key);
    if (path === null) return [];
    const { items, filtered } = pageIn(await ask(path));
    const clients = items.filter(({ subId }) => subId === key);
    if (filtered > items.length || clients.length > HOLDERS_MAX) throw new Silent('API_MANY');
    return clients.map(({ email }) => idIn(email));
  },
  async read(email, ask) {
    const segment = segmentOf(email);
    if (!segment) return null;
    const got = recordIn(objIn(await ask(`/panel/api/clients/get/${segment}`)));
    const ofXray = recordIn(objIn(await ask(`/panel/api/clients/traffic/${segment}`)));
    const client = recordIn(got['client']);
    if (client['email'] !== email) throw unexpected();
    // An update would switch on again who has just ended: the panel is about to note it.
    if (ofXray['enable'] !== undefined && ofXray['enable'] !== client['enable']) {
      throw new Silent('API_CHANGED');
    }
    const credentials = credentialsIn(client);
    // Without a date in the settings of Xray, which old versions write, the panel notes one there.
    const fields = without(client, ...CREDENTIALS, 'publicKey', 'createdAt', 'updatedAt');
    return {
      keys: [idIn(client['subId'])],
      credentials,
      counters: countersIn({ ...ofXray, used: got['usedTraffic'] }, 'up', 'down', 'used'),
      others: {
        ...fields,
        inboundIds: got['inboundIds'],
        externalLinks: got['externalLinks'],
        traffic: only(ofXray, 'enable', 'total', 'expiryTime', 'reset', 'resetCount'),
      },
      belongsTo: (panelAdmin) => isOf(panelAdmin, client['group'], got['inboundIds']),
      change: () => ({
        method: 'POST',
        path: `/panel/api/clients/update/${segment}`,
        body: clientToSend(client, newCredentials(credentials)),
      }),
    };
  },
  isDone: (answer) => recordIn(answer)['success'] === true,
  interval: null,
});
