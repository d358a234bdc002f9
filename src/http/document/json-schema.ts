/** Converts the schemas of the table to JSON Schema 2020-12, and makes example values. */

import type { TSchema } from '@sinclair/typebox';

export type JsonSchema = { [keyword: string]: unknown };

/** Keywords whose value contains no schema. */
const DATA_KEYWORDS = [
  ...['const', 'default', 'dependentRequired', 'discriminator', 'enum', 'examples', 'required'],
  'type',
];

/** Converts TypeBox's schemas; a schema with a title becomes a component, used by reference. */
export class SchemaBook {
  readonly components: Record<string, JsonSchema> = {};
  readonly #sources = new Map<string, TSchema>();

  /** Returns the schema in the document, or a reference to its component. */
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
    // RegExp is a type of TypeBox; other languages cannot read every expression.
    if (schema['type'] === 'RegExp') {
      const { source, flags: _flags, documented = { pattern: source }, ...rest } = schema;
      return { ...rest, type: 'string', ...documented };
    }
    if ('const' in schema) return { ...schema, type: typeOf(schema['const']) };
    const values = literalsOf(schema as TSchema);
    if (values !== null) {
      const { anyOf: _anyOf, ...rest } = schema;
      const types = new Set(values.map(typeOf));
      // Numbers and words together are values of the query: texts. Generators take one type alone.
      if (types.size > 1) return { type: 'string', enum: values.map(String), ...rest };
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

/** Returns the type of a literal; TypeBox knows no literal integers. */
function typeOf(literal: unknown): string {
  return Number.isInteger(literal) ? 'integer' : typeof literal;
}

/** Returns the values of a union of literals; null: the schema is another one. */
function literalsOf({ anyOf }: TSchema): unknown[] | null {
  if (!Array.isArray(anyOf) || !anyOf.every((schema) => 'const' in schema)) return null;
  return anyOf.map((schema) => schema.const);
}

/** Returns the first example of a schema, or one composed of the examples of its parts. */
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
