/** A browser of the console for tests: it keeps its cookie, and calls as the page does. */

import type { CallName, Given, Got } from '../../src/call/table.ts';
import { pathOf } from '../../src/call/table.ts';

export type Outcome<N extends CallName> =
  | { ok: Got<N>; refused?: undefined }
  | { ok?: undefined; refused: string; detail: string | null };

export class ConsoleBrowser {
  /** The cookie of the session, as the browser sends it; empty: none. */
  cookie = '';
  /** The cookie of the browser's mark; empty: none. */
  mark = '';
  /** `Set-Cookie` of the last answer. */
  setCookie: string | null = null;

  constructor(
    readonly url: string,
    private readonly more: Record<string, string> = {},
  ) {}

  async call<N extends CallName>(
    name: N,
    given: Given<N>,
    headers: Record<string, string | undefined> = {},
  ): Promise<Outcome<N>> {
    const sent = new Headers({
      origin: this.url,
      'content-type': 'application/json',
      cookie: [this.cookie, this.mark].filter((one) => one !== '').join('; '),
      ...this.more,
    });
    for (const [key, value] of Object.entries(headers)) {
      if (value === undefined) sent.delete(key);
      else sent.set(key, value);
    }
    const body = JSON.stringify(given);
    const answer = await fetch(`${this.url}${pathOf(name)}`, {
      method: 'POST',
      headers: sent,
      body,
    });
    const cookies = answer.headers.getSetCookie();
    const set = (name: string) => cookies.find((one) => one.startsWith(`${name}=`)) ?? null;
    this.setCookie = set('__Host-gatepost');
    if (this.setCookie !== null) this.cookie = this.setCookie.split(';')[0] ?? '';
    this.mark = set('__Host-gatepost-known')?.split(';')[0] ?? this.mark;
    return (await answer.json()) as Outcome<N>;
  }

  /** Calls, and throws a refusal. */
  async get<N extends CallName>(name: N, given: Given<N>): Promise<Got<N>> {
    const outcome = await this.call(name, given);
    if (outcome.refused !== undefined) throw new Error(`${name}: ${JSON.stringify(outcome)}`);
    return outcome.ok;
  }

  /** Calls, and returns what the refusal says. */
  async refusal<N extends CallName>(name: N, given: Given<N>): Promise<string | undefined> {
    return (await this.call(name, given)).refused;
  }
}
