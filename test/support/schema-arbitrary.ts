/** Values that a schema of the document allows, and values that it forbids. */

import fc from 'fast-check';
import type { JsonSchema } from '../../src/http/document/json-schema.ts';
import { resolve } from './openapi.ts';

type Arbitrary = fc.Arbitrary<unknown>;

/** The rules beside patterns, by `format` and `contentMediaType`. */
export interface Samples {
  [format: string]: readonly string[];
}

/** Values that fit; strings with a format are taken from `samples`. */
export function fitting(given: JsonSchema, samples: Samples): Arbitrary {
  const schema = resolve(given);
  const { const: only, enum: values, items, type } = schema;
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(values)) return fc.constantFrom(...values);
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => fitting({ type: one }, samples)));
  switch (type) {
    case 'boolean':
      return fc.boolean();
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'integer': {
      const { maximum = 1e9, minimum = 0 } = schema as { maximum?: number; minimum?: number };
      return fc.oneof(
        fc.constantFrom(minimum, maximum),
        fc.integer({ min: minimum, max: maximum }),
      );
    }
    case 'string':
      return fittingText(schema, samples);
    case 'array': {
      const { maxItems = 3, minItems = 0 } = schema as { maxItems?: number; minItems?: number };
      const size = { minLength: minItems, maxLength: Math.min(maxItems, 5) };
      return fc.array(fitting(items as JsonSchema, samples), size);
    }
    case 'object':
      return fc.oneof(...branchesOf(schema).map((branch) => fittingObject(branch, samples)));
    default:
      // Without a word about its type, anything fits.
      return schema['oneOf'] === undefined
        ? fc.jsonValue({ maxDepth: 3 })
        : fc.oneof(...(schema['oneOf'] as JsonSchema[]).map((one) => fitting(one, samples)));
  }
}

function fittingText(schema: JsonSchema, samples: Samples): Arbitrary {
  const { contentMediaType, format, maxLength = 40, minLength = 0, pattern } = schema;
  const named = samples[String(contentMediaType ?? format)];
  if (named) {
    const isFit = new RegExp(String(pattern ?? ''), 'u');
    return fc.constantFrom(...named.filter((sample) => isFit.test(sample)));
  }
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern, 'u'));
  const size = { minLength: Number(minLength), maxLength: Math.min(Number(maxLength), 40) };
  return fc.string({ unit: 'grapheme', ...size });
}

/** The object schemas that a schema with anyOf, oneOf and if stands for. */
function branchesOf(schema: JsonSchema): JsonSchema[] {
  const combine = (bases: JsonSchema[], keyword: string) => {
    const choices = schema[keyword] as JsonSchema[] | undefined;
    if (choices === undefined) return bases;
    return bases.flatMap((base) => choices.map((choice) => merged(base, choice)));
  };
  const { anyOf: _any, oneOf: _one, if: when, then, else: otherwise, ...base } = schema;
  const bases = combine(combine([base], 'anyOf'), 'oneOf');
  if (when === undefined) return bases;
  return bases.flatMap((one) => [
    merged(merged(one, when as JsonSchema), then as JsonSchema),
    merged(merged(one, notOf(when as JsonSchema, one)), otherwise as JsonSchema),
  ]);
}

/** The values of an enumeration that a condition of constants leaves out. */
function notOf(when: JsonSchema, { properties }: JsonSchema): JsonSchema {
  const [[name, { const: only }] = ['', {}]] = Object.entries(
    when['properties'] as Record<string, JsonSchema>,
  );
  const values = (properties as Record<string, JsonSchema>)[name]?.['enum'] as unknown[];
  return { properties: { [name]: { enum: values.filter((value) => value !== only) } } };
}

function merged(base: JsonSchema, choice: JsonSchema): JsonSchema {
  const properties = { ...(base['properties'] as Record<string, JsonSchema>) };
  for (const [name, more] of Object.entries((choice['properties'] ?? {}) as JsonSchema)) {
    properties[name] = { ...properties[name], ...(more as JsonSchema) };
  }
  const required = [base['required'] ?? [], choice['required'] ?? []].flat();
  return { ...base, properties, required };
}

