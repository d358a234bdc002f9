/** The operator's own certificate files: what is refused, and what happens when they change. */

import { afterEach, expect, test } from 'bun:test';
import { chmodSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { makeLog } from '../../src/base/log.ts';
import { type Certificate, readCertificate } from '../../src/tls/certificate.ts';
import { CertificateKeeper } from '../../src/tls/keeper.ts';
import { startTls, type TlsSettings } from '../../src/tls/tls.ts';
import { freshFolder } from '../support/app.ts';
import {
  type CertificateDraft,
  DAY_MS,
  filesIn,
  selfSigned,
  writePair,
  writeSecret,
} from '../support/certificate.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) cleanUp();
});

async function folderWith(name: string, draft: CertificateDraft = {}): Promise<string> {
  const folder = freshFolder();
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  writePair(folder, await selfSigned(name, draft));
  return folder;
}

/** A keeper of the folder's files, and what it served and said. */
function keeperOf(folder: string, clock = new FakeClock()) {
  clock.set(Date.now());
  const logLines: string[] = [];
  const served: Certificate[] = [];
  const log = makeLog({ logFormat: 'json', logLevel: 'debug' }, clock.nowMs, (line) =>
    logLines.push(line),
  );
  const files = filesIn(folder);
  const first = readCertificate(files, clock.nowMs());
  const keeper = new CertificateKeeper({
    files,
    first,
    // Without a watch that settles by itself: the test says when to look.
    clock,
    log,
    use: async (certificate) => void served.push(certificate),
  });
  cleanUps.push(() => keeper.stop());
  return { keeper, clock, logLines, served };
}

test('a pair is read with its names and its end', async () => {
  const folder = await folderWith('gate', { names: ['gate.example.com', '192.0.2.1'], days: 30 });
  const certificate = readCertificate(filesIn(folder), Date.now());
  expect(certificate.names).toEqual(['gate.example.com', '192.0.2.1']);
  expect(certificate.expiresAtMs - certificate.startsAtMs).toBe(30 * DAY_MS);
});

