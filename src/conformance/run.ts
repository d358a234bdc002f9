/** Runs cases against a server, and reports each as it ends. */

import { isRecord } from '../core/json-input.ts';
import type { PeerVerdict } from '../peer/verdict.ts';
import type { Case } from './case.ts';
import { RECORDS } from './cases.ts';
import type { Step } from './format.ts';
import { ask, NoAnswer, type Request, Stream } from './talk.ts';
import { type Difference, Words } from './words.ts';

export interface Caller {
  provider_code: string;
  auth_key: string;
}

export interface RunOptions {
  /** The base address; paths are appended. */
  url: string;
  /** The callers, by their names in cases. */
  callers: Readonly<Record<string, Caller>>;
  /** True: also runs cases that change data. */
  writes: boolean;
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Makes an event happen at the server; without it cases that need one are skipped. */
  bring?(what: string): Promise<void>;
}

export interface CaseVerdict extends PeerVerdict {
  rule: string;
  /** The reason of a skip, or the request with a different answer; null: passed. */
  at: string | null;
  /** The difference of the answer; null: none. */
  difference: Difference | null;
}

/** The pause between two attempts of a step with `until`, ms. */
const PAUSE_MS = 200;
/** The number of cases in a row without an answer after which the others are skipped. */
const SILENCES_MAX = 3;
/** The most characters of an expected value in a report. */
const SHOWN_LENGTH = 60;
/** The most characters of a path, and of a value as JSON, that the server chose. */
const PATH_LENGTH_MAX = 200;
const VALUE_LENGTH_MAX = 4_000;

/** Runs cases one after the other. */
export async function runCases(
  cases: readonly Case[],
  options: RunOptions,
  tell: (verdict: CaseVerdict) => void,
): Promise<void> {
  let silences = 0;
  for (const one of cases) {
    const { name, rule } = one;
    const isGone = silences >= SILENCES_MAX;
    const reason = isGone ? 'the server does not answer' : reasonToSkip(one, options);
    if (reason !== null) {
      tell({ case: name, rule, verdict: 'skipped', at: reason, difference: null });
      continue;
    }
    const outcome = await new Play(one, options).play();
    silences = outcome.difference?.path === 'answer' ? silences + 1 : 0;
    tell({ case: name, rule, ...outcome });
  }
}

function reasonToSkip({ callers, reads, when }: Case, options: RunOptions): string | null {
  if (!reads && !options.writes) return 'it writes';
  const missing = callers.find((caller) => options.callers[caller] === undefined);
  if (missing !== undefined) return `it needs the provider '${missing}'`;
  if (when[0] !== undefined && options.bring === undefined) return `it is for when ${when[0]}`;
  return null;
}

type Outcome = Pick<CaseVerdict, 'verdict' | 'at' | 'difference'>;

/** One running case. */
class Play {
  readonly #words: Words;
  readonly #streams = new Map<string, Stream>();

  constructor(
    private readonly one: Case,
    private readonly options: RunOptions,
  ) {
    this.#words = new Words(options.nowMs(), RECORDS);
    for (const [name, caller] of Object.entries(options.callers)) {
      this.#words.values.set(`${name}.provider_code`, caller.provider_code);
      this.#words.values.set(`${name}.auth_key`, caller.auth_key);
    }
  }

