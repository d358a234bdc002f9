import type { MutatedFile } from '../mutation.ts';

/** Mistakes that no test noticed once. */
export const known: readonly MutatedFile[] = [
  {
    file: 'src/store/postgres/outage.ts',
    tests: [
      'test/store/postgres-faults.test.ts',
      'test/store/postgres-outage.test.ts',
      'test/store/postgres-full-disk.test.ts',
    ],
    changes: [
      ['const QUIET_MS = 3_000;', 'const QUIET_MS = 0;'],
      [
        "const refuses = place === 'plain' ? 'all' : 'transactions';",
        "const refuses: Outage['refuses'] = 'all';",
      ],
      [
        'else if (isLost(fault)) this.#reconnect();',
        'else if (isLost(fault)) this.#unreachable(problem);',
      ],
    ],
  },
  {
    file: 'src/store/postgres/watch.ts',
    tests: ['test/store/postgres-opening.test.ts'],
    changes: [['if (ban !== null) db.ban(ban);', '']],
  },
  {
    file: 'src/http/port-handover.ts',
    tests: ['test/http/port-handover.test.ts', 'test/http/stop.test.ts'],
    changes: [
      [
        'instruction(BPF_SKIP_UNLESS_SET, TCP_SYN, 1),',
        'instruction(BPF_SKIP_UNLESS_SET, TCP_SYN, 0),',
      ],
    ],
  },
  {
    file: 'src/http/stream/stream.ts',
    tests: ['test/http/stream-life.test.ts'],
    changes: [
      ['export const PING_INTERVAL_MS = 9_000;', 'export const PING_INTERVAL_MS = 18_000;'],
      ['const UNANSWERED_PINGS_MAX = 2;', 'const UNANSWERED_PINGS_MAX = 5;'],
      ['(isUsual ? Math.random() : 1)', 'Math.random()'],
    ],
  },
  {
    file: 'src/http/stream/wheel.ts',
    tests: ['test/http/wheel.test.ts'],
    changes: [
      ['if (count === CALLED_AT_ONCE) break;', ''],
      ['Math.max(1, Math.ceil(pauseMs / this.tickMs))', 'Math.ceil(pauseMs / this.tickMs)'],
      ['if (!member.slot?.delete(member)) return;', 'if (!member.slot) return;'],
    ],
  },
  {
    file: 'src/http/endpoints/messaging.ts',
    tests: ['test/http/patience.test.ts'],
    changes: [['Math.min(params.wait ?? 0, settings.pollSecondsMax)', '(params.wait ?? 0)']],
  },
  {
    file: 'src/http/stream/handshake.ts',
    tests: ['test/http/patience.test.ts'],
    changes: [['Math.min(secondsMax, ', 'Math.min(PING_SECONDS.max, ']],
  },
  {
    file: 'src/client/provider-client.ts',
    tests: ['test/client/provider-client.test.ts'],
    changes: [
      ['if (afterMs !== null) this.#nextAtMs = Math.max(this.#nextAtMs, nowMs() + afterMs);', ''],
    ],
  },
  {
    file: 'src/permissions.ts',
    tests: ['test/permissions.test.ts'],
    changes: [['  if (owner) lchownSync(path, owner.uid, owner.gid);', '']],
  },
  {
    file: 'src/core/secret.ts',
    tests: ['test/core/secret.test.ts'],
    changes: [
      ['if (byte < 248 && code.length < length)', 'if (byte < 256 && code.length < length)'],
    ],
  },
  {
    file: 'src/store/noun/removal.ts',
    tests: ['test/store/contract/provider.test.ts'],
    changes: [[', previous_key_hash = NULL, active_until_ms = 0', ', active_until_ms = 0']],
  },
  {
    file: 'src/store/sqlite/writer.ts',
    tests: ['test/store/writer.test.ts', 'test/store/writer-lock.test.ts'],
    changes: [
      ['    this.#waitingSinceMs = null;', ''],
      ['      this.#options.notes?.undo(mark);\n', ''],
    ],
  },
  {
    file: 'src/store/sqlite/file/open.ts',
    tests: ['test/store/open.test.ts'],
    changes: [["db.run('PRAGMA synchronous = FULL');", "db.run('PRAGMA synchronous = NORMAL');"]],
  },
];
