/**
 * Everything that tells of the server is turned on (debug lines, request lines, metrics, probes),
 * secrets are planted wherever one can come in, and what comes out is searched for them.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testWith } from '../support/needs.ts';
import { formsOf, percentEncoded, rawFormsOf, shownIn } from '../support/planted.ts';
import {
  binary,
  cleanUp,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { Lane } from '../support/raw-http.ts';
import { until } from '../support/until.ts';

beforeAll(() => void binary());
afterAll(cleanUp);

const KEYS = {
  key: 'PLANTED-observed-key_PLANTED-obs',
  wrongKey: 'PLANTED-mistaken-key_PLANTED-mis',
  subscriptionKey: 'PLANTED-key-of-a-subscription',
};
/** What lies in the data as it is, and is nobody's business in a log or a metric. */
const CONTENT = {
  hwid: 'PLANTED-hwid-4711-hwid',
  pushToken: 'PLANTED-push-token-0815-push',
  imported: 'PLANTED-imported-subscription',
  note: 'PLANTED-note-of-a-customer',
};
const CONFIGURED = {
  passphrase: 'PLANTED-backup-passphrase-long',
  eabKey: 'PLANTED-eab-key-of-an-account',
  panelToken: 'PLANTED-token-of-the-panel',
  panelPassword: 'PLANTED-password-of-an-account',
  panelHeader: 'PLANTED-header-of-the-gateway',
};
const CODE = 'Planted9';
const HASH = 'b'.repeat(64);

const configOf = (format: string, more = '') => `
[log]
format = "${format}"
level = "debug"
requests = true
[monitor]
port = 0
[server]
trusted_proxies = ["127.0.0.1"]
[limits]
auth_failures_per_minute_max = 20
[backup]
passphrase = "${CONFIGURED.passphrase}"
[acme]
eab_key = "${CONFIGURED.eabKey}"
${more}`;

/** A panel behind an access gateway, with its secrets in files. */
function panelIn(folder: string): string {
  const [token, headers] = [join(folder, 'panel-token'), join(folder, 'panel-headers')];
  const account = join(folder, 'panel-account');
  writeFileSync(account, `reader\n${CONFIGURED.panelPassword}`, { mode: 0o600 });
  writeFileSync(token, CONFIGURED.panelToken, { mode: 0o600 });
  writeFileSync(headers, `X-Access: ${CONFIGURED.panelHeader}`, { mode: 0o600 });
  return `[gate]
panel = "remnawave"
panel_url = "http://127.0.0.1:9"
panel_token_file = "${token}"
panel_headers_file = "${headers}"
[[gate.upstream]]
host = "sub.example.org"
url = "http://127.0.0.1:9"
provider = "${CODE}"
key = "marzban"
default_limit = 3
limits = "panel"
panel_account_file = "${account}"
`;
}

const withLimits = testWith('prlimit');

test('the search finds what it is for', () => {
  for (const form of formsOf(KEYS.key)) {
    expect(shownIn(`a ${form} b`, KEYS)).toEqual(['key']);
  }
  expect(shownIn('nothing', KEYS)).toEqual([]);
});

