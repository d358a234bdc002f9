/** The page of users in place of the panel's own, at the address of a subscription. */

import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, temporaryFolder } from '../../support/process.ts';
import { exchange, HOST } from '../../support/upstream.ts';
import { front, hasServers, linkKeyOf, secretOf, withCustomers } from '../appliance.ts';
import type { Checks } from '../real-panel-tests.ts';

const BROWSER = { accept: 'text/html,*/*', 'user-agent': 'Mozilla/5.0' };

export const userPageChecks: Checks = (check, kind) => {
  check('a browser goes to the page of users, where a device is freed', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const secret = secretOf(panel);
      const file = join(temporaryFolder(), 'secret');
      if (secret !== null) writeFileSync(file, secret, { mode: 0o600 });
      const gate = await front(panel, {
        more: secret === null ? '' : `key_secret_file = "${file}"`,
        before: async (dataDir, code) => {
          const set = ['provider', 'set', code, '--page', 'on', '--data', dataDir];
          expect((await run(set)).code).toBe(0);
        },
      });
      try {
        const ask = (hwid: string) =>
          gate.ask(customer.path, { 'x-hwid': hwid, 'x-device-model': `Model of ${hwid}` });
        for (const hwid of ['a-phone', 'a-tablet']) expect(hasServers(await ask(hwid))).toBe(true);
        const refused = await ask('a-third');
        expect([hasServers(refused), refused.headers.has('profile-web-page-url')]).toEqual([
          false,
          true,
        ]);
        const browse = (path: string) => exchange(gate.server.port, 'GET', path, BROWSER);
        const sent = await browse(customer.path);
        expect([sent.status, hasServers({ ...sent, status: 200 })]).toEqual([303, false]);
        const { host, pathname, search } = new URL(sent.headers.get('location') ?? '');
        expect(host).toBe(HOST);
        const page = await browse(pathname + search);
        expect(page.status).toBe(200);
        for (const text of ['2 of 2', 'Model of a-phone', 'Model of a-tablet']) {
          expect(page.body).toContain(text);
        }
        expect(hasServers(page)).toBe(false);
        expect(page.body).not.toContain(linkKeyOf(kind, customer));
        const inputs = [...page.body.matchAll(/name="([\w-]+)" value="([^"]*)"/g)];
        const fields = Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]));
        const done = await fetch(`${gate.server.url}${pathname}`, {
          method: 'POST',
          headers: { host: HOST },
          body: new URLSearchParams(fields),
          redirect: 'manual',
        });
        await done.body?.cancel();
        expect(await gate.counts()).toEqual([1]);
        expect(hasServers(await ask('a-third'))).toBe(true);
        expect(await gate.counts()).toEqual([2]);
        return secret === null ? undefined : 'with key_secret_file';
      } finally {
        await gate.stop();
      }
    }),
  );
};
