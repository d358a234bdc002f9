/** The OpenAPI document: valid by others' rules, complete by ours, and served as it is printed. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { addKey } from '../../src/core/account/keys.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { Scope } from '../../src/core/port/provider-key.ts';
import { answersOf, isNeeded } from '../../src/http/endpoint.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { PUSH_KEY_EXAMPLE } from '../../src/http/endpoints/messaging-bodies.ts';
import { CODE_EXAMPLE, PROVIDER_EXAMPLE } from '../../src/http/endpoints/params.ts';
import { messages } from '../../src/http/messages.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import {
  answerAt,
  answerBreaches,
  answerSchemaAt,
  breaches,
  calls,
  document,
  inputSchemaAt,
  operationAt,
} from '../support/openapi.ts';
import { rawRequest } from '../support/raw.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('the document', () => {
  test('is valid by an independent validator, as OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(JSON.stringify(document)))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  test('the validator would say so if it were not', async () => {
    const broken = JSON.parse(JSON.stringify(document));
    broken.paths['/install'].get.parameters[0].in = 'nowhere';
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  test('has the endpoints of the table, each under an id of its own', () => {
    const documented = calls.map(({ method, path }) => `${method} ${path}`);
    expect(documented).toEqual(endpoints.map(({ method, path }) => `${method} ${path}`));
    const own = Object.values(document.paths).map(({ get, post }) => (get ?? post)?.operationId);
    expect(new Set(own).size).toBe(own.length);
  });

  test('has the older path of a call, as the same call', () => {
    const older = endpoints.flatMap(({ olderPath, path }) =>
      olderPath ? [{ olderPath, path }] : [],
    );
    expect(older.map(({ olderPath }) => olderPath)).toEqual(['/api/install', '/api/provider']);
    for (const { olderPath, path } of older) {
      const { operationId, ...same } = operationAt(path);
      const documented = document.paths[olderPath]?.get;
      expect(documented).toEqual({ ...same, operationId: `${operationId}Older`, deprecated: true });
      expect(same.description).toContain(`\`${olderPath}\``);
    }
  });

  test('every reference leads somewhere, and every component is used', () => {
    const text = JSON.stringify(document);
    const named = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((m) => m[1] ?? '');
    const known = Object.keys(document.components.schemas);
    expect([...new Set(named)].toSorted()).toEqual(known.toSorted());
  });

  test('answers may grow: nothing in them forbids a field that a later version adds', () => {
    const closed: string[] = [];
    const look = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('additionalProperties' in value && value.additionalProperties === false)
        closed.push(path);
      for (const [key, part] of Object.entries(value)) look(part, `${path}/${key}`);
    };
    const inputs = calls.flatMap(({ operation }) => (operation.requestBody ? [operation] : []));
    for (const { path } of calls) look(answerAt(path), path);
    const ofInputs = new Set(inputs.flatMap(({ requestBody }) => namesIn(requestBody)));
    for (const name of calls.flatMap(({ path }) => namesIn(answerAt(path)))) {
      expect(ofInputs.has(name)).toBe(false);
      look(document.components.schemas[name], name);
    }
    expect(closed).toEqual([]);
  });

  test('every pattern can be read by the generators of other languages', () => {
    const patterns: string[] = [];
    JSON.stringify(document, (key, value) => {
      if (key === 'pattern') patterns.push(value);
      if (key === 'patternProperties') patterns.push(...Object.keys(value));
      return value;
    });
    // Classes, groups, counts up to RE2's bound, and the escapes that every dialect has.
    const parts = [
      ...['[^\\\\(){}]', '\\(\\?:', '\\((?!\\?)', '\\)'],
      ...['\\{\\d{1,3}(?:,\\d{0,3})?\\}', '\\\\(?:[dsSnrt.\\\\/-]|x[0-9a-f]{2})'],
    ];
    const COMMON = new RegExp(`^(?:${parts.join('|')})*$`);
    expect(patterns.length).toBeGreaterThan(5);
    expect(['\\p{Cc}', '(?=a)', '(?<a>b)', '\\0', 'a{1001}'].filter((p) => COMMON.test(p))).toEqual(
      [],
    );
    expect(patterns.filter((pattern) => !COMMON.test(pattern))).toEqual([]);
  });
});

/** The components that a part of the document refers to, by whatever way. */
function namesIn(part: unknown, known = new Set<string>()): string[] {
  const text = JSON.stringify(part) ?? '';
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (known.has(name)) continue;
    known.add(name);
    namesIn(document.components.schemas[name], known);
  }
  return [...known];
}

