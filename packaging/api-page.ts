/** The endpoints of docs/api.md, generated from the OpenAPI document; the other text is not. */

import { wrapped } from '../src/config/render.ts';
import type { JsonSchema } from '../src/http/document/json-schema.ts';
import { type OpenApiOperation, openApiDocument } from '../src/http/document/openapi.ts';
import { table } from './tables.ts';

/** The width of paragraphs, as of the text around them. */
const COLUMNS = 120;
const BEGIN = '<!-- generated -->';
const END = '<!-- by hand -->';
/** Answers that the rules at the top of the page have for all calls. */
const COMMON_ANSWERS = ['auth_error', 'subscription_required', 'device_token_error'];
/** The fault that any call may have, which these rules have too. */
const ANY_FAULT = /(?:, or )?an internal fault$/;

/** Rules of values that the page has for all calls. */
const SHORT: readonly [string | RegExp, string][] = [
  ['A whole number of 1 to 15 digits.', 'A whole number.'],
  [/kinds between commas: link\.created[^:]*webhook\.disabled\./, 'kinds between commas.'],
  [' An extension of the public contract.', ' *Ours.*'],
  [/^`link\.created`.*`webhook\.test`\.$/, 'A kind, or `webhook.test`.'],
  [`\`YYYY-MM-DD HH:MM:SS\` in UTC+3, unless the operator set another zone.`, 'A time.'],
];
/** Sentences of descriptions that the page explains once. */
const SENTENCES: readonly [string, string][] = [
  ['A repeated call changes nothing and has the same answer.', 'Repeated: the same.'],
  ['A repeated call changes nothing; its answer may differ.', 'Repeated: nothing more.'],
  ['A repeated call does it again, unless', 'Repeated: done again, unless'],
  ['A repeated call does it again.', 'Repeated: done again.'],
  ['An extension of the public contract.', '*Ours.*'],
];
/** The words from which on a text that another call has is replaced by a link to that call. */
const REPEATED_WORDS = 16;

const document = openApiDocument();

/** Generates each endpoint's part of the page. Throws for a heading that names no endpoint. */
export function apiPage(page: string): string {
  const found = new Set<string>();
  const said = new Map<string, string>();
  const made = page.replace(
    /^## (GET|POST) `(.+)`\n[\s\S]*?(?=<!-- (?:by hand|written))/gm,
    (_, method, path) => {
      const operation = document.paths[path]?.[method === 'GET' ? 'get' : 'post'];
      if (operation === undefined) throw new Error(`docs/api.md: there is no ${method} ${path}`);
      found.add(path);
      return `## ${method} \`${path}\`\n\n${BEGIN}\n${partOf(operation, `${method} ${path}`, said)}\n\n`;
    },
  );
  const isOlder = (path: string) => document.paths[path]?.get?.deprecated === true;
  const missing = Object.keys(document.paths).filter((path) => !found.has(path) && !isOlder(path));
  if (missing.length > 0) throw new Error(`docs/api.md lacks ${missing.join(', ')} (and ${END})`);
  return made;
}

/**
 * Returns the part of a call. A long text that a call before has becomes a link to it; `said` has
 * the calls by these texts.
 */
