/** Certificates for IP addresses, profiles, and renewals when the authority wishes. */

import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { makeLog } from '../../src/base/log.ts';
import { type AcmeOptions, failureOf, makeAcme } from '../../src/tls/acme.ts';
import { makeHttpProver } from '../../src/tls/challenge.ts';
import { Renewal, renewalId, renewalTimeMs } from '../../src/tls/renewal.ts';
import { type AcmeServerOptions, startAcmeServer } from '../support/acme-server.ts';
import { freshFolder } from '../support/app.ts';
import { DAY_MS, selfSigned } from '../support/certificate.ts';
import { FakeClock } from '../support/clock.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const ADDRESSES = ['203.0.113.70', '2001:db8::70'];
const PROFILES = { classic: 90, shortlived: 6 };
const HOUR_MS = 3_600_000;

async function start(authority: AcmeServerOptions = {}, more: Partial<AcmeOptions> = {}) {
  const folder = freshFolder();
  const lines: string[] = [];
  const clock = new FakeClock();
  // The authority signs by the real time.
  clock.set(Date.now());
  const log = makeLog({ logFormat: 'json', logLevel: 'debug' }, clock.nowMs, (line) =>
    lines.push(line),
  );
  const domains = more.domains ?? ADDRESSES;
  const challenges = join(folder, 'challenges');
  const prover = makeHttpProver({ folder: challenges, host: '127.0.0.1', port: 0, domains, log });
  const server = await startAcmeServer({
    httpPort: () => prover.port ?? 0,
    profiles: PROFILES,
    ...authority,
  });
  const options: AcmeOptions = {
    folder,
    domains,
    directory: server.directory,
    email: '',
    profile: '',
    eabKid: '',
    eabKey: '',
    prover,
    clock,
    log,
    ...more,
  };
  cleanUps.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => server.stop(),
    () => prover.stop(),
  );
  return { acme: makeAcme(options), clock, lines, options, prover, server };
}

test('a certificate of IP addresses lives for six days', async () => {
  const { acme, prover, server } = await start();
  const { expiresAtMs, names, startsAtMs } = await acme.first();
  expect(names).toEqual(ADDRESSES);
  expect((expiresAtMs - startsAtMs) / DAY_MS).toBe(6);
  expect(server).toMatchObject({
    refused: [],
    issued: [ADDRESSES],
    orders: [{ profile: 'shortlived', replaces: null }],
  });
  // Its port sends callers of an address on to https, as those of a name.
  const [, six = ''] = ADDRESSES;
  const page = await fetch(`http://127.0.0.1:${prover.port}/docs`, {
    redirect: 'manual',
    headers: { host: `[${six}]` },
  });
  expect(page.headers.get('location')).toBe(`https://[${six}]/docs`);
});

test.each([
  ['', ['gate.example.com'], null],
  ['shortlived', ['gate.example.com'], 'shortlived'],
  ['classic', ['gate.example.com'], 'classic'],
])('profile %j for %j is ordered as %j', async (profile, domains, ordered) => {
  const { acme, server } = await start({}, { profile, domains });
  await acme.first();
  expect(server.orders).toEqual([{ profile: ordered, replaces: null }]);
});

test('a profile that the authority lacks is refused with those that it has', async () => {
  const { acme, lines, server } = await start({}, { profile: 'shorter' });
  await acme.renewIfDue();
  expect(lines.join('')).toContain('no profile shorter (acme.profile): it offers classic, shortli');
  expect(server.orders).toEqual([]);
});

/** A window by hours from now. */
const hoursFromNow = (from: number, to: number) => () => ({
  start: new Date(Date.now() + from * HOUR_MS).toISOString(),
  end: new Date(Date.now() + to * HOUR_MS).toISOString(),
});

test('it is renewed in the window that the authority suggests, and says what it replaces', async () => {
  const window = hoursFromNow(10, 12);
  const { acme, clock, server } = await start({ renewalWindow: () => suggested });
  const suggested = window();
  const first = await acme.first();
  const id = renewalId(first);
  clock.set(Date.parse(suggested.start) - 1);
  await acme.renewIfDue();
  expect(server.issued).toHaveLength(1);
  clock.set(Date.parse(suggested.end));
  await acme.renewIfDue();
  expect(server.issued).toHaveLength(2);
  expect(server.asked).toEqual([String(id)]);
  expect(server.orders[1]).toEqual({ profile: 'shortlived', replaces: id });
});

test('a window that is past, as after a revocation, is due at once', async () => {
  const { acme, server } = await start({ renewalWindow: hoursFromNow(-3, -2) });
  await acme.first();
  await acme.renewIfDue();
  expect(server.issued).toHaveLength(2);
});

test('an authority whose windows are always past causes no order each minute', async () => {
  const { acme, clock, server } = await start({ renewalWindow: hoursFromNow(-3, -2) });
  await acme.first();
  for (let minute = 0; minute < 10; minute++) {
    await acme.renewIfDue();
    clock.advance(60_000);
  }
  expect(server.issued).toHaveLength(2);
  clock.advance(6 * HOUR_MS);
  await acme.renewIfDue();
  expect(server.issued).toHaveLength(3);
});

