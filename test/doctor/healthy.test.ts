/**
 * A healthy installation of each kind that the documents print has no problem, and no warning but
 * those whose remedy is a setting that its operator has not chosen yet.
 */

import { beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../src/base/finding.ts';
import { loadConfig } from '../../src/config/load.ts';
import { checkAddress } from '../../src/doctor/address.ts';
import { selfSigned } from '../support/certificate.ts';
import { testPostgres, testWith } from '../support/needs.ts';
import { freshDatabase } from '../support/postgres-data.ts';
import { addProviderByCommand, run, startServe, temporaryFolder } from '../support/process.ts';
import { SUB_HOST, startNginxForNodes } from '../support/proxies.ts';
import { startSmallPanel } from '../support/small-panel.ts';
import { readText } from '../support/tree.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let tls: { cert: string; key: string };
beforeAll(async () => {
  const { cert, key } = await selfSigned('one', { names: ['bot.example.com', SUB_HOST] });
  const folder = temporaryFolder();
  tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(tls.cert, cert);
  writeFileSync(tls.key, key, { mode: 0o600 });
});

/** The block of a document that begins with a line, with these texts changed. */
function printed(page: string, line: string, changes: readonly [string, string][]): string {
  const blocks = readText(page).matchAll(/(?:```toml|<<'END')\n(.*?)(?:```|^END$)/gms);
  const block = [...blocks].map(([, text = '']) => text).find((text) => text.startsWith(line));
  return changes.reduce((text, [before, after]) => {
    expect(text).toContain(before);
    return text.replace(before, after);
  }, block ?? '');
}

/** The server of the tests is set to forget: it is no installation. */
const NOT_DURABLE = 'postgres_not_durable';

/** Serves with a configuration file, and returns the warnings of the doctor, who has no problem. */
async function saidOf(
  text: string,
  dataDir = join(temporaryFolder(), 'data'),
  served: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const file = join(temporaryFolder(), 'gatepost.toml');
  writeFileSync(file, text, { mode: 0o600 });
  // A test has no room for as many streams.
  const env = { GATEPOST_CONFIG: file, GATEPOST_MONITOR_PORT: '0', GATEPOST_STREAMS_MAX: '100' };
  const server = await startServe({ dataDir, env: { ...env, ...served } });
  const { stdout } = await run(['doctor', '--json', '--data', dataDir], { env });
  await server.stop();
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const ill = findings.filter(({ level, name }) => level !== 'ok' && name !== NOT_DURABLE);
  expect(ill.filter(({ level }) => level === 'problem')).toEqual([]);
  expect(findings.filter(({ name }) => name === 'server')).toHaveLength(1);
  return ill.map(({ name }) => name);
}

/** No document chooses the time and place of backups for its reader. */
const CHOICES = ['backups_not_scheduled'];

test('as make run starts it', async () => {
  expect(await saidOf('', undefined, { GATEPOST_LOG_LEVEL: 'warn' })).toEqual(CHOICES);
});

test("with the package's file, as it stands after the installation", async () => {
  const text = readText('packaging/gatepost.toml')
    .replace('#strangers = "answer"', 'strangers = "quiet"')
    .replace(/^data = .*$/m, '');
  expect(await saidOf(text)).toEqual(CHOICES);
});

test('with TLS of its own', async () => {
  const text = printed('docs/tls.md', '[server]', [
    ['"/etc/gatepost/fullchain.pem"', `"${tls.cert}"`],
    ['"/etc/gatepost/privkey.pem"', `"${tls.key}"`],
    ['port = 443', 'port = 0'],
  ]);
  expect(await saidOf(text)).toEqual(CHOICES);
});

test('as the proxy of a panel', async () => {
  const panel = startSmallPanel();
  const dataDir = join(temporaryFolder(), 'data');
  const { code } = await addProviderByCommand(dataDir);
  const text = `
    [server]
    host = "0.0.0.0"
    strangers = "quiet"
    hosts = ["bot.example.com"]
    [tls]
    certificate = "${tls.cert}"
    key = "${tls.key}"
    [[gate.upstream]]
    host = "${SUB_HOST}"
    url = "http://127.0.0.1:${panel.port}"
    provider = "${code}"
    default_limit = 3`;
  expect(await saidOf(text, dataDir)).toEqual(CHOICES);
  await panel.stop();
});

const nodes = (more: readonly [string, string][]) =>
  printed('docs/several-nodes.md', '[server]', [
    ['host = "10.0.0.21"', 'host = "127.0.0.1"'],
    ['["10.0.0.5"]', '["127.0.0.1"]'],
    ['strangers = "quiet"', 'strangers = "quiet"\nhosts = ["127.0.0.1"]'],
    ...more,
  ]);

testWith('nginx')('behind nginx, asked from outside too', async () => {
  const [own] = nodes([]).split('[database]');
  const dataDir = join(temporaryFolder(), 'data');
  const server = await startServe({
    dataDir,
    env: {
      GATEPOST_STRANGERS: 'quiet',
      GATEPOST_HOSTS: '127.0.0.1',
      GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  const proxy = await startNginxForNodes(server.port, [], tls);
  const text = `${own}\n[my]\nurl = "${proxy.url}"\n[outgoing]\nallow = ["127.0.0.0/8"]\n`;
  const file = join(temporaryFolder(), 'gatepost.toml');
  writeFileSync(file, text);
  const env = { GATEPOST_CONFIG: file, GATEPOST_STREAMS_MAX: '100', GATEPOST_PORT: '0' };
  const words = ['doctor', '--outside', '--json', '--data', dataDir];
  const { code, stdout } = await run(words, { env });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const ill = findings.filter(({ level }) => level !== 'ok').map(({ name }) => name);
  expect({ code, ill }).toEqual({ code: 0, ill: CHOICES });
  expect(findings.map(({ what }) => what)).toContain(`${proxy.url} passes all that Gatepost needs`);
  await Promise.all([proxy.stop(), server.stop()]);
});

testPostgres('on PostgreSQL', async () => {
  const database = await freshDatabase();
  const [own] = nodes([]).split('[database]');
  const said = await saidOf(`${own}\n[database]\nurl = "${database.url}"\n`);
  // Facts of the server of the tests.
  expect(said.filter((name) => !name.startsWith('postgres_'))).toEqual([]);
  await database.drop();
});

test('a node in a private network and a container are not open to the network', () => {
  const { config } = loadConfig({}, { GATEPOST_CONFIG: 'none', GATEPOST_HOST: '0.0.0.0' });
  const root = temporaryFolder();
  writeFileSync(join(root, '.dockerenv'), '');
  const names = (at: string) =>
    checkAddress('unknown', { ...config, port: 0 }, false, at).map(({ name }) => name);
  expect(names(temporaryFolder())).toEqual(['address_without_tls', 'address']);
  expect(names(root)).toEqual(['address']);
});
