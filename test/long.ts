/**
 * What `make test` leaves to `make test-long`, which a release runs: files, and passes of files on
 * PostgreSQL. Each says what catches the same fault in `make test`; test/plan.test.ts checks that
 * the files that are named are there and run.
 */

/** Of a kit in another language: each is the same machine of states around a client. */
const OF_KIT =
  'kits/c.test.ts has the machine of states, kits/typescript.test.ts the appliance; CHANGED=1 runs the kit that changed';

/** Files that run in no pass of `make test`. */
export const LONG_FILES: Readonly<Record<string, string>> = {
  'cli/backup.test.ts':
    'backup/restore.test.ts, backup/shelf.test.ts, backup/told.test.ts; e2e/migration.test.ts as built',
  'conformance/command.test.ts':
    'conformance/run.test.ts plays the cases, conformance/words.test.ts has what is printed',
  'conformance/planted.test.ts':
    'conformance/run.test.ts and conformance/hostile.test.ts hold the cases to their words',
  'console/account.test.ts':
    'console/every-page.test.ts, http/console/passkey.test.ts, http/console/sign-in.test.ts',
  'console/bulk.test.ts':
    'http/console/jobs.test.ts has the call, console/jobs.test.ts the page of jobs',
  'console/compose-check.test.ts':
    'console/compose.test.ts has the page, http/console/send.test.ts the check of what is sent',
  'console/compose-filter.test.ts':
    'console/compose.test.ts, http/console/send.test.ts, core/device-search.test.ts',
  'console/curl-page.test.ts':
    'console/curl.test.ts has what is shown, console/every-page.test.ts the pages',
  'console/form-again.test.ts':
    'console/rooms.test.ts fills the same forms, console/operator.test.ts opens them again',
  'console/lost-answer.test.ts':
    'http/lost-answers.test.ts has each call, console/loaded.test.ts a server that is away',
  'console/my-news.test.ts':
    'gateway/service-worker.test.ts, http/my-news.test.ts; console/my.test.ts in the browser',
  'console/public-pages.test.ts':
    'http/docs-page.test.ts, console/page.test.ts examines /console before the sign-in',
  'core/figures-day.test.ts':
    'core/figures.test.ts, core/door-figures.test.ts, jobs/figures.test.ts, store/figure-counter.test.ts',
  'core/message/lane-model.test.ts':
    'core/message/deliver-lanes.test.ts, core/message/deliver-model.test.ts',
  'core/message/registration-model.test.ts':
    'core/message/registration-histories.test.ts draws such operations, core/message/registration-rule.test.ts',
  'e2e/cap.test.ts':
    'store/contract/race-processes.test.ts races processes, core/slot-model.test.ts has the cap',
  'e2e/clocks-apart.test.ts':
    'store/contract/distribution.test.ts, core/message/deliver-lanes.test.ts',
  'e2e/console-appliance.test.ts':
    'console/operator.test.ts, console/operator-rooms.test.ts; e2e/console.test.ts as built',
  'e2e/console-links.test.ts':
    'console/link-panel.test.ts, console/jobs.test.ts; e2e/console.test.ts as built',
  'e2e/console-newcomer.test.ts':
    'console/rooms.test.ts, console/compose.test.ts; e2e/console.test.ts as built',
  'e2e/console-nodes.test.ts':
    'store/contract/account.test.ts, store/contract/job.test.ts, store/postgres-messages.test.ts',
  'e2e/console-rooms.test.ts':
    'console/rooms.test.ts, console/messages.test.ts; e2e/console.test.ts as built',
  'e2e/delivery-kill.test.ts':
    'core/message/deliver-model.test.ts ends workers, store/event-kill.test.ts processes',
  'e2e/figures.test.ts': 'store/figure-counter.test.ts, jobs/figures.test.ts',
  'e2e/follow.test.ts':
    'jobs/follow.test.ts has the passes, e2e/follow-file.test.ts a server that follows',
  'e2e/full-disk.test.ts':
    'e2e/commands-full-disk.test.ts has each command, http/full-disk.test.ts the server',
  'e2e/hostile.test.ts':
    'fuzz/fuzz.test.ts draws such requests, http/wire.test.ts has the classes of the parser',
  'e2e/import-hostile.test.ts':
    'cli/import-evil.test.ts, panel/sql-dump.test.ts, panel/panel-api.test.ts; e2e/import-reader.test.ts ends the process',
  'e2e/import-panel-more.test.ts':
    'cli/import-panel.test.ts reads these, e2e/import.test.ts is killed on its way',
  'e2e/import-panel-stdin.test.ts':
    'panel/sql-dump.test.ts reads dumps, e2e/import-reader.test.ts starts the process',
  'e2e/import-panel.test.ts':
    'cli/import-panel.test.ts moves them in, e2e/import.test.ts is killed on its way',
  'e2e/job-kill.test.ts':
    'core/job.test.ts ends a job at each step, store/contract/job.test.ts has its leases',
  'e2e/leap.test.ts':
    'http/leap.test.ts, jobs/leap.test.ts; core/timekeeper.test.ts has it over starts',
  'e2e/monitor.test.ts':
    'monitor/server.test.ts, monitor/readiness.test.ts; e2e/stop.test.ts ends it in order',
  'e2e/my.test.ts':
    'console/my.test.ts, http/my.test.ts, http/my-news.test.ts; e2e/console.test.ts as built',
  'e2e/named-files.test.ts': 'handover/named-files.test.ts, e2e/become-owner.test.ts',
  'e2e/never-stale.test.ts':
    'store/contract/change.test.ts, store/shared-query.test.ts, store/together.test.ts',
  'e2e/nodes.test.ts':
    'store/contract/race-processes.test.ts, store/postgres-outage.test.ts; e2e/crash.test.ts kills',
  'e2e/outbox-kill.test.ts':
    'store/contract/outbox.test.ts has the leases, store/event-kill.test.ts kills; e2e/crash.test.ts',
  'e2e/outgoing-idle.test.ts':
    'outward.test.ts expects that an idle program writes nothing, jobs/wake-loop.test.ts sleeps',
  'e2e/panel-tokens.test.ts': 'http/upstream/tokens.test.ts, http/upstream/panel-tokens.test.ts',
  'e2e/push-storm.test.ts':
    'core/message/push-model.test.ts fails at random, gateway/strict.test.ts has the strict servers',
  'e2e/push.test.ts': 'gateway/strict.test.ts, core/message/push.test.ts, jobs/outbox.test.ts',
  'e2e/race.test.ts':
    'store/contract/race-processes.test.ts races processes, core/slot-model.test.ts has the cap',
  'e2e/read-only-disk.test.ts':
    'e2e/commands-full-disk.test.ts, backup/room.test.ts, backup/restore.test.ts',
  'e2e/repeat-kill.test.ts':
    'http/repeat.test.ts repeats orders, store/contract/link.test.ts; e2e/crash.test.ts kills',
  'e2e/ride-soak.test.ts':
    'http/rides-doors.test.ts, core/ride-riding.test.ts; e2e/ride-files.test.ts behind proxies',
  'e2e/rides.test.ts':
    'http/rides-doors.test.ts, http/ride-answer.test.ts; e2e/ride-files.test.ts behind proxies',
  'e2e/rolling.test.ts':
    'http/port-handover.test.ts loses no connection, e2e/stop.test.ts ends the executable in order',
  'e2e/slot-life.test.ts':
    'core/slot-model.test.ts, store/contract/race-processes.test.ts; e2e/crash.test.ts kills',
  'e2e/strangers.test.ts':
    'http/strangers.test.ts; e2e/gate.test.ts has the proxies with their files',
  'e2e/tls.test.ts':
    'tls/acme.test.ts, tls/keeper.test.ts, tls/renewal.test.ts, http/tls.test.ts, permissions.test.ts',
  'e2e/tour.test.ts':
    'cli/link-add.test.ts, cli/device.test.ts, cli/webhook.test.ts; e2e/first-run.test.ts as built',
  'e2e/upstream.test.ts':
    'http/upstream/proxy.test.ts, http/upstream/misbehaving.test.ts; e2e/console-upstreams.test.ts as built',
  'e2e/webhook.test.ts': 'webhook/senders.test.ts, webhook/signature.test.ts, jobs/outbox.test.ts',
  'guides/first-hour.test.ts': 'e2e/first-run.test.ts starts it as printed',
  'guides/off-site.test.ts': 'backup/restore.test.ts restores a file that was moved elsewhere',
  'guides/panels.test.ts':
    'http/upstream/real-panels.test.ts has the panels, e2e/gate-example.test.ts the files',
  'guides/readme.test.ts':
    'e2e/first-run.test.ts starts it as printed, packaging/named-commands.test.ts has the words',
  'guides/trouble.test.ts': 'docs.test.ts, doctor/situations.test.ts',
  'jobs/reminder-month-long.test.ts':
    'jobs/reminder-month.test.ts lives the same month with fewer customers',
  'kits/c-driven.test.ts': OF_KIT,
  'kits/c-package.test.ts':
    'kits/c.test.ts builds the same files; no other has cmake, pkg-config and TLS of the kit in C',
  'kits/dart.test.ts': OF_KIT,
  'kits/device-check-faults.test.ts':
    'kits/device-check-phone.test.ts plays the cases, kits/device-check-odd.test.ts has what they say',
  'kits/device-check.test.ts':
    'kits/device-check-phone.test.ts plays the cases, kits/device-check-odd.test.ts has what they say',
  'kits/generators.test.ts': 'http/openapi.test.ts, http/openapi-bodies.test.ts have the document',
  'kits/go.test.ts': OF_KIT,
  'kits/java-app.test.ts': OF_KIT,
  'kits/java-check.test.ts': OF_KIT,
  'kits/java-kills.test.ts': OF_KIT,
  'kits/java-package.test.ts': OF_KIT,
  'kits/java.test.ts':
    'kits/typescript.test.ts drives the same appliance; CHANGED=1 runs the kit that changed',
  'kits/kit-faults.test.ts': OF_KIT,
  'kits/kotlin.test.ts': OF_KIT,
  'kits/python.test.ts': OF_KIT,
  'kits/real-nginx.test.ts': OF_KIT,
  'kits/real.test.ts': OF_KIT,
  'kits/rust.test.ts': OF_KIT,
  'kits/slots.test.ts': OF_KIT,
  'kits/swift.test.ts': OF_KIT,
  'kits/typescript-node-check.test.ts': 'kits/device-check-phone.test.ts plays the cases in Bun',
  'kits/typescript-node.test.ts': 'kits/typescript.test.ts has the appliance, in Bun',
  'kits/typescript-package.test.ts':
    'kits/typescript.test.ts has the same code; CHANGED=1 runs it when the kit changed',
  'packaging/deb.test.ts':
    'packaging/ways.test.ts, packaging/command-line.test.ts; packaging/image.test.ts has the same bytes twice',
  'packaging/release.test.ts':
    'packaging/install.test.ts takes what is signed alone, packaging/sbom.test.ts has its contents',
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
  'core/audit/old-log.test.ts': 'store/contract/audit.test.ts',
  'core/audit/settings.test.ts': 'store/contract/audit.test.ts',
  'core/door.test.ts': 'store/contract/link.test.ts, http/coverage/device.test.ts',
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
  'core/message/push-model.test.ts':
    'store/contract/outbox.test.ts, store/contract/pushing.test.ts',
  'core/message/registration-histories.test.ts':
    'store/contract/device.test.ts, http/coverage/device.test.ts',
  'core/model.test.ts': 'store/contract/link.test.ts, http/coverage/device.test.ts',
  'core/send-interval.test.ts': 'store/contract/distribution.test.ts',
  'core/slot-model.test.ts': 'store/contract/link.test.ts, http/coverage/device.test.ts',
  'core/timekeeper.test.ts': 'store/contract/node.test.ts',
  'doctor/bots.test.ts': 'store/contract/account.test.ts, store/contract/provider.test.ts',
  'e2e/crash.test.ts': 'store/contract/race-processes.test.ts, store/postgres-outage.test.ts',
  'http/audit-share.test.ts': 'store/contract/audit.test.ts',
  'http/bot-forms.test.ts': 'store/contract/account.test.ts',
  'http/bounds.test.ts': 'http/coverage/link.test.ts, http/coverage/notification.test.ts',
  'http/console/recipients.test.ts': 'store/contract/recipient.test.ts',
  'http/copied-shown.test.ts': 'store/contract/link.test.ts',
  'http/credentials.test.ts': 'store/contract/provider.test.ts, http/coverage/link.test.ts',
  'http/discovery.test.ts': 'store/contract/device.test.ts, http/coverage/device.test.ts',
  'http/held-database.test.ts': 'store/postgres-held-lock.test.ts, store/postgres-outage.test.ts',
  'http/leap.test.ts': 'store/contract/node.test.ts',
  'http/messaging-ack.test.ts': 'store/contract/inbox.test.ts, http/coverage/device.test.ts',
  'http/messaging-inbox.test.ts': 'store/contract/inbox.test.ts, http/coverage/device.test.ts',
  'http/messaging-register.test.ts': 'store/contract/device.test.ts, http/coverage/device.test.ts',
  'http/messaging-token.test.ts': 'store/contract/device.test.ts, http/coverage/device.test.ts',
  'http/my-cut-off.test.ts': 'store/contract/link.test.ts',
  'http/slot-end-inbox.test.ts': 'store/contract/inbox.test.ts, store/contract/link.test.ts',
  'http/slot-end-lost.test.ts': 'store/contract/link.test.ts, store/contract/inbox.test.ts',
  'http/slot-end-race.test.ts':
    'store/contract/link.test.ts, store/contract/race-processes.test.ts',
  'http/slot-end-told.test.ts': 'store/contract/link.test.ts, store/contract/inbox.test.ts',
  'http/stream-away.test.ts': 'store/contract/inbox.test.ts, store/postgres-outage.test.ts',
  'http/stream-life.test.ts': 'store/contract/device.test.ts, store/contract/inbox.test.ts',
  'http/stream-once.test.ts': 'store/contract/inbox.test.ts, store/contract/change.test.ts',
  'http/stream.test.ts': 'store/contract/inbox.test.ts',
  'http/upstream/bot-links.test.ts': 'store/contract/link.test.ts, store/contract/account.test.ts',
  'http/upstream/bot-thieves.test.ts':
    'store/contract/link.test.ts, store/contract/account.test.ts',
  'http/upstream/cut-off-doors.test.ts': 'store/contract/link.test.ts',
  'http/upstream/cut-off.test.ts': 'store/contract/link.test.ts',
  'http/webhook-replay.test.ts': 'store/contract/event.test.ts, http/coverage/webhook.test.ts',
  'jobs/leap.test.ts': 'store/contract/node.test.ts',
  'store/future-cuts.test.ts':
    'store/contract/node.test.ts cuts in steps; the table of columns is that of both stores',
  'store/held-lock.test.ts': 'store/postgres-held-lock.test.ts',
};
