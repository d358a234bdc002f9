import type { MutatedFile } from '../mutation.ts';

const CALLS = 'test/http/console/messages.test.ts';

export const consoleSentFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/message/sent.ts',
    tests: [CALLS],
    changes: [
      ['scheduled: { fits: mayBegin, isScheduled: true }', 'scheduled: { fits: mayBegin }'],
      ['message.dueAtMs - CANCEL_CUTOFF_MS', 'message.dueAtMs'],
      ['last = { deviceId: end.deviceId };', 'last = null;'],
      ['body: plainText(text(body))', 'body: text(body)'],
    ],
  },
  {
    file: 'src/core/audit/page.ts',
    tests: [CALLS],
    changes: [
      ['block: block.number + 1', 'block: block.number'],
      ['entry.number >= beforeEntry || ', ''],
      ['(providerCode === null || providerOf(entry) === providerCode) &&', ''],
    ],
  },
  {
    file: 'src/call/message-calls.ts',
    tests: ['test/http/console/send.test.ts'],
    changes: [['hwids.slice(0, ROW_HWIDS)', 'hwids']],
  },
  {
    file: 'src/call/activity-calls.ts',
    tests: [CALLS],
    changes: [["seesAddresses && kind !== 'operator' ? from : null", 'from']],
  },
  {
    file: 'src/cli/distribution-receipts.ts',
    tests: ['test/cli/push.test.ts'],
    changes: [
      ['found.slice(0, countMax)', 'found'],
      ['pageLedger(core, of, { show, after,', "pageLedger(core, of, { show: 'all', after,"],
    ],
  },
  {
    file: 'src/console/pages/message-panel.tsx',
    tests: ['test/console/messages.test.ts'],
    changes: [['    focusPanel();\n    await refresh();', '    await refresh();']],
  },
  {
    file: 'src/console/parts/layout.tsx',
    tests: ['test/console/messages.test.ts'],
    changes: [["if (event.key === 'Escape' &&", "if (event.key === 'x' &&"]],
  },
  {
    file: 'src/console/pages/message-funnel.tsx',
    tests: ['test/console/messages.test.ts'],
    changes: [["{totals && bar('received', totals.received, 'good')}", '']],
  },
  {
    file: 'src/console/pages/messages.tsx',
    tests: ['test/console/messages.test.ts'],
    changes: [['now.get(row.id) ?? row', 'row']],
  },
  {
    file: 'src/console/texts/ru/activity.ts',
    tests: ['test/console/messages.test.ts'],
    changes: [['Со ссылки ${id} удалено: ${devices(hwids)}', 'Со ссылки ${id} удалено: ${hwids}']],
  },
  {
    file: 'src/store/noun/message.ts',
    tests: ['test/store/contract/serving.test.ts'],
    changes: [
      ['scanned === scanMax ? fromId : null', 'null'],
      ['AND x.provider_id = :providerId AND ${fits}', 'AND ${fits}'],
    ],
  },
];