function partOf(operation: OpenApiOperation, call: string, said: Map<string, string>): string {
  const once = ([name = '', ...cells]: string[]) => [
    name,
    ...cells.map((cell) => {
      const text = SHORT.reduce((short, [from, to]) => short.replace(from, to), cell);
      if (text.split(' ').length < REPEATED_WORDS) return text;
      const key = `${name} ${text}`
        .replace(/^`Failed to save \w+`/, '')
        .replace('that of the appliance', 'that of the provider');
      const first = said.get(key) ?? call;
      said.set(key, first);
      return first === call ? text : `As for ${linkTo(first)}.`;
    }),
  ];
  const input = operation.requestBody?.content['application/json'].schema;
  const parts = [
    SENTENCES.reduce((text, [from, to]) => text.replace(from, to), operation.description)
      .split('\n\n')
      .map((paragraph) => wrapped(paragraph, COLUMNS).join('\n'))
      .join('\n\n'),
    table(['Parameter', 'Rule'], grouped(parameterRows(operation).map(once))),
    input === undefined ? '' : table(['Field', 'Rule'], fieldRows(input).map(once)),
    answerOf(operation, once),
    table(['Header of the answer', 'What it is'], headerRows(operation).map(once)),
    table(['`msg`', 'Given when'], messageRows(operation).map(once)),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Rows one after the other that a link to the same call replaces are one row. */
function grouped(rows: string[][]): string[][] {
  const made: string[][] = [];
  for (const [name = '', rule = ''] of rows) {
    const last = made.at(-1);
    if (last?.[1] === rule && rule.startsWith('As for ')) last[0] += `, ${name}`;
    else made.push([name, rule]);
  }
  return made;
}

/** A link to the heading of a call on the page. */
function linkTo(call: string): string {
  const [, path = ''] = call.split(' ');
  const anchor = call.toLowerCase().replace(/[^a-z-]/g, (sign) => (sign === ' ' ? '-' : ''));
  return `[${path.replace(/^\/api\//, '')}](#${anchor})`;
}

const named = (name: string, required: boolean) => `\`${name}\`${required ? ', required' : ''}`;

/** A header stands in the row of the query parameter that says the same. */
function parameterRows({ parameters }: OpenApiOperation): string[][] {
  const headers = parameters.filter((parameter) => parameter.in === 'header');
  return parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, required, description }) => {
      const header = headers.find((one) => description.includes(`\`${one.name}\``));
      const older = headers.find((one) => one.description.includes(`\`${name}\``));
      if (older) return [`${named(name, required)}; older header \`${older.name}\``, description];
      return header === undefined
        ? [named(name, required), description]
        : [`${named(name, required)}; header \`${header.name}\``, header.description];
    });
}

