/**
 * An installation of 0.17.0 in front of all five panels, upgraded in place: its file, its database
 * and its devices. Nothing changes by itself, and `doctor` says what the operator should do.
 */

import { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import {
  GUESTS,
  type Panels,
  pathOf,
  SITES,
  type Site,
  startPanels,
  type User,
} from '../support/installed-0-17.ts';
import { writeOldDatabase } from '../support/old-database.ts';
import { run, type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { exchange } from '../support/upstream.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** The hosts whose pages passed, as the printed files said. */
const OPEN_HOSTS = SITES.filter(({ kind }) => kind !== '3x-ui').map(({ host }) => host);

const panels: Panels[] = [];
afterEach(() => {
  for (const each of panels.splice(0)) each.stop();
});

interface Installation {
  dataDir: string;
  env: Record<string, string>;
  /** Replaces the lines of a panel in the file. */
  edit(replaced: Record<string, string>): Promise<void>;
}

/** The data directory and the file, as 0.17.0 left them. */
async function installed(): Promise<Installation> {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const database = join(dataDir, DATABASE_FILE);
  writeOldDatabase(database, 'test/e2e/installed-by-0-17-0.sql');
  const config = join(folder, 'gatepost.toml');
  const edit = async (replaced: Record<string, string>) => {
    const started = await startPanels(replaced);
    panels.push(started);
    writeFileSync(config, started.file);
  };
  await edit({});
  return { dataDir, env: { GATEPOST_CONFIG: config }, edit };
}

/** Asks as an app behind the HTTPS proxy that the page for Remnawave puts in front. */
function ask(server: ServerProcess, host: string, path: string, hwid: string) {
  const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' };
  return exchange(server.port, 'GET', path, { Host: host, 'x-hwid': hwid, ...proxied });
}

/** Lets in all devices that hold a slot; returns those that were refused. */
async function refusedGuests(server: ServerProcess): Promise<string[]> {
  const refused: string[] = [];
  for (const { host, path, hwid } of GUESTS) {
    const { status } = await ask(server, host, path, hwid);
    if (status !== 200) refused.push(`${status} ${host}${path} ${hwid}`);
  }
  return refused;
}

/** What an upgrade must leave: codes, limits, states, and the devices of each link. */
function readLinks(dataDir: string): unknown[] {
  const db = new Database(join(dataDir, DATABASE_FILE), { readonly: true });
  try {
    return db
      .query(
        `SELECT id, install_code, install_limit, status, over_max, device_count, note, panel_facts,
           (SELECT group_concat(hwid) FROM (SELECT hwid FROM install_device
              JOIN device ON device.id = device_id WHERE install_id = install.id ORDER BY hwid))
         FROM install ORDER BY id`,
      )
      .values();
  } finally {
    db.close();
  }
}

test('all devices with a slot go on, and no limit and no state changes', async () => {
  const { dataDir, env } = await installed();
  const before = readLinks(dataDir);
  expect(before).toHaveLength(21);
  const server = await startServe({ dataDir, env });
  expect(await refusedGuests(server)).toEqual([]);
  const answered = async (site: Site, user: User, hwid: string) =>
    (await ask(server, site.host, pathOf(site, user), hwid)).status;
  for (const site of SITES) {
    // Disabled by the import of 0.17.0: without an API of the panel it stays so.
    expect([site.kind, await answered(site, 'boris', 'phone')]).toEqual([site.kind, 404]);
    // Two of two are taken; the panels without limits have 100.
    const isFull = site.kind !== 'marzban' && site.kind !== 'hiddify';
    if (isFull) expect([site.kind, await answered(site, 'anna', 'new')]).toEqual([site.kind, 404]);
  }
  await server.stop();
  expect(readLinks(dataDir)).toEqual(before);
});

test('doctor says what to do, once the server saw a day of requests', async () => {
  const { dataDir, env } = await installed();
  const server = await startServe({ dataDir, env });
  const hiddify = SITES.find(({ kind }) => kind === 'hiddify');
  if (hiddify === undefined) throw new Error('no Hiddify');
  for (let n = 0; n < 60; n++) await ask(server, hiddify.host, pathOf(hiddify, 'dora'), 'phone');
  for (const host of OPEN_HOSTS) {
    expect(server.stderr()).toContain(` warn upstream_open host=${host} setting=browsers`);
  }
  await server.stop();
  const { stdout } = await run(['doctor', '--data', dataDir], { env });
  const said = stdout.replaceAll(/\n +/g, ' ');
  const wanted = [
    ...OPEN_HOSTS.map((host) => `browsers = "pass" shows the panel's page of ${host}`),
    ...SITES.flatMap(({ code }) => [
      `an import disabled 1 link of provider ${code}`,
      `gatepost link enable --disabled-by-import --provider ${code}`,
    ]),
    // Marzban and Hiddify know no limit of a user: anna, boris and clara got 100 by the import.
    ...['SHOPMARZ', 'SHOPHIDD'].map((code) => `3 links of provider ${code} with the limit 100`),
    '--unlimited-as 3 --apply-to-existing',
    'nearly all keys of hiddify.example.com are UUIDs',
    'key = "hiddify"',
  ];
  expect(wanted.filter((text) => !said.includes(text))).toEqual([]);
});

test('a HWID that is none keeps the slot it has, gets no new one, and is listed', async () => {
  const { dataDir, env } = await installed();
  const before = readLinks(dataDir);
  const server = await startServe({ dataDir, env });
  for (const site of SITES) {
    const { host } = site;
    const path = pathOf(site, 'clara');
    expect([host, (await ask(server, host, path, 'null')).status]).toEqual([host, 200]);
    expect([host, (await ask(server, host, path, 'undefined')).status]).toEqual([host, 404]);
  }
  await server.stop();
  expect(readLinks(dataDir)).toEqual(before);
  const { stdout } = await run(['doctor', '--data', dataDir], { env });
  expect(stdout).toMatch(/warning .*\bnull\b/);
});

test('with key = "hiddify" the devices of both spellings are on one link', async () => {
  const { dataDir, env, edit } = await installed();
  await edit({
    hiddify: `key = "hiddify"\nhost_header = "upstream"\nkey_path = ["/Wq3mN8/{key}"]\ndefault_limit = 2`,
  });
  const server = await startServe({ dataDir, env });
  expect(await refusedGuests(server)).toEqual([]);
  await server.stop();
  const { stdout } = await run(['link', 'list', '--provider', 'SHOPHIDD', '--data', dataDir], {
    env,
  });
  const rows = stdout.split('\n').map((line) => line.trim().split(/ +/));
  // anna with three devices, boris, clara and dora: the link of the capitals has ended.
  expect(
    rows.slice(1, -1).map(([id, , , state, hwids, limit]) => [id, state, hwids, limit]),
  ).toEqual([
    ['20', 'active', '1', '2'],
    ['15', 'active', '2', '100'],
    ['14', 'disabled', '0', '100'],
    ['13', 'active', '3', '100'],
  ]);
});
