/** The kit in Java against `gatepost device check`, its size, and whom it trusts. */

import { expect } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from '../support/certificate.ts';
import { JAVA_JAR, javaDriven, testJava } from '../support/java-kit.ts';
import { KitApp } from '../support/kit-driver.ts';
import { ROOT, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { checkKit, closers } from './driven.ts';

const testKit = testJava();

checkKit(testKit, javaDriven);

testKit('its size is what README says', () => {
  expect(statSync(JAVA_JAR).size).toBeLessThanOrEqual(40 * 1_024);
  const sample = readFileSync(join(ROOT, 'sdk/java/sample/Sample.java'), 'utf8');
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
  const [java = '', ...rest] = javaDriven.driver;
  const trust = ['trustStore', 'trustStoreType', 'trustStorePassword'];
  const values = [store, 'PKCS12', 'secret'];
  const terms = trust.map((name, n) => `-Djavax.net.ssl.${name}=${values[n]}`);
  const phone = new KitApp([java, ...terms, ...rest], `https://127.0.0.1:${server.port}`);
  closers.push(() => phone.remove());
  phone.start();
  expect(await until('it says how it stands', () => phone.states[0])).toBe(state);
});
