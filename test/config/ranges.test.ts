/** The range of each setting that is a number, as a person meets it in the file and variables. */

import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/base/operator-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { settingRows } from '../../src/config/settings/index.ts';

const RANGES: Readonly<Record<string, readonly [minimum: number, maximum: number]>> = {
  'server.port': [0, 65535],
  'server.drain_seconds': [0, 300],
  'gate.update_interval_hours': [0, 168],
  'ride.hours': [1, 720],
  'limits.links_per_provider_max': [0, 1000000000],
  'limits.cuts_per_hour_max': [0, 1000],
  'limits.auth_failures_per_minute_max': [0, 1000000000],
  'limits.registrations_per_minute_max': [0, 1000000000],
  'limits.domains_per_provider_max': [0, 100000],
  'limits.sends_per_minute_max': [0, 1000000000],
  'limits.kept_bytes_per_provider_max': [0, 9007199254740991],
  'limits.ledger_rows_per_provider_max': [0, 1000000000000],
  'limits.unbound_commands_per_day_max': [0, 1000000000],
  'limits.waiting_per_device_max': [1, 10000],
  'limits.streams_max': [0, 1000000],
  'limits.poll_seconds_max': [1, 300],
  'limits.ping_seconds_max': [15, 600],
  'database.connections': [2, 50],
  'database.statement_seconds': [1, 600],
  'database.commit_batch_max': [1, 100000],
  'database.ledger_days': [1, 36500],
  'database.distribution_days': [1, 36500],
  'database.device_days': [1, 36500],
  'database.strangers_max': [1000, 1000000000],
  'monitor.port': [0, 65535],
  'backup.keep': [1, 10000],
  'audit.days': [1, 36500],
  'audit.entries_max': [1000, 1000000000],
  'acme.http_port': [0, 65535],
  'outgoing.origin_rate': [1, 100000],
  'webhook.per_owner_max': [0, 100],
  'webhook.keep_days': [1, 365],
};

const rows = settingRows.map(([name, row]) => ({ name, ...row }));

/** Loads a configuration with a setting from a file, and from a variable; returns what is said. */
function load(key: string, value: string): string[] {
  const row = rows.find((one) => one.key === key);
  if (row === undefined) throw new Error(`there is no setting ${key}`);
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-ranges-'));
  const file = join(folder, 'gatepost.toml');
  const [section, name] = key.split('.');
  writeFileSync(file, `[${section}]\n${name} = ${value}\n`, { mode: 0o600 });
  const said = [{ GATEPOST_CONFIG: file }, { GATEPOST_CONFIG: 'none', [row.env]: value }].map(
    (env) => {
      try {
        return `${loadConfig({}, env).config[row.name]}`;
      } catch (error) {
        return messageOf(error).replaceAll(/^.*?(?=')/g, '');
      }
    },
  );
  rmSync(folder, { recursive: true });
  return said;
}

test.each(Object.entries(RANGES))('%s', (key, [minimum, maximum]) => {
  expect(load(key, `${minimum}`)).toEqual([`${minimum}`, `${minimum}`]);
  expect(load(key, `${maximum}`)).toEqual([`${maximum}`, `${maximum}`]);
  for (const beyond of [minimum - 1, maximum + 1]) {
    // In the file a number beyond 53 bits is none at all.
    const refusal = new RegExp(` from ${minimum} to ${maximum}|must be a whole number$`);
    for (const said of load(key, `${beyond}`)) expect(said).toMatch(refusal);
  }
});

test('every setting that is a number has its range here', () => {
  const single = rows.filter(({ types }) => !types.includes('array'));
  const numbers = single.filter(({ default: standard }) => /^(?:0|[1-9]\d*)$/.test(standard));
  const missing = numbers.map(({ key }) => key).filter((key) => !(key in RANGES));
  expect(missing).toEqual([]);
});
