/** What a kit says where no answer of a server comes: one word, and a sentence with the address. */

import { expect, type test } from 'bun:test';
import { freePort } from '../support/free-port.ts';
import { KitApp } from '../support/kit-driver.ts';
import { until } from '../support/until.ts';
import { closers, type Driven } from './driven.ts';

const page = (status: number) => () =>
  new Response('<html>a page</html>', { status, headers: { 'content-type': 'text/html' } });

/** Starts a server that answers all requests alike; returns its host and port. */
function startServer(answer: () => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer });
  closers.push(() => server.stop(true));
  return `127.0.0.1:${server.port}`;
}

/** A server of Gatepost at a path that it does not have. */
const NO_PATH = { rc: 0, msg: 'Unknown error' };

/** The word, and where a kit hears it. */
const ERRORS: readonly (readonly [string, () => string])[] = [
  ['refused_port', () => `http://127.0.0.1:${freePort()}`],
  ['tls', () => `https://${startServer(page(200))}`],
  ['not_json', () => `http://${startServer(page(200))}`],
  ['wrong_path', () => `http://${startServer(page(404))}`],
  ['wrong_path', () => `http://${startServer(() => Response.json(NO_PATH, { status: 404 }))}`],
  ['timeout', () => `http://${startServer(() => new Promise(() => {}))}`],
  ['name', () => 'http://no-such-host.example'],
];

/** Declares the tests of a kit; `testKit` skips them where it cannot be built. */
export function errorKit(testKit: ReturnType<typeof test.skipIf>, built: Driven): void {
  function startAt(url: string, pace: number): KitApp {
    const phone = new KitApp(built.driver, url, { pace });
    closers.push(() => phone.remove());
    phone.start();
    return phone;
  }

  testKit.each([...ERRORS])('it says what failed, and tries again: %s', async (word, addressOf) => {
    const url = addressOf();
    // A resolver may take seconds.
    const phone = startAt(url, word === 'name' ? 1 : 0.02);
    await until('it said it twice', () => phone.states.length >= 2);
    for (const said of phone.all('state').slice(0, 2)) {
      expect(said).toMatchObject({ state: 'closed', reason: word });
      expect(said.detail).toContain(url);
    }
  });

  testKit('an address without a scheme is refused at once', async () => {
    const phone = startAt('push.example.com', 1);
    await until('it said it', () => phone.states.length > 0);
    expect(phone.said[0]).toMatchObject({ said: 'state', state: 'refused', reason: 'bad_url' });
    expect(phone.said[0]?.detail).toContain('push.example.com');
  });
}
