import type { MutatedFile } from '../mutation.ts';

/** Jobs of the console. */
export const jobFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/job/job.ts',
    tests: ['test/core/job.test.ts'],
    changes: [
      ['dueAtMs: nowMs + UNDO_MS', 'dueAtMs: nowMs'],
      ['if (link?.providerId !== provider.id)', 'if (link === null)'],
      ['preview.count += 1;', ''],
      ['count > shownCount', 'false'],
      ['limit < deviceCount && limit', 'limit <= deviceCount && limit'],
      ['isOfMany ? BULK_MAX : LINK_JOBS_MAX', 'LINK_JOBS_MAX'],
      ['if (nextId === null || signal?.aborted)', 'if (nextId === null)'],
    ],
  },
  {
    file: 'src/core/job/step.ts',
    tests: ['test/core/job.test.ts'],
    changes: [
      ['found = links.filter(({ id }) => id <= toId);', 'found = links;'],
      ["work.kind === 'link.revoke' ? randomCode(12) : null", 'null'],
      ["return core.store.failJob(hold, stop ?? 'not_understood', nowMs);", 'return;'],
      ['faults.count >= FAULTS_MAX', 'false'],
      ['isAway(fault) || fault instanceof WriteFailed', 'isAway(fault)'],
      ['left === 0 && found.length > 0', 'false'],
      ['.slice(0, left)', ''],
      ['return n === 0 || weight <= WEIGHT_MAX;', 'return weight <= WEIGHT_MAX;'],
      ['weight += 1 + deviceCount;', 'weight += 1;'],
      ['    if (faults.id === job.id) faults.count = 0;\n', ''],
      ['for (const deviceId of done.deviceIds) core.signals.messagesFor(deviceId);', ''],
      ["if (typeof done === 'string') return;", ''],
    ],
  },
  {
    file: 'src/core/job/right.ts',
    tests: ['test/core/job.test.ts'],
    changes: [
      ['keyFingerprint(provider.keyHash) === actor.key', 'true'],
      ['return mayDo(kind, grants, providerId) ?', 'return true ?'],
      ['refusalByPlan(provider, undefined, nowMs) !== null', 'false'],
    ],
  },
  {
    file: 'src/store/noun/job.ts',
    tests: ['test/store/contract/job.test.ts', 'test/core/job.test.ts'],
    changes: [
      ['AND lease = :owner AND after_id', 'AND after_id'],
      [' AND after_id = :afterId ${locked}', ' ${locked}'],
      ['d.waiting_count >= ', 'd.waiting_count > 1 + '],
      ['if (open >= countMax)', 'if (open > countMax)'],
      ['if (same !== null) return same;', ''],
      ['AND due_at_ms > :createdAtMs', ''],
      ['AND actor = :actor', ''],
      [' AND w.disabled_at_ms IS NULL', ''],
      ["kind NOT IN ('links.change', 'links.remove') OR ", ''],
      ['OR lease_until_ms > :leaseUntilMs)', ')'],
      [', isOfJob: true }', ' }'],
      ["if (job.state !== 'waiting' && job.state !== 'running') return 'job_ended';", ''],
    ],
  },
  {
    file: 'src/http/console/job-calls.ts',
    tests: ['test/http/console/jobs.test.ts'],
    changes: [
      ['!mayDo(job.kind, signedIn.grants, provider.id)', 'false'],
      ['readHwid(given)', 'given'],
    ],
  },
  {
    file: 'src/http/console/link-filter.ts',
    tests: ['test/http/console/jobs.test.ts'],
    changes: [['Type.RegExp(LINK_SEARCH.pattern)', 'Type.String()']],
  },
  {
    file: 'src/core/same-phone.ts',
    tests: ['test/core/same-phone.test.ts', 'test/http/held-by-hash.test.ts'],
    changes: [
      ['slot.lastSeenAtMs <= fromMs', 'slot.lastSeenAtMs < fromMs'],
      ['slot.os === os &&', ''],
      ["if (deviceName === '') return null;", ''],
      [" || app === '' ?", ' ?'],
      ["policy === null || policy.samePhone === 'off'", 'policy === null'],
    ],
  },
  {
    file: 'src/core/link-look.ts',
    tests: ['test/http/console/link-panel.test.ts'],
    changes: [
      ['if (link?.providerId !== provider.id)', 'if (link === null)'],
      ['!isUnbound || createdAtMs >= lastAtMs', 'true'],
      [' || createdAtMs >= lastAtMs', ''],
    ],
  },
];
