/** The kit in Java in apps of their own: whom it trusts, and what an app may throw. */

import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from '../support/certificate.ts';
import { JAVA_JAR, javaDriven, testJava } from '../support/java-kit.ts';
import { KitApp } from '../support/kit-driver.ts';
import { messageOf, startKitServer } from '../support/kit-server.ts';
import { JAVA, JAVAC } from '../support/kits.ts';
import { temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { closers, useKits } from './driven.ts';

const testKit = testJava();

useKits();

testKit.each([
  ['of its host', ['localhost', '127.0.0.1'], 'refused'],
  ['of another host', ['other.example'], 'closed'],
])('over TLS, a certificate %s', async (_, names, state) => {
  const { cert, key } = await selfSigned('kit', { names });
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert, key },
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
  // At the pace of a phone: a machine that is busy takes long to begin TLS in a new process.
  const url = `https://127.0.0.1:${server.port}`;
  const phone = new KitApp([java, ...terms, ...rest], url, { pace: 1 });
  closers.push(() => phone.remove());
  phone.start();
  expect(await until('it says how it stands', () => phone.states[0])).toBe(state);
});

/** An app whose methods throw. */
const ODD = `
import org.gatepost.device.*;

public class Odd {
  public static void main(String[] args) throws Exception {
    Store store = new Store() {
      private String kept;
      public String read() { return kept; }
      public void write(String text) { kept = text; }
    };
    Listener listener = new Listener() {
      public Outcome onMessage(Message message) { throw new AssertionError("odd"); }
      public void onState(State state, String detail) {
        if (args[1].equals("AssertionError")) throw new AssertionError("fault");
        throw new IllegalStateException("fault");
      }
    };
    Device device = new Device(new Options(args[0]).streams(), store, listener);
    device.start();
    System.out.println(device.await());
  }
}
`;

/** The app, compiled at first use. */
let classes: string | null = null;

function compileOdd(): string {
  const folder = temporaryFolder();
  const path = join(folder, 'Odd.java');
  writeFileSync(path, ODD);
  const { exitCode, stderr } = Bun.spawnSync([...JAVAC, '-cp', JAVA_JAR, '-d', folder, path]);
  if (exitCode !== 0) throw new Error(`Odd.java does not compile:\n${stderr}`);
  return `${JAVA_JAR}:${folder}`;
}

function startOdd(url: string, fault = 'IllegalStateException') {
  classes ??= compileOdd();
  const command = [...JAVA, classes, 'Odd', url, fault];
  const odd = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
  closers.push(async () => {
    odd.kill();
    await odd.exited;
  });
  return odd;
}

testKit.each(['IllegalStateException', 'AssertionError'])(
  'an app that throws %s when it hears how it stands ends no thread',
  async (fault) => {
    // The first thing that it hears is that the device is closed for a while.
    const answers = ['Too many requests', 'Install not found'];
    const fetch = () => Response.json({ rc: 0, msg: answers.shift() });
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
    closers.push(() => server.stop(true));
    const odd = startOdd(`http://127.0.0.1:${server.port}`, fault);
    expect(await new Response(odd.stdout).text()).toBe('REFUSED\n');
    expect(await new Response(odd.stderr).text()).toContain(`${fault}: fault`);
  },
);

testKit('an error of the handler is acknowledged as failed', async () => {
  const server = startKitServer(true);
  closers.push(server.stop);
  startOdd(server.url);
  await until('it is open', () => server.stream);
  server.stream?.send(JSON.stringify({ rc: 1, msg: 'Ok', data: [messageOf(1)] }));
  await until('it is acknowledged', () => server.frames.length > 0);
  expect(JSON.parse(server.frames[0] ?? '')).toEqual({
    items: [{ id: 1, state: 'failed', detail: 'odd' }],
  });
});