const byPath = endpoints.map((endpoint) => [endpoint.path, endpoint] as const);

describe.each(byPath)('%s', (path, endpoint) => {
  test('every message with rc, and examples that fit', () => {
    const { schema, examples } = answerAt(path).content['application/json'];
    expect(Object.keys(examples).toSorted()).toEqual(answersOf(endpoint).toSorted());
    for (const key of answersOf(endpoint)) {
      const { rc, msg } = messages[key];
      expect(examples[key]?.value).toMatchObject({ rc, msg });
      expect({ key, breaches: answerBreaches(schema, examples[key]?.value) }).toEqual({
        key,
        breaches: [],
      });
    }
  });

  test('no other answer fits', () => {
    const schema = answerSchemaAt(path);
    const others = [
      { rc: 0, msg: 'Something else' },
      { rc: '1', msg: 'Ok' },
      { rc: 0, msg: 'Ok' },
      { rc: 1, msg: 'Unknown error' },
      { rc: 0, msg: 'Unknown error', more: 1 },
      { msg: 'Unknown error' },
    ];
    expect(others.filter((other) => answerBreaches(schema, other).length === 0)).toEqual([]);
  });

  test('every parameter where it may come, and whether it must', () => {
    const expected = Object.entries(endpoint.params).flatMap(([name, param]) => {
      const required = isNeeded(endpoint, param);
      const query = { name, in: 'query', required };
      if (param.olderHeader) return [query, { name: param.olderHeader, in: 'header', required }];
      // Generators give `user-agent` and `user_agent` one name: the description names the header.
      if (param.header === undefined || param.header.replaceAll('-', '_') === name) return [query];
      return [{ name: param.header, in: 'header', required }, query];
    });
    const documented = operationAt(path).parameters.map(({ name, in: where, required }) => ({
      name,
      in: where,
      required,
    }));
    expect(documented).toEqual(expected as typeof documented);
  });

  test('no two parameters have one name in a language', () => {
    const names = operationAt(path).parameters.map(({ name }) => name.replaceAll('-', '_'));
    expect(names).toEqual([...new Set(names)]);
  });

  test('parameters that are needed have an example, and examples fit', () => {
    for (const { example, in: where, name, required, schema } of operationAt(path).parameters) {
      if (required && where === 'query') expect([name, example]).not.toEqual([name, undefined]);
      if (example !== undefined) expect([name, breaches(schema, example)]).toEqual([name, []]);
    }
  });

  test('a body where there is one', () => {
    const { requestBody } = operationAt(path);
    expect(requestBody !== undefined).toBe(endpoint.method === 'POST');
    const examples = Object.values(requestBody?.content['application/json'].examples ?? {});
    for (const { value } of examples) expect(breaches(inputSchemaAt(path), value)).toEqual([]);
  });
});

/** Makes a key with a scope for the only provider. */
async function keyFor(scope: Scope, { clock, core }: TestApp): Promise<string> {
  const provider = await core.store.findProvider(PROVIDER_EXAMPLE);
  const given = { name: scope, scope, untilMs: null };
  const added = await addKey(core, provider?.id ?? 0, given, clock.nowMs());
  if (isRefused(added)) throw new Error(added.says);
  return added.authKey;
}

