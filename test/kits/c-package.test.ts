/** The release of the kit in C: by CMake and by pkg-config, over TLS or without. */

import { beforeAll, expect } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from '../support/certificate.ts';
import { notify } from '../support/messaging.ts';
import { testWith } from '../support/needs.ts';
import { ROOT, temporaryFolder } from '../support/process.ts';
import { LINK } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { appliance, closers, useKits } from './driven.ts';

const NEEDED = ['gcc', 'cmake', 'pkg-config', 'openssl'];
const testPackage = testWith(...NEEDED);
useKits();

const FOLDER = temporaryFolder();
const [SOURCES, PREFIX] = [join(FOLDER, 'kit'), join(FOLDER, 'usr')];
const SAMPLE = join(PREFIX, 'share/doc/gatepost-device/sample.c');

function sh(command: string, env: Record<string, string> = {}): void {
  const options = { cwd: FOLDER, env: { ...process.env, ...env } };
  const { exitCode, stdout, stderr } = Bun.spawnSync(['sh', '-ec', command], options);
  if (exitCode !== 0) throw new Error(`${command}:\n${stdout}${stderr}`);
}

beforeAll(() => {
  if (NEEDED.some((program) => Bun.which(program) === null)) return;
  mkdirSync(SOURCES);
  sh(`${ROOT}/packaging/kits.sh "$PWD" c && tar -xzf *.tar.gz --strip-components 1 -C kit`);
  sh('cmake -S kit -B build && cmake --build build && cmake --install build --prefix usr');
});

const PROJECT = `
cmake_minimum_required(VERSION 3.18)
project(phone C)
find_package(gatepost-device REQUIRED)
add_executable(phone ${SAMPLE})
target_link_libraries(phone gatepost::net)
`;

/** Builds the sample outside of the kit's folder; returns its program. */
function built(way: string): string {
  const out = join(FOLDER, way);
  mkdirSync(out, { recursive: true });
  if (way === 'CMake') {
    writeFileSync(join(out, 'CMakeLists.txt'), PROJECT);
    sh(`cmake -S ${out} -B ${out} -DCMAKE_PREFIX_PATH=${PREFIX} && cmake --build ${out}`);
  } else {
    const flags = '$(pkg-config --cflags --libs gatepost-net)';
    const env = { PKG_CONFIG_PATH: join(PREFIX, 'lib/pkgconfig') };
    sh(`gcc -Wall -Werror ${SAMPLE} ${flags} -o ${out}/phone`, env);
  }
  return join(out, 'phone');
}

/** Starts the sample in a folder of its own; returns what it prints. */
function start(program: string, url: string, env: Record<string, string> = {}) {
  const cwd = temporaryFolder();
  const child = Bun.spawn([program, url, LINK, 'a'.repeat(64)], {
    cwd,
    env: { ...process.env, ...env },
    stdout: Bun.file(join(cwd, 'printed')),
    stderr: Bun.file(join(cwd, 'printed-too')),
  });
  closers.push(async () => {
    child.kill();
    await child.exited;
  });
  const state = join(cwd, 'device.state');
  const textIn = (name: string) =>
    existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), 'utf8') : '';
  return { child, state, printed: () => textIn('printed') + textIn('printed-too') };
}

async function overTls() {
  // The calls of the test itself; the sample does not read it.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const tls = await selfSigned('kit');
  const trusted = join(temporaryFolder(), 'trusted.pem');
  writeFileSync(trusted, tls.cert);
  return { ...(await appliance({ tls })), trusted };
}

testPackage.each(['CMake', 'pkg-config'])(
  'a message comes over the own TLS of the server: %s',
  async (way) => {
    const { app, shop, trusted } = await overTls();
    expect(app.url).toStartWith('https://');
    const phone = start(built(way), app.url, { SSL_CERT_FILE: trusted });
    await until('it is open', () => app.server.streamCount() === 1);
    const { hwid } = JSON.parse(readFileSync(phone.state, 'utf8'));
    const id = await notify(app, shop, 'hello over TLS', { hwid });
    const isReceived = async () =>
      (await app.core.store.findDistribution(id, 1))?.totals.received === 1;
    await until('it is acknowledged', isReceived);
    expect(phone.printed()).toContain('hello over TLS');
  },
);

testPackage('a certificate that is not trusted, or of another host, is refused', async () => {
  const { app, trusted } = await overTls();
  const strange = start(built('pkg-config'), app.url);
  await until('it says so', () => strange.printed().includes('its certificate is not trusted'));
  const { cert, key } = await selfSigned('other', { names: ['other.example'] });
  const wrong = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert, key },
    fetch: () => new Response(),
  });
  closers.push(() => wrong.stop(true));
  writeFileSync(trusted, cert);
  const misled = start(built('pkg-config'), `https://127.0.0.1:${wrong.port}`, {
    SSL_CERT_FILE: trusted,
  });
  await until('it says so', () => misled.printed().includes('its certificate is not trusted'));
  expect(app.server.streamCount()).toBe(0);
});

testPackage('without TLS an https address is refused, and nothing is sent', async () => {
  sh('cmake -S kit -B clear -DGATEPOST_TLS=OFF && cmake --build clear');
  sh('cmake --install clear --prefix clear-usr');
  const env = { PKG_CONFIG_PATH: join(FOLDER, 'clear-usr/lib/pkgconfig') };
  sh(`gcc ${SAMPLE} $(pkg-config --cflags --libs gatepost-net) -o clear/phone`, env);
  let connections = 0;
  const open = () => {
    connections += 1;
  };
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open, data: () => {} } });
  closers.push(() => server.stop(true));
  const phone = start(join(FOLDER, 'clear/phone'), `https://127.0.0.1:${server.port}`);
  expect(await phone.child.exited).toBe(2);
  expect(phone.printed()).toContain('has_tls');
  expect(connections).toBe(0);
});

testPackage('it carries its version, its changes and its licence', () => {
  const [, version] =
    /GATEPOST_VERSION "(.*)"/.exec(readFileSync(join(SOURCES, 'gatepost.h'), 'utf8')) ?? [];
  expect(version).toBe(require('../../package.json').version);
  for (const folder of [SOURCES, join(PREFIX, 'share/doc/gatepost-device')]) {
    expect(readFileSync(join(folder, 'LICENSE'), 'utf8')).toContain('MIT License');
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toContain(`## ${version}`);
  }
});
