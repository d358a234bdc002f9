/** Renders the OpenAPI document as a page for people, without foreign resources. */

import { SEARCH } from './docs-search.ts';
import { STYLE } from './docs-style.ts';
import { Html, html, type Part, paragraphs, prose, table } from './html.ts';
import type { JsonSchema } from './json-schema.ts';
import { MARK } from './look.ts';
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from './openapi.ts';

interface Call {
  method: 'GET' | 'POST';
  path: string;
  operation: OpenApiOperation;
}

/** Renders the page. Every endpoint, message and object has an anchor. */
export function renderDocsPage(document: OpenApiDocument): string {
  const { components, info, tags } = document;
  const calls = callsOf(document);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API ${info.version}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>${new Html(MARK)}<h1>${info.title} API</h1>
<p>${info.summary} Version ${info.version}. For programs:
<a href="/openapi.json">openapi.json</a> (OpenAPI ${document.openapi}).</p></header>
<nav aria-label="Contents"><p hidden><label for="search">Search</label>
<input id="search" type="search" autocomplete="off" placeholder="parameter, message, word">
<span id="found" role="status"></span></p>
${contents(document, calls)}</nav>
<main>
<section id="rules"><h2>Rules for every call</h2>${paragraphs(info.description)}
${credentials(document)}</section>
${tags.map(
  ({ name, description }) => html`<section id="${slug(name)}"><h2>${name}</h2>
${paragraphs(description)}
${calls.filter(({ operation }) => operation.tags[0] === name).map(article)}</section>`,
)}
<section id="messages"><h2>Messages</h2>
<p>Every message that a call can answer with.</p>${messageTable(calls)}</section>
<section id="objects"><h2>Objects</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) =>
    html`<article id="${objectId(name)}"><h3>${name}</h3>${object(schema)}</article>`,
)}</section>
</main>
<script>${new Html(SEARCH)}</script>
</body>
</html>
`;
  return page.text;
}

/** Returns the calls by their paths; descriptions name the paths of older documents. */
function callsOf({ paths }: OpenApiDocument): Call[] {
  const calls = Object.entries(paths).flatMap(([path, { get, post }]): Call[] => [
    ...(get ? [{ method: 'GET' as const, path, operation: get }] : []),
    ...(post ? [{ method: 'POST' as const, path, operation: post }] : []),
  ]);
  return calls.filter(({ operation }) => !operation.deprecated);
}

const slug = (name: string) => name.toLowerCase().replaceAll(' ', '-');
const objectId = (name: string) => `object-${name}`;
const code = (text: string) => html`<code>${text}</code>`;
const linkTo = ({ path, operation }: Call) => html`<a href="#${operation.operationId}">${path}</a>`;

function contents({ tags }: OpenApiDocument, calls: Call[]): Html {
  const parts = tags.map(({ name }) => {
    const own = calls.filter(({ operation }) => operation.tags[0] === name);
    return html`<li><a href="#${slug(name)}">${name}</a>
<ul>${own.map((call) => html`<li>${linkTo(call)}</li>`)}</ul></li>`;
  });
  return html`<ul><li><a href="#rules">Rules for every call</a></li>${parts}
<li><a href="#messages">Messages</a></li><li><a href="#objects">Objects</a></li></ul>`;
}

function credentials({ components }: OpenApiDocument): Html {
  const rows = Object.values(components.securitySchemes).map((scheme) => [
    code(scheme.type === 'apiKey' ? scheme.name : 'Authorization: Bearer'),
    scheme.type === 'apiKey' ? 'query, with every call of a provider' : 'header, from devices',
    prose(scheme.description),
  ]);
  return html`<h3>Credentials</h3>${table(['Name', 'Where', 'What'], rows)}
<p>The examples below take them, and the address of the server, from variables of the shell:</p>
<pre><code>API=https://gatepost.example.com
CREDENTIALS=&#39;provider_code=EXAMPLE1&amp;auth_key=…&#39;
TOKEN=…</code></pre>`;
}

function article(call: Call): Html {
  const { method, operation, path } = call;
  const { 200: answer } = operation.responses;
  const { examples } = answer.content['application/json'];
  const input = operation.requestBody?.content['application/json'];
  const headers = Object.entries(answer.headers).flatMap(([name, header]) =>
    'description' in header
      ? [[code([name, header.schema['const'] ?? []].flat().join(': ')), prose(header.description)]]
      : [],
  );
  return html`<article id="${operation.operationId}">
