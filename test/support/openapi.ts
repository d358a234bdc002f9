/** The OpenAPI document, judged by libraries that know nothing of this project. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonSchema } from '../../src/http/document/json-schema.ts';
import { type OpenApiOperation, openApiDocument } from '../../src/http/document/openapi.ts';

export const document = openApiDocument();
const components = document.components;

const ajv = new Ajv2020({
  strict: true,
  // Branches of anyOf say only in what they differ.
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  // A known setting is also a key like any other.
  allowMatchingProperties: true,
});
// Words of OpenAPI; a discriminator is a hint beside oneOf and judges nothing.
ajv.addVocabulary(['components', 'discriminator']);
addFormats.default(ajv);

const compiled = new Map<JsonSchema, ValidateFunction>();
const compiledClosed = new Map<JsonSchema, ValidateFunction>();

/** The rules of a schema of the document that a value breaks. */
export function breaches(schema: JsonSchema, value: unknown): string[] {
  const judge = compiled.get(schema) ?? ajv.compile({ ...schema, components });
  compiled.set(schema, judge);
  return breachesOf(judge, value);
}

/**
 * The differences of an answer of today from its schema. The document leaves answers open, so that
 * clients bear what a later version adds; here a field more than is documented is a mistake.
 */
export function answerBreaches(schema: JsonSchema, value: unknown): string[] {
  const judge =
    compiledClosed.get(schema) ??
    ajv.compile(closed({ ...schema, components: components as unknown }) as JsonSchema);
  compiledClosed.set(schema, judge);
  return breachesOf(judge, value);
}

function breachesOf(judge: ValidateFunction, value: unknown): string[] {
  judge(value);
  return (judge.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** The schema without room for fields that it does not name, in all of its parts. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(
    Object.entries(schema).map(([keyword, part]) => [keyword, closed(part)]),
  );
  const isClosable = parts['type'] === 'object' && !('additionalProperties' in parts);
  return isClosable ? { ...parts, additionalProperties: false } : parts;
}

/** The target of a reference. */
export function resolve(schema: JsonSchema): JsonSchema {
  const ref = schema['$ref'];
  if (typeof ref !== 'string') return schema;
  const found = components.schemas[ref.replace('#/components/schemas/', '')];
  if (found === undefined) throw new Error(`${ref} leads nowhere`);
  return found;
}

interface DocumentedCall {
  method: 'GET' | 'POST';
  path: string;
  operation: OpenApiOperation;
}

/** The calls by the paths that they go by; those of older documents are the same. */
export const calls: readonly DocumentedCall[] = Object.entries(document.paths)
  .flatMap(([path, { get, post }]): DocumentedCall[] => [
    ...(get ? [{ method: 'GET' as const, path, operation: get }] : []),
    ...(post ? [{ method: 'POST' as const, path, operation: post }] : []),
  ])
  .filter(({ operation }) => !operation.deprecated);

/** The operation at a path; every path has one. */
export function operationAt(path: string): OpenApiOperation {
  const found = calls.find((call) => call.path === path);
  if (found === undefined) throw new Error(`${path} is not documented`);
  return found.operation;
}

export const answerAt = (path: string) => operationAt(path).responses[200];
export const answerSchemaAt = (path: string) => answerAt(path).content['application/json'].schema;
export const inputSchemaAt = (path: string) =>
  operationAt(path).requestBody?.content['application/json'].schema ?? {};
