/** Certificates by ACME, from a server that verifies everything. */

import { afterEach, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { makeLog } from '../../src/base/log.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import { type AcmeOptions, makeAcme } from '../../src/tls/acme.ts';
import { makeDnsProver, makeHttpProver } from '../../src/tls/challenge.ts';
import { renewalTimeMs } from '../../src/tls/renewal.ts';
import { type AcmeServerOptions, startAcmeServer } from '../support/acme-server.ts';
import { freshFolder } from '../support/app.ts';
import { DAY_MS } from '../support/certificate.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const DOMAINS = ['gate.example.com', 'push.example.com'];

/** An authority, and a Gatepost's part of the conversation with it. */
async function start(authority: AcmeServerOptions = {}, more: Partial<AcmeOptions> = {}) {
  const folder = freshFolder();
  const logLines: string[] = [];
  const clock = new FakeClock();
  // The authority signs by the real time.
  clock.set(Date.now());
  const log = makeLog({ logFormat: 'json', logLevel: 'debug' }, clock.nowMs, (line) =>
    logLines.push(line),
  );
  const challenges = join(folder, 'challenges');
  const http = { folder: challenges, host: '127.0.0.1', port: 0, domains: DOMAINS, log };
  const prover = makeHttpProver(http);
  const server = await startAcmeServer({ httpPort: () => prover.port ?? 0, ...authority });
  const options: AcmeOptions = {
    folder,
    domains: DOMAINS,
    directory: server.directory,
    email: 'operator@example.com',
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
  return { folder, logLines, clock, prover, server, options, acme: makeAcme(options) };
}

const issuedCount = (server: { issued: unknown[] }) => server.issued.length;

test('the first certificate is had by http-01, and kept for the next start', async () => {
  const { acme, server, options, folder } = await start();
  const certificate = await acme.first();
  expect(certificate.names.toSorted()).toEqual(DOMAINS.toSorted());
  expect(server).toMatchObject({ issued: [DOMAINS], refused: [] });
  expect(certificate.cert.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  const again = await makeAcme(options).first();
  expect(again.fingerprint).toBe(certificate.fingerprint);
  expect(issuedCount(server)).toBe(1);
  expect(readdirSync(join(folder, 'challenges'))).toEqual([]);
});

test('what is written is for its owner alone', async () => {
  const { acme, folder } = await start();
  await acme.first();
  const written = readdirSync(folder).filter((name) => name.endsWith('.pem'));
  expect(written).toHaveLength(2);
  expect(written.map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(statSync(join(folder, 'challenges')).mode & 0o777).toBe(0o700);
});

test('it is renewed when two thirds of its life are over, and not before', async () => {
  const { acme, server, clock } = await start({ days: 90 });
  const first = await acme.first();
  const dueMs = renewalTimeMs(first);
  const leftDays = (first.expiresAtMs - dueMs) / DAY_MS;
  expect(leftDays).toBeGreaterThanOrEqual(30);
  expect(leftDays).toBeLessThanOrEqual(30 + 90 / 20);
  clock.set(dueMs - 1);
  await acme.renewIfDue();
  expect(issuedCount(server)).toBe(1);
  clock.set(dueMs);
  await acme.renewIfDue();
  expect(issuedCount(server)).toBe(2);
});

test('a failure is logged, tried again later and later, and then forgotten', async () => {
  const { acme, server, clock, logLines } = await start();
  const first = await acme.first();
  clock.set(renewalTimeMs(first));
  server.outage = 'the authority is having a rest';
  for (const minutes of [5, 10, 20]) {
    await acme.renewIfDue();
    clock.advance(minutes * 60_000 - 1);
    const said = server.refused.length;
    await acme.renewIfDue();
    expect(server.refused.length).toBe(said);
    clock.advance(1);
  }
  const failures = logLines.filter((line) => line.includes('certificate_not_issued'));
  expect(failures).toHaveLength(3);
  expect(failures[0]).toContain('the authority is having a rest');
  server.outage = '';
  await acme.renewIfDue();
  expect(issuedCount(server)).toBe(2);
});

test('of several processes on one directory one asks, and all have the certificate', async () => {
  const { options, server } = await start();
  const several = [makeAcme(options), makeAcme(options), makeAcme(options)];
  let isDone = false;
  const all = Promise.all(several.map((acme) => acme.first())).finally(() => {
    isDone = true;
  });
  const { clock } = options as { clock: FakeClock } & AcmeOptions;
  await until('all have it', () => {
    clock.advance(1_000);
    return isDone;
  });
  const [one, ...others] = await all;
  expect(others.map(({ fingerprint }) => fingerprint)).toEqual(Array(2).fill(one?.fingerprint));
  expect(issuedCount(server)).toBe(1);
});

test('other names are another certificate', async () => {
  const { acme, options, server } = await start();
  await acme.first();
  await makeAcme({ ...options, domains: ['gate.example.com'] }).first();
  expect(server.issued).toEqual([DOMAINS, ['gate.example.com']]);
});

test('a file that is damaged is replaced', async () => {
  const { acme, server } = await start();
  await acme.first();
  writeFileSync(acme.files.certificate, 'nothing of use', { mode: 0o600 });
  await acme.first();
  expect(issuedCount(server)).toBe(2);
});

test('an authority that wants an external account gets it', async () => {
  const binding = { kid: 'account-1', key: Buffer.alloc(32, 7).toString('base64url') };
  const right = await start({ binding }, { eabKid: binding.kid, eabKey: binding.key });
  await right.acme.first();
  expect(issuedCount(right.server)).toBe(1);
  const wrong = await start({ binding });
  await wrong.acme.renewIfDue();
  expect(issuedCount(wrong.server)).toBe(0);
});

test('a proof that the authority cannot find is a failure', async () => {
  const { acme, server, logLines } = await start({ httpPort: () => 9 });
  await acme.renewIfDue();
  expect(issuedCount(server)).toBe(0);
  expect(logLines.some((line) => line.includes('certificate_not_issued'))).toBe(true);
});

/** A hook that keeps a file for each record. */
function hookIn(folder: string, body: string): string {
  mkdirSync(join(folder, 'zone'));
  const hook = join(folder, 'hook');
  writeFileSync(hook, `#!/bin/sh\nzone=${join(folder, 'zone')}\n${body}\n`);
  chmodSync(hook, 0o700);
  return hook;
}

const KEEP_RECORDS = `
case "$1" in
  present) echo "$3" >> "$zone/$2" ;;
  cleanup) echo "$2 $3" >> "$zone/cleaned" ;;
esac
env >> "$zone/environment"`;

test('a wildcard is proved by dns-01 through the hook, with nothing of our environment', async () => {
  const folder = freshFolder();
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const zone = (name: string) => join(folder, 'zone', name);
  const txtRecords = (name: string) =>
    existsSync(zone(name)) ? readFileSync(zone(name), 'utf8').trim().split('\n') : [];
  const domains = ['example.com', '*.example.com'];
  const prover = makeDnsProver(hookIn(folder, KEEP_RECORDS));
  const { acme, server } = await start({ txtRecords }, { domains, prover });
  await acme.first();
  expect(server).toMatchObject({ refused: [] });
  expect(server.issued.map((names) => names.toSorted())).toEqual([domains.toSorted()]);
  expect(readFileSync(zone('cleaned'), 'utf8').trim().split('\n')).toHaveLength(2);
  const environment = readFileSync(zone('environment'), 'utf8');
  expect(environment).not.toMatch(/^(?!PATH=|PWD=|OLDPWD=|SHLVL=|_=)\w+=/m);
});

test('a hook that fails is named with what it said', async () => {
  const folder = freshFolder();
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const prover = makeDnsProver(hookIn(folder, 'echo "no such zone" >&2; exit 3'));
  const { acme, logLines } = await start({}, { prover });
  await acme.renewIfDue();
  expect(logLines.join('')).toContain('present exited with 3: no such zone');
});

test('a hook that fails leaves no process behind', async () => {
  const folder = freshFolder();
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const prover = makeDnsProver(hookIn(folder, 'sleep 300 & echo "no such zone" >&2; exit 3'));
  // The process holds the stderr of the hook, whose end the failure waits for.
  const failure = prover.present('example.com', 'token', 'proof').catch(String);
  expect(await failure).toContain('present exited with 3: no such zone');
});

test('a stop ends a hook with what it started, and runs none afterwards', async () => {
  const folder = freshFolder();
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const pidFile = join(folder, 'zone', 'pid');
  const hook = hookIn(folder, `echo "$1" >> "$zone/run"; sleep 300 & echo $! > ${pidFile}; wait`);
  const { acme, logLines } = await start({}, { prover: makeDnsProver(hook) });
  const first = acme.first().catch((error: unknown) => error);
  await until('the hook waits', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
  await acme.stop();
  expect(await first).toEqual(new OperatorError('the server stops'));
  const sleeper = `/proc/${readFileSync(pidFile, 'utf8').trim()}`;
  // Ended, if not collected yet by whoever inherited it.
  await until('what it started is gone', () => {
    return !existsSync(sleeper) || /^State:\s+Z/m.test(readFileSync(`${sleeper}/status`, 'utf8'));
  });
  expect(readFileSync(join(folder, 'zone', 'run'), 'utf8')).toBe('present\n');
  await acme.renewIfDue();
  expect(logLines.join('')).not.toContain('certificate_not_issued');
});

test('a stop gives up an order that the authority does not answer', async () => {
  let asked = 0;
  const order = () => {
    asked += 1;
    return new Promise<string>(() => {});
  };
  const { acme } = await start({}, { order });
  const renewal = acme.renewIfDue();
  await until('it is asked', () => asked === 1);
  await acme.stop();
  await renewal;
  await acme.renewIfDue();
  expect(asked).toBe(1);
});

test('what came instead of a good certificate does not replace the one that is there', async () => {
  const { acme, options, clock, logLines, folder } = await start();
  const good = await acme.first();
  const before = readdirSync(folder);
  clock.set(renewalTimeMs(good));
  const broken = makeAcme({ ...options, order: async () => good.cert });
  await broken.renewIfDue();
  expect(logLines.join('')).toContain('has no private key in PEM');
  expect((await broken.first()).fingerprint).toBe(good.fingerprint);
  const failed = `${basename(acme.files.certificate)}.failed`;
  expect(readdirSync(folder).toSorted()).toEqual([...before, failed].toSorted());
});

test('the port for http-01 shows proofs and nothing else, and sends people to https', async () => {
  const { prover, folder } = await start();
  const ask = (path: string, host = 'gate.example.com', init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${prover.port}${path}`, {
      redirect: 'manual',
      headers: { host },
      ...init,
    });
  const secret = join(folder, 'account.pem');
  writeFileSync(secret, 'the account key');
  await prover.present('gate.example.com', 'token-1', 'token-1.proof');
  const well = '/.well-known/acme-challenge/';
  expect(await (await ask(`${well}token-1`)).text()).toBe('token-1.proof');
  for (const path of ['token-2', '..%2faccount.pem', '%2e%2e/account.pem', '']) {
    expect(await (await ask(`${well}${path}`)).text()).not.toContain('account key');
  }
  const page = await ask('/docs?page=1');
  expect(page.status).toBe(308);
  expect(page.headers.get('location')).toBe('https://gate.example.com/docs?page=1');
  // Keys travel in the query: whoever sends them in the clear must notice.
  expect((await ask('/api/list-install?auth_key=secret')).status).toBe(403);
  expect((await ask('/docs', 'elsewhere.example.org')).status).toBe(404);
  expect((await ask('/docs', 'gate.example.com', { method: 'POST' })).status).toBe(403);
});
