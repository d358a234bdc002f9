/** How parameters are read, as far as no case in `conformance/` says it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { rawRequest } from '../support/raw.ts';

let app: TestApp;
let own: Credentials;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
/** Each test has a provider of its own, so that their order does not matter. */
beforeEach(async () => {
  own = await seedProvider(app);
});

const keys = () => `provider_code=${own.code}&auth_key=${own.authKey}`;

/** GETs a query written by hand, after the credentials. */
function raw(path: string, query: string | Uint8Array) {
  return rawRequest(app, 'GET', Buffer.concat([Buffer.from(`${path}?${keys()}&`), bytes(query)]));
}

function bytes(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text;
}

/** The note that is kept when a link is created with a query written by hand. */
async function keptNote(query: string | Uint8Array): Promise<unknown> {
  const added = JSON.parse((await raw('/api/add-install', query)).text);
  if (added.rc !== 1) return added.msg;
  const listed = await call(app, '/api/list-install', own, { id: added.id });
  return listed.json.data[0].note;
}

describe('the first check that fails answers', () => {
  test('a missing selector of a link before the hwid, however that is wrong', async () => {
    const CODE_ERROR = '{"rc":0,"msg":"Install code error"}';
    for (const hwid of ['hwid=a&hwid=a', 'hwid=a,b', `hwid=${'x'.repeat(129)}`, 'hwid=', '']) {
      for (const selector of ['', 'install_code=', 'install_id=&install_code=']) {
        const listed = await raw('/api/list-hwid', `${hwid}&${selector}`);
        expect(listed.text).toBe(CODE_ERROR);
        expect(listed.headers.get('x-error-detail')).toBe('install_code or install_id is required');
        const deleted = await raw('/api/delete-hwid', `${hwid}&${selector}`);
        expect(deleted.text).toBe('{"rc":0,"msg":"Invalid parameters"}');
        expect(deleted.headers.get('x-error-detail')).toBe(
          'install_code or install_id is required',
        );
      }
      const wrong = await raw('/api/list-hwid', `${hwid}&install_id=1&install_id=1`);
      expect(wrong.text).toBe(CODE_ERROR);
    }
    const repeated = await raw('/api/list-hwid', 'hwid=a&hwid=a&install_id=1');
    expect(repeated.text).toBe('{"rc":0,"msg":"Unknown error"}');
  });
});

test('a provider code in another case is another one', async () => {
  const query = keys().replace(own.code, swapCase(own.code));
  const reply = await rawRequest(app, 'GET', `/api/list-install?${query}`);
  expect(reply.text).toBe('{"rc":0,"msg":"Auth error"}');
});

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('');
}

describe('parameters', () => {
  test('one given twice is refused like a malformed one, even with the same value', async () => {
    const reply = await raw('/api/add-install', 'install_limit=1&install_limit=1');
    expect(reply.text).toBe('{"rc":0,"msg":"Install limit error"}');
    expect(reply.headers.get('x-error-detail')).toBe('install_limit was given more than once');
    expect((await raw('/api/list-install', 'id=1&id=1')).text).toBe(
      '{"rc":0,"msg":"Unknown error"}',
    );
    expect((await raw('/api/list-install', 'id=&id=')).text).toBe('{"rc":0,"msg":"Unknown error"}');
  });

  test('a name that is encoded is the same name', async () => {
    const reply = await raw('/api/add-install', 'install_limit=1&install%5flimit=1');
    expect(reply.text).toBe('{"rc":0,"msg":"Install limit error"}');
  });

  test('unknown ones are ignored, also twice and also under names of other kinds', async () => {
    const reply = await raw('/api/list-install', 'x=1&x=2&id[]=3&__proto__=4&&=&%ff=1&constructor');
    expect(reply.text).toBe('{"rc":1,"msg":"Ok","data":[]}');
  });
});

describe('text', () => {
  test.each(['%00', '%09', '%0A', '%0D', '%1B', '%7F', '%C2%85', '%E2%80%A8', '%E2%80%A9'])(
    'the control character or line separator %s becomes a blank in a note, and is refused in a name',
    async (character) => {
      expect(await keptNote(`install_limit=1&note=a${character}b`)).toBe('a b');
      const added = JSON.parse((await raw('/api/add-install', 'install_limit=1')).text);
      const change = `id=${added.id}&note=${character}c${character}`;
      expect(JSON.parse((await raw('/api/update-install', change)).text).rc).toBe(1);
      const listed = await call(app, '/api/list-install', own, { id: added.id });
      expect(listed.json.data[0].note).toBe(' c ');
      const bind = `domain_hash=${'f'.repeat(64)}&domain_name=a${character}b`;
      expect((await raw('/api/add-domain', bind)).text).toBe('{"rc":0,"msg":"Error save domain"}');
    },
  );

  test('a note is measured after that', async () => {
    expect(await keptNote(`install_limit=1&note=${'%0D%0A'.repeat(127)}x`)).toBe(
      `${' '.repeat(254)}x`,
    );
    expect(await keptNote(`install_limit=1&note=${'%0D%0A'.repeat(128)}`)).toBe('Unknown error');
  });

  test.each([
    ['a plus is a blank', 'a+b', 'a b'],
    ['an encoded plus is a plus', 'a%2Bb', 'a+b'],
    ['an encoded blank', 'a%20b', 'a b'],
    ['hexadecimal digits in either case', '%d1%8F', 'я'],
    ['a stray per cent sign', '100%', '100%'],
    ['a stray per cent sign beside an encoded letter', '100%%20%D1%8F', '100% я'],
    ['a per cent sign before what is no number', '5%zz', '5%zz'],
    ['an equals sign and a colon', 'a=b:c', 'a=b:c'],
    ['an encoded ampersand', 'a%26b', 'a&b'],
    ['unencoded UTF-8', 'Привет😀', 'Привет😀'],
    ['HTML and quotes stay what they are', `<b>"x'</b>`, `<b>"x'</b>`],
    ['a code point of a private area', '%EE%80%80', '\ue000'],
  ])('%s', async (_, sent, kept) => {
    expect(await keptNote(`install_limit=1&note=${sent}`)).toBe(kept);
  });

  test.each([
    ['a lone continuation byte', '%80'],
    ['a cut sequence', '%D1'],
    ['an overlong NUL', '%C0%80'],
    ['a surrogate', '%ED%A0%80'],
    ['beyond U+10FFFF', '%F4%90%80%80'],
  ])('bytes that are not UTF-8 are refused: %s', async (_, sent) => {
    expect(await keptNote(`install_limit=1&note=a${sent}b`)).toBe('Unknown error');
  });

  test('unencoded bytes that are not UTF-8 are refused', async () => {
    const query = Buffer.from('install_limit=1&note=a\xffb', 'latin1');
    expect(await keptNote(query)).toBe('Unknown error');
  });
});
