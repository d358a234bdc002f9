/** Makes the OpenAPI 3.1 document from the table of endpoints. */

import { type TSchema, Type } from '@sinclair/typebox';
import { REQUEST_BOUNDS } from '../../core/json-input.ts';
import { answersOf, type Endpoint, isNeeded, type Param } from '../endpoint.ts';
import { groups } from '../endpoints/index.ts';
import { type MessageKey, messages } from '../messages.ts';
import { exampleOf, type JsonSchema, SchemaBook } from './json-schema.ts';
import {
  ERROR_DETAIL,
  GROUP_DESCRIPTIONS,
  INFO,
  olderPathNote,
  PLAN_NEEDS,
  REPEATS,
  REQUEST_ID,
  SECURITY_SCHEMES,
} from './openapi-prose.ts';

export interface OpenApiParameter {
  name: string;
  in: 'query' | 'header';
  required: boolean;
  /** Set for a header of older documents. */
  deprecated?: true;
  description: string;
  schema: JsonSchema;
  example?: string | number;
}

interface Example {
  summary: string;
  description?: string;
  value: unknown;
}

interface Media {
  schema: JsonSchema;
  examples: Record<string, Example>;
}

interface OpenApiAnswer {
  description: string;
  headers: Record<string, { $ref: string } | { description: string; schema: JsonSchema }>;
  /** One example for each message, under the message's key. */
  content: { 'application/json': Media };
}

export interface OpenApiOperation {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  /** Set for a path of older documents. */
  deprecated?: true;
  /** Alternatives: each needs all its schemes, and an empty one needs none. */
  security: Partial<Record<keyof typeof SECURITY_SCHEMES, never[]>>[];
  parameters: OpenApiParameter[];
  requestBody?: {
    required: true;
    description: string;
    content: { 'application/json': Media };
  };
  responses: { 200: OpenApiAnswer };
}

export interface OpenApiDocument {
  openapi: '3.1.1';
  info: typeof INFO;
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, { get?: OpenApiOperation; post?: OpenApiOperation }>;
  components: {
    schemas: Record<string, JsonSchema>;
    headers: Record<'ErrorDetail' | 'RequestId', { description: string; schema: JsonSchema }>;
    securitySchemes: typeof SECURITY_SCHEMES;
  };
}

