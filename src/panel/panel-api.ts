/**
 * Reads a panel by its API with a token, as the rows of its database, as far as the API has them.
 * Sends GET only.
 */

import { OperatorError } from '../base/operator-error.ts';
import { boundBrokenBy, isRecord, readInteger } from '../core/json-input.ts';
import { PANEL_SCHEMAS, type PanelRows, type PanelSchema } from '../core/moving/panel.ts';
import { asText } from '../core/moving/panel-user.ts';
import type { PanelKind } from '../core/panel/kind.ts';
import { type Reading, RowSink } from './rows.ts';

interface PanelApiOptions extends Reading {
  /** The tables to read, without that of devices if they are not asked for; absent: all. */
  schema?: PanelSchema;
  /** The address before `/api`; for 3x-ui and Hiddify with the secret path. */
  url: string;
  token: string;
  /** Further headers, for an access gateway. */
  headers: Readonly<Record<string, string>>;
  callsPerSecondMax: number;
  userAgent: string;
  sleep(ms: number): Promise<void>;
  onProgress(done: number, total: number): void;
}

type Json = Readonly<Record<string, unknown>>;

/** Users or devices of one call: no panel returns more than 1,000. */
const PAGE = 500;
const TIMEOUT_MS = 30_000;
/** The bounds of an answer. */
const ANSWER = { bytesMax: 64 * 1024 ** 2, valuesMax: 5_000_000 };
const ATTEMPTS_MAX = 4;
/** The scope in a role of PasarGuard that reaches the users of all admins. */
const SCOPE_ALL = 2;
const PAUSE_MS = 1_000;

/** The words of an error after 401 or 403. */
export const TOKEN_REFUSED = 'it refuses the token';

/** The users of a panel, and the admin who alone sees them; empty: these are all users. */
interface PanelView {
  rows: PanelRows;
  view: string;
}

/** Reads the users of a panel. Throws {@link OperatorError}; its text never has the token. */
export async function readPanelApi(kind: PanelKind, options: PanelApiOptions): Promise<PanelView> {
  const sink = new RowSink(options.schema ?? PANEL_SCHEMAS[kind], options.url, options);
  const api = new PanelApi(options, sink);
  await api[kind]();
  return { rows: sink.finish(kind), view: api.view };
}

class PanelApi {
  /** See {@link PanelView}. */
  view = '';
  #headers: Record<string, string> = {};

  constructor(
    readonly options: PanelApiOptions,
    readonly sink: RowSink,
  ) {}

