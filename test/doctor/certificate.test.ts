/** What the doctor says of a certificate is what a start would say. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeLog } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/load.ts';
import { checkCertificate } from '../../src/doctor/certificate.ts';
import { certificatePath } from '../../src/tls/acme.ts';
import { startTls } from '../../src/tls/tls.ts';
import { freshFolder } from '../support/app.ts';
import { NOW_MS } from '../support/backup.ts';
import {
  type CertificateDraft,
  DAY_MS,
  filesIn,
  selfSigned,
  writePair,
  writeSecret,
} from '../support/certificate.ts';
import { FakeClock } from '../support/clock.ts';

let folder: string;
let dataDir: string;
beforeEach(() => {
  folder = freshFolder();
  dataDir = join(folder, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const uid = process.getuid?.() ?? 0;

function configOf(env: Record<string, string>) {
  return loadConfig({}, { GATEPOST_DATA: dataDir, GATEPOST_CONFIG: 'none', ...env }).config;
}

const look = (env: Record<string, string> = {}, nowMs = NOW_MS) =>
  checkCertificate(configOf(env), nowMs, uid);

describe('the certificate of the operator\u2019s files', () => {
  async function place(draft: CertificateDraft = {}) {
    const files = filesIn(folder);
    writePair(folder, await selfSigned('gate', { fromMs: NOW_MS - DAY_MS, ...draft }));
    const env = { GATEPOST_TLS_CERTIFICATE: files.certificate, GATEPOST_TLS_KEY: files.key };
    return { files, env };
  }

  test('that can be served is told with its end, and warned of when that is near', async () => {
    const { env, files } = await place({ names: ['gate.example.com'], days: 90 });
    const [{ level, what } = {}] = look(env);
    expect({ level, what }).toEqual({
      level: 'ok',
      what: `${files.certificate} is valid for gate.example.com until ${new Date(NOW_MS + 89 * DAY_MS).toISOString()}`,
    });
    expect(look(env, NOW_MS + 80 * DAY_MS)[0]?.level).toBe('warning');
    expect(look()).toEqual([]);
  });

  test('is a problem in the words in which a start refuses it', async () => {
    const { env, files } = await place();
    const told = async (settings: Record<string, string>, nowMs = NOW_MS) => {
      const clock = new FakeClock();
      clock.set(nowMs);
      const log = makeLog({ logFormat: 'json', logLevel: 'error' }, clock.nowMs, () => {});
      const start = startTls(configOf(settings), clock, log);
      const refused = await start.then(String, (error: Error) => error.message);
      const [found] = look(settings, nowMs);
      expect(found).toMatchObject({ level: 'problem', what: refused });
      return refused;
    };
    expect(await told(env, NOW_MS + 200 * DAY_MS)).toContain('expired on');
    const { GATEPOST_TLS_CERTIFICATE } = env;
    expect(await told({ GATEPOST_TLS_CERTIFICATE })).toContain('or neither');
    writeSecret(files.key, (await selfSigned('other')).key);
    expect(await told(env)).toContain('does not belong to');
    chmodSync(files.key, 0o644);
    expect(await told(env)).toContain('open to all users');
    rmSync(files.key);
    expect(await told(env)).toContain('ENOENT');
  });

  test.skipIf(uid !== 0)(
    'whose key the service cannot read is a problem, seen as root',
    async () => {
      const { env, files } = await place();
      chownSync(dataDir, 12_345, 12_345);
      expect(look(env)[0]?.what).toContain(`${files.key} cannot be read by user 12345`);
      chmodSync(files.key, 0o640);
      expect(look(env)[0]?.level).toBe('ok');
    },
  );
});

describe('the certificate by ACME', () => {
  const env = { GATEPOST_ACME_DOMAINS: '203.0.113.70' };

  async function place(days: number) {
    const acme = join(dataDir, 'acme');
    mkdirSync(acme, { mode: 0o700 });
    const { acmeDirectory: directory, acmeDomains: domains } = configOf(env);
    const path = certificatePath({ folder: acme, domains, directory });
    const fromMs = NOW_MS - DAY_MS;
    const { cert, key } = await selfSigned('gate', { names: ['203.0.113.70'], fromMs, days });
    writeSecret(path, `${key}${cert}`);
    return path;
  }

  test('is told with its end, and warned of in the last quarter of its life', async () => {
    expect(look(env)).toMatchObject([{ level: 'problem', name: 'certificate_awaited' }]);
    await place(6);
    const end = new Date(NOW_MS + 5 * DAY_MS).toISOString();
    const what = `the ACME certificate is valid for 203.0.113.70 until ${end}`;
    expect(look(env)).toMatchObject([{ level: 'ok', what }]);
    const lateMs = NOW_MS + 3.5 * DAY_MS;
    expect(look(env, lateMs - 1)).toMatchObject([{ level: 'ok' }]);
    expect(look(env, lateMs)).toMatchObject([{ level: 'warning', what }]);
    expect(look(env, NOW_MS + 5 * DAY_MS)).toMatchObject([{ level: 'problem' }]);
  });

  test('whose renewal failed is told with the reason and the next try', async () => {
    const path = await place(6);
    const failure = { reason: 'no such name', atMs: NOW_MS, nextTryMs: NOW_MS + 300_000 };
    writeSecret(`${path}.failed`, JSON.stringify(failure));
    const [finding] = look(env);
    expect(finding).toMatchObject({ level: 'warning' });
    expect(JSON.stringify(finding)).toContain(`on ${new Date(NOW_MS).toISOString()}: no such name`);
    expect(JSON.stringify(finding)).toContain(new Date(NOW_MS + 300_000).toISOString());
  });

  test('that failed at the first order is a problem, with the remedy of its reason', async () => {
    const { acmeDirectory: directory, acmeDomains: domains } = configOf(env);
    const acme = join(dataDir, 'acme');
    mkdirSync(acme, { mode: 0o700 });
    const path = certificatePath({ folder: acme, domains, directory });
    for (const [reason, todo] of [
      ['Timeout during connect (likely firewall problem)', 'let the Internet reach port 80'],
      ['DNS problem: NXDOMAIN looking up A for it', 'let the A and AAAA records'],
      ['too many failed authorizations recently', 'wait: the authority limits orders'],
      ['the moon is full', 'fix the reason'],
    ] as const) {
      writeSecret(`${path}.failed`, JSON.stringify({ reason, atMs: NOW_MS, nextTryMs: NOW_MS }));
      const [finding] = look(env);
      expect(finding).toMatchObject({ level: 'problem', name: 'certificate_order_failed' });
      expect(finding?.todo).toStartWith(todo);
    }
  });
});
