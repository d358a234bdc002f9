/** Cut off from the command to the panel and back, through the server that runs. */

import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { call } from '../../support/app.ts';
import { run, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { type Fronting, front, hasServers, withCustomers } from '../appliance.ts';
import type { RealPanel } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

/** The lines of an upstream that may change credentials, by the panel's administrator. */
function cutting({ api }: RealPanel): string {
  const file = join(temporaryFolder(), 'token');
  writeFileSync(file, api.token, { mode: 0o600 });
  return `cut_off = true\npanel_url = "${api.url}"\npanel_token_file = "${file}"`;
}

/** Returns the code of the only link. */
async function codeOf({ server, own }: Fronting): Promise<string> {
  const { json } = await call(server, '/api/list-install', own);
  return json.data[0]['install_code'];
}

/** Runs a command on the data of a server, and returns what it says. */
async function command({ config, dataDir }: Fronting, words: readonly string[], code = 0) {
  const made = await run([...words, '--data', dataDir, '--config', config]);
  expect({ words, code: made.code, stderr: made.stderr }).toMatchObject({ code });
  return made.stdout;
}

export const cutOffDoorChecks: Checks = (check, kind) => {
  if ('why' in PANEL_TRAITS[kind].cutOff) return;
  check('a device that is freed with cut-off has dead servers, the others new ones', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel, { more: cutting(panel) });
      try {
        const [phone, tablet] = [{ 'x-hwid': 'a-phone' }, { 'x-hwid': 'a-tablet' }];
        const before = await gate.ask(customer.path, phone);
        expect(hasServers(before)).toBe(true);
        expect((await gate.ask(customer.path, tablet)).body).toBe(before.body);
        const code = await codeOf(gate);
        const free = ['link', 'free', code, 'a-phone', '--cut-off', '--yes', '--json'];
        expect(JSON.parse(await command(gate, free))).toMatchObject({ cut_off: 'waiting' });
        const list = await until(
          'the panel is read back',
          async () => {
            const said = await command(gate, ['cuts', 'list', '--json']);
            return said.includes('"done"') && said;
          },
          30_000,
        );
        const after = await gate.ask(customer.path, tablet);
        expect(hasServers(after)).toBe(true);
        expect(after.body).not.toBe(before.body);
        // The freed one is barred, although a slot is free.
        expect(hasServers(await gate.ask(customer.path, phone))).toBe(false);
        expect(hasServers(await gate.ask(customer.path, { 'x-hwid': 'another' }))).toBe(true);
        expect(list).not.toContain(panel.api.token);
        return undefined;
      } finally {
        await gate.stop();
      }
    }),
  );
};
