/** The kit in Rust, built as an app's developer builds it. */

import { beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KitApp } from '../support/kit-driver.ts';
import { buildKit, hasRust } from '../support/kits.ts';
import { ROOT } from '../support/process.ts';
import { until } from '../support/until.ts';
import { checkKit, closers, type Driven, driveKit, killKit, useKits } from './driven.ts';

const BUILT = join(ROOT, 'dist/kits/rust');
const SOURCES = join(ROOT, 'sdk/rust/src');
/** The crates are compiled once. */
const BUILD_MS = 600_000;

const testKit = test.skipIf(!hasRust());

beforeAll(() => {
  if (hasRust()) buildKit('rust');
}, BUILD_MS);

test('its size is what was promised', () => {
  const lines = readdirSync(SOURCES).flatMap((name) =>
    readFileSync(join(SOURCES, name), 'utf8').split('\n'),
  );
  expect(lines.filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length).toBeLessThan(1_200);
});

const built: Driven = {
  pace: 0.05,
  driver: [join(BUILT, 'driver')],
  sample: [join(BUILT, 'sample')],
  sampleState: 'device.json',
  stateIn: (folder) => JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state ?? '{}',
};

useKits();

testKit(
  'its own tests pass: panics, a full disk, discovery, texts',
  () => {
    const command = 'PATH=$PATH:$HOME/.cargo/bin && exec cargo test --release --offline --locked';
    const env = { ...process.env, CARGO_TARGET_DIR: join(ROOT, '.bootstrap/rust') };
    const ran = Bun.spawnSync(['sh', '-c', command], { cwd: join(SOURCES, '..'), env });
    expect(ran.stdout.toString()).toContain('test result: ok. 6 passed');
    expect(ran.exitCode).toBe(0);
  },
  BUILD_MS,
);

/** Serves one answer to all calls. */
function serveAlways(status: number, text: string, waits = false): string {
  const fetch = () => (waits ? new Promise<Response>(() => {}) : new Response(text, { status }));
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
  closers.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

testKit.each([
  ['refused_port', 'closed', () => 'http://127.0.0.1:1'],
  ['not_json', 'closed', () => serveAlways(200, '<html>Welcome</html>')],
  ['wrong_path', 'closed', () => serveAlways(404, 'not found')],
  ['timeout', 'closed', () => serveAlways(200, '', true)],
  ['tls', 'closed', () => serveAlways(200, '').replace('http:', 'https:')],
  ['name', 'closed', () => 'http://no-such-host.example'],
  ['bad_url', 'refused', () => 'push.example.com'],
])('a fault has its word, and a sentence with the address: %s', async (word, state, urlOf) => {
  const url = urlOf();
  const phone = new KitApp(built.driver, url, { pace: 0.02 });
  closers.push(() => phone.remove());
  phone.start();
  await until('it is told', () => phone.states.length > 0);
  expect(phone.said.find((line) => line.said === 'state')).toMatchObject({
    state,
    reason: word,
    detail: expect.stringContaining(url),
  });
});

checkKit(testKit, built);
driveKit(testKit, built);
killKit(testKit, built);
