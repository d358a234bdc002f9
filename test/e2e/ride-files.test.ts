/**
 * What real proxies, with their files of the documents, make of the headers in which messages ride:
 * in front of a gate that hands out what a test asks for, and a panel that says what it asks for.
 */

import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEXT_LENGTH_MAX } from '../../src/core/app/make.ts';
import { APP_MOVES } from '../../src/core/app-moves.ts';
import { RIDE_HEADERS } from '../../src/core/ride/headers.ts';
import { encodeText } from '../../src/core/ride/text.ts';
import { testWith } from '../support/needs.ts';
import { temporaryFolder } from '../support/process.ts';
import { FRONT_PROXIES, type FrontProxy, SUB_HOST, sendRaw } from '../support/proxies.ts';
import { readText } from '../support/tree.ts';

type Named = Record<string, string>;

let handedOut: Named = {};
let panelSays: { status: number; headers: Named; body?: string } = { status: 200, headers: {} };
let asked = new Headers();

const gate = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () =>
    new Response(null, { status: 204, headers: { 'x-hwid-active': 'true', ...handedOut } }),
});
const panel = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ headers }) => {
    asked = headers;
    const { status, headers: said, body = 'servers' } = panelSays;
    return new Response(status === 304 ? null : body, { status, headers: said });
  },
});
afterAll(() => Promise.all([gate.stop(true), panel.stop(true)]));

/** What Gatepost hands out: messages by their headers, and what goes with each answer. */
function riding(headers: Named, always: Named = {}): Named {
  const names = Object.keys(headers).join(', ') || 'none';
  return { ...headers, ...always, 'x-gatepost-rides': names };
}

const PLAIN: readonly string[] = ['support-url', 'profile-web-page-url', 'profile-update-interval'];
const OF_MESSAGES = RIDE_HEADERS.filter((name) => !PLAIN.includes(name));
/** What the panel says in a header: those that send apps elsewhere pass to one host alone. */
const saying = (name: string) =>
  APP_MOVES.includes(name) ? `https://${SUB_HOST}/${name}` : `panel of ${name}`;
const OWN = [
  SUB_HOST,
  'SUB.example.com:2096',
  `https://${SUB_HOST}`,
  `http://${SUB_HOST}:8443/sub/KEY?a=b&c=d`,
];
const FOREIGN = [
  ...['other.example.org', 'https://other.example.org/sub/KEY', `x.${SUB_HOST}`, `${SUB_HOST}.`],
  ...[`${SUB_HOST}.example.org`, `${SUB_HOST}@example.org`, `https://${SUB_HOST}:1@example.org/`],
  ...[`https://${SUB_HOST}\\@example.org/`, `https://example.org/ ${SUB_HOST}`],
  ...[`example.org example.org ${SUB_HOST}`, `${SUB_HOST}, example.org`, `//${SUB_HOST}`],
  ...[`base64:${Buffer.from('https://example.org/').toString('base64')}`, 'happ://add', '?', '/'],
  ...[`https://example.org/#${SUB_HOST}`, `https://example.org?${SUB_HOST}`],
];

/** Conditions, to which a panel may answer without headers. */
const CONDITIONS = {
  'If-None-Match': '"a"',
  'If-Modified-Since': 'Mon, 23 Nov 2026 00:00:00 GMT',
  'If-Range': '"a"',
  'If-Match': '"a"',
  'If-Unmodified-Since': 'Mon, 23 Nov 2026 00:00:00 GMT',
  Range: 'bytes=0-1',
};

