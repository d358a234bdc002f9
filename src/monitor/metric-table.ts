/** The table of metrics: name, meaning, and source of the values. */

import { COMMIT, VERSION } from '../base/version.ts';
import { FOLLOWS } from './follow-metrics.ts';
import { counted, type MetricRow, one, row, spread } from './metric-row.ts';
import { OUTBOX } from './outbox-metrics.ts';
import { SERVER } from './server-metrics.ts';
import { UPKEEP } from './upkeep-metrics.ts';

const REQUESTS: MetricRow[] = [
  row({
    name: 'gatepost_requests_total',
    type: 'counter',
    labels: ['endpoint', 'answer'],
    help: 'Requests answered, by the path of the endpoint and the key of the answer.',
    read: ({ http }) =>
      [...(http?.tallies() ?? [])].flatMap(({ endpoint, answers }) =>
        counted('answer', answers).map(({ labels, value }) => ({
          labels: { endpoint, ...labels },
          value,
        })),
      ),
  }),
  row({
    name: 'gatepost_request_duration_seconds',
    type: 'histogram',
    labels: ['endpoint'],
    help: 'Time until an answer was made, without the delay of failed credentials.',
    read: ({ http }, name) =>
      [...(http?.tallies() ?? [])].flatMap(({ endpoint, seconds }) =>
        spread(name, seconds, { endpoint }),
      ),
  }),
  row({
    name: 'gatepost_busy_address_links',
    type: 'gauge',
    labels: ['whose', 'name'],
    help: 'Links, up to 1000, whose devices came in a day from an address of this machine, a network of limits.shared_addresses, or the busiest other one, without its name; absent below 101.',
    read: ({ busyAddresses }) =>
      (busyAddresses ?? []).map(({ whose, name, linkCount }) => ({
        labels: { whose, name },
        value: linkCount,
      })),
  }),
  row({
    name: 'gatepost_limited_total',
    type: 'counter',
    labels: ['limit'],
    help: 'Answers to failed credentials that were delayed; registrations, streams, large answers, PROXY headers and connections refused.',
    read: ({ http }) =>
      Object.entries(http?.limited() ?? {}).map(([limit, value]) => ({ labels: { limit }, value })),
  }),
  row({
    name: 'gatepost_streams_open',
    type: 'gauge',
    help: 'WebSocket streams of devices that are open.',
    read: ({ http }) => one(http?.streamCount()),
  }),
  row({
    name: 'gatepost_polls_waiting',
    type: 'gauge',
    help: 'Long polls of devices that wait.',
    read: ({ http }) => one(http?.pollCount()),
  }),
  row({
    name: 'gatepost_certificate_expires_timestamp_seconds',
    type: 'gauge',
    help: 'End of the served certificate.',
    read: ({ certificateExpiresAtMs: atMs }) => one(atMs && atMs / 1000),
  }),
  row({
    name: 'gatepost_clock_lead_seconds',
    type: 'gauge',
    help: 'Time by which a clock that leapt is ahead, below 0 behind; 0: it has not leapt.',
    read: ({ leap }) => one((leap?.leadMs ?? 0) / 1000),
  }),
  row({
    name: 'gatepost_deletion_suspended',
    type: 'gauge',
    help: 'Whether a leap of the clock suspends deletion: 1 or 0.',
    read: ({ leap }) => one(Number(leap?.isSuspended ?? false)),
  }),
];

const DATABASE: MetricRow[] = [
  row({
    name: 'gatepost_database_bytes',
    type: 'gauge',
    help: 'Size of the database.',
    read: ({ storage }) => one(storage?.bytes),
  }),
  row({
    name: 'gatepost_database_free_bytes',
    type: 'gauge',
    help: 'Space inside the database that new rows use first.',
    read: ({ storage }) => one(storage?.freeBytes),
  }),
  row({
    name: 'gatepost_database_wal_bytes',
    type: 'gauge',
    help: 'Size of the write-ahead log.',
    read: ({ storage }) => one(storage?.logBytes),
  }),
  row({
    name: 'gatepost_disk_free_bytes',
    type: 'gauge',
    help: 'Free space on the disk of the data directory.',
    read: ({ storage }) => one(storage?.diskFreeBytes),
  }),
  row({
    name: 'gatepost_commits_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Commits, by whether they were saved.',
    read: ({ tallies }) => counted('outcome', tallies.commits),
  }),
  row({
    name: 'gatepost_commit_writes',
    type: 'histogram',
    help: 'Writes that shared one commit.',
    read: ({ tallies }, name) => spread(name, tallies.commitWrites),
  }),
  row({
    name: 'gatepost_commit_duration_seconds',
    type: 'histogram',
    help: 'Time from taking the lock until the commit was on disk.',
    read: ({ tallies }, name) => spread(name, tallies.commitSeconds),
  }),
];

