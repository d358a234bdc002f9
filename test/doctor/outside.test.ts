/** Whether a panel is reached beside the gate, at addresses that the operator types. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readNetwork } from '../../src/core/outbox/address.ts';
import { checkOutside } from '../../src/doctor/outside.ts';
import { keyPath, upstreamTo } from '../support/upstream.ts';

const HOST = 'sub.example.org';
const network = readNetwork('127.0.0.0/8');
const LOOPBACK = network === null ? [] : [network];
const asked: { path: string; headers: Headers }[] = [];

let panel: ReturnType<typeof Bun.serve>;
let shut: ReturnType<typeof Bun.serve>;
let moved: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  const serve = (answer: () => Response) =>
    Bun.serve({
      ...{ hostname: '127.0.0.1', port: 0 },
      fetch: ({ headers, url }) => {
        asked.push({ path: new URL(url).pathname, headers });
        return answer();
      },
    });
  panel = serve(() => Response.json({ detail: 'Not Found' }, { status: 404 }));
  shut = serve(() => new Response('<h1>404 Not Found</h1>', { status: 404 }));
  moved = serve(() => Response.redirect(`http://127.0.0.1:${panel.port}/`, 302));
});
afterAll(async () => {
  for (const server of [panel, shut, moved]) await server.stop(true);
});

const at = ({ port }: { port?: number | undefined }) => `http://127.0.0.1:${port}`;
const check = (places: string[], outgoingAllow = LOOPBACK) => {
  const upstream = upstreamTo(at(panel), 'EXAMPLE1', { keyPaths: [keyPath('/CL/{key}')] });
  const gateUpstreams = [{ ...upstream, key: 'hiddify' as const }];
  return checkOutside({ gateUpstreams, outgoingAllow }, places);
};

test('finds a place that answers as the panel does, by a made-up key of its form', async () => {
  asked.length = 0;
  const [found, ...more] = await check([at(panel)]);
  expect(more).toEqual([]);
  expect(found).toMatchObject({ level: 'problem', check: 'outside' });
  expect(found?.what).toContain(`answers for ${HOST} as the panel does (404)`);
  expect(found?.todo).toContain(`curl -sik -H 'Host: ${HOST}'`);
  expect(asked).toHaveLength(2);
  for (const { path, headers } of asked) {
    expect(path).toMatch(/^\/CL\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(headers.get('host')).toBe(HOST);
    expect(JSON.stringify([...headers]).toLowerCase()).not.toMatch(/gatepost|bun|x-forwarded/);
  }
});

test('says ok of another answer, a redirect, which is not followed, and of silence', async () => {
  asked.length = 0;
  const found = await check([at(shut), at(moved), 'http://127.0.0.1:1']);
  expect(found.map(({ level }) => level)).toEqual(['ok', 'ok', 'ok']);
  // The panel for each, and the first two places once.
  expect(asked).toHaveLength(5);
});

test('asks no private address', async () => {
  asked.length = 0;
  const found = await check([at(panel), '10.0.0.1', 'not a host'], []);
  expect(found.map(({ level }) => level)).toEqual(['warning', 'warning', 'warning']);
  expect(asked).toEqual([]);
});

test('asks nothing by itself', async () => {
  asked.length = 0;
  expect(await check([])).toEqual([]);
  expect(asked).toEqual([]);
});