describe.each(FRONT_PROXIES)('%s', (name, start) => {
  const testHere = testWith(name);
  const hasEmpty = name !== 'nginx';
  let proxy: FrontProxy;

  beforeAll(async () => {
    if (Bun.which(name) === null) return;
    proxy = await start({ gateposts: [gate.port ?? 0], panel: panel.port ?? 0 });
  });
  afterAll(() => proxy?.stop());

  /** The lines of the head of the answer, names in lower case. */
  async function fetched(gateSays: Named, says: Partial<typeof panelSays> = {}, more: Named = {}) {
    handedOut = gateSays;
    panelSays = { status: 200, headers: {}, ...says };
    const lines = Object.entries({ Host: SUB_HOST, 'X-HWID': 'A', ...more });
    const head = ['GET /sub/key HTTP/1.1', ...lines.map((line) => line.join(': '))];
    const raw = await sendRaw(proxy, head);
    const [top = ''] = raw.split('\r\n\r\n');
    const [first = '', ...rest] = top.split('\r\n');
    const headers = rest.map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
    });
    const all = (wanted: string) => headers.filter(([one]) => one === wanted).map(([, is]) => is);
    const items = (wanted: string) => all(wanted).flatMap((value) => value.split(/, */));
    return { status: Number(first.split(' ')[1]), all, items, body: raw.slice(top.length + 4) };
  }

  const handed = OF_MESSAGES.filter((one) => hasEmpty || !one.startsWith('sub-info-'));

  testHere('each header of a message replaces that of the panel, on 2xx alone', async () => {
    const ours = Object.fromEntries(OF_MESSAGES.map((one) => [one, `ours of ${one}`]));
    const always = Object.fromEntries(PLAIN.map((one) => [one, `always ${one}`]));
    const theirs = Object.fromEntries(RIDE_HEADERS.map((one) => [one, saying(one)]));
    for (const status of [200, 203]) {
      const got = await fetched(riding(ours, always), { status, headers: theirs });
      for (const one of handed) expect([one, got.all(one)]).toEqual([one, [`ours of ${one}`]]);
      for (const one of PLAIN) expect([one, got.all(one)]).toEqual([one, [`always ${one}`]]);
      expect(got.all('x-gatepost-rides')).toEqual([]);
      expect(got.body).toContain('servers');
    }
    const bare = await fetched(riding(ours, always));
    for (const one of handed) expect([one, bare.all(one)]).toEqual([one, [`ours of ${one}`]]);
    for (const status of [304, 404, 500, 302]) {
      const got = await fetched(riding(ours, always), { status, headers: theirs });
      for (const one of RIDE_HEADERS) {
        const isDropped = name === 'caddy' && APP_MOVES.includes(one);
        expect([status, one, got.all(one)]).toEqual([status, one, isDropped ? [] : [saying(one)]]);
      }
    }
  });

  testHere('while nothing rides, the headers and the 304 of the panel stay', async () => {
    const theirs = Object.fromEntries(RIDE_HEADERS.map((one) => [one, saying(one)]));
    const got = await fetched({}, { headers: theirs }, CONDITIONS);
    for (const one of RIDE_HEADERS) {
      const isDropped = name === 'caddy' && APP_MOVES.includes(one);
      expect([one, got.all(one)]).toEqual([one, isDropped ? [] : [saying(one)]]);
    }
    for (const [one, value] of Object.entries(CONDITIONS)) expect(asked.get(one)).toBe(value);
    expect([...new Set(got.items('vary'))]).toEqual(['x-hwid']);
    expect(got.items('cache-control')).not.toContain('no-cache');
    const none = await fetched({}, { status: 304 }, CONDITIONS);
    expect(none.status).toBe(304);
  });

  testHere(
    'while something rides, the panel hears no condition, and no cache keeps it',
    async () => {
      for (const rides of [riding({ announce: 'ours' }), riding({})]) {
        const got = await fetched(rides, {}, CONDITIONS);
        for (const one of Object.keys(CONDITIONS))
          expect([one, asked.get(one)]).toEqual([one, null]);
        const vary = ['x-hwid', 'accept-language', 'x-device-locale', 'user-agent'];
        expect([...new Set(got.items('vary'))].sort()).toEqual(vary.sort());
        expect([...new Set(got.items('cache-control'))].sort()).toEqual(['no-cache', 'private']);
      }
      // Buttons and the interval alone leave the cache of the app.
      await fetched({ 'support-url': 'https://example.com/' }, {}, CONDITIONS);
      expect(asked.get('if-none-match')).toBe('"a"');
    },
  );

  testHere.each(['x-hwid-max-devices-reached', 'x-hwid-not-supported', 'x-hwid-limit'])(
    'where the panel refuses by %s, nothing rides',
    async (refusing) => {
      const headers = { announce: 'panel', [refusing]: 'true' };
      const got = await fetched(riding({ announce: 'ours' }), { headers });
      expect(got.all('announce')).toEqual(['panel']);
    },
  );

  testHere('a header sends apps to a host of the list alone, whatever the status', async () => {
    for (const [value, isOwn] of [
      ...OWN.map((one) => [one, name !== 'caddy'] as const),
      ...FOREIGN.map((one) => [one, false] as const),
    ]) {
      const headers = Object.fromEntries(
        APP_MOVES.flatMap((one) => [one, `x-amz-meta-${one}`].map((is) => [is, value])),
      );
      for (const status of [200, 404]) {
        const got = await fetched(riding({}), { status, headers });
        for (const one of Object.keys(headers)) {
          // nginx has no patterns: it drops such names with any host.
          const passes = isOwn && (name !== 'nginx' || APP_MOVES.includes(one));
          expect([one, status, value, got.all(one)]).toEqual([
            ...([one, status, value] as const),
            passes ? [value] : [],
          ]);
        }
      }
    }
  });

  testHere(
    'the server of messages is named with a subscription alone, by Gatepost alone',
    async () => {
      const [server, path] = ['x-device-server', '/.well-known/device-messages'];
      const theirs = { [server]: 'https://other.example.org/device' };
      const named = async (says: Named, given: Partial<typeof panelSays> = {}) =>
        (await fetched(says, { ...given, headers: { ...theirs, ...given.headers } })).all(server);
      expect(await named({ [server]: path })).toEqual([path]);
      expect(await named(riding({ announce: 'ours', [server]: path }))).toEqual([path]);
      expect(await named({})).toEqual([]);
      for (const status of [203, 302, 304, 404, 500]) {
        expect([status, await named({ [server]: path }, { status })]).toEqual([status, []]);
      }
      for (const headers of [
        { 'content-type': 'Text/HTML; charset=utf-8' },
        { 'x-hwid-limit': '1' },
      ]) {
        expect([headers, await named({ [server]: path }, { headers })]).toEqual([headers, []]);
      }
    },
  );

  testHere('a header of a message that sends apps elsewhere stays', async () => {
    const headers = Object.fromEntries(APP_MOVES.map((one) => [one, 'https://example.org/']));
    const ours = { 'new-url': 'https://new.example.net/sub/KEY', 'new-domain': 'new.example.net' };
    const got = await fetched(riding(ours), { headers });
    for (const one of APP_MOVES) {
      const own = Object.entries(ours).find(([is]) => is === one);
      expect([one, got.all(one)]).toEqual([one, own === undefined ? [] : [own[1]]]);
    }
  });

  testHere('a link of the panel does not stand on the text of a message', async () => {
    const headers = { announce: 'panel', 'announce-url': 'https://panel.example.com/' };
    const bare = await fetched(riding({ announce: 'base64:b3Vycw==' }), { headers });
    expect([bare.all('announce'), bare.all('announce-url')]).toEqual([['base64:b3Vycw=='], []]);
    const link = 'https://example.com/a?b=c&d=1,2;e';
    const got = await fetched(riding({ announce: 'x', 'announce-url': link }), { headers });
    expect(got.all('announce-url')).toEqual([link]);
  });

  testHere('the largest message passes beside long headers and a long body', async () => {
    const text = encodeText('Я'.repeat(TEXT_LENGTH_MAX));
    const link = `https://example.com/${'a'.repeat(480)}`;
    const ours = { announce: text, 'announce-url': link, 'change-user-agent': 'x'.repeat(700) };
    const buttons = { 'support-url': link, 'profile-web-page-url': link };
    const headers = { routing: `happ://routing/add/${'A'.repeat(8 * 1024)}` };
    const body = 'servers\n'.repeat(32 * 1024);
    const got = await fetched(riding(ours, buttons), { headers, body });
    expect(got.status).toBe(200);
    for (const [one, value] of Object.entries({ ...ours, ...buttons, ...headers })) {
      expect([one, got.all(one)]).toEqual([one, [value]]);
    }
    expect(got.body).toContain(body);
  });

  (hasEmpty ? testHere : testHere.skip)('an empty header goes out empty', async () => {
    const headers = { 'sub-info-text': 'panel' };
    const got = await fetched(riding({ 'sub-info-text': '' }), { headers });
    expect(got.all('sub-info-text')).toEqual(['']);
    const other = await fetched(riding({ 'sub-info-text': 'ours' }), { headers });
    expect(other.all('sub-info-text')).toEqual(['ours']);
  });
});

