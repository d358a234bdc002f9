/**
 * The console at two nodes on one PostgreSQL: a session of one holds at the other, what changes at
 * one shows at the other, and a job of a node that is killed is ended by the other.
 */

import { afterAll, expect } from 'bun:test';
import { texts as en } from '../../src/console/texts/en.ts';
import { endAll } from '../ha/daemon.ts';
import { Nodes } from '../ha/nodes.ts';
import { besideOf } from '../support/beside.ts';
import { closePages, HAS_CHROMIUM, sharedShell } from '../support/chromium.ts';
import { ask, signInByKey, visit } from '../support/console-served.ts';
import { makeDevices, putOnLinks } from '../support/delivery.ts';
import { testPostgres, testWith } from '../support/needs.ts';
import { freshDatabase } from '../support/postgres-data.ts';
import { scaleOf } from '../support/scale.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

/** A stream compares once a second. */
const SHOWN_MS = 3_000;
const LINKS = scaleOf('CONSOLE_NODES_LINKS', { short: 1_500, long: 20_000 });

/** Skips where there is no nginx, no PostgreSQL, or no browser. */
const testNodes =
  Bun.which('nginx') === null
    ? testWith('nginx')
    : HAS_CHROMIUM
      ? testPostgres
      : testWith('chromium');

useProcesses(10 * PATIENCE_MS);
afterAll(endAll);

testNodes('a person at two nodes, of which one is killed', async () => {
  const database = await freshDatabase();
  const nodes = await Nodes.start(database.url, 2);
  const own = await nodes.addProvider('Console1');
  const db = besideOf({ dataDir: '', database });
  const hwids = Array.from({ length: LINKS }, (_, n) => `phone-${n}`);
  putOnLinks({ db }, { id: 1 }, makeDevices({ db }, hwids), 1);
  const browser = await sharedShell();
  const sites = nodes.ports.map(({ calls }) => `http://localhost:${calls}`);
  const [one = '', two = ''] = sites;
  const options = { locale: 'en-GB' };
  const first = await visit({ browser, site: one }, '/console', options);
  await signInByKey(first, en, own);

  // The same session at the other node: a browser sends a cookie to each port of a host.
  const second = await first.page.context().newPage();
  await second.goto(`${two}/console/links`);
  await second.getByText(en.links.countAll(LINKS), { exact: true }).waitFor();

  // What is made at one is counted at the other, without a reload.
  await first.page.goto(`${one}/console/links`);
  await second.locator('.rows tbody tr').first().waitFor();
  const fresh = second.locator('.fresh');
  let made = 0;
  await until('the change comes', async () => {
    made += 1;
    await ask(one, '/api/add-install', own, { install_limit: '2', note: 'elsewhere' });
    return fresh.waitFor({ timeout: SHOWN_MS }).then(
      () => true,
      () => false,
    );
  });

  // Many links are changed by a job, begun at one.
  const { hand, page } = first;
  await page.goto(`${one}/console/links?search=is:active`);
  await page.locator('.rows tbody tr').first().waitFor();
  await hand.click(page.getByRole('button', { name: en.links.more }));
  await hand.press(en.links.bulk);
  const dialog = page.locator('dialog[open]');
  await hand.type(en.heads.install_limit, '7', dialog);
  await hand.press(en.links.preview, dialog);
  await hand.click(dialog.locator('.main', { hasText: /^Change \d/ }));
  await page.locator('.jobs').getByText(en.jobs.changing).waitFor();
  await second.locator('.jobs').getByText(en.jobs.changing).waitFor();
  // As when its ten seconds are over.
  db.run('UPDATE job SET due_at_ms = 0');
  const job = () =>
    db
      .query<{ seen: number; state: string; lease: string; total: number }, []>(
        'SELECT seen_count AS seen, state, lease, total_count AS total FROM job',
      )
      .get();
  const begun = await until('it has begun', () => {
    const found = job();
    return (found?.seen ?? 0) > 0 && found;
  });
  const which = nodes.servers.findIndex(({ pid }) => begun.lease.startsWith(`${pid}-`));
  await nodes.servers[which]?.stop('SIGKILL');
  expect(job()).toMatchObject({ state: 'running' });
  // The seconds for which no other node takes it over.
  db.run('UPDATE job SET lease_until_ms = 0 WHERE lease_until_ms > 0');

  // The page of the other one shows the end.
  const alive = which === 0 ? second : page;
  const all = LINKS + made;
  await alive.getByText(en.jobs.changed(`${number(all)}`, `${number(all)}`)).waitFor();
  const counts = 'SELECT count(*) AS n FROM install WHERE install_limit = 7';
  expect(Number(db.query<{ n: number }, []>(counts).get()?.n)).toBe(all);
  expect(first.troubles.filter((text) => !/ERR_|ConnectionRefused/.test(text))).toEqual([]);
  await closePages();
  db.close();
  await nodes.stop();
});

const number = (value: number) => new Intl.NumberFormat('en-GB').format(value);
