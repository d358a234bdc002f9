import type { MutatedFile } from '../mutation.ts';

/** Jobs of the console. */
export const jobFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/job/job.ts',
    tests: ['test/core/job.test.ts'],
    changes: [
      ['const dueAtMs = nowMs + UNDO_MS;', 'const dueAtMs = nowMs;'],
      ['if (link?.providerId !== provider.id)', 'if (link === null)'],
      ['preview.count += 1;', ''],
    ],
  },
  {
    file: 'src/core/job/step.ts',
    tests: ['test/core/job.test.ts'],
    changes: [
      ['found = links.filter(({ id }) => id <= toId);', 'found = links;'],
      ["work.kind === 'link.revoke' ? randomCode(12) : null", 'null'],
      ['await core.store.failJob(hold, reason, nowMs);', ''],
    ],
  },
  {
    file: 'src/core/job/right.ts',
    tests: ['test/core/job.test.ts'],
    changes: [
      ['keyFingerprint(provider.keyHash) === actor.key', 'true'],
      ['mayDo(kind, await store.listGrants(account.id), providerId)', 'true'],
    ],
  },
  {
    file: 'src/store/noun/job.ts',
    tests: ['test/store/contract/job.test.ts', 'test/core/job.test.ts'],
    changes: [
      ["AND lease = ${value('owner')} AND after_id", 'AND after_id'],
      [" AND after_id = ${value('afterId')} ${locked}", ' ${locked}'],
      ['d.waiting_count >= ', 'd.waiting_count > 1 + '],
      ['if (open >= countMax)', 'if (open > countMax)'],
      ["OR lease_until_ms > ${value('leaseUntilMs')})", ')'],
      [', isOfJob: true }', ' }'],
      ["if (row.state !== 'waiting' && row.state !== 'running') return 'job_ended';", ''],
    ],
  },
  {
    file: 'src/http/console/job-calls.ts',
    tests: ['test/http/console/jobs.test.ts'],
    changes: [
      ["note === '' ? null : readNote(note)", 'readNote(note)'],
      ['!mayDo(job.kind, signedIn.grants, provider.id)', 'false'],
    ],
  },
  {
    file: 'src/core/same-phone.ts',
    tests: ['test/core/same-phone.test.ts'],
    changes: [
      ['slot.lastSeenAtMs <= fromMs', 'slot.lastSeenAtMs < fromMs'],
      ['slot.os === os &&', ''],
      ["if (deviceName === '') return null;", ''],
    ],
  },
  {
    file: 'src/core/link-look.ts',
    tests: ['test/http/console/link-panel.test.ts'],
    changes: [
      ['if (link?.providerId !== provider.id)', 'if (link === null)'],
      ["if (domainHash === null) return 'domain';", ''],
    ],
  },
];
