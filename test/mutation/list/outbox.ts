import type { MutatedFile } from '../mutation.ts';

const RULES = ['test/core/outbox/judge.test.ts'];
const WORKER = [
  ...['test/jobs/outbox.test.ts', 'test/jobs/outbox-stop.test.ts'],
  ...['test/jobs/outbox-fair.test.ts', 'test/jobs/outbox-pace.test.ts'],
];

/** The outbox: attempts, circuits, runs. */
export const outbox: readonly MutatedFile[] = [
  {
    file: 'src/core/outbox/judge.ts',
    tests: RULES,
    changes: [
      ["if (kind === 'webpush') return judged", 'if (false) return judged'],
      [
        `nextAtMs >= expiresAtMs) return expired(id, problem);\n  return { id, outcome: 'retry'`,
        `false) return expired(id, problem);\n  return { id, outcome: 'retry'`,
      ],
      ['if (dispatch.attemptCount + 1 < ATTEMPTS_MAX) return null;', ''],
      ['failureCount >= FAILING_COUNT_MIN', 'false'],
      ['nowMs - dispatch.queuedAtMs >= PUSH_AGE_MAX_MS', 'false'],
      [' && nowMs - queuedAtMs >= EVENT_AGE_MIN_MS', ''],
      ['afterGood(health), verdict.problem)', 'afterGood(health))'],
      ["const pauseMs = heededMs('event', afterMs);", 'const pauseMs = 0;'],
      ['mayDisable && hasTakenNone ? gaveUp', 'mayDisable ? gaveUp'],
      ['if (!mayDisable) return judged(failed(id, problem), health);', ''],
      ['after, mayDisable ? gaveUp : null)', 'after, gaveUp)'],
      ['isEnd ? why : null', 'null'],
      ['Math.min(verdict.afterMs, leftMs)', 'verdict.afterMs'],
      ["outcome: 'wait', nextAtMs", "outcome: 'retry', nextAtMs"],
    ],
  },
  {
    file: 'src/core/message/push-failure.ts',
    tests: ['test/core/message/push-failure.test.ts'],
    changes: [
      ['if (now.status === BLOCKED) return withProblem(WHY_BLOCKED, now.problem);', ''],
      ['now.expiresAtMs <= nowMs', 'now.expiresAtMs < nowMs'],
      ['now.push === null && ', ''],
      ['>= queuedAtMs', '> queuedAtMs'],
      ['problem === null ? why : ', ''],
    ],
  },
  {
    file: 'src/core/outbox/circuit.ts',
    tests: RULES,
    changes: [
      ['const FAILURES_MIN = 10', 'const FAILURES_MIN = 9'],
      [' && failingMs >= FAILING_MIN_MS', ''],
      [
        'Math.min(health.failingSinceMs ?? nowMs, nowMs);\n  const failingMs',
        '(health.failingSinceMs ?? nowMs);\n  const failingMs',
      ],
      ['Math.max(failingMs, PAUSE_MIN_MS)', 'failingMs'],
      [', PAUSE_MAX_MS)', ', 1e12)'],
      ['health.stoppedAtMs !== null || ', ''],
    ],
  },
  {
    file: 'src/core/outbox/retry.ts',
    tests: RULES,
    changes: [
      ['10 * MINUTE_MS', '20 * MINUTE_MS'],
      ['push: HOUR_MS, ', 'push: 2 * HOUR_MS, '],
      ['event: 24 * HOUR_MS', 'event: 48 * HOUR_MS'],
      ['Math.max(heededMs(', 'Math.min(heededMs('],
      ['30 * MINUTE_MS, ', ''],
    ],
  },
  {
    file: 'src/jobs/outbox/run.ts',
    tests: WORKER,
    changes: [
      ['this.#isTrial || retryAtMs > 0 || ', ''],
      [' || (isShared && failureCount > 0) ?', ' ?'],
      ['health.failureCount >= FAILURES_MAX', 'false'],
      ['this.#inProgressCount < this.#concurrency()', 'true'],
      ['this.#due.hasten();', ''],
      [
        'if (found.length > 0) this.hasFound = true;',
        'this.hasFound = true; if (found.length > 0);',
      ],
      ['isBlocked || hasFailedLong', 'hasFailedLong'],
      ['this.#outcomes.mayGrow && this.#in', 'this.#in'],
      ['if (dispatch === undefined) leave();', 'if (dispatch === undefined);'],
      ['.finally(leave)', ''],
      ['beginsWithNew: retryAtMs > 0 && ', 'beginsWithNew: retryAtMs < 0 && '],
    ],
  },
  {
    file: 'src/jobs/outbox/due-queue.ts',
    tests: WORKER,
    changes: [
      ['isAtRest || (this.#hasAdditions && hasRoom && this.rereadMs() === 0)', 'isAtRest'],
      ['!known.has(id)', 'true'],
    ],
  },
  {
    file: 'src/jobs/outbox/pace.ts',
    tests: ['test/jobs/outbox-pace.test.ts', 'test/jobs/outbox-fair.test.ts'],
    changes: [
      ['if (isAnother) this.#learn', 'this.#learn'],
      ['this.#pause(endedMs + BUSY_PAUSE_MS)', 'void BUSY_PAUSE_MS'],
      ['const FEW = 5', 'const FEW = 100'],
      ['PAUSE_FIRST_MS * 2 ** (excess - 1)', 'PAUSE_FIRST_MS'],
      ['this.#tooShortMs /= 2;', ''],
      ['(this.#meanMs ?? 0) > SLOW_MS', 'false'],
      ['this.#paces.get(destinationId) ?? new Pace(leastMs)', 'new Pace(leastMs)'],
    ],
  },
  {
    file: 'src/jobs/outbox/outcomes.ts',
    tests: WORKER,
    changes: [
      ['!this.#hasFailed && ', ''],
      [
        '      if (this.#isAbandoned) this.#drop();\n      else this.#pause();',
        '      this.#pause();',
      ],
      ['this.#pending.unshift(...batch);', ''],
      ['count < STEP_COUNT_MAX && this.isLeaseFresh', 'count < STEP_COUNT_MAX'],
      ['LEASE_MS - ATTEMPT_MAX_MS - 1_000', 'LEASE_MS - 1_000'],
    ],
  },
  {
    file: 'src/jobs/outbox/dispatcher.ts',
    tests: WORKER,
    changes: [
      ['verdict: isMended ? null : verdict', 'verdict'],
      ['verdict: isOld ? null : verdict', 'verdict'],
      ['verdict === null || isAborted', 'verdict === null'],
      ['this.#formerChats.has(`${id} ${verdict.movedTo}`)', 'false'],
      ['webhook?.disabled === null ? webhook : null', 'webhook'],
    ],
  },
  {
    file: 'src/jobs/keep.ts',
    tests: [
      ...['test/core/message/deliver-keep.test.ts', 'test/store/slot-story.test.ts'],
      'test/http/bounds.test.ts',
    ],
    changes: [
      ['const STORY_DAYS = 90;', 'const STORY_DAYS = 91;'],
      ['ageMs - ledgerDays * DAY_MS;', 'ageMs;'],
      ['Math.max(ledgerDays, distributionDays) * DAY_MS', 'ledgerDays * DAY_MS'],
      ['seenBeforeMs: ageMs - deviceDays * DAY_MS', 'seenBeforeMs: 0'],
      ['    at = await step(at);\n', '    await step(at);\n'],
    ],
  },
  {
    file: 'src/jobs/table.ts',
    tests: ['test/jobs/stop.test.ts', 'test/jobs/figures.test.ts'],
    changes: [
      ['      stopping.abort();\n', ''],
      ['if (present !== undefined) return present;', ''],
      ['if (isAway(fault)) return;', ''],
    ],
  },
  {
    file: 'src/jobs/deliver.ts',
    tests: [
      ...['test/core/message/deliver-lanes.test.ts', 'test/jobs/stop.test.ts'],
      'test/jobs/outbox.test.ts',
    ],
    changes: [
      ['      mustSignalAll = true;\n', ''],
      ['      stopping.abort();\n', ''],
      ['    core.signals.outboxFilled();\n', ''],
      ['if (owner !== null) await core.store.releaseWork(owner);', ''],
    ],
  },
  {
    file: 'src/jobs/wake-loop.ts',
    tests: ['test/jobs/wake-loop.test.ts', 'test/jobs/outbox-stop.test.ts'],
    changes: [
      [' || nowMs < this.#ranAtMs', ''],
      ['if (this.#mustRun) setImmediate', 'if (false) setImmediate'],
      ['        this.#dueAtMs = Number.NEGATIVE_INFINITY;\n', ''],
      ['if (this.#isStopping) return;', ''],
      ['if (this.#dueAtMs === null) return;', 'if (this.#dueAtMs === null) this.wake();'],
    ],
  },
  {
    file: 'src/jobs/outbox/contents.ts',
    tests: ['test/jobs/outbox-contents.test.ts'],
    changes: [
      ['if (known !== undefined) return known;', ''],
      ['    this.#reads.set(distributionId, read);\n', ''],
    ],
  },
  {
    file: 'src/jobs/outbox/worker.ts',
    tests: WORKER,
    changes: [
      ['if (run.hasFound) this.wake();', 'this.wake();'],
      ['for (const run of this.#runs()) this.#earlier.add(run);', ''],
      ['if (!this.#hasFault && !isAway(fault))', 'if (!isAway(fault))'],
      ['this.#aborting.abort();', ''],
      ['clock.steadyMs() - beganMs >= RUN_MS', 'false'],
      ['run.isSlow ? await slowPlaces.take(party, signal) : () => {}', '() => {}'],
      ['      leaveSlow();\n', ''],
      ['const FAILING_MAX = 12;', 'const FAILING_MAX = 48;'],
      ['slow.slice(Math.max(0, SLOW_MAX - slowCount))', '[]'],
    ],
  },
];
