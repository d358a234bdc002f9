/**
 * Every event of the log: its level, its fields and its meaning. The counters of warnings and
 * errors, and `gatepost explain` are made from it.
 */

import type { LogLevel } from '../base/log.ts';

interface LogEvent {
  level: LogLevel;
  fields: readonly string[];
  /** When it is logged, with code as in Markdown. */
  when: string;
}

const event = (level: LogLevel, fields: string, when: string): LogEvent => ({
  level,
  when,
  fields: fields === '' ? [] : fields.split(' '),
});

export const LOG_EVENTS: Readonly<Record<string, LogEvent>> = {
  started: event('info', 'version commit url monitor', 'the server listens'),
  draining: event(
    'info',
    'seconds',
    'a signal arrived and `server.drain_seconds` is set: calls are still served for that time; `/readyz` is 503 from now on',
  ),
  stopping: event('info', '', 'a signal arrived; `/readyz` is 503'),
  stop_late: event('warn', 'parts', 'these parts had not finished after 5 s and are aborted'),
  stop_fault: event('error', 'part reason', 'this part failed while it stopped'),
  stopped: event('info', 'ms', 'everything is finished and on disk'),
  request: event(
    'info',
    'id method path answer ms client provider',
    'a request was answered; only with `log.requests`',
  ),
  fault: event('error', 'id path reason', 'a request met an internal fault or could not be saved'),
  first_use_not_saved: event(
    'warn',
    'provider_code reason',
    'a key used a further right for the first time, and that could not be saved: its next use is the first one',
  ),
  call_refused: event(
    'debug',
    'id path reason',
    'a request failed because the database did not answer (`database_away`, `database_busy`, `database_full`)',
  ),
  auth_failures_delayed: event(
    'warn',
    'client answers',
    'credentials fail too often from one address; at most once a minute',
  ),
  gate_untrusted: event(
    'warn',
    'client',
    'a client outside `gate.proxies` asked at `/gate`; at most once a minute',
  ),
  proxy_header_refused: event(
    'warn',
    'peer why count',
    'a connection was closed for its PROXY header, or for lacking one; at most once a minute, with their number',
  ),
  upstream_bound: event(
    'info',
    'host provider',
    'the host of a panel in the configuration was bound to its provider',
  ),
  upstream_provider_unknown: event(
    'warn',
    'host provider',
    'there is no such provider: add it, then SIGHUP',
  ),
  upstream_binding_disabled: event(
    'warn',
    'host provider',
    'the provider disabled the binding: no device is admitted',
  ),
  upstream_not_bound: event('warn', 'host provider reason', 'the host could not be bound'),
  upstream_not_read: event(
    'warn',
    'host reason',
    'this version cannot read an upstream that was added in the console, and omits it',
  ),
  rides_not_read: event(
    'warn',
    'reason count',
    'messages that ride could not be read from the database, so subscriptions were sent without them; at most once a minute',
  ),
  upstream_failed: event(
    'warn',
    'host kind code count',
    'a panel was unreachable or slow, spoke no HTTP, sent too much or broke off (`CUT`); once a minute for each, with the number',
  ),
  upstream_header_dropped: event(
    'warn',
    'host header target',
    "a panel's header sends apps to a foreign host, and was dropped; once a day for each",
  ),
  upstream_open: event(
    'warn',
    'host setting',
    '`browsers` or `pass_paths` of an upstream can let servers out without a limit; once after a start',
  ),
  stranger_page_failed: event(
    'warn',
    'problem',
    'the address of `server.stranger_page` cannot be fetched, so strangers get an empty 404; once until it answers again',
  ),
  upstream_serves_strangers: event(
    'warn',
    'host',
    'a panel serves a made-up key: no new links are made there; once an hour',
  ),
  panel_api_failed: event(
    'warn',
    'host kind code count',
    'the API of a panel failed, or gave no answer about a user; once a minute for each, with the number',
  ),
  stream_opened: event(
    'debug',
    'device',
    "a device's WebSocket; the number is the device's in the database",
  ),
  stream_closed: event(
    'debug',
    'device',
    "a device's WebSocket; the number is the device's in the database",
  ),
  delivery_fault: event('error', 'reason', 'a step of delivery failed; it is retried'),
  check_failed: event(
    'warn',
    'check reason',
    'a check that the console started (the doctor, the chain of the audit log) could not be run',
  ),
  gateway_stopped: event(
    'error',
    'gateway problem',
    'a gateway rejected our credentials; one push an hour tries it again, a restart or SIGHUP at once',
  ),
  gateway_failing: event(
    'warn',
    'gateway problem',
    'all attempts at a gateway failed for some seconds',
  ),
  gateway_recovered: event('info', 'gateway', 'the gateway accepts pushes again'),
  destination_failing: event(
    'debug',
    'kind destination problem',
    'all attempts at a push service or a webhook failed for some seconds',
  ),
  webhook_disabled: event(
    'info',
    'webhook why',
    'a webhook or chat of a provider was disabled: its receiver takes no events, or failed for three days',
  ),
  operator_webhook_disabled: event(
    'error',
    'webhook why',
    'so was one of the operator: its events do not arrive, unless it has another webhook',
  ),
  event_given_up: event(
    'warn',
    'webhook event problem',
    'a receiver of the operator rejected an event, which is not sent again',
  ),
  vapid_key_made: event(
    'info',
    'path',
    'a VAPID key was made; if there was one before, every Web Push subscription is lost: put the old file back',
  ),
  gateways_renewed: event(
    'info',
    'gateways',
    'SIGHUP: these gateways have another key or settings',
  ),
  outbox_resumed: event(
    'info',
    'destinations',
    'these destinations were stopped or paused and are retried',
  ),
  outbox_fault: event(
    'error',
    'reason',
    'outcomes could not be saved, or a step failed; logged once until something is saved',
  ),
  follow_passed: event(
    'info',
    'host users added changed gone took_ms',
    '`follow` read a panel whole, and something changed, or it could not before',
  ),
  follow_failed: event(
    'warn',
    'host problem reason',
    'a pass of `follow` changed nothing for this reason; once until another reason, or a whole pass',
  ),
  follow_gone: event(
    'warn',
    'host count links',
    'so many users were missing in two whole passes of `follow`; `links` is `follow_gone` of the upstream',
  ),
  reminders_stopped: event(
    'warn',
    'provider moved links',
    'so many links of the provider were renewed or began to end within an hour: its reminders wait for `gatepost reminder resume`',
  ),
  cut_off_failed: event(
    'warn',
    'host id reason',
    'the first attempt of a cut-off failed; it is made again for a day',
  ),
  cut_off_differs: event(
    'error',
    'host id fields',
    'a change of credentials changed these other fields of the user too; the upstream makes no cut-offs until `gatepost cuts resume`',
  ),
  job_fault: event('error', 'job reason', 'a scheduled job failed; it is retried at its next time'),
  clock_leapt: event('warn', 'ahead_s', "the machine's clock leapt: deletion is suspended"),
  clock_back: event('info', '', 'it is right again'),
  clock_trusted: event(
    'warn',
    '',
    'it is taken for right, after 24 hours or by the operator: deletion goes on by it',
  ),
  config_reloaded: event('info', 'changed', 'SIGHUP: these settings apply from now on'),
  config_needs_restart: event(
    'warn',
    'changed',
    'these settings changed too, and apply after a restart; each reload names them until then',
  ),
  config_not_reloaded: event(
    'error',
    'reason',
    'the configuration has mistakes; nothing was changed',
  ),
  database_away: event(
    'error',
    'problem',
    'PostgreSQL does not answer, accepts no writes, or has no room or connection left',
  ),
  database_awaited: event(
    'warn',
    'problem',
    'PostgreSQL has not answered for 5 s at the start: the process waits',
  ),
  database_busy: event(
    'warn',
    'problem',
    'calls fail because another process holds a lock of the database for too long; `problem` names it as far as known. At most once a minute',
  ),
  database_full: event(
    'warn',
    'problem',
    "SQLite's disk is full: reads go on, and nothing is saved. At most once a minute",
  ),
  database_migrates: event(
    'info',
    'from to backup',
    'the schema of the database is older than that of the program: it is migrated; `backup` is the file of the backup before it, or `none` (`backup.before_migration`, PostgreSQL)',
  ),
  database_back: event(
    'info',
    'ms refused',
    'the database answers again, after this number of refused calls',
  ),
  not_ready: event('warn', 'reason detail', '`/readyz` answers 503 for this reason'),
  ready_again: event('info', '', '`/readyz` answers 200 again'),
  open_to_group: event('warn', 'path problem', 'users other than the owner can read a secret'),
  certificate_changed: event('info', 'names expires', 'another certificate is served from now on'),
  certificate_refused: event(
    'error',
    'reason',
    'the files are not a valid pair; the old certificate stays',
  ),
  certificate_expires: event('warn', 'names expires days', 'the certificate ends soon'),
  certificate_ordered: event(
    'info',
    'names challenge',
    'a certificate was requested from an authority',
  ),
  certificate_issued: event('info', 'names expires', 'the authority issued it'),
  certificate_not_issued: event('error', 'reason next_try', 'the authority did not issue it'),
  certificate_fault: event(
    'error',
    'reason',
    'the upkeep of the certificate failed; it is retried',
  ),
  acme_port_taken: event('warn', 'port', "the port for the authority's challenge is in use"),
  audit_head: event(
    'info',
    'head',
    'once a day: the newest entry of the audit log; keep it elsewhere',
  ),
  backup_made: event('info', 'file bytes took_ms removed', 'a scheduled backup is finished'),
  backup_failed: event('error', 'reason', 'a scheduled backup failed'),
  release_checked: event('info', 'newest', 'the page of `update.url` was asked'),
  release_not_checked: event('warn', 'reason', 'it gave no answer, or a release that is refused'),
  backup_copied: event(
    'info',
    'file took_ms stderr',
    'the command of `backup.after` succeeded; `stderr` has the beginning of what it wrote',
  ),
  backup_copy_failed: event('error', 'file took_ms stderr reason', 'it failed'),
  backups_not_seen: event('warn', 'reason', 'the folder of backups cannot be read'),
  backup_made_elsewhere: event('debug', '', 'another process on the same data makes it'),
  monitor_moved: event(
    'warn',
    'reason url',
    'the configured address of the monitor is in use: it listens at this one',
  ),
  monitor_not_noted: event(
    'warn',
    'reason',
    "the monitor's address, which `gatepost ready` needs, could not be written into the data directory",
  ),
  settings_not_noted: event(
    'warn',
    'reason',
    'the note of the settings, which commands beside the server need, could not be written into the data directory',
  ),
  environment_ignored: event(
    'info',
    'variables',
    'Kubernetes or Docker set these for a Service or container of the name gatepost',
  ),
  monitor_fault: event('error', 'reason', 'the monitor failed; callers do not notice'),
  metrics_incomplete: event(
    'warn',
    'reason',
    'the database could not be measured; the other metrics are complete',
  ),
};
