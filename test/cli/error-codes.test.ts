/** `--json` at a command that fails: one line of JSON on stderr, with a code for scripts. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, type ErrorCode } from '../../src/base/operator-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { holdNote } from '../../src/config/server-note.ts';
import { subscriptionKeyHash as hashOfKey } from '../../src/core/secret.ts';
import { openCore } from '../../src/parts/open-core.ts';
import { LEFT_ID } from '../../src/store/sqlite/file/migrate.ts';
import { addLink, knock } from '../store/contract/fixture.ts';
import { registration, send } from '../store/contract/message-fixture.ts';
import { ACT } from '../support/actor.ts';
import { freshFolder } from '../support/app.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { cutWays } from '../support/cut-ways.ts';
import { FakeSource } from '../support/fake-source.ts';
import { serviceAccount } from '../support/gateway.ts';
import { fillBots, makeLink, nameMany, nameWords } from '../support/links.ts';
import { makeUser, type WorldUser, writePanel } from '../support/panel-world.ts';
import { cleanUp } from '../support/process.ts';
import { reminderWays } from '../support/reminder-ways.ts';
import { MAY_MOUNT, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const CODE = 'Provide1';
const LINK = 'LinkCode0001';
let line: CommandLine;
let file: string;
let ends: (() => unknown)[];
beforeEach(() => {
  line = commandLine();
  const folder = freshFolder();
  file = join(folder, 'file');
  ends = [line.close, cleanUp, () => Bun.$`rm -r ${folder}`];
});
afterEach(async () => {
  for (const end of ends) await end();
});

async function addProvider(): Promise<void> {
  expect(await line.run('provider', 'add', '--name', 'n', '--code', CODE)).toMatchObject({
    code: 0,
  });
}

function openStore(create = false) {
  const { config } = loadConfig({ dataDir: line.dataDir }, { GATEPOST_CONFIG: 'none' });
  return openCore(config, create);
}

function spoil(sql: string): void {
  const db = new Database(join(line.dataDir, 'gatepost.db'));
  db.run(sql);
  db.close();
}

/** A backup onto a disk that `spoil` spoils. */
async function backupWords(spoil: (disk: SmallDisk) => void): Promise<string[]> {
  const disk = mountSmallDisk(1);
  if (disk === null) throw new Error('this needs root');
  ends.unshift(disk.unmount);
  spoil(disk);
  await addProvider();
  return ['backup', join(disk.folder, 'copy')];
}

/** An import from a server that does as `meddle` says. */
function importWords(meddle: FakeSource['meddle']): string[] {
  const source = new FakeSource();
  source.meddle = meddle;
  ends.push(() => source.stop());
  const { code, authKey } = source.credentials;
  return ['import', '--from', source.url, '--code', code, '--key-file', line.secretFile(authKey)];
}

async function panelWords(...users: WorldUser[]): Promise<string[]> {
  await line.run('provider', 'add', '--name', 'n', '--code', CODE);
  writePanel('marzban', file, users);
  return ['import', file, '--panel', 'marzban', '--code', CODE];
}

