/**
 * `gatepost doctor --outside` asks the public address, through real proxies with the lines of the
 * documents and without them.
 */

import { beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { PROBE_PATH, signProbe } from '../../src/core/public-probe.ts';
import { checkPublic } from '../../src/doctor/public.ts';
import { selfSigned } from '../support/certificate.ts';
import { testWith } from '../support/needs.ts';
import {
  openStoreOf,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { type FrontProxy, startCaddySite, startNginxForNodes } from '../support/proxies.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const HOSTS = { GATEPOST_STRANGERS: 'quiet', GATEPOST_HOSTS: 'gate.example.com,127.0.0.1' };

let server: ServerProcess;
let signingKey: Uint8Array;
let tls: { cert: string; key: string };

beforeAll(async () => {
  server = await startServe({ env: { ...HOSTS, GATEPOST_TRUSTED_PROXIES: '127.0.0.1' } });
  const store = await openStoreOf(server.dataDir);
  signingKey = await store.readSigningKey();
  await store.close();
  const { cert, key } = await selfSigned('gate.example.com');
  const folder = temporaryFolder();
  tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(tls.cert, cert);
  writeFileSync(tls.key, key, { mode: 0o600 });
});

const settings = (url: string, more: Record<string, string> = {}) => ({
  GATEPOST_CONFIG: 'none',
  GATEPOST_MY_URL: url,
  GATEPOST_GATE_RIDE: 'on',
  GATEPOST_OUTGOING_ALLOW: '127.0.0.0/8',
  ...more,
});

/** Returns the names of the findings at a public address, `ok` if it passes all. */
async function found(url: string, more: Record<string, string> = {}): Promise<string[]> {
  const { config } = loadConfig({}, settings(url, more));
  const nowMs = Date.now();
  const findings = await checkPublic({ config, names: null, signingKey, nowMs });
  expect(findings.filter(({ level, todo }) => level !== 'ok' && !todo)).toEqual([]);
  return findings.map(({ level, name }) => (level === 'ok' ? 'ok' : name));
}

/** Asks through a proxy, which it stops. */
async function through(proxy: FrontProxy): Promise<string[]> {
  try {
    return await found(proxy.url);
  } finally {
    await proxy.stop();
  }
}

const LINE = {
  upgrade: 'proxy_set_header Upgrade $http_upgrade;',
  host: 'proxy_set_header Host $host;',
  scheme: 'proxy_set_header X-Forwarded-Proto $scheme;',
  size: 'proxy_buffer_size 32k;',
  buffers: 'proxy_buffers 8 32k;',
};

describe('nginx, whose file for several nodes', () => {
  const testNginx = testWith('nginx');
  testNginx.each<[string, readonly [string, string][], string[]]>([
    ['stands as it is', [], ['ok']],
    ['passes no upgrade', [[LINE.upgrade, '']], ['public_upgrades_missing']],
    [
      'holds back streams',
      [[LINE.host, `${LINE.host} proxy_ignore_headers X-Accel-Buffering;`]],
      ['public_streams_buffered'],
    ],
    ['sends its own host', [[LINE.host, '']], ['public_host_changed']],
    ['does not say https', [[LINE.scheme, '']], ['public_scheme_lost']],
    [
      'has the buffers of nginx',
      [
        [LINE.size, ''],
        [LINE.buffers, ''],
      ],
      ['public_headers_too_long'],
    ],
  ])('%s', async (_, changes, names) => {
    expect(await through(await startNginxForNodes(server.port, changes, tls))).toEqual(names);
  });
});

describe('Caddy, whose reverse_proxy', () => {
  const testCaddy = testWith('caddy');
  testCaddy.each<[string, readonly string[], string[]]>([
    ['stands as it is', [], ['ok']],
    ['passes no upgrade', ['header_up -Upgrade'], ['public_upgrades_missing']],
    [
      'sends its own host',
      ['header_up Host gatepost', 'header_up -X-Forwarded-Host'],
      ['public_host_changed'],
    ],
    ['does not say https', ['header_up -X-Forwarded-Proto'], ['public_scheme_lost']],
  ])('%s', async (_, lines, names) => {
    expect(await through(await startCaddySite(server.port, tls, lines))).toEqual(names);
  });

  testCaddy('is not in server.trusted_proxies', async () => {
    const other = await startServe({ dataDir: server.dataDir, env: HOSTS });
    expect(await through(await startCaddySite(other.port, tls))).toEqual([
      'public_proxy_not_trusted',
    ]);
    await other.stop();
  });
});

test('another server at the address gets no credentials, and its redirect is not followed', async () => {
  const asked: Record<string, string>[] = [];
  const certificate = { cert: Bun.file(tls.cert), key: Bun.file(tls.key) };
  const other = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: certificate,
    fetch: ({ headers, method }) => {
      asked.push({ ...Object.fromEntries(headers), method });
      if (asked.length === 1) return new Response('data: {"host":"127.0.0.1"}\n\n');
      return Response.redirect(`${server.url}/elsewhere`);
    },
  });
  const url = `https://127.0.0.1:${other.port}`;
  expect(await found(url)).toEqual(['public_address_elsewhere']);
  expect(await found(url)).toEqual(['public_address_elsewhere']);
  const once = {
    method: 'GET',
    host: `127.0.0.1:${other.port}`,
    'user-agent': 'curl/8.5.0',
    accept: '*/*',
    'accept-encoding': 'identity',
    connection: expect.any(String),
  };
  expect(asked).toEqual([once, once]);
  await other.stop(true);
});

test('nothing has it, it is not public, it has no https, there is none', async () => {
  expect(await found('https://127.0.0.1:9')).toEqual(['public_address_unreached']);
  const nowhere = { GATEPOST_OUTGOING_ALLOW: '' };
  expect(await found('https://127.0.0.1:9', nowhere)).toEqual(['public_address_not_public']);
  expect(await found('http://127.0.0.1:9')).toEqual(['ok']);
  expect(await found('')).toEqual(['ok']);
});

describe('a stranger at the path of the doctor', () => {
  const at = (path: string) => fetch(`${server.url}${path}`);
  const bare = async (path: string) => {
    const { status, headers } = await at(path);
    headers.delete('date');
    return { status, headers: [...headers] };
  };

  test('gets what any unknown path gets, also with an old or made-up signature', async () => {
    const usual = await bare('/device/unknown');
    const old = signProbe(signingKey, Date.now() - 121_000);
    const other = signProbe(new Uint8Array(32), Date.now());
    for (const query of ['', '?sign=', '?sign=1.2', `?sign=${old}`, `?sign=${other}`]) {
      expect([query, await bare(`${PROBE_PATH}${query}`)]).toEqual([query, usual]);
    }
    const { status } = await at(`${PROBE_PATH}?sign=${signProbe(signingKey, Date.now())}`);
    expect(status).toBe(200);
  });
});

test('without a terminal it is asked once an hour, and the last findings stand meanwhile', async () => {
  const env = settings('https://127.0.0.1:9');
  const ask = async () => {
    const { stdout } = await run(['doctor', '--outside', '--json', '--data', server.dataDir], {
      env,
    });
    const { findings } = JSON.parse(stdout) as { findings: { name: string }[] };
    return findings.map(({ name }) => name).filter((name) => name.startsWith('public_'));
  };
  expect(await ask()).toEqual(['public_address_unreached']);
  env.GATEPOST_MY_URL = '';
  expect(await ask()).toEqual(['public_address_unreached']);
});