  async remnawave(): Promise<void> {
    this.#headers = { authorization: `Bearer ${this.options.token}` };
    const answer = async (path: string) => recordIn(recordIn(await this.#get(path))['response']);
    this.#add('subscription_settings', await answer('/api/subscription-settings'));
    const { externalSquads } = await answer('/api/external-squads');
    for (const squad of listIn(externalSquads)) this.#add('external_squads', squad);
    const page = (path: string) => (at: number) => answer(`${path}?start=${at}&size=${PAGE}`);
    await this.#pages('users', 'users', page('/api/users'));
    if (this.#wants('hwid_user_devices')) {
      await this.#pages('hwid_user_devices', 'devices', page('/api/hwid/devices'));
    }
  }

  async '3x-ui'(): Promise<void> {
    this.#headers = { authorization: `Bearer ${this.options.token}` };
    const { obj, success } = recordIn(await this.#get('/panel/api/clients/list'));
    if (success !== true) throw this.#unusable('/panel/api/clients/list');
    this.sink.table('clients');
    for (const client of listIn(obj)) this.#add('clients', client);
  }

  async marzban(): Promise<void> {
    this.#headers = { authorization: `Bearer ${this.options.token}` };
    const { username, is_sudo: isSudo } = recordIn(await this.#get('/api/admin'));
    this.#seenBy(username, isSudo === true);
    await this.#pages('users', 'users', async (at) =>
      recordIn(await this.#get(`/api/users?offset=${at}&limit=${PAGE}`)),
    );
  }

  async pasarguard(): Promise<void> {
    const { token } = this.options;
    // The token of an admin is a JWT.
    const isJwt = /^ey[\w-]*\.[\w-]+\.[\w-]+$/.test(token);
    this.#headers = isJwt ? { authorization: `Bearer ${token}` } : { 'x-api-key': token };
    const { username, role, is_sudo: isSudo } = recordIn(await this.#get('/api/admin'));
    const { is_owner: isOwner, permissions } = recordIn(role);
    const { scope } = recordIn(recordIn(recordIn(permissions)['users'])['read']);
    // Older versions have no roles.
    const seesAll = isOwner === true || isSudo === true || scope === SCOPE_ALL;
    this.#seenBy(username, seesAll);
    this.#add('settings', recordIn(await this.#get('/api/settings')));
    for (const admin of listIn(recordIn(await this.#get('/api/admins'))['admins'])) {
      const role = recordIn(admin['role']);
      this.#add('admins', { id: admin['id'], role_id: role['id'] });
      this.#add('admin_roles', role);
    }
    const ids: string[] = [];
    await this.#pages('users', 'users', async (at) => {
      const answer = recordIn(await this.#get(`/api/users?offset=${at}&limit=${PAGE}`));
      const users = listIn(answer['users']).map((user) => {
        ids.push(asText(user['id']));
        return { ...user, admin_id: recordIn(user['admin'])['id'] };
      });
      return { ...answer, users };
    });
    if (!this.#wants('user_hwids')) return;
    for (const [at, id] of ids.entries()) {
      // A text could lead to another path.
      if (!/^\d+$/.test(id)) throw this.#unusable('/api/users');
      const { hwids } = recordIn(await this.#get(`/api/user/${id}/hwids`));
      for (const hwid of listIn(hwids)) this.#add('user_hwids', { ...hwid, user_id: id });
      this.options.onProgress(at + 1, ids.length);
    }
  }

  async hiddify(): Promise<void> {
    this.#headers = { 'hiddify-api-key': this.options.token };
    const { mode, uuid } = recordIn(await this.#get('/api/v2/admin/me/'));
    this.#seenBy(uuid, mode === 'super_admin');
    this.sink.table('user');
    for (const user of listIn(await this.#get('/api/v2/admin/user/'))) this.#add('user', user);
  }

  /** Notes the admin of the token, unless it sees all users. */
  #seenBy(admin: unknown, seesAll: boolean): void {
    this.view = seesAll ? '' : asText(admin) || 'unknown';
  }

  #wants(table: string): boolean {
    return this.sink.columnsOf(table) !== null;
  }

  /** Adds a record under the column names of the database. */
  #add(table: string, record: Json): void {
    const named = Object.entries(record).map(
      ([name, value]) =>
        [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value] as const,
    );
    const wanted = this.sink.columnsOf(table) ?? [];
    this.sink.add(table, Object.fromEntries(named.filter(([name]) => wanted.includes(name))));
  }

  /**
   * Adds all records of a paged list. A user who is added or removed meanwhile shifts the pages: a
   * user could be missed then, and count as removed.
   */
  async #pages(table: string, name: string, page: (at: number) => Promise<Json>): Promise<void> {
    this.sink.table(table);
    for (let done = 0; ; ) {
      const answer = await page(done);
      const records = listIn(answer[name]);
      const total = readInteger(answer['total']);
      if (total === null) throw this.#unusable(name);
      for (const record of records) this.#add(table, record);
      done += records.length;
      this.options.onProgress(done, total);
      if (done === total) return;
      if (records.length === 0 || done > total) {
        throw this.#failed(`its ${name} changed while they were read: run the command again`);
      }
    }
  }

  async #get(path: string): Promise<unknown> {
    const { callsPerSecondMax, signal, sleep } = this.options;
    for (let attempt = 1; ; attempt++) {
      await sleep(1_000 / callsPerSecondMax);
      this.options.onSign();
      if (signal.aborted) throw new OperatorError('stopped', 'interrupted');
      const got = await this.#attempt(path);
      if (typeof got === 'object') return got.json;
      if (attempt === ATTEMPTS_MAX) throw this.#failed(got);
      await sleep(PAUSE_MS * 2 ** attempt);
    }
  }

  /** Returns the answer, or the reason of a retry. */
  async #attempt(path: string): Promise<{ json: unknown } | string> {
    const { headers, url, userAgent, signal } = this.options;
    const patience = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    let body: Buffer;
    try {
      response = await fetch(`${url}${path}`, {
        headers: {
          ...headers,
          ...this.#headers,
          accept: 'application/json',
          'user-agent': userAgent,
        },
        // A redirect must not send the token to another server.
        redirect: 'manual',
        signal: AbortSignal.any([signal, patience]),
      });
      body = await this.#boundedBody(response);
    } catch (error) {
      if (error instanceof OperatorError) throw error;
      return patience.aborted ? `it took longer than ${TIMEOUT_MS / 1000} s` : 'it is not reached';
    }
    const { status } = response;
    if (status === 429 || status >= 500) return `it answers HTTP ${status}`;
    if (status === 401 || status === 403) throw this.#failed(`${TOKEN_REFUSED} (${status})`);
    if (status !== 200) throw this.#failed(`it answers HTTP ${status} at ${path.split('?')[0]}`);
    const broken = boundBrokenBy(body, ANSWER);
    if (broken !== null)
      throw this.#failed(`its answer to ${path.split('?')[0]} must not ${broken}`);
    try {
      return { json: JSON.parse(body.toString()) };
    } catch {
      throw this.#unusable(path);
    }
  }

  async #boundedBody(response: Response): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > ANSWER.bytesMax) throw this.#failed('it sends more than 64 MiB for one list');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  #unusable(path: string): OperatorError {
    return this.#failed(`its answer to ${path.split('?')[0]} is not that of the panel`);
  }

  #failed(why: string): OperatorError {
    return new OperatorError(`the panel at ${this.options.url}: ${why}`, 'source_unusable');
  }
}

const recordIn = (value: unknown): Json => (isRecord(value) ? value : {});
const listIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