/** The rest of what Envoy's filter needs, by its documents: `Lua filter`, Stream handle API. */
const ENVOY = `
local function headersOf(named)
  local headers = setmetatable({ named = named }, {
    __pairs = function(self) return next, self.named end,
  })
  function headers:get(name) return self.named[name] end
  function headers:remove(name) self.named[name] = nil end
  function headers:replace(name, value) self.named[name] = value end
  function headers:add(name, value)
    self.named[name] = self.named[name] and (self.named[name] .. ", " .. value) or value
  end
  return headers
end
local function handleOf(gate, headers)
  return {
    headers = function() return headers end,
    streamInfo = function()
      return {
        dynamicMetadata = function()
          return { get = function(_, filter)
            return filter == "envoy.filters.http.ext_authz" and gate or nil
          end }
        end,
      }
    end,
  }
end
local function show(headers)
  local lines = {}
  for name, value in pairs(headers.named) do lines[#lines + 1] = name .. "=" .. value end
  table.sort(lines)
  print(table.concat(lines, " | "))
end
local function ask(gate, named)
  local headers = headersOf(named)
  envoy_on_request(handleOf(gate, headers))
  show(headers)
end
local function answer(gate, named)
  local headers = headersOf(named)
  envoy_on_response(handleOf(gate, headers))
  show(headers)
end
local rides = { announce = "ours", ["sub-info-text"] = "", ["support-url"] = "s",
  ["x-gatepost-rides"] = "announce, sub-info-text" }
ask(rides, { ["if-none-match"] = "a", range = "b", accept = "c" })
ask({ ["support-url"] = "s" }, { ["if-none-match"] = "a" })
ask(nil, { ["if-none-match"] = "a" })
answer(rides, {
  [":status"] = "200", announce = "panel", ["announce-url"] = "u", ["ping-type"] = "t",
})
answer(rides, { [":status"] = "404", announce = "panel" })
answer(rides, { [":status"] = "200", announce = "panel", ["x-hwid-limit"] = "true" })
answer({ ["support-url"] = "s" }, {
  [":status"] = "200", announce = "panel", ["x-hwid-limit"] = "False",
})
answer(nil, { [":status"] = "200", announce = "panel" })
answer({ ["new-url"] = "ours", ["x-gatepost-rides"] = "new-url" }, {
  [":status"] = "200", ["new-url"] = "https://example.org/",
})
${[...OWN, ...FOREIGN]
  .map((value) => {
    const all = APP_MOVES.flatMap((name) => [name, `x-amz-meta-${name}`]);
    const named = all.map((name) => `["${name}"] = [[${value}]]`).join(', ');
    return `answer(nil, { [":status"] = "404", ${named} })`;
  })
  .join('\n')}
`;

