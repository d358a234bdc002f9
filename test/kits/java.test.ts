/** The kit in Java, built as an app's developer builds it. */

import { beforeAll, expect } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from '../support/certificate.ts';
import { KitApp } from '../support/kit-driver.ts';
import { JAVA } from '../support/kits.ts';
import { testWith } from '../support/needs.ts';
import { ROOT, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { closers, driveKit } from './driven.ts';

const KIT = join(ROOT, 'sdk/java');
const BUILT = join(ROOT, 'dist/kits/java');
const JAR = join(BUILT, 'gatepost-device.jar');
const CLASSES = `${JAR}:${join(BUILT, 'tools')}`;
const NEEDED = ['javac', 'jar', 'java', 'keytool'];
const testKit = testWith(...NEEDED);

beforeAll(() => {
  if (NEEDED.some((program) => Bun.which(program) === null)) return;
  const { exitCode, stderr } = Bun.spawnSync([join(KIT, 'build.sh')]);
  if (exitCode !== 0) throw new Error(`build.sh failed:\n${stderr}`);
});

testKit('its size is what README says', () => {
  expect(statSync(JAR).size).toBeLessThanOrEqual(40 * 1_024);
  const sample = readFileSync(join(KIT, 'sample/Sample.java'), 'utf8');
  expect(sample.split('\n').length - 1).toBeLessThan(60);
});

testKit.each([
  ['of its host', ['localhost', '127.0.0.1'], 'refused'],
  ['of another host', ['other.example'], 'closed'],
])('over TLS, a certificate %s', async (_, names, state) => {
  const { cert, key } = await selfSigned('kit', { names });
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0, tls: { cert, key } },
    fetch: () => Response.json({ rc: 0, msg: 'Install not found' }),
  });
  closers.push(() => server.stop(true));
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'cert.pem'), cert);
  const store = join(folder, 'trusted.p12');
  const trusting = ['-importcert', '-noprompt', '-file', join(folder, 'cert.pem'), '-alias', 'kit'];
  const into = ['-keystore', store, '-storepass', 'secret', '-storetype', 'PKCS12'];
  Bun.spawnSync(['keytool', ...trusting, ...into]);
  const [java = '', ...rest] = [...JAVA, CLASSES, 'org.gatepost.device.Driver'];
  const trust = ['trustStore', 'trustStoreType', 'trustStorePassword'];
  const values = [store, 'PKCS12', 'secret'];
  const terms = trust.map((name, n) => `-Djavax.net.ssl.${name}=${values[n]}`);
  const phone = new KitApp([java, ...terms, ...rest], `https://127.0.0.1:${server.port}`);
  closers.push(() => phone.remove());
  phone.start();
  expect(await until('it says how it stands', () => phone.states[0])).toBe(state);
});

driveKit(testKit, () => ({
  driver: [...JAVA, CLASSES, 'org.gatepost.device.Driver'],
  sample: [...JAVA, CLASSES, 'Sample'],
  sampleState: 'device.json',
  stateIn: (folder) => JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state,
}));
