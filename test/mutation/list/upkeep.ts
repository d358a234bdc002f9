import type { MutatedFile } from '../mutation.ts';

export const upkeep: readonly MutatedFile[] = [
  {
    file: 'src/backup/after.ts',
    tests: ['test/backup/after.test.ts'],
    changes: [
      ['!backupAfterClear &&', 'false &&'],
      ["'--', file", 'file'],
      ['mayLeaveRest: false', 'mayLeaveRest: true'],
      ['exited with ${exitCode}`', 'exited with ${exitCode}`.slice(1)'],
    ],
  },
  {
    file: 'src/config/command-file.ts',
    tests: ['test/config/command-file.test.ts'],
    changes: [
      ['[path, dirname(path)]', '[path]'],
      ['foreignHand(place, stats, owners)', 'null'],
      ['stats?.isDirectory() && ', ''],
      [' && stats.uid === 0', ' && false'],
    ],
  },
  {
    file: 'src/doctor/release.ts',
    tests: ['test/jobs/release.test.ts'],
    changes: [
      ['row.failureCount > 1', 'row.failureCount > 0'],
      ["failure.code === 'release_refused'", 'false'],
    ],
  },
  {
    file: 'src/doctor/backup-copy.ts',
    tests: ['test/backup/after.test.ts'],
    changes: [
      ["!backupAfterClear || backupPassphrase !== ''", '!backupAfterClear'],
      ['madeMs + PATIENCE_MS < nowMs', 'false'],
    ],
  },
  {
    file: 'src/doctor/backups.ts',
    tests: ['test/backup/told.test.ts'],
    changes: [
      ['due + graceMs < nowMs', 'due + 24 * graceMs < nowMs'],
      ['Math.max(HOUR_MS, 2 *', 'Math.max(HOUR_MS, 0 *'],
      ['goodMs + SAME_TIME_MS', 'goodMs'],
      ['failure.atMs >= goodMs', 'true'],
      ['failure !== null && failure', 'false && failure'],
      ['row?.schedule === pattern ? row.scheduledAtMs : 0', '0'],
      ["code !== 'disk_read_only'", 'true'],
    ],
  },
  {
    file: 'src/operator-program.ts',
    tests: ['test/tls/acme.test.ts', 'test/backup/after.test.ts'],
    changes: [
      [`  endGroup(child.pid, 'SIGKILL');\n  return`, '  return'],
      ['env: ENVIRONMENT,', ''],
      ['exitCode === 0 && mayLeaveRest', 'exitCode === 0'],
    ],
  },
  {
    file: 'src/jobs/release.ts',
    tests: ['test/jobs/release.test.ts'],
    changes: [
      ['if (nowMs < nextMs) {', 'if (false) {'],
      ['      if (signal.aborted) return;\n', ''],
      [' || nowMs < dueMs', ''],
    ],
  },
  {
    file: 'src/jobs/backup-copy.ts',
    tests: ['test/backup/after.test.ts'],
    changes: [
      ['    if (stopping.signal.aborted) return;\n', ''],
      ['made.result === last?.success?.result', 'false'],
    ],
  },
  {
    file: 'src/jobs/backup.ts',
    tests: [...['test/jobs/stop.test.ts', 'test/backup/shelf.test.ts'], 'test/backup/told.test.ts'],
    changes: [
      ['if (!stopping.signal.aborted) {', '{'],
      ['      stopping.abort();\n', ''],
      ['        await noteNewest();\n', ''],
      ['  await noteNewest();\n  await reschedule();', '  await reschedule();'],
      ['if (found.atMs <= (known', 'if (found.atMs < (known'],
    ],
  },
];
