/**
 * What `make test` leaves to `make test-long`, which a release runs: files, and passes of files on
 * PostgreSQL. Each says what catches the same fault in `make test`; test/plan.test.ts checks that
 * the files that are named are there and run.
 */

/** Files that run in no pass of `make test`. */
export const LONG_FILES: Readonly<Record<string, string>> = {
  'conformance/command.test.ts':
    'conformance/run.test.ts plays the cases, conformance/words.test.ts has what is printed',
  'conformance/planted.test.ts':
    'conformance/run.test.ts and conformance/hostile.test.ts hold the cases to their words',
  'e2e/clocks-apart.test.ts':
    'store/contract/distribution.test.ts and core/message/lane-model.test.ts have the order',
  'e2e/console-appliance.test.ts':
    'console/operator.test.ts, console/operator-rooms.test.ts; e2e/console.test.ts as built',
  'e2e/console-links.test.ts':
    'console/link-panel.test.ts, console/bulk.test.ts; e2e/console.test.ts as built',
  'e2e/console-newcomer.test.ts':
    'console/rooms.test.ts, console/compose.test.ts; e2e/console.test.ts as built',
  'e2e/console-nodes.test.ts':
    'store/contract/account.test.ts, store/contract/job.test.ts, store/postgres-messages.test.ts',
  'e2e/console-rooms.test.ts':
    'console/rooms.test.ts, console/messages.test.ts; e2e/console.test.ts as built',
  'e2e/delivery-kill.test.ts':
    'core/message/deliver-model.test.ts ends workers, e2e/outbox-kill.test.ts the executable',
  'e2e/import-panel-more.test.ts':
    'e2e/import-panel.test.ts kills it with other panels, cli/import-panel.test.ts reads these',
  'e2e/job-kill.test.ts':
    'core/job.test.ts ends a job at each step, store/contract/job.test.ts has its leases',
  'e2e/leap.test.ts':
    'http/leap.test.ts, jobs/leap.test.ts; core/timekeeper.test.ts has it over starts',
  'e2e/nodes.test.ts':
    'store/contract/race-processes.test.ts, store/postgres-outage.test.ts; e2e/crash.test.ts kills',
  'e2e/outgoing-idle.test.ts':
    'outward.test.ts expects that an idle program writes nothing, jobs/wake-loop.test.ts sleeps',
  'e2e/push-storm.test.ts':
    'core/message/push-model.test.ts fails at random, e2e/push.test.ts has the strict servers',
  'e2e/race.test.ts':
    'store/contract/race-processes.test.ts races processes, e2e/cap.test.ts the executable',
  'e2e/ride-soak.test.ts':
    'http/rides-doors.test.ts, core/ride-riding.test.ts; e2e/rides.test.ts behind proxies',
  'e2e/rolling.test.ts':
    'http/port-handover.test.ts loses no connection, e2e/stop.test.ts ends the executable in order',
  'guides/first-hour.test.ts':
    'e2e/first-run.test.ts starts it as printed, guides/readme.test.ts has the first commands',
  'guides/off-site.test.ts':
    'backup/restore.test.ts and cli/backup.test.ts restore a file that was moved elsewhere',
  'guides/panels.test.ts':
    'http/upstream/real-panels.test.ts has the panels, e2e/gate-example.test.ts the files',
  'jobs/reminder-month-long.test.ts':
    'jobs/reminder-month.test.ts lives the same month with fewer customers',
  'kits/dart.test.ts': 'kits/c.test.ts, kits/java.test.ts drive the same app by the same orders',
  'kits/device-check-faults.test.ts':
    'kits/device-check.test.ts plants faults, and plays each case with a kit',
  'kits/c-package.test.ts':
    'kits/c.test.ts builds the same files; no other has cmake, pkg-config and TLS of the kit in C',
  'kits/generators.test.ts': 'http/openapi.test.ts, http/openapi-bodies.test.ts have the document',
  'kits/go.test.ts': 'kits/c.test.ts, kits/java.test.ts drive the same app by the same orders',
  'kits/java-app.test.ts':
    'kits/java.test.ts has the kit, kits/device-check.test.ts what each case finds',
  'kits/java-check.test.ts':
    'kits/java.test.ts has the kit, kits/device-check.test.ts what each case finds',
  'kits/java-kills.test.ts':
    'kits/java.test.ts keeps token and HWID over a kill, kits/c.test.ts the same promises',
  'kits/java-package.test.ts':
    'kits/java.test.ts builds the same files; no other has Maven and Gradle',
  'kits/kit-faults.test.ts':
    'kits/c.test.ts has each fault event by event, kits/java.test.ts the code around it',
  'kits/kotlin.test.ts': 'kits/java.test.ts has the code under the face for Kotlin',
  'kits/python.test.ts': 'kits/c.test.ts, kits/java.test.ts drive the same app by the same orders',
  'kits/typescript-node-check.test.ts':
    'kits/device-check.test.ts has each case in Bun, kits/typescript-package.test.ts a message in Node',
  'kits/typescript-node.test.ts':
    'kits/typescript.test.ts has the appliance, kits/typescript-package.test.ts a message in Node',
  'kits/real-nginx.test.ts':
    'kits/c.test.ts, kits/java.test.ts, kits/typescript.test.ts break a scripted server',
  'kits/real.test.ts':
    'kits/c.test.ts, kits/java.test.ts, kits/typescript.test.ts break a scripted server',
  'kits/rust.test.ts': 'kits/c.test.ts, kits/java.test.ts drive the same app by the same orders',
  'kits/swift.test.ts': 'kits/c.test.ts, kits/java.test.ts drive the same app by the same orders',
  'kits/slots.test.ts':
    'kits/c.test.ts has each answer event by event, kits/java.test.ts the code around it',
  'panels/3x-ui.test.ts': 'http/upstream/real-panels.test.ts, panel/panel-api.test.ts have it',
  'panels/hiddify.test.ts': 'http/upstream/real-panels.test.ts, panel/panel-api.test.ts have it',
  'panels/marzban.test.ts': 'http/upstream/real-panels.test.ts, panel/panel-api.test.ts have it',
  'panels/pasarguard.test.ts': 'http/upstream/real-panels.test.ts, panel/panel-api.test.ts have it',
  'panels/remnawave.test.ts': 'panel/remnawave.test.ts plays the same answers',
};

