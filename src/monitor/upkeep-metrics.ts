/** Metrics of upkeep, from its records in the database: all nodes have the same. */

import { VERSION } from '../base/version.ts';
import type { UpkeepTask } from '../core/port/upkeep.ts';
import { failureOf, newerVersion, upkeepOf } from '../core/upkeep.ts';
import { type MetricRow, one, row, type Snapshot } from './metric-row.ts';
import { BACKUP_FAILED } from './tallies.ts';

const successOf = ({ upkeep }: Snapshot, task: UpkeepTask) =>
  upkeep?.find((one) => one.task === task)?.success ?? null;

const seconds = (ms: number | null | undefined) => one(ms && ms / 1000);

/** The tasks of the label `what` that run. */
const running = ({ upkeep }: Snapshot) =>
  (['backup', 'copy'] as const)
    .map((what) => upkeepOf(upkeep ?? [], what))
    .filter((found) => found !== null);

export const UPKEEP: MetricRow[] = [
  row({
    name: 'gatepost_backup_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'Time of the last successful backup.',
    read: (snapshot) => seconds(successOf(snapshot, 'backup')?.atMs),
  }),
  row({
    name: 'gatepost_backup_last_duration_seconds',
    type: 'gauge',
    help: 'Duration of the last successful backup, if it is known.',
    read: (snapshot) => seconds(successOf(snapshot, 'backup')?.tookMs),
  }),
  row({
    name: 'gatepost_backup_last_bytes',
    type: 'gauge',
    help: 'Size of the last successful backup.',
    read: (snapshot) => one(successOf(snapshot, 'backup')?.bytes),
  }),
  row({
    name: 'gatepost_backup_failures_total',
    type: 'counter',
    help: 'Scheduled backups that failed.',
    read: ({ tallies }) => one(tallies.logEvents.error.of(BACKUP_FAILED)),
  }),
  row({
    name: 'gatepost_backup_failing',
    type: 'gauge',
    labels: ['what'],
    help: 'Whether the last backup, or the last command of `backup.after` (`copy`), failed: 1 or 0.',
    read: (snapshot) =>
      running(snapshot).map((found) => ({
        labels: { what: found.task },
        value: Number(failureOf(found) !== null),
      })),
  }),
  row({
    name: 'gatepost_backup_last_failure_timestamp_seconds',
    type: 'gauge',
    labels: ['what'],
    help: 'Time of the last failure of a backup, or of the command of `backup.after` (`copy`).',
    read: (snapshot) =>
      running(snapshot).flatMap(({ task, failure }) =>
        failure === null ? [] : [{ labels: { what: task }, value: failure.atMs / 1000 }],
      ),
  }),
  row({
    name: 'gatepost_backup_copy_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'Time at which the command of `backup.after` last began that succeeded.',
    read: (snapshot) => seconds(successOf(snapshot, 'copy')?.atMs),
  }),
  row({
    name: 'gatepost_update_available',
    type: 'gauge',
    help: 'Whether the page of `update.url` has a newer version: 1 or 0.',
    read: ({ upkeep }) => {
      const isKnown = upkeepOf(upkeep ?? [], 'release')?.success;
      return isKnown ? one(Number(newerVersion(upkeep ?? [], VERSION) !== null)) : [];
    },
  }),
];