function fittingObject(schema: JsonSchema, samples: Samples): Arbitrary {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const required = (schema['required'] ?? []) as string[];
  const pairs = (schema['dependentRequired'] ?? {}) as Record<string, string[]>;
  const named = fc.record(
    Object.fromEntries(properties.map(([name, field]) => [name, fitting(field, samples)])),
    { requiredKeys: required },
  );
  const patterns = Object.entries(
    (schema['patternProperties'] ?? {}) as Record<string, JsonSchema>,
  );
  const others = patterns.map(([pattern, field]) =>
    fc.dictionary(fc.stringMatching(new RegExp(pattern)), fitting(field, samples), {
      maxKeys: 2,
      minKeys: properties.length === 0 ? Number(schema['minProperties'] ?? 0) : 0,
    }),
  );
  return fc
    .tuple(named, ...others)
    .map((parts) => Object.assign({}, ...parts.toReversed()) as Record<string, unknown>)
    .map((value) => {
      for (const [name, needs] of Object.entries(pairs)) {
        if (needs.some((need) => !(need in value))) delete value[name];
      }
      return value;
    })
    .filter((value) => Object.keys(value).length >= Number(schema['minProperties'] ?? 0));
}

/** A value with one thing changed, and where. */
interface Spoilt {
  path: string;
  value: unknown;
}

/** Changes of a value that its schema is there to forbid, one thing at a time. */
export function spoilings(given: JsonSchema, value: unknown, path = ''): Spoilt[] {
  const schema = resolve(given);
  if (!['const', 'enum', 'oneOf', 'type'].some((keyword) => keyword in schema)) return [];
  const here = (wrong: unknown): Spoilt => ({ path, value: wrong });
  if (Array.isArray(value)) {
    const { items, maxItems } = schema as { items: JsonSchema; maxItems?: number };
    const tooMany = maxItems ? [here(Array.from({ length: maxItems + 1 }, () => value[0]))] : [];
    const inside = spoilings(items, value[0], `${path}[]`);
    const around = inside.map(({ path: at, value: wrong }) => ({
      path: at,
      value: [wrong, ...value.slice(1)],
    }));
    return [here([]), here(5), ...tooMany, ...around];
  }
  if (typeof value === 'object' && value !== null) return spoiltObjects(schema, value, path);
  const { maximum, maxLength, minimum } = schema as Record<string, number | undefined>;
  const texts = ['nonsense', '\u0000', ' ', 'a,,b', 'a\nb', 'x'.repeat((maxLength ?? 0) + 3)];
  return [
    here({}),
    here(5.5),
    ...(maximum === undefined ? [] : [here(maximum + 1)]),
    ...(minimum === undefined ? [] : [here(minimum - 1)]),
    ...texts.map(here),
  ];
}

function spoiltObjects(schema: JsonSchema, value: object, path: string): Spoilt[] {
  const required = (schema['required'] ?? []) as string[];
  const kinds = (schema['oneOf'] as JsonSchema[] | undefined) ?? [];
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const properties = [schema, ...kinds.map(resolve)].map(
      (one) => (one['properties'] as Record<string, JsonSchema> | undefined)?.[name],
    );
    const [fallback] = Object.values((schema['patternProperties'] ?? {}) as JsonSchema);
    const own = properties.find((property) => property) ?? (fallback as JsonSchema | undefined);
    if (own === undefined) return [];
    const inside = spoilings(own, field, path === '' ? name : `${path}.${name}`);
    return inside.map(({ path: at, value: wrong }) => ({
      path: at,
      value: { ...value, [name]: wrong },
    }));
  });
  const without = required.map((name) => {
    const { [name]: _, ...rest } = value as Record<string, unknown>;
    return { path: path === '' ? name : `${path}.${name}`, value: rest };
  });
  const strange = { path: `${path}.!`, value: { ...value, '!': {} } };
  return [...fields, ...without, strange];
}
