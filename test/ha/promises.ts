/**
 * Callers of all the rest: links are added and changed, domains bound and unbound, general
 * notifications sent. What was answered must be there in the end, whatever died in between.
 */

import type { Credentials } from '../../src/core/provider.ts';
import { Beliefs } from '../support/belief.ts';
import type { Random } from '../support/random.ts';
import type { Client } from './client.ts';

const SEND_INTERVAL_MS = 5 * 60_000;
const OFTEN = 'You can send general notifications only once every 5 minutes';

export class Promises {
  readonly problems: string[] = [];
  /** Of links by their codes: the note, or `absent`. */
  readonly #notes = new Beliefs<string>();
  readonly #domains = new Beliefs<'active' | 'disabled' | 'absent'>();
  /** When general notifications were accepted: the call's beginning and end. */
  readonly #accepted: { startMs: number; endMs: number }[] = [];
  #serial = 0;

  constructor(
    private readonly client: Client,
    private readonly own: Credentials,
    /** In all names, so that no two providers take the same. */
    private readonly name: string,
    private readonly random: Random,
  ) {}

  get acceptedGenerals(): number {
    return this.#accepted.length;
  }

  /** What has been answered for certain. */
  get certainCount(): number {
    return this.#notes.certainCount + this.#domains.certainCount;
  }

  async run(isOver: () => boolean): Promise<void> {
    const loop = async (act: () => Promise<void>) => {
      while (!isOver()) await act();
    };
    await Promise.all([
      ...Array.from({ length: 4 }, () => loop(() => this.#keepLink())),
      loop(() => this.#keepDomain()),
      ...Array.from({ length: 3 }, () => loop(() => this.#sendGeneral())),
    ]);
  }

  /** Adds a link and changes its note. What nobody knows is left alone: it may still happen. */
  async #keepLink(): Promise<void> {
    const code = this.#fresh(this.name).padEnd(12, 'x');
    const query = { install_limit: this.random.int(1, 100), install_code: code, note: 'note 0' };
    const added = await this.client.ask('/api/add-install', this.own, query);
    if (added === null) return this.#notes.maybe(code, 'note 0', 'absent');
    if (added.rc !== 1) return this.#wrong('add-install', added);
    this.#notes.is(code, 'note 0');
    for (let n = 1; n <= this.random.int(0, 3); n++) {
      const change = { id: added.id, note: `note ${n}` };
      const updated = await this.client.ask('/api/update-install', this.own, change);
      if (updated === null) return this.#notes.maybe(code, `note ${n}`, '');
      if (updated.rc !== 1) return this.#wrong('update-install', updated);
      this.#notes.is(code, `note ${n}`);
    }
  }

  async #keepDomain(): Promise<void> {
    const hash = this.#fresh('').padStart(64, 'a');
    const bound = await this.client.ask('/api/add-domain', this.own, { domain_hash: hash });
    if (bound === null) return this.#domains.maybe(hash, 'active', 'absent');
    if (bound.rc !== 1) return this.#wrong('add-domain', bound);
    this.#domains.is(hash, 'active');
    if (this.random.chance(0.5)) return;
    const unbound = await this.client.ask('/api/delete-domain', this.own, { id: bound.id });
    if (unbound === null) return this.#domains.maybe(hash, 'disabled', 'active');
    if (unbound.rc !== 1) return this.#wrong('delete-domain', unbound);
    this.#domains.is(hash, 'disabled');
  }

  async #sendGeneral(): Promise<void> {
    const startMs = performance.now();
    const form = { body: this.#fresh('general '), type_push: 'optional', expire_days: 1 };
    const body = JSON.stringify({ PushNotificationForm: form, os: ['android'] });
    const sent = await this.client.ask(
      '/remote/notification',
      this.own,
      {},
      { method: 'POST', body },
    );
    if (sent?.rc === 1) this.#accepted.push({ startMs, endMs: performance.now() });
    else if (sent !== null && sent.msg !== OFTEN) this.#wrong('notification', sent);
    await Bun.sleep(this.random.int(10, 500));
  }

  /** Compares what was answered with what the lists say. One sentence for each that is not so. */
  async check(): Promise<string[]> {
    const links = await this.#list('/api/list-install');
    const notes = new Map(links.map(({ install_code, note }) => [install_code, note]));
    const domains = await this.#list('/api/list-domain');
    const statuses = new Map(domains.map(({ domain_hash, status }) => [domain_hash, status]));
    return [
      ...this.problems,
      ...this.#notes.problems((code) => notes.get(code) ?? 'absent'),
      ...this.#domains.problems((hash) => {
        const status = statuses.get(hash);
        return status === undefined ? 'absent' : status === 10 ? 'active' : 'disabled';
      }),
      ...this.#tooOften(),
    ];
  }

  #tooOften(): string[] {
    const sorted = this.#accepted.toSorted((a, b) => a.startMs - b.startMs);
    return sorted.flatMap(({ endMs }, at) => {
      const before = sorted[at - 1];
      // Each was accepted at some moment between its beginning and its end.
      if (before === undefined || endMs - before.startMs >= SEND_INTERVAL_MS) return [];
      return [`general notifications ${Math.round(endMs - before.startMs)} ms apart`];
    });
  }

  /** All of a list, page after page. */
  async #list(path: string): Promise<Row[]> {
    const all: Row[] = [];
    for (let before: number | null = null; ; ) {
      const query: Record<string, number> = before === null ? {} : { before_id: before };
      const { data } = await this.client.insist(path, this.own, query);
      all.push(...data);
      before = Math.min(...data.map(({ id }: { id: number }) => id));
      if (data.length < LIST_MAX) return all;
    }
  }

  #fresh(start: string): string {
    this.#serial += 1;
    return `${start}${this.#serial}`;
  }

  #wrong(what: string, answer: { msg: string }): void {
    this.problems.push(`${what}: ${answer.msg}`);
  }
}

/** What is looked at of the rows of lists. */
interface Row {
  id: number;
  install_code: string;
  note: string;
  domain_hash: string;
  status: number;
}

/** The most rows of a list without an id. */
const LIST_MAX = 5000;
