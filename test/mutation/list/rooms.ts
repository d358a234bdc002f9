import type { MutatedFile } from '../mutation.ts';

/** Domains, keys, staff and webhooks in the console. */
export const roomFiles: readonly MutatedFile[] = [
  {
    file: 'src/console/parts/host.ts',
    tests: ['test/console/rooms.test.ts'],
    changes: [['/^[a-z][a-z0-9+.-]*:\\/\\//i.test(text) ? text : ', '']],
  },
  {
    file: 'src/console/parts/format.ts',
    tests: ['test/console/idle.test.ts'],
    changes: [['if (made?.tag !== texts.tag) made', 'made']],
  },
  {
    file: 'src/console/parts/form.tsx',
    tests: ['test/console/form-again.test.ts'],
    changes: [
      ['<div key={input.name} class', '<div class'],
      ['            {...{ defaultSelected: value === chosen }}\n', ''],
    ],
  },
  {
    file: 'src/console/parts/kept-host.ts',
    tests: ['test/console/form-again.test.ts'],
    changes: [
      ['`${new URL(url).origin}/`', 'url'],
      ['if (name.startsWith(WHOLE_ADDRESS)) localStorage.removeItem(name);', ''],
    ],
  },
  {
    file: 'src/console/parts/setup.tsx',
    tests: ['test/console/rooms.test.ts'],
    changes: [["new: 'link'", "new: ''"]],
  },
  {
    file: 'src/console/pages/domains.tsx',
    tests: ['test/console/rooms.test.ts'],
    changes: [
      ['keepHost(at, `https://${host}`);', ''],
      ['<p>{words.sureDisableHint}</p>', ''],
    ],
  },
  {
    file: 'src/console/parts/audit-entries.tsx',
    tests: ['test/console/activity.test.ts'],
    changes: [
      ['WITH_DEFAULT.has(field) ? usual : nothing', 'nothing'],
      ['if (word !== undefined) return word;', ''],
    ],
  },
  {
    file: 'src/http/console/domain-calls.ts',
    tests: ['test/http/console/overview.test.ts'],
    changes: [['.some(({ status }) => status === DOMAIN_ACTIVE)', '.length > 0']],
  },
  {
    file: 'src/core/account/session.ts',
    tests: ['test/http/console/sign-in.test.ts', 'test/http/console/passkey.test.ts'],
    changes: [
      ['passwordHash !== null ||', ''],
      [
        'passwordHash !== null || (await store.listPasskeys(id)).length > 0',
        'passwordHash !== null',
      ],
    ],
  },
  {
    file: 'src/console/parts/curl-text.ts',
    tests: ['test/console/curl.test.ts'],
    changes: [
      ['text.replaceAll("\'", "\'\\\\\'\'")', 'text'],
      ['value === null ?', "value === '' ?"],
    ],
  },
  {
    file: 'src/http/console/domain-calls.ts',
    tests: ['test/console/rooms.test.ts'],
    changes: [['status === DOMAIN_ACTIVE', 'status !== DOMAIN_ACTIVE']],
  },
  {
    file: 'src/http/console/webhook-calls.ts',
    tests: ['test/http/console/unpaid.test.ts'],
    changes: [
      ["'webhooks.edit': paidCall(", "'webhooks.edit': staffCall("],
      ["'webhooks.remove': paidCall(", "'webhooks.remove': staffCall("],
    ],
  },
  {
    file: 'src/http/console/inputs.ts',
    tests: ['test/http/console/odd-text.test.ts'],
    store: 'postgres',
    changes: [['return ODD.test(value);', 'return false;']],
  },
  {
    file: 'src/http/console/answer.ts',
    tests: ['test/http/console/send.test.ts', 'test/http/console/link-files.test.ts'],
    changes: [
      ['large.enterBody(request, { session }, bytes)', 'null'],
      ['REQUEST_BOUNDS.bytesMax + 1_024', '64 * 1_024'],
      ['session === undefined ? null : ', ''],
    ],
  },
  {
    file: 'src/console/parts/loaded.tsx',
    tests: ['test/console/loaded.test.ts'],
    changes: [
      ['round < rounds.current.answered', 'false'],
      ['if (!(fault instanceof Refusal && PASSING.has(fault.says))) value.value = null;', ''],
      ['PASSING.has(fault.says)', 'false'],
    ],
  },
  {
    file: 'src/console/parts/job.tsx',
    tests: ['test/console/jobs.test.ts'],
    changes: [
      ["(job.state === 'failed' || ", '('],
      ['!seen.value.includes(job.id)', 'true'],
    ],
  },
  {
    file: 'src/console/pages/link-panel.tsx',
    tests: ['test/console/jobs.test.ts'],
    changes: [['<FinalLink key={shown.code} ', '<FinalLink ']],
  },
  {
    file: 'src/console/parts/link-import.tsx',
    tests: ['test/console/link-import.test.ts'],
    changes: [
      ['missed.value = [...missed.value, ...problems];', ''],
      ['dealt.value >= rows.length', 'made.value >= rows.length'],
    ],
  },
  {
    file: 'src/core/quotas.ts',
    tests: ['test/http/console/overview.test.ts'],
    changes: [['isInWindow ? ', 'true ? ']],
  },
  {
    file: 'src/core/device-mix.ts',
    tests: ['test/core/device-mix.test.ts'],
    changes: [
      ['if (devices.length === SLICE) return null;', ''],
      ['?.day === day) continue;', '?.day === day) break;'],
      ['this.#counts.size < KINDS_MAX', 'true'],
      ['after = { os: last.os, deviceId: last.deviceId };', 'return;'],
    ],
  },
  {
    file: 'src/store/noun/device-mix.ts',
    tests: ['test/store/contract/job.test.ts'],
    changes: [['yield* on.clear.run({ providerId });', '']],
  },
];
