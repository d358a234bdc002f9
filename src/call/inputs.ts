/** Inputs of the console's calls. */

import { type TOptional, type TProperties, type TUnsafe, Type } from '@sinclair/typebox';
import { type Fields, rowsOf } from '../core/field.ts';
import type { ChoiceFormat } from '../core/formats.ts';
import { PROVIDER_ROLES } from '../core/port/account.ts';
import { SCOPES } from '../core/port/provider-key.ts';

const STRICT = { additionalProperties: false } as const;

export const inputOf = <P extends TProperties>(properties: P) => Type.Object(properties, STRICT);

/** The input of a call about a provider. */
export const atProvider = <P extends TProperties>(properties: P) =>
  inputOf({ at: text(8), ...properties });

export const text = (maxLength: number) => Type.String({ maxLength });

/**
 * Characters that a store rejects: PostgreSQL has no NUL, UTF-8 has no half of a surrogate pair.
 */
const ODD = /[\0\p{Cs}]/u;

/** Returns whether a value has text that cannot be stored. Bodies of sends have their own rules. */
export function hasOddText(value: unknown): boolean {
  if (typeof value === 'string') return ODD.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, one]) => name !== 'body' && hasOddText(one));
}
export const whole = Type.Integer({ minimum: 0, maximum: 999_999_999 });
export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const nullable = <S extends Parameters<typeof Type.Optional>[0]>(schema: S) =>
  Type.Union([schema, Type.Null()]);
export const anyOf = <const T extends string>(values: readonly T[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));
const LENGTH_MAX = 255;

/** A value before its format is checked. */
type Loose<T> = T extends number ? number : T;

/** The inputs of a table's fields, all optional. Their formats are checked by the core. */
export const inputsOf = <Own extends object>(table: Fields<Own>) =>
  Object.fromEntries(
    rowsOf(table).map(({ field, format, usual }) => {
      const { values: [first] = [], values = [] } = format as Partial<ChoiceFormat>;
      const words = typeof first === 'string' ? anyOf(values as string[]) : text(LENGTH_MAX);
      const schema = 'minimum' in format || typeof first === 'number' ? whole : words;
      return [field, Type.Optional(usual === null ? nullable(schema) : schema)];
    }),
  ) as unknown as { [F in keyof Own]-?: TOptional<TUnsafe<Loose<Own[F]>>> };
export const role = anyOf(PROVIDER_ROLES);
export const scope = anyOf(SCOPES);
/** The answer of a browser about a passkey; @simplewebauthn/server parses it. */
export const proof = Type.Record(Type.String(), Type.Unknown());