/** Files whose pass on PostgreSQL is long; they run on SQLite in `make test`. */
export const LONG_ON_POSTGRES: Readonly<Record<string, string>> = {
  'cli/doctor-notify.test.ts': 'store/contract/event.test.ts',
  'core/audit/listed.test.ts': 'store/contract/audit.test.ts',
  'core/audit/settings.test.ts': 'store/contract/audit.test.ts, core/audit/old-log.test.ts',
  'core/job.test.ts': 'store/contract/job.test.ts',
  'core/message/cancel.test.ts':
    'store/contract/race-processes.test.ts, store/contract/distribution.test.ts',
  'core/message/deliver-keep.test.ts':
    'store/contract/inbox.test.ts, store/contract/delivery.test.ts',
  'core/message/deliver-lanes.test.ts': 'store/contract/distribution.test.ts',
  'core/message/deliver-model.test.ts':
    'store/contract/delivery.test.ts, store/contract/recipient.test.ts',
  'core/message/deliver-targets.test.ts':
    'store/contract/device.test.ts, store/contract/recipient.test.ts',
  'core/message/deliver.test.ts': 'store/contract/delivery.test.ts, store/contract/serving.test.ts',
  'core/message/lane-model.test.ts': 'store/contract/distribution.test.ts',
  'core/message/push-model.test.ts':
    'store/contract/outbox.test.ts, store/contract/pushing.test.ts',
  'core/message/registration-histories.test.ts':
    'store/contract/device.test.ts, http/coverage/device.test.ts',
  'core/message/registration-model.test.ts':
    'store/contract/device.test.ts, http/coverage/device.test.ts',
  'core/model.test.ts': 'store/contract/link.test.ts, core/door.test.ts',
  'core/send-interval.test.ts': 'store/contract/distribution.test.ts',
  'core/slot-model.test.ts': 'store/contract/link.test.ts, core/door.test.ts',
  'e2e/never-stale.test.ts':
    'store/contract/change.test.ts, store/contract/link.test.ts; this store keeps no answers',
  'e2e/outbox-kill.test.ts': 'store/contract/outbox.test.ts, e2e/crash.test.ts',
  'e2e/slot-life.test.ts': 'store/contract/race-processes.test.ts, e2e/crash.test.ts',
  'http/audit-share.test.ts': 'store/contract/audit.test.ts',
  'http/bounds.test.ts': 'http/coverage/link.test.ts, http/coverage/notification.test.ts',
  'http/console/recipients.test.ts': 'store/contract/recipient.test.ts',
  'http/credentials.test.ts': 'store/contract/provider.test.ts, http/coverage/link.test.ts',
  'http/held-database.test.ts': 'store/postgres-held-lock.test.ts, store/postgres-outage.test.ts',
  'http/leap.test.ts': 'store/future-cuts.test.ts, core/timekeeper.test.ts',
  'http/messaging-ack.test.ts': 'store/contract/inbox.test.ts, http/coverage/device.test.ts',
  'http/messaging-inbox.test.ts': 'store/contract/inbox.test.ts, http/coverage/device.test.ts',
  'http/messaging-register.test.ts': 'store/contract/device.test.ts, http/coverage/device.test.ts',
  'http/messaging-token.test.ts': 'store/contract/device.test.ts, http/coverage/device.test.ts',
  'http/slot-end-inbox.test.ts': 'store/contract/inbox.test.ts, store/contract/link.test.ts',
  'http/stream-away.test.ts': 'store/contract/inbox.test.ts, store/postgres-outage.test.ts',
  'http/stream-life.test.ts': 'store/contract/device.test.ts, store/contract/inbox.test.ts',
  'http/stream-once.test.ts': 'store/contract/inbox.test.ts, store/contract/change.test.ts',
  'http/stream.test.ts': 'store/contract/inbox.test.ts',
  'http/webhook-replay.test.ts': 'store/contract/event.test.ts, http/coverage/webhook.test.ts',
  'jobs/leap.test.ts': 'store/future-cuts.test.ts, core/timekeeper.test.ts',
  'store/held-lock.test.ts': 'store/postgres-held-lock.test.ts',
};
