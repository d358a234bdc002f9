/** `gatepost node list`, and commands that are for a database that is a file. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type CommandLine, commandLine, runHere } from '../support/command-line.ts';
import { describePostgres } from '../support/needs.ts';
import { openPlace } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { temporaryFolder } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

describe('with a file', () => {
  let line: CommandLine;
  beforeEach(async () => {
    line = commandLine();
    await line.run('provider', 'add', '--name', 'n');
  });
  afterEach(() => line.close());

  test('there is one node', async () => {
    expect((await line.run('node', 'list')).stdout).toContain('with one node');
    expect((await line.run('node', 'list', '--json')).stdout).toBe('[]\n');
  });

  test('a clock that leapt is shown, and taken for right once', async () => {
    const store = await openPlace({ dataDir: line.dataDir, databaseUrl: null });
    const leap = { leadMs: -7_200_000, sinceRanMs: 0, slackMs: 0 };
    await store.saveTime({ name: '', atMs: 0, ranMs: 5, leap, spentMs: {} }, null);
    await store.close();
    expect((await line.run('clock', 'show')).stdout).toMatch(
      /^machine .*\nthis +1970-\S+ +it is 2 h behind +suspended\n$/,
    );
    expect(JSON.parse((await line.run('clock', 'show', '--json')).stdout)).toMatchObject([
      { machine: 'this', lead_seconds: -7_200, deletion: 'suspended' },
    ]);
    expect((await line.run('clock', 'trust')).stdout).toContain('The clock is taken for right.');
    expect((await line.run('clock', 'trust', '--json')).stdout).toBe('{"trusted":0}\n');
    expect((await line.run('clock', 'show')).stdout).toContain('the clock has not leapt');
  });
});

describePostgres('with PostgreSQL', () => {
  useProcesses();
  let database: TestDatabase;
  let options: { env: Record<string, string> };
  beforeEach(async () => {
    database = await freshDatabase();
    options = { env: { GATEPOST_DATABASE_URL: database.url } };
  });
  afterEach(() => database.drop());

  test('nodes are listed: who is up, who is silent, how their clocks go', async () => {
    await database.sql`
      INSERT INTO node (name, address, version, schema, started_at_ms, seen_at_ms, clock_offset_ms)
      VALUES ('one', 'http://127.0.0.1:1', '1.0.0', 2, 0,
          extract(epoch FROM clock_timestamp()) * 1000, 1500),
        ('two', 'http://127.0.0.1:2', '1.0.0', 2, 0,
          extract(epoch FROM clock_timestamp()) * 1000 - 60000, 0)`;
    const data = ['--data', join(temporaryFolder(), 'data')];
    const { code, stdout, stderr } = await runHere(['node', 'list', ...data], options);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^node +state +address +version +schema +started at +seen at +clock$/);
    expect(lines[1]).toMatch(/^one +up +http:\/\/127\.0\.0\.1:1 .* -1\.5 s$/);
    expect(lines[2]).toMatch(/^two +silent .* \+0 s$/);
  });

  test.each(['backup x.backup', 'restore x.backup', 'restore --verify x.backup'])(
    '%s says what to use instead',
    async (words) => {
      const data = ['--data', join(temporaryFolder(), 'data')];
      const { code, stderr } = await runHere([...words.split(' '), ...data], options);
      expect(code).toBe(1);
      expect(stderr).toContain('pg_dump');
      expect(stderr).toContain('pg_restore');
    },
  );
});