describe.each(['human', 'json'])('with everything told, %s', (format) => {
  withLimits('no secret is', async () => {
    const folder = temporaryFolder();
    const [dataDir, file] = [join(folder, 'data'), join(folder, 'planted.toml')];
    const identity = ['--code', CODE, '--key', KEYS.key, '--plan', 'enterprise'];
    await run(['provider', 'add', '--name', 'n', '--data', dataDir, ...identity]);
    writeFileSync(file, configOf(format, panelIn(folder)), { mode: 0o600 });
    const server = await startServe({
      dataDir,
      executable: withoutFileSizeSignal(folder),
      isPiped: true,
      args: ['--config', file],
      env: { GATEPOST_MONITOR_PORT: '' },
    });

    const token = await useEverything(server);
    expect(token).toHaveLength(43);
    const secrets = { ...KEYS, ...CONTENT, ...CONFIGURED, token };
    await misuse(server, Object.values(secrets));
    const seen = [await observe(server)];
    await withFullDisk(server, async () => {
      await useEverything(server, token).catch(() => '');
      await until('the full disk to be noticed', async () => {
        seen.push(await observe(server));
        // Each look is searched for every secret.
        await Bun.sleep(100);
        return seen.at(-1)?.includes('database_not_writable');
      });
    });
    writeFileSync(file, configOf(format, `eab_key = "${CONFIGURED.eabKey}`));
    process.kill(server.pid, 'SIGHUP');
    await until('the refused reload', () => server.stderr().includes('config_not_reloaded'));
    await server.stop();

    const log = server.stderr();
    const expected = ['started', 'request', 'fault', 'not_ready', 'auth_failures_delayed'];
    const written = (event: string) => (format === 'json' ? `"event":"${event}"` : ` ${event} `);
    expect(expected.filter((event) => !log.includes(written(event)))).toEqual([]);
    expect(log.includes(CODE)).toBe(true);
    expect(seen.join('')).toContain('gatepost_requests_total');
    expect(shownIn(server.stdout() + log + seen.join(''), secrets)).toEqual([]);

    // Keys and tokens lie in the data as hashes alone.
    const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'));
    const stored = files.join('');
    expect(stored.includes(CONTENT.hwid)).toBe(true);
    const hash = createHash('sha256').update(KEYS.subscriptionKey).digest('latin1');
    expect(stored.includes(hash)).toBe(true);
    const hidden = { ...KEYS, ...CONFIGURED, token };
    const leaked = Object.entries(hidden).filter(([, secret]) =>
      rawFormsOf(secret).some((form) => stored.includes(form)),
    );
    expect(leaked.map(([name]) => name)).toEqual([]);
  });
});

/** A write that meets the limit on the size of files then fails, as one on a full disk does. */
function withoutFileSizeSignal(folder: string): string {
  const executable = join(folder, 'gatepost');
  writeFileSync(executable, `#!/bin/sh\ntrap '' XFSZ\nexec '${binary()}' "$@"\n`);
  chmodSync(executable, 0o700);
  return executable;
}

async function withFullDisk(server: ServerProcess, use: () => Promise<void>): Promise<void> {
  const limit = (bytes: string) =>
    Bun.spawnSync(['prlimit', '--pid', String(server.pid), `--fsize=${bytes}:unlimited`]);
  expect(limit('1024').exitCode).toBe(0);
  await use();
  limit('unlimited');
}