  async play(): Promise<Outcome> {
    try {
      for (const [n, step] of this.one.steps.entries()) {
        for (const [variant, about] of variantsOf(step)) {
          const difference = await this.#playStep(variant);
          if (difference === null) continue;
          const what = step.call ?? (step.open === undefined ? 'stream' : `open ${step.open}`);
          const at = `step ${n + 1}: ${this.#shown(`${what}${about}`)}`;
          return { verdict: 'failed', at, difference: this.#masked(difference) };
        }
      }
      return { verdict: 'passed', at: null, difference: null };
    } finally {
      for (const stream of this.#streams.values()) stream.end();
    }
  }

  async #playStep(step: Step): Promise<Difference | null> {
    const { bring, nowMs, sleep } = this.options;
    const untilMs = (step.until ?? 0) * 1_000;
    const endMs = nowMs() + untilMs;
    let pauses = untilMs / PAUSE_MS;
    if (step.when !== undefined) await bring?.(step.when);
    for (;;) {
      const difference = await this.#attempt(step).catch((problem: unknown) => {
        if (!(problem instanceof NoAnswer)) throw problem;
        return { path: problem.from, expected: 'an answer', got: problem.message };
      });
      // An attempt itself may take long.
      const isLast = pauses-- <= 0 || nowMs() >= endMs;
      if (difference === null || isLast) return difference;
      await sleep(PAUSE_MS);
    }
  }

  async #attempt(step: Step): Promise<Difference | null> {
    return step.call === undefined ? await this.#talk(step) : await this.#ask(step, step.call);
  }

  async #ask(step: Step, call: string): Promise<Difference | null> {
    const { status = 200, answer, answer_headers: headers = {} } = step;
    const got = await ask(this.#requestOf(step, call));
    if (got.status !== status) return { path: 'status', expected: status, got: got.status };
    const body =
      typeof answer === 'string'
        ? { rc: answer === 'Ok' ? 1 : 0, msg: answer }
        : isRecord(answer) && !('rc' in answer)
          ? { rc: 1, msg: 'Ok', ...answer }
          : answer;
    const all: (readonly [path: string, expected: unknown, got: unknown])[] = [
      ['headers.content-type', '<json>', got.headers.get('content-type')],
      ...(answer === undefined ? [] : ([['body', body, got.body]] as const)),
      ...Object.entries(headers).map(
        ([name, value]) => [`headers.${name}`, value, got.headers.get(name)] as const,
      ),
    ];
    for (const [path, expected, is] of all) {
      const difference = this.#words.compare(expected, is, path);
      if (difference !== null) return difference;
    }
    return null;
  }

  #requestOf({ as = 'none', body, headers = {}, query = {} }: Step, call: string): Request {
    const [method = '', path = ''] = call.split(' ');
    const hasBody = body !== undefined && method === 'POST';
    const words = this.#words;
    const search = new URLSearchParams(as === 'none' ? {} : this.#credentialsOf(as));
    for (const [name, value] of Object.entries(words.fill(query) as object)) {
      if (value === null) continue;
      for (const one of Array.isArray(value) ? value : [value]) search.append(name, `${one}`);
    }
    const text = typeof body === 'string' ? words.fill(body) : JSON.stringify(words.fill(body));
    const usual = !hasBody ? {} : { 'content-type': 'application/json' };
    const all = Object.entries({ ...usual, ...(words.fill(headers) as object) });
    return {
      method,
      url: `${this.options.url}${words.fill(path)}${search.size > 0 ? `?${search}` : ''}`,
      headers: Object.fromEntries(all.filter(([, value]) => value !== null)),
      body: hasBody ? String(text) : null,
    };
  }

  #credentialsOf(name: string): Record<string, string> {
    const { provider_code, auth_key } = this.options.callers[name] ?? (this.#stranger as Caller);
    return { provider_code, auth_key };
  }

  get #stranger(): unknown {
    return this.#words.fill({ provider_code: '{provider}', auth_key: '{key}' });
  }

  async #talk(step: Step): Promise<Difference | null> {
    const { closed, frame, open, send, stream: name = 'stream' } = step;
    const words = this.#words;
    if (open !== undefined) {
      const headers = words.fill(step.headers ?? {}) as Record<string, string>;
      const protocols = words.fill(step.protocols ?? []) as string[];
      const opened = new Stream(`${this.options.url}${words.fill(open)}`, headers, protocols);
      this.#streams.set(name, opened);
      await opened.opened();
    }
    const stream = this.#streams.get(name);
    if (stream === undefined) throw new Error(`${this.one.name}: no stream ${name} is open`);
    if (send !== undefined) stream.send(words.fill(send));
    if (frame !== undefined) return words.compare(frame, await stream.frame(), 'frame');
    return closed === undefined ? null : words.compare(closed, await stream.closed(), 'closed');
  }

  /** Returns a difference without secrets and within bounds: parts of it come from the server. */
  #masked({ path, expected, got }: Difference): Difference {
    const place = this.#shown(path).replace(/[^\x20-\x7e]/g, '?');
    return {
      path: cut(place, PATH_LENGTH_MAX),
      expected: bounded(this.#withoutSecrets(expected)),
      got: bounded(this.#withoutSecrets(got)),
    };
  }

  /**
   * Returns a value with masked texts: in JSON, a letter of an escape may precede a token (`\n`).
   */
  #withoutSecrets(value: unknown): unknown {
    if (typeof value === 'string') return this.#shown(value);
    if (Array.isArray(value)) return value.map((item) => this.#withoutSecrets(item));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.#shown(name), this.#withoutSecrets(item)]),
    );
  }

  /** Returns a text without keys of providers and tokens of devices. */
  #shown(text: string): string {
    const keys = Object.values(this.options.callers).map(({ auth_key: key }) => key);
    const known = keys.reduce((rest, key) => rest.replaceAll(key, '***'), text);
    return known.replace(/(?<![-_A-Za-z0-9])[-_A-Za-z0-9]{43}(?![-_A-Za-z0-9])/g, '***');
  }
}

const cut = (text: string, lengthMax: number) =>
  text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;

/** Returns a value, or the beginning of its JSON if that is long. */
function bounded(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text !== undefined && text.length > VALUE_LENGTH_MAX ? cut(text, VALUE_LENGTH_MAX) : value;
}

/** Returns a step once for each value of `each`, with a text about the value. */
function variantsOf({ each, ...step }: Step): [Step, string][] {
  const [entry] = Object.entries(each ?? {});
  if (entry === undefined) return [[step, '']];
  const [place, values] = entry;
  return values.map((value) => {
    const variant = set(step, place.split('.'), value) as Step;
    return [variant, `, ${place} ${JSON.stringify(value)?.slice(0, SHOWN_LENGTH)}`];
  });
}

/** Returns a copy of `base` with a value at a place. */
function set(base: unknown, [name, ...rest]: string[], value: unknown): unknown {
  if (name === undefined) return value;
  const record = isRecord(base) ? base : {};
  return { ...record, [name]: set(record[name], rest, value) };
}