test('what no client would take is refused with one sentence', async () => {
  const folder = await folderWith('gate', { days: 30 });
  const files = filesIn(folder);
  const read =
    (nowMs = Date.now()) =>
    () =>
      readCertificate(files, nowMs);
  expect(read(Date.now() + 30 * DAY_MS)).toThrow(/certificate\.pem expired on \d{4}-/);
  expect(read(Date.now() - 2 * DAY_MS)).toThrow(/certificate\.pem is not valid before \d{4}-/);
  writeSecret(files.key, (await selfSigned('other')).key);
  expect(read()).toThrow(/the key in .*key\.pem does not belong to .*certificate\.pem/);
  const [leaf, authority] = [await selfSigned('leaf'), await selfSigned('authority')];
  writePair(folder, { cert: `${authority.cert}${leaf.cert}`, key: leaf.key });
  expect(read()).toThrow(/certificate\.pem must begin with the certificate of the key, followed/);
  // Each client would be refused, and a server would not start.
  const nonsense = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  writePair(folder, { cert: `${leaf.cert}${nonsense}`, key: leaf.key });
  expect(read()).toThrow(/certificate\.pem has no valid chain of certificates/);
  writeSecret(files.key, '-----BEGIN PRIVATE KEY-----\nbm90aGluZw==\n-----END PRIVATE KEY-----\n');
  expect(read()).toThrow(/key\.pem has no private key in PEM/);
  writeSecret(files.certificate, 'nothing');
  expect(read()).toThrow(/certificate\.pem has no certificate in PEM/);
  rmSync(files.certificate);
  expect(read()).toThrow(/cannot read .*certificate\.pem: ENOENT/);
  chmodSync(files.key, 0o644);
  expect(read()).toThrow(/key\.pem holds secrets and has mode 0644, open to all users: run 'chmod/);
});

test('files that change are taken up; the same ones are not', async () => {
  const folder = await folderWith('first');
  const { keeper, served, logLines } = keeperOf(folder);
  await keeper.check();
  expect(served).toEqual([]);
  writePair(folder, await selfSigned('second', { names: ['second.example.com'] }));
  await keeper.check();
  await keeper.check();
  expect(served.map(({ names }) => names)).toEqual([['second.example.com']]);
  expect(keeper.current.names).toEqual(['second.example.com']);
  expect(logLines.filter((line) => line.includes('certificate_changed'))).toHaveLength(1);
});

test('the same certificate with another chain is another one to serve', async () => {
  const folder = await folderWith('first');
  const { keeper, served } = keeperOf(folder);
  const { cert, key } = keeper.current;
  writePair(folder, { cert: `${cert}${(await selfSigned('authority')).cert}`, key });
  await keeper.check();
  expect(served.map(({ cert: chain }) => chain.match(/BEGIN CERTIFICATE/g)?.length)).toEqual([2]);
});

test('a change that comes with the stop is served by nobody', async () => {
  const folder = await folderWith('first');
  const { keeper, served } = keeperOf(folder);
  writePair(folder, await selfSigned('second'));
  const stopped = keeper.stop();
  await keeper.check();
  await stopped;
  expect(served).toEqual([]);
});

test('half of a renewal, and a bad one, leave the old certificate and one line each', async () => {
  const folder = await folderWith('first');
  const { keeper, served, logLines } = keeperOf(folder);
  const next = await selfSigned('second');
  writeSecret(filesIn(folder).certificate, next.cert);
  await keeper.check();
  await keeper.check();
  expect(served).toEqual([]);
  expect(logLines.filter((line) => line.includes('certificate_refused'))).toHaveLength(1);
  writeSecret(filesIn(folder).key, next.key);
  await keeper.check();
  expect(served).toHaveLength(1);
});

test('it warns once a day from 14 days before the end', async () => {
  const folder = await folderWith('gate', { fromMs: Date.now() - 70 * DAY_MS, days: 90 });
  const { keeper, clock, logLines } = keeperOf(folder);
  const warnings = () => logLines.filter((line) => line.includes('certificate_expires'));
  clock.advance(5 * DAY_MS);
  await keeper.check();
  expect(warnings()).toEqual([]);
  clock.advance(2 * DAY_MS);
  await keeper.check();
  await keeper.check();
  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toContain('"days":12');
  clock.advance(DAY_MS);
  await keeper.check();
  expect(warnings()).toHaveLength(2);
});

test('a renewal is noticed by itself, also behind links as certbot makes them', async () => {
  const live = freshFolder();
  cleanUps.push(() => rmSync(live, { recursive: true, force: true }));
  const point = (folder: string) => {
    for (const name of ['certificate.pem', 'key.pem']) {
      symlinkSync(join(folder, name), join(live, `${name}.new`));
      renameSync(join(live, `${name}.new`), join(live, name));
    }
  };
  point(await folderWith('first'));
  const files = filesIn(live);
  const served: Certificate[] = [];
  const keeper = new CertificateKeeper({
    files,
    first: readCertificate(files, Date.now()),
    clock: systemClock,
    log: makeLog({ logFormat: 'json', logLevel: 'debug' }, systemClock.nowMs, () => {}),
    use: async (certificate) => void served.push(certificate),
  });
  cleanUps.push(() => keeper.stop());
  point(await folderWith('second', { names: ['second.example.com'] }));
  await until('it is served', () => served.length > 0);
  expect(served[0]?.names).toEqual(['second.example.com']);
});

const NOTHING: TlsSettings = {
  dataDir: 'data',
  host: '127.0.0.1',
  tlsCertificate: '',
  tlsKey: '',
  acmeDomains: [],
  acmeEmail: '',
  acmeProfile: '',
  acmeDirectory: 'http://127.0.0.1:9/directory',
  acmeChallenge: 'http-01',
  acmeHttpPort: 0,
  acmeDnsHook: '',
  acmeEabKid: '',
  acmeEabKey: '',
};

test.each<[Partial<TlsSettings>, string]>([
  [{ tlsCertificate: 'a.pem' }, 'set both tls.certificate and tls.key, or neither'],
  [{ tlsKey: 'a.pem' }, 'set both tls.certificate and tls.key, or neither'],
  [{ tlsCertificate: 'a', tlsKey: 'b', acmeDomains: ['example.com'] }, 'set either'],
  [{ acmeDomains: ['example.com'], acmeChallenge: 'dns-01' }, 'needs acme.dns_hook'],
  [{ acmeDomains: ['*.example.com'] }, 'must be dns-01 for *.example.com'],
])('settings that do not go together are refused: %p', async (settings, sentence) => {
  const { clock, logLines } = keeperOf(await folderWith('unused'));
  const log = makeLog({ logFormat: 'json', logLevel: 'debug' }, clock.nowMs, (line) =>
    logLines.push(line),
  );
  await expect(startTls({ ...NOTHING, ...settings }, clock, log)).rejects.toThrow(sentence);
});