function resolved(schema: JsonSchema): JsonSchema {
  const name = String(schema['$ref'] ?? '').replace(/^.*\//, '');
  return document.components.schemas[name] ?? schema;
}

/** The fields of an object, of those in it by a dot; of several kinds each field once. */
function fieldRows(schema: JsonSchema, prefix = ''): string[][] {
  const object = resolved(schema);
  const kinds = ((object['oneOf'] as JsonSchema[] | undefined) ?? [object]).map(resolved);
  const rows = new Map<string, string[]>();
  for (const kind of kinds) {
    const required = (kind['required'] ?? []) as string[];
    for (const [name, field] of Object.entries(propertiesOf(kind))) {
      const holders = kinds.filter((other) => Object.hasOwn(propertiesOf(other), name));
      const owner = holders.length === 1 && kinds.length > 1 ? `, for ${titleOf(kind)}` : '';
      const cell = `${named(prefix + name, required.includes(name))}${owner}`;
      if (!rows.has(name)) rows.set(name, [cell, ruleOf(name, field, kinds)]);
      const inside = resolved(
        field['type'] === 'array' ? ((field['items'] ?? {}) as JsonSchema) : field,
      );
      // The keys of settings have a page of their own.
      if ('patternProperties' in inside || Object.keys(propertiesOf(inside)).length === 0) continue;
      for (const row of fieldRows(inside, `${prefix}${name}.`)) rows.set(row[0] ?? '', row);
    }
  }
  return [...rows.values()];
}

const propertiesOf = (schema: JsonSchema) =>
  (schema['properties'] ?? {}) as Record<string, JsonSchema>;

/** Returns the name of a kind of body, which its `action_type` determines. */
const titleOf = (kind: JsonSchema) => `\`${propertiesOf(kind)['action_type']?.['const']}\``;

function ruleOf(name: string, field: JsonSchema, kinds: JsonSchema[]): string {
  const only = kinds.flatMap((kind) => propertiesOf(kind)[name]?.['const'] ?? []);
  const description = String(field['description'] ?? resolved(field)['description'] ?? '');
  const values = (only.length > 0 ? only : ((field['enum'] ?? []) as unknown[])).map(
    (value) => `\`${value}\``,
  );
  const { maximum, minimum } = field;
  const range = maximum === undefined ? '' : `${minimum} to ${maximum}.`;
  const choice = values.length > 0 && description === '' ? `${values.join(', ')}.` : '';
  return [choice, range, description].filter((part) => part !== '').join(' ');
}

/** The fields of a success beside `rc` and `msg`: in a table if there is more to say of them. */
function answerOf({ responses }: OpenApiOperation, once: (row: string[]) => string[]): string {
  const { schema } = responses[200].content['application/json'];
  const [success = {}] = (schema['oneOf'] as JsonSchema[] | undefined) ?? [];
  const rows = fieldRows(success)
    .map(([cell = '', rule = '']) => [cell.replace(', required', ''), rule])
    .filter(([cell = '']) => !/^`(?:rc|msg|data)`/.test(cell));
  if (rows.length === 0) return '';
  const told = rows.filter(([, rule]) => rule !== '').map(once);
  const bare = rows.filter(([, rule]) => rule === '').map(([cell]) => cell);
  if (told.length === 0) return `The answer has ${bare.join(' and ')}.`;
  const also = bare.length === 0 ? '' : `Besides ${bare.join(', ')}:\n\n`;
  return also + table(['Answer', 'Meaning'], told);
}

/** Headers that some answers of the call have, each with an example. */
function headerRows({ responses }: OpenApiOperation): string[][] {
  return Object.entries(responses[200].headers).flatMap(([name, header]) => {
    if (!('schema' in header) || header.schema['examples'] === undefined) return [];
    const [example] = header.schema['examples'] as string[];
    return [[`\`${name}: ${example}\``, header.description]];
  });
}

/** The parameters that one text is for: `a` does not fit, or `b` does not fit. */
const MISFITS = /(?:`\w+` does not fit(?:, or )?){2,}/;
const ONLY_MISFITS = /^(?:[^,]* does not fit(?:, or |$))+$/;
/** Such parameters are malformed. */
const MALFORMED = /^.* does not fit, or (?=a parameter is missing or malformed)/;
const joined = (misfits: string) => {
  const names = misfits.match(/`\w+`/g) ?? [];
  return `${names.join(' or ')} does not fit${misfits.endsWith(', or ') ? ', or ' : ''}`;
};

/** Several reasons may have one text: they share its row. */
function messageRows({ responses }: OpenApiOperation): string[][] {
  const { content, headers } = responses[200];
  const rows = new Map<string, string[]>();
  for (const [key, example] of Object.entries(content['application/json'].examples)) {
    if (COMMON_ANSWERS.includes(key)) continue;
    const { msg, rc } = example.value as { msg: string; rc: number };
    const own = Object.entries(headers)
      .filter(([, header]) => 'description' in header && header.description.includes(`\`${msg}\``))
      .map(([name, header]) => {
        const fixed = 'schema' in header && header.schema['const'] !== undefined;
        return fixed ? `\`${name}: true\`` : `\`${name}\``;
      });
    const given = (example.description ?? '')
      .replace(ANY_FAULT, '')
      .replace(MISFITS, joined)
      .replace(MALFORMED, '');
    // The rules at the top of the page have these two.
    if (msg === 'Ok' || (msg === 'Unknown error' && ONLY_MISFITS.test(given))) continue;
    const reason = [given, own.join(', ')].filter((part) => part !== '');
    if (reason.length === 0) continue;
    const known = rows.get(`${rc} ${msg}`)?.[1];
    const reasons =
      known === undefined ? reason.join('; with ') : `${known}; or ${reason.join('; with ')}`;
    rows.set(`${rc} ${msg}`, [`\`${msg}\`${rc === 0 ? '' : `, ${rc}`}`, reasons]);
  }
  return [...rows.values()];
}
