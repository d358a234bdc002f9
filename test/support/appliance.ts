/** An appliance without a machine, for the operator's pages. */

import type { Clock } from '../../src/base/clock.ts';
import type { Finding } from '../../src/base/finding.ts';
import type { Log } from '../../src/base/log.ts';
import type { Appliance, AuditCheck, Backups, UpstreamDesk } from '../../src/call/appliance.ts';
import { DAY_MS } from '../../src/core/calendar.ts';
import type { Core } from '../../src/core/core.ts';
import { malformed, Refused } from '../../src/core/outcome.ts';
import type { Upstream } from '../../src/http/upstream/settings.ts';
import { LiveUpstreams } from '../../src/parts/live-upstreams.ts';

export const FINDINGS: readonly Finding[] = [
  {
    name: 'clock',
    subject: null,
    check: 'clock',
    level: 'ok',
    what: 'the clock shows 2026-11-23T12:00:00.000Z',
    todo: null,
  },
  {
    name: 'backups_not_scheduled',
    subject: null,
    check: 'backups',
    level: 'warning',
    what: 'none is scheduled',
    todo: 'set backup.at',
  },
  {
    name: 'disk_full',
    subject: null,
    check: 'disk space',
    level: 'problem',
    what: 'it is full',
    todo: 'free space',
  },
];

function checkupOf<T>(result: T) {
  let last: { atMs: number; result: T } | null = null;
  return {
    last: () => last,
    run: async (nowMs: number) => {
      last = { atMs: nowMs, result };
      return result;
    },
  };
}

/** Backups of no database; a second verification is of a damaged one. */
function testBackups(): Backups {
  const names = ['gatepost-20261120T033000Z.backup', 'gatepost-20261119T033000Z.backup'];
  return {
    list: async () => ({
      folder: '/var/lib/gatepost/backups',
      schedule: '03:30',
      keep: 7,
      nextMs: 0,
      files: names.map((name, n) => ({ name, atMs: n, bytes: 1_500_000 })),
      isEncrypted: false,
      lastFailure: null,
      copies: null,
    }),
    make: async () => 'the disk is full',
    verify: async (name) => {
      if (!names.includes(name)) return 'not_found';
      return { problem: name === names[0] ? null : 'a chunk is damaged' };
    },
    prepare: async (passphrase, _sessionId, _nowMs, note) => {
      if (passphrase.includes('busy')) return 'busy';
      await note();
      return { bytes: 7 };
    },
    copyOf: () => null,
  };
}

/** The upstreams of a database beside those of `settings`, put in force there. */
export function testUpstreams(
  core: Core,
  clock: Clock,
  log: Log,
  settings: { gateUpstreams: readonly Upstream[] },
): LiveUpstreams {
  const upstreams = settings.gateUpstreams;
  return new LiveUpstreams({
    core,
    clock,
    log,
    settings: Object.assign(settings, { host: '::', port: 1 }),
    own: () => ({ upstreams, text: '' }),
    certifiedNames: () => ['*.example.com'],
    certificateExpiresAtMs: () => clock.nowMs() + DAY_MS,
  });
}

/** Upstreams of a file that has none, and of no database. */
const NO_UPSTREAMS: UpstreamDesk = {
  list: async () => ({ panels: [], own: [], kept: [], follows: [] }),
  check: async () => malformed('none'),
  put: async () => malformed('none'),
  remove: async () => new Refused('upstream_not_found'),
};

export function testAppliance(upstreams = NO_UPSTREAMS): Appliance {
  return {
    settings: () => ({
      file: '/etc/gatepost/gatepost.toml',
      rows: [
        { key: 'server.port', variable: 'GATEPOST_PORT', value: '8080', origin: 'default' },
        ...[{ key: 'log.level', variable: 'GATEPOST_LOG_LEVEL', value: 'warn', origin: '--log' }],
      ],
    }),
    state: async () => ({
      version: '0.0.0',
      node: 'node-1',
      startedAtMs: 0,
      notReady: null,
      loopLagSeconds: 0.005,
      loopLateCount: 2,
      loopCount: 1_000,
      residentBytes: 90_000_000,
      openFiles: 40,
      openFilesMax: 1_024,
      certificateEndsAtMs: null,
      isDatabaseFile: true,
    }),
    doctor: checkupOf(FINDINGS),
    pushSender: () => null,
    backups: testBackups(),
    upstreams,
    auditCheck: checkupOf<AuditCheck>({ count: 3, head: '3:ab', problem: null }),
  };
}