test('the example calls work on a server that has what they name', async () => {
  const twin = await startTestApp({ pushKey: PUSH_KEY_EXAMPLE });
  const own = await seedProvider(twin, { code: PROVIDER_EXAMPLE });
  const ofTies = { ...own, authKey: await keyFor('ties', twin) };
  const ofCuts = { ...own, authKey: await keyFor('cuts', twin) };
  const keyOf = (path: string) => {
    if (path.endsWith('-keys')) return ofTies;
    return /cancel-cut|lift-bar/.test(path) ? ofCuts : own;
  };
  try {
    await call(twin, '/api/add-install', own, { install_limit: 9, install_code: CODE_EXAMPLE });
    const order = ['/api/add-domain', '/install', '/device/register'];
    const rank = ({ path }: { path: string }) => {
      if (/delete|free-|revoke-|remove-/.test(path)) return path.includes('install') ? 10 : 9;
      return order.includes(path) ? order.indexOf(path) : 5;
    };
    let token = '';
    for (const { method, operation, path } of calls.toSorted((a, b) => rank(a) - rank(b))) {
      const told = operation.parameters.filter(({ example }) => example !== undefined);
      const pick = (where: string) =>
        Object.fromEntries(
          told
            .filter((one) => one.in === where)
            .map(({ name, example }) => [name, String(example)]),
        );
      const isProvider = operation.security.some((one) => 'authKey' in one);
      const examples = operation.requestBody?.content['application/json'].examples ?? {
        none: null,
      };
      for (const example of Object.values(examples)) {
        const headers = { ...pick('header'), authorization: `Bearer ${token}` };
        const body = example && JSON.stringify(example.value);
        const query = path === '/device/inbox' ? {} : pick('query');
        const reply = await call(twin, path, isProvider ? keyOf(path) : null, query, {
          method,
          headers,
          body,
        });
        token = reply.json.device_token ?? token;
        expect(`${path} ${reply.text} ${reply.headers.get('x-error-detail')}`).toContain(
          EXPECTED[path] ?? '"rc":1',
        );
      }
    }
  } finally {
    await twin.close();
  }
});

/** No cut-off waits; the first notification is on its way when it comes to cancelling it. */
const EXPECTED: Readonly<Record<string, string>> = {
  '/api/cancel-cut': 'Cut-off not found',
  '/remote/cancel': 'Cannot cancel notification less than 10 minutes before scheduled time',
};

describe.each(['/openapi.json', '/docs', '/'])('%s', (path) => {
  test('is kept by its tag, and asked for again', async () => {
    const first = await fetch(app.url + path);
    expect(first.status).toBe(200);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"[^"]{44}"$/);
    for (const known of [tag, `"other", ${tag}`, tag.slice(2), '*']) {
      const again = await fetch(app.url + path, { headers: { 'if-none-match': known } });
      expect([again.status, await again.text()]).toEqual([304, '']);
      expect(again.headers.get('etag')).toBe(tag);
    }
    const other = await fetch(app.url + path, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
  });

  test('comes plain and packed, the same', async () => {
    const text = await (await fetch(app.url + path)).text();
    const answers = ['gzip, br', 'gzip;q=0', 'identity'].map(async (accepted) => {
      const headers = { 'accept-encoding': accepted };
      const reply = await fetch(app.url + path, { headers });
      expect(await reply.text()).toBe(text);
      expect(reply.headers.get('vary')).toMatch(path === '/' ? /^accept, / : /^accept-encoding$/);
      return reply.headers.get('content-encoding');
    });
    expect(await Promise.all(answers)).toEqual(['gzip', null, null]);
  });

  test('HEAD has no body, other methods are refused, a slash at the end is forgiven', async () => {
    const head = await rawRequest(app, 'HEAD', path);
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await fetch(app.url + path, { method: 'POST', body: 'x' })).status).toBe(405);
    expect((await fetch(`${app.url}${path}/`)).status).toBe(200);
    expect((await fetch(`${app.url}${path}/more`)).status).toBe(404);
  });

  test('tells browsers to ask for nothing else, and to guess nothing', async () => {
    const { headers } = await fetch(app.url + path);
    expect(headers.get('content-security-policy')).toStartWith("default-src 'none'; ");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

test('/openapi.json is the document, compact', async () => {
  const reply = await fetch(`${app.url}/openapi.json`);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(await reply.text()).toBe(JSON.stringify(document));
});

test('browsers get a page at / with the way to the console; programs the one that they know', async () => {
  const plain = await (await fetch(app.url)).text();
  expect(plain).not.toContain('/console');
  const answer = await fetch(app.url, { headers: { accept: 'text/html,application/xhtml+xml' } });
  expect(await answer.text()).toContain('href="/console"');
  expect(answer.headers.get('content-security-policy')).toStartWith(
    "default-src 'none'; style-src",
  );
});
