/**
 * Reads a panel by its API with a token, as the rows of its database, as far as the API has them.
 * Sends GET only.
 */

import { type ErrorCode, OperatorError } from '../base/operator-error.ts';
import { boundBrokenBy, readInteger } from '../core/json-input.ts';
import type { PanelRows, PanelSchema } from '../core/panel/cells.ts';
import { PANEL_TRAITS } from '../core/panel/index.ts';
import type { PanelKind } from '../core/panel/kind.ts';
import { type ListReader, listIn, PAGE, type PagedList } from '../core/panel/lists.ts';
import type { PanelRecord } from '../core/panel/record.ts';
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

const TIMEOUT_MS = 30_000;
/** The bounds of an answer. */
const ANSWER = { bytesMax: 64 * 1024 ** 2, valuesMax: 5_000_000 };
const ATTEMPTS_MAX = 4;
/** The most pages of one list that are read again because records before them were deleted. */
const BACKS_MAX = 20;
const PAUSE_MS = 1_000;

/** The users of a panel, and the admin who alone sees them; empty: these are all users. */
interface PanelView {
  rows: PanelRows;
  view: string;
}

/** Reads the users of a panel. Throws {@link OperatorError}; its text never has the token. */
export async function readPanelApi(kind: PanelKind, options: PanelApiOptions): Promise<PanelView> {
  const sink = new RowSink(options.schema ?? PANEL_TRAITS[kind].database, options.url, options);
  const api = new PanelApi(options, sink, PANEL_TRAITS[kind].api.headersOf(options.token));
  await api.see(kind);
  await PANEL_TRAITS[kind].readAll(api);
  return { rows: sink.finish(kind), view: api.view };
}

class PanelApi implements ListReader {
  /** See {@link PanelView}. */
  view = '';

  constructor(
    readonly options: PanelApiOptions,
    readonly sink: RowSink,
    /** The headers by which its token authorizes a request. */
    readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** Notes the admin whose users alone the token shows. */
  async see(kind: PanelKind): Promise<void> {
    const { view } = PANEL_TRAITS[kind].api;
    if (view !== null) this.view = view.adminIn(await this.get(view.path));
  }

  wants(table: string): boolean {
    return this.sink.columnsOf(table) !== null;
  }

  table(name: string): void {
    this.sink.table(name);
  }

  onProgress(done: number, total: number): void {
    this.options.onProgress(done, total);
  }

  /** Adds a record under the column names of the database. */
  add(table: string, record: PanelRecord): void {
    const named = Object.entries(record).map(
      ([name, value]) =>
        [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value] as const,
    );
    const wanted = this.sink.columnsOf(table) ?? [];
    this.sink.add(table, Object.fromEntries(named.filter(([name]) => wanted.includes(name))));
  }

  /**
   * Adds all records of a paged list. Each page begins with the last record of the page before: if
   * another one is there, records before it were deleted meanwhile, and a page is read again.
   */
  async pages({ table, field, nameOf, page, onNew }: PagedList): Promise<void> {
    this.table(table);
    const changed = () =>
      this.#failed(`its ${field} changed while they were read: run the command again`);
    const seen = new Set<string>();
    let least = Number.POSITIVE_INFINITY;
    let backs = 0;
    for (let at = 0; ; ) {
      const answer = await page(at);
      const records = listIn(answer[field]);
      const total = readInteger(answer['total']);
      if (total === null) throw this.unusable(field);
      least = Math.min(least, total);
      const end = at + records.length;
      if (at > 0 && !seen.has(nameOf(records[0] ?? {}))) {
        backs += 1;
        if (backs > BACKS_MAX) throw changed();
        at = Math.max(0, at - PAGE);
        continue;
      }
      for (const record of records) {
        const name = nameOf(record);
        if (seen.has(name)) continue;
        seen.add(name);
        this.add(table, record);
        onNew?.(name);
      }
      this.options.onProgress(seen.size, total);
      // Fewer records than users: a panel that ignores the place, or hides some.
      if (end > total || (end === total && seen.size < least)) throw changed();
      if (end === total) return;
      if (records.length < 2) throw changed();
      at = end - 1;
    }
  }

  /** Returns the JSON of an answer with one of the statuses. */
  async get(path: string, statuses: readonly number[] = [200]): Promise<unknown> {
    const { callsPerSecondMax, signal, sleep } = this.options;
    for (let attempt = 1; ; attempt++) {
      await sleep(1_000 / callsPerSecondMax);
      this.options.onSign();
      if (signal.aborted) throw new OperatorError('stopped', 'interrupted');
      const got = await this.#attempt(path, statuses);
      if (typeof got === 'object') return got.json;
      if (attempt === ATTEMPTS_MAX) throw this.#failed(got);
      await sleep(PAUSE_MS * 2 ** attempt);
    }
  }

  /** Returns the answer, or the reason of a retry. */
  async #attempt(path: string, statuses: readonly number[]): Promise<{ json: unknown } | string> {
    const { headers, url, userAgent, signal } = this.options;
    const patience = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    let body: Buffer;
    try {
      response = await fetch(`${url}${path}`, {
        headers: {
          ...headers,
          ...this.headers,
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
    if (status === 401) throw this.#failed('it refuses the token (401)', 'panel_refused');
    if (status === 403) throw this.#failed(`it refuses ${path.split('?')[0]} to this token (403)`);
    if (!statuses.includes(status)) {
      throw this.#failed(`it answers HTTP ${status} at ${path.split('?')[0]}`);
    }
    const broken = boundBrokenBy(body, ANSWER);
    if (broken !== null)
      throw this.#failed(`its answer to ${path.split('?')[0]} must not ${broken}`);
    try {
      return { json: JSON.parse(body.toString()) };
    } catch {
      throw this.unusable(path);
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

  unusable(path: string): OperatorError {
    return this.#failed(`its answer to ${path.split('?')[0]} is not that of the panel`);
  }

  #failed(why: string, code: ErrorCode = 'source_unusable'): OperatorError {
    return new OperatorError(`the panel at ${this.options.url}: ${why}`, code);
  }
}
