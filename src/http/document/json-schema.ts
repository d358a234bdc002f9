/** The schemas of the table as JSON Schema 2020-12, and values that fit them. */

import type { TSchema } from '@sinclair/typebox';

export type JsonSchema = { [keyword: string]: unknown };

/** Keywords whose value holds no schema, whatever it looks like. */
const DATA_KEYWORDS = [
  ...['const', 'default', 'dependentRequired', 'discriminator', 'enum', 'examples', 'required'],
  'type',
];

/**
 * Turns TypeBox's schemas into JSON Schema. One that has a title is put into `components` once, and
 * referred to from wherever it is used.
 */
export class SchemaBook {
  readonly components: Record<string, JsonSchema> = {};
  readonly #sources = new Map<string, TSchema>();

  /** The schema as it stands in the document: itself, or a reference to its component. */
  refer(schema: TSchema): JsonSchema {
    const { title } = schema;
    if (title === undefined) return this.#convert(schema);
    const known = this.#sources.get(title);
    if (known === undefined) {
      this.#sources.set(title, schema);
      this.components[title] = this.#convert(schema);
    } else if (known !== schema) throw new Error(`two schemas are called ${title}`);
    return { $ref: `#/components/schemas/${title}` };
  }

  #convert({ title: _, ...schema }: TSchema): JsonSchema {
    // A regular expression is TypeBox's own type; not every one of them can be read elsewhere.
    if (schema['type'] === 'RegExp') {
      const { source, flags: _flags, documented = { pattern: source }, ...rest } = schema;
      return { ...rest, type: 'string', ...documented };
    }
    if ('const' in schema) return { ...schema, type: typeOf(schema['const']) };
    const values = literalsOf(schema as TSchema);
    if (values !== null) {
      const { anyOf: _anyOf, ...rest } = schema;
      return { type: typeOf(values[0]), enum: values, ...rest };
    }
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, this.#value(keyword, value)]),
    );
  }

  #value(keyword: string, value: unknown): unknown {
    if (typeof value !== 'object' || value === null || DATA_KEYWORDS.includes(keyword))
      return value;
    if (keyword === 'properties' || keyword === 'patternProperties') {
      return Object.fromEntries(
        Object.entries(value).map(([name, schema]) => [name, this.refer(schema)]),
      );
    }
    if (Array.isArray(value)) return value.map((schema) => this.refer(schema));
    return this.refer(value as TSchema);
  }
}

/** The schema of a literal whole number, which TypeBox calls a number. */
function typeOf(literal: unknown): string {
  return Number.isInteger(literal) ? 'integer' : typeof literal;
}

/** The values of a union of literals, or null. */
function literalsOf({ anyOf }: TSchema): unknown[] | null {
  if (!Array.isArray(anyOf) || !anyOf.every((schema) => 'const' in schema)) return null;
  return anyOf.map((schema) => schema.const);
}

/** A value that fits the schema: its first example, or one made of the examples of its parts. */
export function exampleOf(schema: TSchema): unknown {
  if (schema.examples !== undefined) return (schema.examples as unknown[])[0];
  if ('const' in schema) return schema.const;
  const choices = (schema['anyOf'] ?? schema['oneOf']) as TSchema[] | undefined;
  if (schema['type'] === 'object') {
    const properties = Object.entries(schema['properties'] as Record<string, TSchema>);
    return Object.fromEntries(properties.map(([name, property]) => [name, exampleOf(property)]));
  }
  if (schema['type'] === 'array') return [exampleOf(schema['items'])];
  if (choices?.[0] !== undefined) return exampleOf(choices[0]);
  throw new Error(`a schema without an example: ${JSON.stringify(schema)}`);
}
