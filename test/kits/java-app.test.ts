/** The kit in Java in apps of their own: whom it trusts, and what an app may throw. */

import { expect } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
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

/** An app that sleeps between its polls, and handles later; the third word forbids connections. */
const SLEEPER = `
import java.util.concurrent.CompletableFuture;
import org.gatepost.device.*;

public class Sleeper {
  public static void main(String[] args) throws Exception {
    Store store = new Store() {
      private String kept;
      public String read() { return kept; }
      public void write(String text) { kept = text; }
    };
    Options options = new Options(args[0]).asleep(15).pace(0.01).log(line -> {
      System.out.println(line);
      throw new IllegalStateException("no log");
    });
    if (args[1].equals("forbidden")) options.onlyWhile(() -> false);
    Listener later = Listener.async(
        message -> CompletableFuture.supplyAsync(() -> Outcome.OPENED));
    new Device(options, store, later).start();
    Thread.sleep(60_000);
  }
}
`;

function startSleeper(url: string, word: string) {
  const folder = temporaryFolder();
  const path = join(folder, 'Sleeper.java');
  writeFileSync(path, SLEEPER);
  const { exitCode, stderr } = Bun.spawnSync([...JAVAC, '-cp', JAVA_JAR, '-d', folder, path]);
  if (exitCode !== 0) throw new Error(`Sleeper.java does not compile:\n${stderr}`);
  const printed = Bun.file(join(folder, 'printed'));
  const command = [...JAVA, `${JAVA_JAR}:${folder}`, 'Sleeper', url, word];
  const child = Bun.spawn(command, { stdout: printed, stderr: 'inherit' });
  closers.push(async () => {
    child.kill();
    await child.exited;
  });
  return () => (existsSync(join(folder, 'printed')) ? printed.text() : Promise.resolve(''));
}

testKit('a phone sleeps between its polls, and a handler may end later', async () => {
  const asked: string[] = [];
  const acked: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname === '/device/register') {
        return Response.json({ rc: 1, msg: 'Ok', device_token: 'secret' });
      }
      if (pathname === '/device/ack') acked.push(await request.text());
      if (pathname !== '/device/inbox') return Response.json({ rc: 1, msg: 'Ok' });
      asked.push(search);
      const data = asked.length === 1 ? [messageOf(1)] : [];
      return Response.json({ rc: 1, msg: 'Ok', data });
    },
  });
  closers.push(() => server.stop(true));
  const startMs = performance.now();
  const printed = startSleeper(`http://127.0.0.1:${server.port}`, 'allowed');
  // One after the message, and four that each come after a sleep of 150 ms.
  await until('it polls', () => asked.length >= 6);
  expect(performance.now() - startMs).toBeGreaterThan(4 * 150);
  expect(new Set(asked)).toEqual(new Set(['']));
  expect(JSON.parse(acked[0] ?? '')).toEqual({ items: [{ id: 1, state: 'opened' }] });
  expect(await printed()).toContain('/inbox');
  expect(await printed()).not.toContain('secret');
});

testKit('it connects only while the app allows it', async () => {
  let count = 0;
  const fetch = () => {
    count += 1;
    return Response.json({ rc: 0, msg: 'Unknown error' });
  };
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
  closers.push(() => server.stop(true));
  const printed = startSleeper(`http://127.0.0.1:${server.port}`, 'forbidden');
  const lines = async () => (await printed()).split('allows no connection').length;
  await until('it asked the app several times', async () => (await lines()) > 4);
  expect(count).toBe(0);
});