test('an authority that asks for weeks of patience delays no renewal by the lifetime', async () => {
  using slow = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('', { status: 503, headers: { 'retry-after': '2000000' } }),
  });
  const { acme, clock, lines, options, server } = await start();
  const first = await acme.first();
  clock.set(renewalTimeMs(first));
  const limits = { questionTimeMaxMs: 20, orderTimeMaxMs: 40 };
  const more = { ...options, ...limits, order: () => new Promise<string>(() => {}) };
  const stuck = makeAcme(more);
  await stuck.renewIfDue();
  expect(lines.join('')).toContain('the authority did not finish within 0.04 s');
  const window = await new Renewal(slow.url.href, 20).dueAtMs(first, clock.nowMs());
  expect(window).toBe(renewalTimeMs(first));
  await acme.renewIfDue();
  expect(server.issued).toHaveLength(2);
});

test('a pause that began while the clock was ahead ends when the clock is set back', async () => {
  const { acme, clock, server } = await start({ renewalWindow: hoursFromNow(90, 91) });
  const first = await acme.first();
  clock.set(renewalTimeMs(first));
  server.outage = 'the authority has a rest';
  await acme.renewIfDue();
  server.outage = '';
  const asked = server.asked.length;
  clock.advance(-HOUR_MS);
  await acme.renewIfDue();
  expect(server.asked).toHaveLength(asked + 1);
});

test('a full disk that keeps no failure does not end a start', async () => {
  const { acme, clock, lines, server } = await start();
  const first = await acme.first();
  clock.set(renewalTimeMs(first));
  server.outage = 'the authority has a rest';
  // The file of the failure cannot be written.
  mkdirSync(`${acme.files.certificate}.failed.new`);
  await acme.renewIfDue();
  expect(lines.join('')).toContain('certificate_fault');
});

test('a name that was not ordered is not proved', async () => {
  const more = { domains: ['gate.example.com'] };
  const { acme, lines, server } = await start({ alien: 'bank.example.com' }, more);
  await acme.renewIfDue();
  expect(lines.join('')).toContain(
    'the authority asks for bank.example.com, which was not ordered',
  );
  expect(server.issued).toEqual([]);
});

test('a window after the end does not let it expire', async () => {
  const { acme, clock, server } = await start({ renewalWindow: hoursFromNow(1_000, 1_001) });
  const { expiresAtMs } = await acme.first();
  clock.set(expiresAtMs - 0.59 * DAY_MS);
  await acme.renewIfDue();
  expect(server.issued).toHaveLength(2);
});

test.each([
  [1, 60],
  [7_200, 7_200],
  [10_000_000, 86_400],
])('after retry-after %d the authority is asked again after %d s', async (retryAfter, seconds) => {
  const { acme, clock, server } = await start({ renewalWindow: hoursFromNow(90, 91), retryAfter });
  await acme.first();
  await acme.renewIfDue();
  clock.advance(seconds * 1_000 - 1);
  await acme.renewIfDue();
  expect(server.asked).toHaveLength(1);
  clock.advance(1);
  await acme.renewIfDue();
  expect(server.asked).toHaveLength(2);
});

test.each([
  ['none', { renewalWindow: () => ({}) as { start: string; end: string } }],
  ['one that ends before it begins', { renewalWindow: hoursFromNow(5, 4) }],
  ['no such resource', {}],
])('with %s in place of a window it is renewed by its lifetime', async (_, authority) => {
  const { acme, clock, server } = await start(authority);
  const first = await acme.first();
  clock.set(renewalTimeMs(first) - 1);
  await acme.renewIfDue();
  expect(server.issued).toHaveLength(1);
  clock.set(renewalTimeMs(first));
  await acme.renewIfDue();
  expect(server.issued).toHaveLength(2);
});

test('what is replaced already is ordered all the same', async () => {
  const { acme, options, server } = await start({ renewalWindow: hoursFromNow(-3, -2) });
  const old = await acme.first();
  const kept = readFileSync(acme.files.certificate, 'utf8');
  await acme.renewIfDue();
  // Another machine with the old data directory.
  await Bun.write(acme.files.certificate, kept);
  await makeAcme(options).renewIfDue();
  expect(server.orders.map(({ replaces }) => replaces)).toEqual([null, renewalId(old), null]);
  expect(server.refused).toEqual(['it is replaced already']);
});

test('a renewal that fails leaves the old one, one line and the reason for the doctor', async () => {
  const { acme, clock, lines, server } = await start();
  const first = await acme.first();
  clock.set(renewalTimeMs(first));
  server.outage = 'the authority has a rest';
  await acme.renewIfDue();
  await acme.renewIfDue();
  expect((await acme.first()).fingerprint).toBe(first.fingerprint);
  expect(lines.filter((line) => line.includes('certificate_not_issued'))).toHaveLength(1);
  expect(failureOf(acme.files.certificate)).toEqual({
    reason: 'the authority has a rest',
    atMs: clock.nowMs(),
    nextTryMs: clock.nowMs() + 300_000,
  });
  expect(statSync(`${acme.files.certificate}.failed`).mode & 0o777).toBe(0o600);
  server.outage = '';
  clock.advance(300_000);
  await acme.renewIfDue();
  expect(failureOf(acme.files.certificate)).toBeNull();
  expect(server.issued).toHaveLength(2);
});

test('the identifier is that of RFC 9773, section 4.1', async () => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '0087654321',
    name: 'CN=example',
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.AuthorityKeyIdentifierExtension('69885b6b87464041e1b37b847ba0ae2cde01c8d4'),
    ],
  });
  const cert = certificate.toString('pem');
  expect(renewalId({ cert })).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
  expect(renewalId(await selfSigned('nobody'))).toBeNull();
});