/** Each call as it is meant, with everything that should be kept. Returns the device's token. */
async function useEverything({ url }: ServerProcess, known = ''): Promise<string> {
  const query = new URLSearchParams({ provider_code: CODE, auth_key: KEYS.key });
  const ask = async (path: string, init: RequestInit = {}) =>
    (await (await fetch(`${url}${path}`, init)).json()) as Record<string, unknown>;
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, { method: 'POST', body: JSON.stringify(body), headers });

  await ask(`/api/add-domain?${query}&domain_hash=${HASH}`);
  const key = `subscription_key=${KEYS.subscriptionKey}`;
  await ask(
    `/api/add-install?${query}&install_limit=3&install_code=PlantedLink1&note=${CONTENT.note}&${key}`,
  );
  await ask(`/api/add-install?${query}&install_limit=3&${key}`);
  await ask(`/api/update-install?${query}&id=1&${key}`);
  await ask(`/api/list-install?${query}&${key}`);
  await ask(`/install?id=${HASH}&installid=PlantedLink1`, {
    headers: { 'x-hwid': CONTENT.hwid, 'x-device-os': 'android' },
  });
  const registered = await send('/device/register', {
    hwid: CONTENT.hwid,
    os: 'android',
    install_code: 'PlantedLink1',
    domain_hash: HASH,
    push: { gateway: 'fcm', token: CONTENT.pushToken },
  });
  const token = String(registered['device_token'] ?? known);
  const headers = { authorization: `Bearer ${token}` };
  await send(`/remote/command?${query}`, {
    action_type: 'import-data',
    specific_device_toggle: true,
    hwid: CONTENT.hwid,
    import_data: CONTENT.imported,
  });
  await ask('/device/inbox?wait=0', { headers });
  await send('/device/ack', { items: [{ id: 1, state: 'failed', detail: CONTENT.note }] }, headers);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/device/stream`, { headers });
  await new Promise((resolve) => {
    socket.onopen = resolve;
    socket.onerror = resolve;
  });
  socket.send(JSON.stringify({ items: [{ id: 1, state: token }] }));
  socket.close();
  return token;
}

/** Each secret where it does not belong: paths, methods, headers, broken bodies, proxies' words. */
async function misuse(server: ServerProcess, secrets: readonly string[]): Promise<void> {
  const ends = secrets.flatMap((secret) => {
    const forms = [secret, percentEncoded(secret), Buffer.from(secret).toString('base64')];
    return forms
      .flatMap((form) => [
        `GET /api/list-install?provider_code=${CODE}&auth_key=${form} HTTP/1.1`,
        `GET /api/list-install&auth_key=${form} HTTP/1.1`,
        `GET /${form}/api/list-install HTTP/1.1`,
        `GET /device/inbox#${form} HTTP/1.1`,
        `GET http://${form}@h/api/list-install HTTP/1.1`,
        `GET /api/list-install?provider_code=${form}&auth_key=${form}&auth_key=${form} HTTP/1.1`,
        `POST /device/register?${form}=${form} HTTP/1.1`,
        `${form} /api/list-install HTTP/1.1`,
        `GET /api/list-install?${form} HTTP/9.${form}`,
      ])
      .map((line) => ({ line, secret }));
  });
  await Promise.all(
    ends.map(async ({ line, secret }) => {
      const body = `{"hwid":"${secret}","push":{"gateway":"fcm","token":"${secret}"`;
      const lane = new Lane(server.port);
      const head = [
        line,
        'Host: h',
        `Authorization: Bearer ${secret}`,
        `X-Forwarded-For: ${secret}`,
        `X-Request-Id: ${secret}`,
        `X-Hwid: ${secret}`,
        `Cookie: session=${secret}`,
        `Referer: http://h/?auth_key=${secret}`,
        `User-Agent: ${secret}`,
        ...(line.startsWith('POST') ? [`Content-Length: ${body.length}`] : ['Connection: close']),
      ];
      const bytes = `${head.join('\r\n')}\r\n\r\n${line.startsWith('POST') ? body : ''}`;
      await lane.exchange(Buffer.from(bytes), 1, false).catch(() => []);
      lane.drop();
    }),
  );
}

/** What the monitor says. */
async function observe({ monitorUrl }: ServerProcess): Promise<string> {
  const paths = ['/metrics', '/readyz', '/healthz', `/${KEYS.key}`, `/metrics?key=${KEYS.key}`];
  const texts = await Promise.all(
    paths.map(async (path) => (await fetch(`${monitorUrl}${path}`)).text()),
  );
  return texts.join('\n');
}

describe('a configuration with mistakes', () => {
  const { passphrase, eabKey } = CONFIGURED;
  test.each([
    ['an open quote', `[backup]\npassphrase = "${passphrase}\n`],
    ['no quotes', `[backup]\npassphrase = ${passphrase}\n`],
    ['another type', `[backup]\npassphrase = ["${passphrase}"]\n`],
    ['given twice', `[backup]\npassphrase = "${passphrase}"\npassphrase = "${passphrase}"\n`],
    [
      'a misspelled name',
      `[backup]\npassphrasse = "${passphrase}"\n[acme]\neabkey = "${eabKey}"\n`,
    ],
    ['no section', `passphrase = "${passphrase}"\n`],
    ['a mistake beside it', `[backup]\npassphrase = "${passphrase}"\nkeep = "no"\n`],
  ])('is told without its secrets: %s', async (_, text) => {
    const file = join(temporaryFolder(), 'planted.toml');
    writeFileSync(file, text, { mode: 0o600 });
    for (const words of [['config'], ['config', '--json'], ['serve', '--port', '0']]) {
      const { code, stdout, stderr } = await run([...words, '--config', file]);
      expect(code).toBe(1);
      expect(stderr).toContain('planted.toml');
      expect(shownIn(stdout + stderr, CONFIGURED)).toEqual([]);
    }
  });

  test('and one without shows none either', async () => {
    const file = join(temporaryFolder(), 'planted.toml');
    writeFileSync(file, configOf('human'), { mode: 0o600 });
    for (const words of [['config'], ['config', '--json']]) {
      const { code, stdout, stderr } = await run([...words, '--config', file]);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('passphrase');
      expect(shownIn(stdout, CONFIGURED)).toEqual([]);
    }
  });
});
