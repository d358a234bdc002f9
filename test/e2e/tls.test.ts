/** HTTPS as the operator has it: the executable, files that change, an authority that is asked. */

import { afterEach, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type AcmeServer, startAcmeServer } from '../support/acme-server.ts';
import { selfSigned, writeSecret } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import { run, type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let authority: AcmeServer | null = null;
afterEach(async () => {
  await authority?.stop();
  authority = null;
});

/** Common name and serial number of the certificate that a new connection is shown. */
function shown(server: ServerProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port: server.port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = connect(options, () => {
      const { subject, serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      resolve(`${subject.CN} ${serialNumber}`);
    });
    socket.on('error', reject);
  });
}

async function msgOf(server: ServerProcess): Promise<unknown> {
  const init: BunFetchRequestInit = { tls: { rejectUnauthorized: false } };
  return (await fetch(`${server.url}/api/list-install`, init)).json();
}

const AUTH_ERROR = { rc: 0, msg: 'Auth error' };

async function pairIn(
  folder: string,
  name: string,
  names?: readonly string[],
): Promise<Record<string, string>> {
  const { cert, key } = await selfSigned(name, names && { names });
  const files = [join(folder, 'certificate.pem'), join(folder, 'key.pem')] as const;
  writeSecret(files[0], cert);
  writeSecret(files[1], key);
  return { GATEPOST_TLS_CERTIFICATE: files[0], GATEPOST_TLS_KEY: files[1] };
}

test('it serves the operator\u2019s certificate, and the next one without a restart', async () => {
  const folder = temporaryFolder();
  const server = await startServe({ env: await pairIn(folder, 'first') });
  expect(server.url).toStartWith('https://');
  expect(await msgOf(server)).toEqual(AUTH_ERROR);
  expect(await shown(server)).toStartWith('first ');
  await pairIn(folder, 'second');
  await until('the second certificate', async () => (await shown(server)).startsWith('second '));
  expect(await msgOf(server)).toEqual(AUTH_ERROR);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(server.stderr()).toContain('certificate_changed');
});

test('the link into the console has the name of the certificate and the port', async () => {
  const names = ['*.example.com', 'gate.example.com'];
  const env = await pairIn(temporaryFolder(), 'first', names);
  const server = await startServe({ env });
  const made = await run(['console', 'link', '--data', server.dataDir], { env });
  expect(made.stdout).toStartWith(`https://gate.example.com:${server.port}/console#entry=`);
  await server.stop();
});

test('it asks an authority for its certificate, keeps it, and renews it', async () => {
  const httpPort = freePort();
  // Issued a minute ago for 90 seconds: good to start with, and due for renewal.
  authority = await startAcmeServer({ httpPort: () => httpPort, days: 90 / 86_400 });
  const env = {
    GATEPOST_ACME_DOMAINS: 'gate.example.com',
    GATEPOST_ACME_DIRECTORY: authority.directory,
    GATEPOST_ACME_HTTP_PORT: String(httpPort),
  };
  const server = await startServe({ env });
  expect(await msgOf(server)).toEqual(AUTH_ERROR);
  expect(await shown(server)).toStartWith('gate.example.com ');
  await until('a renewed certificate', () => server.stderr().includes('certificate_changed'));
  expect(await msgOf(server)).toEqual(AUTH_ERROR);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(authority).toMatchObject({ refused: [] });
  expect(authority.issued.length).toBeGreaterThan(1);
  expect(modesIn(join(server.dataDir, 'acme'))).toEqual(['600', '600', '600']);
});

test('an IP address has a certificate too, and the doctor says when it ends', async () => {
  const httpPort = freePort();
  authority = await startAcmeServer({ httpPort: () => httpPort, profiles: { shortlived: 6 } });
  const env = {
    GATEPOST_ACME_DOMAINS: '127.0.0.1',
    GATEPOST_ACME_DIRECTORY: authority.directory,
    GATEPOST_ACME_HTTP_PORT: String(httpPort),
  };
  const server = await startServe({ env });
  const url = `https://127.0.0.1:${server.port}/api/list-install`;
  const answer = await fetch(url, { tls: { ca: authority.certificatePem } });
  expect(await answer.json()).toEqual(AUTH_ERROR);
  const doctor = async () => (await run(['doctor', '--data', server.dataDir], { env })).stdout;
  expect(await doctor()).toContain('the ACME certificate is valid for 127.0.0.1 until');
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  // The next start has one that is due, and an authority that refuses.
  authority.outage = 'the authority has a rest';
  const folder = join(server.dataDir, 'acme');
  const [name = ''] = readdirSync(folder).filter((one) => one.startsWith('certificate-'));
  const { cert, key } = await authority.issue(['127.0.0.1'], 89 / 86_400);
  writeSecret(join(folder, name), `${key}${cert}`);
  const later = await startServe({ env, dataDir: server.dataDir });
  await until('a renewal that failed', () => later.stderr().includes('certificate_not_issued'));
  expect(await msgOf(later)).toEqual(AUTH_ERROR);
  await until('the doctor knows', async () =>
    (await doctor()).includes('the last order failed on'),
  );
  expect(await doctor()).toContain('the authority has a rest');
  await later.stop();
});

function modesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => (statSync(join(folder, name)).mode & 0o777).toString(8));
}

test('a key that everybody can read is refused', async () => {
  const env = await pairIn(temporaryFolder(), 'open');
  chmodSync(env['GATEPOST_TLS_KEY'] ?? '', 0o644);
  const dataDir = join(temporaryFolder(), 'data');
  const { code, stderr } = await run(['serve', '--port', '0', '--data', dataDir], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^gatepost: the file .*key\.pem holds secrets and has mode 0644, open to/);
});

test('every command refuses a data directory that everybody can look into', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  mkdirSync(dataDir);
  // Something is in it: one that is empty is closed instead.
  writeFileSync(join(dataDir, 'notes.txt'), '');
  chmodSync(dataDir, 0o755);
  for (const words of [
    ['serve', '--port', '0'],
    ['provider', 'list'],
    ['device', 'list'],
  ]) {
    const { code, stderr } = await run([...words, '--data', dataDir]);
    expect({ words, code }).toEqual({ words, code: 1 });
    expect(stderr).toBe(
      `gatepost: the data directory ${dataDir} has mode 0755, open to all users: run 'chmod 700 ${dataDir}'\n`,
    );
  }
  expect(existsSync(join(dataDir, 'gatepost.db'))).toBe(false);
  chmodSync(dataDir, 0o700);
  expect((await run(['provider', 'add', '--name', 'a', '--data', dataDir])).code).toBe(0);
});

test('a configuration file with a secret that everybody can read is refused', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const file = join(temporaryFolder(), 'gatepost.toml');
  writeFileSync(file, '[backup]\npassphrase = "correct horse"\n');
  chmodSync(file, 0o644);
  const words = ['provider', 'add', '--name', 'a', '--data', dataDir, '--config', file];
  const refused = await run(words);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`${file} holds secrets and has mode 0644`);
  expect(refused.stderr).not.toContain('correct horse');
  chmodSync(file, 0o640);
  expect((await run(words)).code).toBe(0);
});