const MESSAGES: MetricRow[] = [
  row({
    name: 'gatepost_figures_total',
    type: 'counter',
    labels: ['figure'],
    help: 'Figures of `gatepost stats`, over all providers, counted by this process.',
    read: ({ tallies }) => counted('figure', tallies.figures),
  }),
  row({
    name: 'gatepost_queue_distributions',
    type: 'gauge',
    labels: ['state'],
    help: 'Distributions that have not ended: due ones, and ones scheduled for later.',
    read: ({ queue }) =>
      queue === null
        ? []
        : [
            { labels: { state: 'due' }, value: queue.dueCount },
            { labels: { state: 'scheduled' }, value: queue.scheduledCount },
          ],
  }),
  row({
    name: 'gatepost_queue_recipients',
    type: 'gauge',
    help: 'Recipients of distributions in delivery that have not got the message.',
    read: ({ queue }) => one(queue?.recipientCount),
  }),
  row({
    name: 'gatepost_queue_oldest_due_seconds',
    type: 'gauge',
    help: 'For how long the oldest due distribution has been due; 0: none.',
    read: ({ queue, nowMs }) =>
      one(queue && Math.max(0, nowMs - (queue.oldestDueAtMs ?? nowMs)) / 1000),
  }),
  row({
    name: 'gatepost_distributions_total',
    type: 'counter',
    labels: ['event'],
    help: 'Distributions accepted, and ended by this process, by outcome.',
    read: ({ tallies }) => counted('event', tallies.distributions),
  }),
  row({
    name: 'gatepost_deliveries_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Recipients whose inbox got a message, whose delivery failed, or whose message expired.',
    read: ({ tallies }) => counted('outcome', tallies.deliveries),
  }),
  row({
    name: 'gatepost_acknowledgements_total',
    type: 'counter',
    labels: ['state'],
    help: 'Acknowledgements of devices.',
    read: ({ tallies }) => counted('state', tallies.acknowledgements),
  }),
];

const PROCESS: MetricRow[] = [
  row({
    name: 'gatepost_log_events_total',
    type: 'counter',
    labels: ['level', 'event'],
    help: 'Warnings and errors, also unwritten ones, by the name of the event.',
    read: ({ tallies: { logEvents } }) =>
      Object.entries(logEvents).flatMap(([level, counts]) =>
        counted('event', counts).map(({ labels, value }) => ({
          labels: { level, ...labels },
          value,
        })),
      ),
  }),
  row({
    name: 'gatepost_event_loop_lag_seconds',
    type: 'histogram',
    help: 'Delay of a timer, measured once a second; every request has this delay.',
    read: ({ tallies }, name) => spread(name, tallies.loopLagSeconds),
  }),
  row({
    name: 'gatepost_build_info',
    type: 'gauge',
    labels: ['version', 'commit', 'bun'],
    help: 'Version and commit of the program; always 1.',
    read: () => [{ labels: { version: VERSION, commit: COMMIT, bun: Bun.version }, value: 1 }],
  }),
  row({
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'Start time of the process.',
    read: ({ startedAtMs }) => one(startedAtMs / 1000),
  }),
  row({
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'Processor time of all threads.',
    read: ({ process: facts }) => one(facts.cpuSeconds),
  }),
  row({
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory, the mapped pages of the database included.',
    read: ({ process: facts }) => one(facts.residentBytes),
  }),
  row({
    name: 'process_open_fds',
    type: 'gauge',
    help: 'Open file descriptors.',
    read: ({ process: facts }) => one(facts.openFiles),
  }),
  row({
    name: 'process_max_fds',
    type: 'gauge',
    help: 'The most file descriptors that the process may open.',
    read: ({ process: facts }) => one(facts.openFilesMax),
  }),
];

export const METRICS: readonly MetricRow[] = [
  ...REQUESTS,
  ...DATABASE,
  ...SERVER,
  ...MESSAGES,
  ...OUTBOX,
  ...UPKEEP,
  ...FOLLOWS,
  ...PROCESS,
];
