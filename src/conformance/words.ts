/** Placeholders of cases: values in braces, patterns in angle brackets. */

import { isRecord } from '../core/json-input.ts';

/** The first difference between an answer and the expected one. */
export interface Difference {
  /** The path, such as `body.data[0].status`. */
  path: string;
  expected: unknown;
  got: unknown;
}

type Values = Map<string, unknown>;

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const drawn = (length: number, letters = LETTERS) =>
  Array.from(crypto.getRandomValues(new Uint8Array(length)))
    .map((byte) => letters[byte % letters.length])
    .join('');

/** Random values, drawn at their first use in a case. */
export const DRAWS: Readonly<Record<string, () => string>> = {
  code: () => drawn(12),
  hash: () => drawn(64, '0123456789abcdef'),
  hex: () => drawn(54, '0123456789abcdef'),
  hwid: () => `conformance-${drawn(16)}`,
  host: () => `${drawn(16, 'abcdefghijklmnopqrstuvwxyz')}.example`,
  provider: () => drawn(8),
  key: () => drawn(32),
};

/** The longest text that `{x*N}` makes. */
const REPEATS_MAX = 300_000;
/** The zone of `send_date`, `send_time` and all times in answers. */
const OFFSET_MS = 3 * 3_600_000;

/** The values of one case. */
export class Words {
  readonly values: Values = new Map();

  constructor(
    private readonly nowMs: number,
    /** The records that `<like>` refers to. */
    private readonly records: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ) {}

  /** Replaces the placeholders in braces of a value. Throws for an unknown one. */
  fill(value: unknown): unknown {
    if (typeof value === 'string') {
      const whole = /^\{([^{}"]+)\}$/.exec(value)?.[1];
      if (whole !== undefined) return this.#valueOf(whole);
      return value.replace(/\{([^{}" ]*[^{}"])\}/g, (_, word: string) =>
        String(this.#valueOf(word)),
      );
    }
    if (Array.isArray(value)) return value.map((item) => this.fill(item));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.fill(name), this.fill(item)]),
    );
  }

  #valueOf(word: string): unknown {
    if (this.values.has(word)) return this.values.get(word);
    const [, letter, count] = /^(.)\*(\d{1,6})$/u.exec(word) ?? [];
    if (letter !== undefined) return letter.repeat(Math.min(Number(count), REPEATS_MAX));
    const [, part, minutes] = /^(date|time)([+-]\d{1,7})$/.exec(word) ?? [];
    if (part !== undefined) {
      const at = new Date(this.nowMs + OFFSET_MS + Number(minutes) * 60_000).toISOString();
      return part === 'date' ? at.slice(0, 10) : at.slice(11, 16);
    }
    const draw = DRAWS[word.replace(/\d*$/, '')];
    if (draw === undefined) throw new Error(`there is no value {${word}}`);
    const value = draw();
    this.values.set(word, value);
    return value;
  }

  /**
   * Returns the first difference between an answer and the expected one; null: none. Keeps the
   * values of `<kind:name>`.
   */
  compare(expected: unknown, got: unknown, path: string): Difference | null {
    if (typeof expected === 'string' && PATTERN.test(expected)) {
      const [, kind = '', list = '', name] = PATTERN.exec(expected) ?? [];
      if (!fits(kind, list, got)) return { path, expected, got };
      if (name !== undefined) this.values.set(name, got);
      return null;
    }
    if (Array.isArray(expected)) return this.#compareList(expected, got, path);
    if (!isRecord(expected)) {
      const wanted = this.fill(expected);
      return Object.is(wanted, got) ? null : { path, expected: wanted, got };
    }
    const { '<like>': like, ...own } = expected;
    return this.#compareRecord({ ...this.records[String(like)], ...own }, got, path);
  }

  #compareRecord(
    expected: Readonly<Record<string, unknown>>,
    got: unknown,
    path: string,
  ): Difference | null {
    if (!isRecord(got)) return { path, expected: 'an object', got };
    for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      const at = `${path}.${name}`;
      if (!Object.hasOwn(expected, name))
        return { path: at, expected: 'no such field', got: got[name] };
      if (!Object.hasOwn(got, name)) {
        return { path: at, expected: this.#shown(expected[name]), got: 'no such field' };
      }
      const difference = this.compare(expected[name], got[name], at);
      if (difference !== null) return difference;
    }
    return null;
  }

  #compareList(expected: readonly unknown[], got: unknown, path: string): Difference | null {
    const [word, ...rest] = expected;
    const isEach = word === '<each>';
    const isFirst = word === '<first>';
    const wanted = isEach || isFirst ? rest : expected;
    if (!Array.isArray(got)) return { path, expected: this.#shown(expected), got };
    const count = isEach ? got.length : wanted.length;
    const isLong = isFirst ? got.length < count : got.length !== count;
    if (isLong) {
      return { path: `${path}.length`, expected: isFirst ? `>= ${count}` : count, got: got.length };
    }
    for (let at = 0; at < count; at++) {
      const difference = this.compare(wanted[isEach ? 0 : at], got[at], `${path}[${at}]`);
      if (difference !== null) return difference;
    }
    return null;
  }

  /** Returns the expected value; patterns and unset names stay as they are. */
  #shown(expected: unknown): unknown {
    return typeof expected === 'string' && PATTERN.test(expected) ? expected : this.fill(expected);
  }
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const matches = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value);

/** Patterns by name. */
export const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: (value) => isCount(value) && value !== 0,
  count: isCount,
  limit: (value) => isCount(value) && (value as number) >= 1 && (value as number) <= 100,
  time: matches(
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]) (?:[01]\d|2[0-3])(?::[0-5]\d){2}$/,
  ),
  code: matches(/^[A-Za-z0-9]{12}$/),
  // Imported links may have shorter codes.
  'any-code': matches(/^[A-Za-z0-9]{8,12}$/),
  hash: matches(/^[a-f0-9]{64}$/),
  digits: matches(/^\d+$/),
  hwid: matches(/^(?!.*,)[\x21-\x7e]{1,128}$/),
  token: matches(/^[-_A-Za-z0-9]{43}$/),
  json: matches(/^application\/json *(?:;|$)/i),
  text: (value) => typeof value === 'string',
  sentence: matches(/^[\x20-\x7e]+$/),
  note: (value) => value === null || (typeof value === 'string' && [...value].length <= 255),
  target: (value) => value === null || matches(/^(?:ios|android)(?:,(?:ios|android))?$/)(value),
  any: () => true,
};
const PATTERN = new RegExp(`^<(${Object.keys(KINDS).join('|')}|in)((?: [^ <>:]+)*)(?::(\\w+))?>$`);

/** Returns whether a value fits a kind, or (`in`) is in a list. */
function fits(kind: string, list: string, value: unknown): boolean {
  if (kind !== 'in') return KINDS[kind]?.(value) === true;
  return list
    .trim()
    .split(' ')
    .includes(value === null ? 'null' : JSON.stringify(value));
}
