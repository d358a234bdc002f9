/** A row of each table with times that decide something, from outside and on either store. */

import type { Beside } from './beside.ts';

/** All are of the beginning of time. */
const ROWS = `
INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
  VALUES (1, 'Provide1', 'one', 'basic', HASH, 0);
INSERT INTO account (id, name, recovery, created_at_ms) VALUES (1, 'anna', '[]', 0);
INSERT INTO session (id, token_hash, account_id, method, client, agent, created_at_ms, seen_at_ms,
  until_ms) VALUES (1, HASH, 1, 'key', '', '', 0, 0, 0);
INSERT INTO one_time (id, secret_hash, kind, account_id, until_ms) VALUES (1, HASH, 'entry', 1, 0);
INSERT INTO provider_key (id, provider_id, key_hash, name, scope, created_at_ms)
  VALUES (1, 1, HASH, 'bot', 'read', 0);
INSERT INTO webhook (id, provider_id, kind, address, events, scheme, secret, locale, created_at_ms)
  VALUES (1, 1, 'webhook', '', '[]', '', '', 'en', 0);
INSERT INTO install (id, provider_id, install_code, install_limit, note, status, created_at_ms)
  VALUES (1, 1, 'LinkCode0001', 2, '', 10, 0);
INSERT INTO idempotent_call (provider_id, idempotency_key, call, params_hash, answer,
  answered_at_ms) VALUES (1, 'a', 'add-install', HASH, '{}', 0);
INSERT INTO job (id, provider_id, kind, params, actor, state, total_count, created_at_ms, due_at_ms)
  VALUES (1, 1, 'links.remove', '{}', '{}', 'waiting', 1, 0, 0);
INSERT INTO distribution (id, provider_id, notification_type, status, target_hwid, created_at_ms,
  due_at_ms, reaches_unbound, expires_at_ms, payload) VALUES (1, 1, 10, 10, 'a', 0, 0, 0, 0, '{}');
INSERT INTO event (id, provider_id, kind, at_ms, data) VALUES (1, 1, 'link.full', 0, '{}');
INSERT INTO destination (id, kind, origin, webhook_id) VALUES (1, 'webhook', 'a', 1);
INSERT INTO outbox (id, destination_id, next_at_ms, queued_at_ms, event_id) VALUES (1, 1, 0, 0, 1);
INSERT INTO device (id, hwid, os, os_version, device_name, app_version, user_agent,
  first_seen_at_ms, last_seen_at_ms) VALUES (1, 'a', '', '', '', '', '', 0, 0);
INSERT INTO device_token (id, device_id, token_hash, stands_alone) VALUES (1, 1, HASH, 0);
INSERT INTO ended_token (token_hash, why, ended_at_ms) VALUES (HASH, 'slot_freed', 0);
INSERT INTO install_device (id, install_id, device_id, provider_id, registered_at_ms,
  after_recipient_id) VALUES (1, 1, 1, 1, 0, 0);
INSERT INTO ride (id, provider_id, os, part, distribution_id, from_ms, until_ms)
  VALUES (1, 1, 'ios', 'message', 1, 0, 0);
INSERT INTO slot_end (id, install_id, provider_id, registered_at_ms, last_seen_at_ms, ended_at_ms,
  why, actor) VALUES (1, 1, 1, 0, 0, 0, 'deleted', '');
INSERT INTO install_tombstone (id, provider_id, install_code, ended_at_ms, why)
  VALUES (1, 1, 'LinkCode0002', 0, 'removed');
INSERT INTO refused_device (install_id, hwid, device_name, os, reason, refused_count,
  first_refused_at_ms, last_refused_at_ms) VALUES (1, 'b', '', '', '', 1, 0, 0);
INSERT INTO slot_phone (install_id, device_id, number, door, family, app, model_hash, state,
  first_seen_at_ms, last_seen_at_ms) VALUES (1, 1, 1, '', '', '', '', 'first', 0, 0);
INSERT INTO sighting (host, kind, subject, seen_count, first_seen_at_ms, last_seen_at_ms)
  VALUES ('a', 'b', '', 1, 0, 0);
INSERT INTO subscription_figures (install_id, provider_id, read_at_ms, source, since_ms,
  moved_at_ms, renewal_told_at_ms) VALUES (1, 1, 0, 'proxy', 0, 0, 0);
INSERT INTO reminder_sent (reminder_id, device_id, period, install_id, provider_id, sent_at_ms)
  VALUES (1, 1, 0, 1, 1, 0);
INSERT INTO reminder (id, provider_id, kind, amount, texts, push_text, enabled, created_at_ms)
  VALUES (1, 1, 'traffic', 80, '{}', 'neutral', 0, 0);
INSERT INTO reminding (provider_id) VALUES (1);
INSERT INTO follow (id, host, source, hash_key, claimed_at_ms, next_at_ms, passed_at_ms,
  failed_at_ms, failing_since_ms) VALUES (1, 'a', '', HASH, 0, 0, 0, 0, 0);
INSERT INTO upkeep (task, schedule, scheduled_at_ms, succeeded_at_ms, failed_at_ms, is_failing,
  failing_since_ms, failure_count) VALUES ('backup', '', 0, 0, 0, 1, 0, 1);
`;

export function addOldRows({ db, database }: { db: Beside; database: unknown }): void {
  const hash = database === null ? 'zeroblob(32)' : "decode(repeat('00', 32), 'hex')";
  for (const sql of ROWS.split(';\n')) {
    if (sql.trim() !== '') db.run(sql.replaceAll('HASH', hash));
  }
}
