/** The size of a row of each kind on the disk with its indexes: the table of docs/limits.md. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import type { Case } from './driver.ts';

const COUNT = 50_000;
const NOW_MS = Date.UTC(2026, 10, 21);

/** A kind of row, and how number `n` of them is written, by SQL that has it as `:n`. */
const KINDS: readonly [string, string][] = [
  [
    'link',
    `INSERT INTO install (provider_id, install_code, install_limit, status, note, created_at_ms)
     VALUES (1, printf('Code%08d', :n), 2, 10, 'note of a customer', :now)`,
  ],
  [
    'subscription key of a link',
    'UPDATE install SET subscription_key_hash = randomblob(32) WHERE id = :n',
  ],
  [
    'refusals of a link',
    `INSERT INTO install_refusal (install_id, refused_count, refused_at_ms, reason)
     VALUES (:n, 3, :now, 'link_limit_reached')`,
  ],
  ['figures of a day', 'INSERT INTO provider_day (provider_id, day, seen) VALUES (1, :n, 1000)'],
  [
    'binding',
    `INSERT INTO domain (provider_id, domain_hash, domain_name, status, created_at_ms)
     VALUES (1, printf('%064x', :n), 'sub.example.com', 10, :now)`,
  ],
  [
    'device',
    `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
       first_seen_at_ms, last_seen_at_ms)
     VALUES (printf('0f8fad5b-d9cb-469f-a165-%012x', :n), '', '', '', '', '', :now, :now)`,
  ],
  [
    'device at a provider',
    `INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
       user_agent, last_seen_at_ms)
     VALUES (:n, 1, 'android', '15', 'Google Pixel 9 Pro', '3.13.0', 'App/3.13.0/Android', :now)`,
  ],
  [
    'first slot of a device',
    `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
       last_seen_at_ms, after_recipient_id) VALUES (:n, :n, 1, :now, :now, 0)`,
  ],
  [
    'slot',
    `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
       last_seen_at_ms, after_recipient_id)
     VALUES (:n, iif(:n = 1, 50000, :n - 1), 1, :now, :now, 0)`,
  ],
  [
    'slot that ended',
    `INSERT INTO slot_end (install_id, provider_id, device_id, registered_at_ms, last_seen_at_ms,
       ended_at_ms, why, actor, for_device_id)
     VALUES (:n, 1, :n, :now, :now, :now, 'inactive', 'device', iif(:n = 1, 50000, :n - 1))`,
  ],
  [
    'tie',
    `INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)
     VALUES (:n, 1, 1, :now)`,
  ],
  [
    'token',
    `INSERT INTO device_token (device_id, token_hash, locale, stands_alone)
     VALUES (:n, randomblob(32), 'en', 0)`,
  ],
  [
    'notification or command',
    `INSERT INTO distribution (provider_id, notification_type, status, target_hwid, payload,
       created_at_ms, due_at_ms, reaches_unbound, expires_at_ms)
     VALUES (1, 20, 10, '', '', :now, :now + :n, 0, :now + 2592000000)`,
  ],
  [
    'row of the ledger',
    `INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms,
       sent_at_ms, received_at_ms, executed_at_ms) VALUES (1, :n, 2, 1, 0, :now, :now, :now, :now)`,
  ],
  [
    'push that waits',
    `INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, recipient_id)
     VALUES (1, 0, :now, :n)`,
  ],
  [
    'event',
    `INSERT INTO event (provider_id, kind, at_ms, data) VALUES (1, 'device.admitted', :now + :n,
       '{"install_id":1234,"install_count":2,"install_limit":3,"hwid":"0f8fad5b-d9cb-469f-a165"}')`,
  ],
  [
    'its wait for a webhook',
    `INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, event_id) VALUES (1, 0, :now, :n)`,
  ],
  [
    'the end of that',
    `INSERT INTO webhook_delivery (webhook_id, event_id, is_delivered, attempt_count, ended_at_ms)
     VALUES (1, :n, 1, 1, :now)`,
  ],
];

const WEBHOOK = [
  `INSERT INTO webhook (id, provider_id, kind, address, events, scheme, secret, locale,
     created_at_ms) VALUES (1, 1, 'webhook', 'https://bot.example.com/', '', 'v1', '', '', 0)`,
  `INSERT INTO destination (id, kind, origin, webhook_id) VALUES (1, 'webhook', '', 1)`,
];

/** Fills a fresh database with many of one kind after the other and divides. */
export const rowBytes: Case = {
  about:
    'bytes of a row of each kind on the disk, its indexes included: the table of docs/limits.md',
  run: async (bench) => {
    const dataDir = bench.place('data');
    bench.addProvider(dataDir);
    const db = new Database(join(dataDir, 'gatepost.db'), { strict: true });
    for (const sql of WEBHOOK) db.run(sql);
    const used = db.query<{ count: number }, []>(
      `SELECT page_count - freelist_count AS count FROM pragma_page_count, pragma_freelist_count`,
    );
    const pages = () => used.get()?.count ?? 0;
    const pageBytes = db.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0;
    for (const [kind, sql] of KINDS) {
      const before = pages();
      const add = db.prepare(sql);
      const values = sql.includes(':now') ? { now: NOW_MS } : {};
      db.transaction(() => {
        for (let n = 1; n <= COUNT; n++) add.run({ ...values, n });
      })();
      add.finalize();
      console.log(`${kind}\t${Math.round(((pages() - before) * pageBytes) / COUNT)}`);
    }
    db.close();
    return undefined;
  },
};
