/** The requests and frames of an app, which the cases read. */

import { Watch } from '../peer/watch.ts';
import type { Item } from './sent.ts';

/** A request or frame of an app. Times are of the steady clock, ms. */
type Deed =
  | {
      kind: 'register';
      atMs: number;
      token: string | null;
      language: string;
      body: Readonly<Record<string, unknown>>;
    }
  | { kind: 'inbox'; atMs: number; token: string | null; waitSeconds: number; id: number | null }
  | { kind: 'ack'; atMs: number; items: readonly Item[]; by: 'call' | 'stream' }
  | {
      kind: 'stream';
      atMs: number;
      token: string | null;
      query: URLSearchParams;
      frameMax: number | null;
    }
  | { kind: 'left'; atMs: number };

/** The most deeds that are kept, for an app that never rests, and the most characters of all. */
const DEEDS_MAX = 100_000;
const DEEDS_LENGTH_MAX = 16 * 1024 ** 2;

export class Deeds {
  readonly deeds: Deed[] = [];
  #length = 0;
  readonly #watch = new Watch();

  /** Returns the deeds of one kind after the first `after` ones. */
  of<K extends Deed['kind']>(kind: K, after = 0): Extract<Deed, { kind: K }>[] {
    const isIt = (deed: Deed): deed is Extract<Deed, { kind: K }> => deed.kind === kind;
    return this.deeds.slice(after).filter(isIt);
  }

  /** Returns the acknowledged items after the first `after` deeds. */
  acked(after = 0): Item[] {
    return this.of('ack', after).flatMap(({ items }) => items);
  }

  /** Waits for a condition; returns false after the time. */
  until(isSo: () => boolean, ms: number): Promise<boolean> {
    return this.#watch.until(isSo, ms);
  }

  /** Checks the awaited conditions after a deed of the app. */
  look(): void {
    this.#watch.look();
  }

  /** Keeps a deed, up to a bound. */
  protected note(deed: Deed): void {
    const query = deed.kind === 'stream' ? deed.query.toString() : '';
    this.#length += JSON.stringify(deed).length + query.length;
    if (this.deeds.length < DEEDS_MAX && this.#length <= DEEDS_LENGTH_MAX) this.deeds.push(deed);
    this.look();
  }
}
