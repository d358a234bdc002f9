/** The doctor in front of a panel that is up, slow, refusing, failing, closing, and away. */

import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PANEL_KEYS, signedForm } from '../../../src/core/panel/kind.ts';
import { strangersKeys } from '../../../src/core/panel/token.ts';
import { addProviderByCommand, run, temporaryFolder } from '../../support/process.ts';
import { HOST } from '../../support/upstream.ts';
import { askPanel, front, hasServers, withCustomers } from '../appliance.ts';
import { type Fault, startFaultRelay } from '../fault-relay.ts';
import type { RealPanel } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

/** The names of the findings about a panel and about its API. */
interface Found {
  panel: string;
  api: string;
}

/** What the doctor must find, by what the panel does. */
const EXPECTED: Readonly<Record<Fault | 'up' | 'away' | 'another token', Found>> = {
  up: { panel: 'ok', api: 'ok' },
  slow: { panel: 'panel_silent', api: 'panel_api_silent' },
  refusing: { panel: 'ok', api: 'panel_api_refused' },
  failing: { panel: 'panel_answers_errors', api: 'panel_api_refused' },
  closing: { panel: 'panel_drops_connections', api: 'panel_api_silent' },
  away: { panel: 'panel_silent', api: 'panel_api_silent' },
  'another token': { panel: 'ok', api: 'panel_api_refused' },
};

interface Printed {
  findings: { name: string; level: string; what: string; subject: string | null }[];
}

const linesAt = ({ lines }: RealPanel, url: string) =>
  lines.replace(/^url = .*$/m, `url = "${url}"`);

/** Runs the doctor with an upstream at relays of the panel and of its API. */
async function examine(
  panel: RealPanel,
  at: { url: string; api: string },
  token: string,
): Promise<Printed['findings']> {
  const dataDir = join(temporaryFolder(), 'data');
  const { code } = await addProviderByCommand(dataDir);
  const folder = temporaryFolder();
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const { pathname } = new URL(panel.api.url);
  const lines = linesAt(panel, at.url);
  const named = /^panel = /m.test(lines) ? '' : `panel = "${panel.kind}"\n`;
  const limits = ['3x-ui', 'pasarguard'].includes(panel.kind) ? 'limits = "panel"\n' : '';
  const file = join(folder, 'gatepost.toml');
  writeFileSync(
    file,
    `[[gate.upstream]]
host = "${HOST}"
provider = "${code}"
${lines}
${named}${limits}panel_url = "${at.api}${pathname === '/' ? '' : pathname}"
panel_token_file = "${tokenFile}"
`,
  );
  const env = { GATEPOST_CONFIG: file };
  const { stdout, stderr } = await run(['doctor', '--json', '--data', dataDir], { env });
  if (stdout === '') throw new Error(`doctor: ${stderr}`);
  return (JSON.parse(stdout) as Printed).findings.filter(({ what }) => / panel of /.test(what));
}

/** Returns the finding about the panel and that about its API, by name or as `ok`. */
function foundIn(findings: Printed['findings']): Found {
  const named = ({ level, name }: Printed['findings'][number]) => (level === 'ok' ? 'ok' : name);
  const ofApi = findings.filter(({ name, what }) => {
    // A new token of Marzban and PasarGuard ends in a day.
    return what.includes('the API of') && name !== 'panel_token_ends';
  });
  const ofPanel = findings.filter(({ name, what }) => {
    return !what.includes('the API of') && name !== 'panel_token_secret_unknown';
  });
  return { panel: ofPanel.map(named).join(), api: ofApi.map(named).join() };
}

export const doctorChecks: Checks = (check) => {
  check('the doctor names an admin whose token shows a part of the users', async (panel) => {
    const admin = await panel.secondAdmin?.();
    if (admin === undefined) return 'not tried: no second admin';
    const at = { url: panel.url, api: new URL(panel.api.url).origin };
    expect(foundIn(await examine(panel, at, admin.token))).toEqual({
      panel: 'ok',
      api: 'panel_token_sees_part',
    });
    return undefined;
  });

  check('the doctor says what ails the panel and its API', async (panel) => {
    const [own, api] = await Promise.all([
      startFaultRelay(new URL(panel.url).origin),
      startFaultRelay(new URL(panel.api.url).origin),
    ]);
    const at = { url: own.url, api: api.url };
    const ask = async (token = panel.api.token) => foundIn(await examine(panel, at, token));
    const found: Record<string, Found> = {
      up: await ask(),
      'another token': await ask(crypto.randomUUID()),
    };
    for (const fault of ['slow', 'refusing', 'failing', 'closing'] as const) {
      for (const relay of [own, api]) relay.fault = fault;
      found[fault] = await ask();
    }
    await Promise.all([own.stop(), api.stop()]);
    found['away'] = await ask();
    expect(found).toEqual(EXPECTED);
    return Object.keys(found).join(', ');
  });

  check(
    'a panel that serves the key or token of a stranger is a problem, and makes no link',
    (panel) =>
      withCustomers(panel, [{}], async ([customer]) => {
        if (customer === undefined) throw new Error('no customer');
        const own = await startFaultRelay(new URL(panel.url).origin);
        own.open = await askPanel(panel, customer.path, { 'x-hwid': 'phone-0001' });
        const at = { url: own.url, api: new URL(panel.api.url).origin };
        const findings = await examine(panel, at, panel.api.token);
        expect(findings.map(({ name }) => name)).toContain('panel_answers_any_key');
        const gate = await front({ ...panel, lines: linesAt(panel, own.url) });
        const kind = PANEL_KEYS.find((key) => panel.lines.includes(`key = "${key}"`)) ?? 'plain';
        const strange = customer.path.replace(
          customer.key,
          strangersKeys(signedForm(kind))[0] ?? '',
        );
        const got = await gate.ask(strange, { 'x-hwid': 'phone-0001' });
        expect({ hasServers: hasServers(got), counts: await gate.counts() }).toEqual({
          hasServers: false,
          counts: [],
        });
        await gate.stop();
        await own.stop();
        return undefined;
      }),
  );
};