testWith('haproxy')("envoy's filter does the same, in the Lua of HAProxy", async () => {
  const [, indent = '', code = ''] =
    /inline_string: \|\n( +)([\s\S]*?)\n(?! *\n)(?!\1)/.exec(readText('docs/gate/envoy.yaml')) ??
    [];
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  writeFileSync(file('filter.lua'), `${code.replaceAll(indent, '')}\n${ENVOY}`);
  writeFileSync(file('haproxy.cfg'), `global\n    lua-load ${file('filter.lua')}\n`);
  const child = Bun.spawn(['haproxy', '-c', '-q', '-f', file('haproxy.cfg')], {
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const lines = (await new Response(child.stdout).text()).trim().split('\n');
  expect(lines).toEqual([
    'accept=c',
    'if-none-match=a',
    'if-none-match=a',
    ':status=200 | announce=ours | cache-control=private, no-cache | ping-type=t | sub-info-text= | support-url=s | vary=accept-language, x-device-locale, user-agent',
    ':status=404 | announce=panel',
    ':status=200 | announce=panel | x-hwid-limit=true',
    ':status=200 | announce=panel | support-url=s | x-hwid-limit=False',
    ':status=200 | announce=panel',
    ':status=200 | cache-control=private, no-cache | new-url=ours | vary=accept-language, x-device-locale, user-agent',
    ...OWN.map((value) => {
      const all = APP_MOVES.flatMap((name) => [`${name}=${value}`, `x-amz-meta-${name}=${value}`]);
      return [':status=404', ...all].sort().join(' | ');
    }),
    ...FOREIGN.map(() => ':status=404'),
  ]);
});