/** Makes the document, always the same. */
export function openApiDocument(): OpenApiDocument {
  const book = new SchemaBook();
  const paths: OpenApiDocument['paths'] = {};
  for (const { name, endpoints } of groups) {
    for (const endpoint of endpoints) {
      const operation = operationOf(endpoint, name, book);
      const { method, olderPath, path } = endpoint;
      const at = (one: OpenApiOperation) => (method === 'GET' ? { get: one } : { post: one });
      const older = { operationId: `${operation.operationId}Older`, deprecated: true } as const;
      paths[path] = at(operation);
      if (olderPath) paths[olderPath] = at({ ...operation, ...older });
    }
  }
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [{ url: '/', description: 'The server that this document comes from.' }],
    tags: groups.map(({ name }) => ({ name, description: GROUP_DESCRIPTIONS[name] })),
    paths,
    components: {
      schemas: book.components,
      headers: {
        ErrorDetail: { description: ERROR_DETAIL, schema: { type: 'string' } },
        RequestId: { description: REQUEST_ID, schema: { type: 'string' } },
      },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operationOf(endpoint: Endpoint, group: string, book: SchemaBook): OpenApiOperation {
  const { description, input, olderPath, path, plan, repeat, summary } = endpoint;
  const { bodyBytesMax = REQUEST_BOUNDS.bytesMax } = endpoint;
  const older = olderPath && olderPathNote(olderPath);
  const notes = [repeat && REPEATS[repeat], plan && PLAN_NEEDS[plan], older].filter(Boolean);
  return {
    operationId: operationIdOf(path),
    tags: [group],
    summary,
    description: [description, ...notes].join('\n\n'),
    security: securityOf(endpoint),
    parameters: Object.entries(endpoint.params).flatMap(([name, param]) =>
      parametersOf(name, param, isNeeded(endpoint, param), book),
    ),
    ...(input && {
      requestBody: {
        required: true,
        description: `At most ${bodyBytesMax / 1024} KiB.`,
        content: { 'application/json': inputOf(input, book) },
      },
    }),
    responses: { 200: answerOf(endpoint, book) },
  };
}

/** Returns the name of an endpoint: `/api/add-install` is addLink, `/remote/list` remoteList. */
function operationIdOf(path: string): string {
  const words = path.replace(/^\/api/, '').split(/[/-]/);
  return words
    .filter((word) => word !== '')
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
}

function securityOf({ audience, takesToken }: Endpoint): OpenApiOperation['security'] {
  if (audience === 'provider') return [{ providerCode: [], authKey: [] }];
  if (audience === 'device') return [{ deviceToken: [] }];
  return takesToken ? [{}, { deviceToken: [] }] : [];
}

/** Documents a parameter: in the query, and in its header if it has one. */
function parametersOf(
  name: string,
  { about, example, header, olderHeader, rule, schema }: Param,
  required: boolean,
  book: SchemaBook,
): OpenApiParameter[] {
  const description = [`${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`, about ?? '']
    .join(' ')
    .trim();
  const content = { schema: book.refer(schema), ...(example !== undefined && { example }) };
  const { schema: referred } = content;
  if (olderHeader !== undefined) {
    const older = `The same as \`${name}\`, from older apps: read if that is not given.`;
    return [
      { name, in: 'query', required, description, ...content },
      { ...OLDER, name: olderHeader, required, description: older, schema: referred },
    ];
  }
  if (header === undefined) return [{ name, in: 'query', required, description, ...content }];
  if (header.replaceAll('-', '_') === name) {
    // Generators give both one name.
    const same = `${description} Also in the header \`${header}\`, which takes precedence.`;
    return [{ name, in: 'query', required, description: same, ...content }];
  }
  return [
    { name: header, in: 'header', required, description, ...content },
    {
      name,
      in: 'query',
      required,
      description: `The same as the header \`${header}\`, which takes precedence.`,
      schema: referred,
    },
  ];
}

const OLDER = { in: 'header', deprecated: true } as const;

function inputOf(input: TSchema, book: SchemaBook): Media {
  const kinds = (input['oneOf'] as TSchema[] | undefined) ?? [input];
  const examples = kinds.map((kind) => [
    kind.title ?? '',
    { summary: kind.title ?? '', value: exampleOf(kind) },
  ]);
  return { schema: book.refer(input), examples: Object.fromEntries(examples) };
}

function answerOf(endpoint: Endpoint, book: SchemaBook): OpenApiAnswer {
  // Success first, then what exists already, then refusals.
  const keys = answersOf(endpoint).toSorted(
    (a, b) => (messages[a].rc || 3) - (messages[b].rc || 3),
  );
  const examples = keys.map((key): [string, Example] => {
    const { rc, msg } = messages[key];
    const fields = Object.entries(endpoint.fields?.[key] ?? {});
    const values = Object.fromEntries(fields.map(([name, schema]) => [name, exampleOf(schema)]));
    const description = meaningOf(endpoint, key);
    return [key, { summary: msg, description, value: { rc, msg, ...values } }];
  });
  return {
    description: 'Every answer, refusals included: `rc` and `msg` tell them apart.',
    headers: headersOf(endpoint, keys),
    content: {
      'application/json': {
        schema: { oneOf: bodiesOf(endpoint, keys, book) },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** Returns a schema for each message with fields, and one for all others of each `rc`. */
function bodiesOf({ fields }: Endpoint, keys: MessageKey[], book: SchemaBook): JsonSchema[] {
  const withFields = keys.filter((key) => fields?.[key]);
  const others = Map.groupBy(
    keys.filter((key) => !fields?.[key]),
    (key) => messages[key].rc,
  );
  const sets = [...withFields.map((key) => [key]), ...others.values()];
  return sets.map((set) => {
    const [first] = set as [MessageKey];
    const texts = [...new Set(set.map((key) => messages[key].msg))];
    const envelope = {
      rc: Type.Literal(messages[first].rc),
      msg: Type.Union(texts.map((text) => Type.Literal(text))),
    };
    const body = { ...envelope, ...fields?.[first] };
    // Further properties are allowed, as in all answers: a later version may add fields.
    return book.refer(Type.Object(body));
  });
}

function headersOf(endpoint: Endpoint, keys: MessageKey[]): OpenApiAnswer['headers'] {
  const named: OpenApiAnswer['headers'] = {
    'x-error-detail': { $ref: '#/components/headers/ErrorDetail' },
    'x-request-id': { $ref: '#/components/headers/RequestId' },
  };
  const add = (headers: Endpoint['headers'], description: string) => {
    for (const [name, value] of Object.entries(headers ?? {})) {
      named[name] = { description, schema: { type: 'string', const: value } };
    }
  };
  add(endpoint.headers, 'Comes with every answer.');
  for (const [name, { about, example }] of Object.entries(endpoint.answerHeaders ?? {})) {
    named[name] = { description: about, schema: { type: 'string', examples: [example] } };
  }
  for (const key of keys) add(messages[key].headers, `Comes with \`${messages[key].msg}\`.`);
  return named;
}

/** Returns when an answer is given: for which misfit parameters, and the message's own detail. */
function meaningOf(endpoint: Endpoint, key: MessageKey): string {
  const { rc, detail: ownDetail = '' } = messages[key];
  const detail = endpoint.details?.[key] ?? ownDetail;
  if (key === 'ok') return 'success';
  if (rc === 2 && detail === '') return 'it exists already';
  const misfits = Object.entries(endpoint.params)
    .filter(([name, { misfit }]) => misfit === key && !detail.startsWith(`${name} must`))
    .map(([name]) => `\`${name}\` does not fit`);
  if (key !== 'unknown_error') return [...misfits, detail].join(', or ');
  if (endpoint.method === 'POST') misfits.push('the body does not fit');
  return [...misfits, 'an internal fault'].join(', or ');
}