/** How a command comes to fail, with its words. Without data unless it adds them. */
const WAYS: Readonly<Record<ErrorCode, readonly (() => Promise<string[]>)[]>> = {
  usage: [
    async () => ['sevre'],
    async () => ['provider', 'show', 'short'],
    async () => ['provider', 'set', CODE],
    async () => ['device', 'list', '--port', '1'],
    async () => ['serve', '--port', '65536'],
  ],
  config_invalid: [
    async () => {
      writeFileSync(file, 'port = 70000\n');
      return ['provider', 'list', '--config', file];
    },
  ],
  database_missing: [
    async () => ['device', 'list'],
    async () => ['ready'],
    async () => ['backup', file],
  ],
  database_older: [
    async () => {
      await addProvider();
      spoil('PRAGMA user_version = 1');
      return ['device', 'list'];
    },
  ],
  database_newer: [
    async () => {
      await addProvider();
      spoil('PRAGMA user_version = 999');
      return ['device', 'list'];
    },
    async () => {
      writeFileSync(file, 'gatepost-backup 999\n');
      return ['restore', file];
    },
  ],
  database_moved: [
    async () => {
      await addProvider();
      spoil(`PRAGMA application_id = ${LEFT_ID}`);
      return ['device', 'list'];
    },
  ],
  database_damaged: [
    async () => {
      await addProvider();
      writeFileSync(join(line.dataDir, 'gatepost.db'), 'x'.repeat(9_000));
      return ['device', 'list'];
    },
  ],
  locked: [
    async () => {
      await addProvider();
      expect(await line.run('backup', file)).toMatchObject({ code: 0 });
      const { store } = await openStore();
      ends.unshift(() => store.close());
      return ['restore', file];
    },
  ],
  disk_full: [async () => backupWords((disk) => disk.fill())],
  disk_read_only: [async () => backupWords((disk) => disk.makeReadOnly())],
  not_saved: [
    async () => {
      await addProvider();
      spoil(`CREATE TRIGGER broken BEFORE UPDATE ON provider
        BEGIN SELECT raise(ROLLBACK, 'broken'); END`);
      return ['provider', 'suspend', CODE];
    },
  ],
  interrupted: [
    async () =>
      importWords(() => {
        process.emit('SIGINT');
        return undefined;
      }),
  ],
  provider_not_found: [
    async () => ['provider', 'show', CODE],
    async () => ['provider', 'set', CODE, '--plan', 'pro'],
    async () => ['provider', 'suspend', CODE],
    async () => ['provider', 'resume', CODE],
    async () => ['provider', 'rotate-key', CODE],
    async () => ['provider', 'remove', CODE, '--yes'],
    async () => ['export', CODE],
    async () => ['webhook', 'list', '--provider', CODE],
    async () => ['webhook', 'add', '--provider', CODE, '--url', 'https://bot.example.com/'],
    async () => ['domain', 'list', '--provider', CODE],
  ].map((words) => async () => {
    expect(await line.run('provider', 'add', '--name', 'n')).toMatchObject({ code: 0 });
    return words();
  }),
  provider_required: [
    async () => {
      await addProvider();
      expect(await line.run('provider', 'add', '--name', 'n')).toMatchObject({ code: 0 });
      return ['domain', 'add', 'example.com'];
    },
  ],
  provider_code_exists: [
    async () => {
      await addProvider();
      return ['provider', 'add', '--name', 'n', '--code', CODE];
    },
  ],
  other_key: [
    async () => {
      const words = importWords(() => undefined);
      expect(await line.run('provider', 'add', '--name', 'n', '--code', 'Source01')).toMatchObject({
        code: 0,
      });
      return words;
    },
  ],
  link_not_found: [
    async () => ['link', 'show', LINK],
    async () => ['link', 'show', 'key:panel-key'],
    async () => ['link', 'set', LINK, '--limit', '3'],
    async () => ['link', 'why', LINK, 'phone', '--domain', 'example.com'],
    async () => ['link', 'qr', LINK, '--url', 'https://example.com/sub'],
  ].map((words) => async () => {
    await addProvider();
    return words();
  }),
  link_ambiguous: [
    async () => {
      await makeLink(line.dataDir, ({ store }, { providerId }) =>
        addLink(store, providerId, { installCode: 'LinkCode0002' }),
      );
      return ['link', 'show', 'note'];
    },
  ],
  link_exists: [
    async () => {
      await makeLink(line.dataDir, async () => {});
      return ['link', 'add', '--code', LINK];
    },
  ],
  links_max_reached: [
    async () => {
      await addProvider();
      await line.run('provider', 'set', CODE, '--max-links', '1');
      return ['link', 'add', '--count', '2'];
    },
  ],
  link_limit_below_count: [
    async () => {
      await makeLink(line.dataDir, async ({ store }) => {
        for (const hwid of ['phone', 'tablet']) await knock(store, hwid);
      });
      return ['link', 'set', LINK, '--limit', '1'];
    },
  ],
  hwids_no_room: [() => nameWords(line.dataDir, LINK, ['a', 'b', 'c'])],
  hwids_too_many: [() => nameWords(line.dataDir, LINK, ['a'], nameMany)],
  subscription_key_exists: [
    async () => {
      await makeLink(line.dataDir, async ({ store }, { providerId }) => {
        const subscriptionKeyHash = hashOfKey('panel-key');
        await addLink(store, providerId, { installCode: 'LinkCode0002', subscriptionKeyHash });
      });
      return ['link', 'set', LINK, '--key', 'panel-key'];
    },
  ],
  domain_not_found: [
    async () => ['domain', 'remove', 'example.com'],
    async () => ['domain', 'remove', '7'],
  ].map((words) => async () => {
    await addProvider();
    return words();
  }),
  domain_limit_reached: [
    async () => {
      await addProvider();
      writeFileSync(file, '[limits]\ndomains_per_provider_max = 1\n');
      expect(await line.run('domain', 'add', 'example.com')).toMatchObject({ code: 0 });
      return ['domain', 'add', 'example.org', '--config', file];
    },
  ],
  device_not_found: [
    async () => ['device', 'show', 'phone'],
    async () => ['device', 'forget', 'phone', '--yes'],
    async () => ['forget', 'phone', '--yes'],
  ].map((words) => async () => {
    await addProvider();
    return words();
  }),
  distribution_not_found: [
    async () => ['distribution', 'show', '7'],
    async () => ['distribution', 'block', '7'],
    async () => ['distribution', 'cancel', '7'],
  ].map((words) => async () => {
    await addProvider();
    return words();
  }),
  distribution_ended: [
    async () => {
      await addProvider();
      const { store } = await openStore();
      const id = await send(store, 1);
      await store.close();
      expect(await line.run('distribution', 'block', String(id))).toMatchObject({ code: 0 });
      return ['distribution', 'block', String(id)];
    },
  ],
  cancel_refused: [
    async () => {
      await makeLink(line.dataDir, async ({ store }) => send(store, 1));
      return ['distribution', 'cancel', '1'];
    },
  ],
  send_refused: [
    async () => ['notify', '--all', '--body', 'x'],
    async () => ['notify', '--all'],
    async () => ['command', 'update-subscription', '--hwid', 'phone'],
  ].map((words) => async () => {
    await addProvider();
    return words();
  }),
  send_too_soon: [
    async () => {
      await makeLink(line.dataDir, async ({ store }, { providerId }) => {
        await store.updateProvider(CODE, { plan: 'enterprise' }, ACT);
        await knock(store, 'phone');
        expect(providerId).toBe(1);
      });
      const words = ['notify', '--all', '--body', 'x'];
      expect(await line.run(...words)).toMatchObject({ code: 0 });
      return words;
    },
  ],
  follow_not_found: [
    () => addProvider().then(() => ['follow', 'accept', 'sub.example.org', '--yes']),
  ],
  follow_not_held: [
    async () => {
      await addProvider();
      spoil(`INSERT INTO follow (host, source, hash_key, claimed_at_ms, next_at_ms)
        VALUES ('sub.example.org', '', zeroblob(32), 0, 0)`);
      return ['follow', 'accept', 'sub.example.org', '--check'];
    },
  ],
  ...cutWays(() => line.dataDir),
  bot_not_found: [() => addProvider().then(() => ['bot', 'remove', '7'])],
  bot_limit_reached: [() => makeLink(line.dataDir, (core) => fillBots(core, CODE))],
  ...reminderWays(addProvider, (words) => line.run(...words)),
  webhook_not_found: [
    async () => ['webhook', 'set', '7', '--enable'],
    async () => ['webhook', 'rotate', '7'],
    async () => ['webhook', 'test', '7'],
    async () => ['webhook', 'deliveries', '7'],
    async () => ['webhook', 'replay', '7', '--event', '1'],
    async () => ['webhook', 'remove', '7', '--yes'],
  ].map((words) => async () => {
    await addProvider();
    return words();
  }),
  webhook_limit_reached: [
    async () => {
      await addProvider();
      const words = ['webhook', 'add', '--provider', CODE, '--url', 'https://bot.example.com/'];
      for (let n = 0; n < 10; n++) expect(await line.run(...words)).toMatchObject({ code: 0 });
      return words;
    },
  ],
  account_not_found: [
    async () => ['account', 'reset', 'anna'],
    async () => ['account', 'end-sessions', 'anna'],
  ].map((words) => async () => {
    await addProvider();
    return words();
  }),
  file_exists: [
    async () => {
      await addProvider();
      writeFileSync(file, '');
      return ['export', CODE, file];
    },
    async () => {
      await addProvider();
      writeFileSync(file, '');
      return ['backup', file];
    },
  ],
  backup_damaged: [
    async () => {
      writeFileSync(file, 'no backup');
      return ['restore', file];
    },
  ],
  warnings_found: [
    async () => {
      await addProvider();
      // A server that this user may not see: none at all would be a problem.
      ends.push(holdNote(line.dataDir));
      return ['doctor', '--strict'];
    },
  ],
  users_not_served: [async () => panelWords({ ...makeUser(0), name: 'a/b' })],
  many_links: [
    async () => {
      await line.run(...(await panelWords(makeUser(0), makeUser(1))));
      return [...(await panelWords(makeUser(1))), '--disable-gone'];
    },
  ],
  source_unusable: [async () => importWords(() => ({ rc: 0, msg: 'Auth error' }))],
  panel_refused: [
    async () => {
      await addProvider();
      const panel = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () => new Response('', { status: 401 }),
      });
      ends.push(() => panel.stop(true));
      const token = line.secretFile('token');
      return [
        'import',
        '--panel',
        'marzban',
        '--code',
        CODE,
        '--from',
        panel.url.origin,
        '--key-file',
        token,
      ];
    },
  ],
  audit_not_verified: [
    async () => {
      await addProvider();
      spoil("UPDATE audit SET entries = 'x'");
      return ['audit', 'list'];
    },
    async () => {
      await addProvider();
      spoil("UPDATE audit SET entries = entries || ' '");
      return ['audit', 'verify'];
    },
  ],
  release_refused: [
    async () => {
      const page = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('x') });
      ends.push(() => page.stop(true));
      const key = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'a'.repeat(43)}`;
      writeFileSync(file, `[update]\nurl = "${page.url.origin}"\nkey = "${key}"\n`);
      return ['update', '--check', '--config', file];
    },
  ],
  test_failed: [
    async () => {
      await addProvider();
      const words = ['webhook', 'add', '--url', 'http://127.0.0.1:1/'];
      expect(await line.run(...words)).toMatchObject({ code: 0 });
      return ['webhook', 'test', '1'];
    },
    async () => {
      const account = line.secretFile(serviceAccount('https://127.0.0.1:1/token'));
      writeFileSync(file, `[gateway.fcm]\nservice_account = "${account}"\n`);
      const { store } = await openStore(true);
      const push = { gateway: 'fcm', token: 'phone-1' } as const;
      await store.registerDevice(registration('phone', { push }));
      await store.close();
      return ['gateway', 'test', 'fcm', '--hwid', 'phone', '--config', file];
    },
  ],
  code_not_found: [async () => ['explain', 'gatepost']],
  fault: [async () => ['serve']],
  failed: [async () => ['restore', join(file, 'nowhere')]],
};

/** The results that codes come with; then the exit code is 3. */
const PARTIAL: Record<string, string> = { users_not_served: 'a/b', warnings_found: 'backups' };

const ways = Object.entries(WAYS)
  .filter(([code]) => !code.startsWith('disk_') || MAY_MOUNT)
  .flatMap(([code, list]) => list.map((way, n) => [code as ErrorCode, n, way] as const));

test.each(ways)('%s, way %d', async (code, _, way) => {
  const words = await way();
  const failed = await line.run(...words, '--json');
  const { error, ...rest } = JSON.parse(failed.stderr.trimEnd().split('\n').at(-1) ?? '');
  expect(rest).toEqual({});
  expect(error).toEqual({ code, message: expect.stringMatching(/^\S.*[^.\s]$/s) });
  const stdout = code in PARTIAL ? expect.stringContaining(PARTIAL[code] ?? '') : '';
  expect(failed).toMatchObject({ code: code === 'usage' ? 2 : stdout === '' ? 1 : 3, stdout });
  const plain = await line.run(...words);
  expect(plain).toMatchObject({ code: failed.code, stdout });
  expect(plain.stderr).toContain(`gatepost: ${error.message}\n`);
});

test('every code is provoked', () => {
  expect(Object.keys(WAYS)).toEqual(Object.keys(ERROR_CODES));
});