<h3><span class="method">${method}</span> <a href="#${operation.operationId}">${path}</a></h3>
<p class="summary">${operation.summary}. ${needs(operation)}</p>
${paragraphs(operation.description)}
${table(['Parameter', 'Where', 'What'], operation.parameters.map(parameterRow))}
${input ? html`<p>The body: ${typeOf(input.schema)}</p>` : ''}
${curls(call).map((curl) => html`<pre><code>${curl}</code></pre>`)}
<pre class="answer"><code>${JSON.stringify(examples['ok']?.value)}</code></pre>
${answerFields(operation)}
${table(
  ['msg', 'rc', 'Given when'],
  Object.values(examples).map(({ description = '', value }) => {
    const { msg, rc } = value as { msg: string; rc: number };
    return [html`<a href="#${messageId(rc, msg)}">${msg}</a>`, rc, prose(description)];
  }),
)}
${table(['Header of the answer', 'When'], headers)}
</article>`;
}

function needs({ security }: OpenApiOperation): Html {
  const [first] = security;
  if (first === undefined) return html`No credentials.`;
  if ('deviceToken' in first) return html`With the token of a device.`;
  return 'authKey' in first
    ? html`With the credentials of a provider.`
    : html`No credentials; a device that has a token shows it.`;
}

function parameterRow({
  description,
  in: where,
  name,
  required,
  schema,
}: OpenApiParameter): Part[] {
  return [
    html`${code(name)}${required ? html` <em>required</em>` : ''}`,
    where,
    html`${prose(description)} <span class="type">${typeOf(schema)}</span>`,
  ];
}

/** Returns example calls for a shell, one for each kind of body. */
function curls({ operation, path }: Call): string[] {
  const { parameters, requestBody, security } = operation;
  const exemplary = parameters.filter(({ example }) => example !== undefined);
  const query = exemplary
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example }) => new URLSearchParams({ [name]: String(example) }).toString());
  if (security.some((one) => 'authKey' in one)) query.unshift('$CREDENTIALS');
  const words = [`curl "$API${path}${query.length > 0 ? '?' : ''}${query.join('&')}"`];
  if (security[0] && 'deviceToken' in security[0]) {
    words.push('-H "Authorization: Bearer $TOKEN"');
  }
  for (const { in: where, name, example } of exemplary) {
    if (where === 'header') words.push(`-H ${quoted(`${name}: ${example}`)}`);
  }
  const examples = Object.values(requestBody?.content['application/json'].examples ?? {});
  const bodies = examples.map(({ value }) => [`-d ${quoted(JSON.stringify(value))}`]);
  return (bodies.length > 0 ? bodies : [[]]).map((body) => [...words, ...body].join(' \\\n  '));
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Renders the fields of a success beside `rc` and `msg`. */
function answerFields({ responses }: OpenApiOperation): Html {
  const { schema } = responses[200].content['application/json'];
  const [success] = schema['oneOf'] as JsonSchema[];
  const { msg: _msg, rc: _rc, ...fields } = (success?.['properties'] ?? {}) as JsonSchema;
  const rows = Object.entries(fields).map(([name, field]) => fieldRow(name, field as JsonSchema));
  return table(['Field of the answer', 'Type', 'What'], rows);
}

const messageId = (rc: number, msg: string) =>
  `message-${rc}-${msg.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()}`;

function messageTable(calls: Call[]): Html {
  const answers = calls.flatMap((call) =>
    Object.values(call.operation.responses[200].content['application/json'].examples).map(
      ({ value }) => ({ call, ...(value as { msg: string; rc: number }) }),
    ),
  );
  const rows = [...Map.groupBy(answers, ({ rc, msg }) => messageId(rc, msg))].map(([id, group]) => {
    const [{ rc, msg } = { rc: 0, msg: '' }] = group;
    const links = group.map(({ call }, at) => html`${at > 0 ? ', ' : ''}${linkTo(call)}`);
    return [html`<span id="${id}">${msg}</span>`, rc, links];
  });
  return table(['msg', 'rc', 'From'], rows);
}

/** Renders an object of the document. */
function object(schema: JsonSchema): Html {
  const description = schema['description'] as string | undefined;
  const kinds = schema['oneOf'] as JsonSchema[] | undefined;
  const required = (schema['required'] ?? []) as string[];
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const patterns = Object.entries(
    (schema['patternProperties'] ?? {}) as Record<string, JsonSchema>,
  );
  const rows = [
    ...properties.map(([name, field]) => fieldRow(name, field, required.includes(name))),
    ...patterns.map(([pattern, field]) => [
      html`any key like ${code(pattern)}`,
      typeOf(field),
      prose((field['description'] as string | undefined) ?? ''),
    ]),
  ];
  return html`${description ? paragraphs(description) : ''}
${kinds ? html`<p>One of these:</p><ul>${kinds.map((kind) => html`<li>${kindOf(kind)}</li>`)}</ul>` : ''}
${table(['Field', 'Type', 'What'], rows)}`;
}

const kindOf = (kind: JsonSchema) => ('properties' in kind ? object(kind) : typeOf(kind));

function fieldRow(name: string, field: JsonSchema, isNeeded = false): Part[] {
  const description = (field['description'] as string | undefined) ?? '';
  return [
    html`${code(name)}${isNeeded ? html` <em>required</em>` : ''}`,
    typeOf(field),
    prose(description),
  ];
}

/** Renders the type of a value. */
function typeOf(schema: JsonSchema): Html {
  const { $ref: ref, anyOf, const: only, enum: values, items, maximum, minimum, type } = schema;
  if (typeof ref === 'string') {
    const name = ref.replace(/^.*\//, '');
    return html`<a href="#${objectId(name)}">${name}</a>`;
  }
  if (only !== undefined) return code(String(only));
  if (Array.isArray(values)) return alternatives(values.map((value) => code(String(value))));
  const choices = anyOf ?? schema['oneOf'];
  if (type === undefined && Array.isArray(choices)) return alternatives(choices.map(typeOf));
  if (type === 'array') return html`list of ${typeOf((items ?? {}) as JsonSchema)}`;
  if (Array.isArray(type)) return html`${type.join(' or ')}`;
  const [byKey] = Object.values((schema['patternProperties'] ?? {}) as Record<string, JsonSchema>);
  if (byKey !== undefined) return html`object of ${typeOf(byKey)}`;
  // A branch of alternatives, which states the difference alone.
  if (type === undefined) return html`${String(schema['format'] ?? 'anything')}`;
  const isRange = minimum !== undefined && maximum !== undefined && Number(maximum) < 1e6;
  return isRange
    ? html`${String(type)} ${Number(minimum)}–${Number(maximum)}`
    : html`${String(type)}`;
}

const alternatives = (parts: Html[]) =>
  html`${parts.map((part, at) => html`${at === 0 ? '' : ' or '}${part}`)}`;
