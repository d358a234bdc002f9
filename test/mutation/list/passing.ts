import type { MutatedFile } from '../mutation.ts';

/** The filter of a panel's answers, and the notes about them. */
export const passing: readonly MutatedFile[] = [
  {
    file: 'src/http/upstream/headers.ts',
    tests: ['test/http/upstream/proof.test.ts'],
    changes: [['/^\\s*text\\/html\\b/i', '/^\\s*text\\/html$/i']],
  },
  {
    file: 'src/http/upstream/respond.ts',
    tests: [
      ...['test/http/upstream/proxy.test.ts', 'test/http/upstream/rides.test.ts'],
      ...['test/http/upstream/real-panels.test.ts', 'test/http/rides-doors.test.ts'],
    ],
    changes: [["if (rider !== null && upstream.ride !== 'off') keepFresh(plain.headers);", '']],
  },
  {
    file: 'src/http/upstream/decoded-response.ts',
    tests: ['test/http/upstream/decoded-response.test.ts'],
    changes: [
      ['status === PARTIAL || acceptsCoding(', 'acceptsCoding('],
      ['  describeDecoded(headers);\n', ''],
      ["  varyBy(headers, ['accept-encoding']);\n", ''],
      ['Math.min(answerBytesMax, bytesMax)', 'answerBytesMax'],
      ['Math.min(answerBytesMax, bytesMax)', 'bytesMax'],
      ['if (isCut) throw fault;', ''],
      ['    onFailure(broken.failure);\n', ''],
    ],
  },
  {
    file: 'src/http/request/coding.ts',
    tests: ['test/http/upstream/decoded-response.test.ts'],
    changes: [
      ['!parameters.some((parameter) => /^q=0(?:\\.0*)?$/.test(parameter))', 'true'],
      ["?? taken.get('*')", ''],
    ],
  },
  {
    file: 'src/http/upstream/moves.ts',
    tests: ['test/http/upstream/moves.test.ts'],
    changes: [
      ['headers.delete(header);', ''],
      ['if (settings.rideHosts.includes(host)) return true;', ''],
      ['binding?.status === DOMAIN_ACTIVE', 'binding !== null'],
      ['lastMs !== undefined && sameUtcDay(lastMs, nowMs)', 'lastMs !== undefined'],
      ['if (settings.gateUpstreams.some((one) => one.host === host)) return true;', ''],
    ],
  },
  {
    file: 'src/http/upstream/inspection.ts',
    tests: ['test/http/upstream/moves.test.ts'],
    changes: [
      ['controller.enqueue(value);', ''],
      ['if (!decoder.isFull) await decoder.add(value);', ''],
      ['void decoder.add(bytes).then(finish);', ''],
    ],
  },
  {
    file: 'src/core/app-moves.ts',
    tests: ['test/core/app-moves.test.ts'],
    changes: [
      [
        "const text = isEncoded ? Buffer.from(head, 'base64').toString() : head;",
        'const text = head;',
      ],
      ['if (parts.length > HOSTS_MAX) return [UNREADABLE];', ''],
      [
        'hostName(authority) ?? UNREADABLE',
        "hostName(authority.split('@').at(-1) ?? '') ?? UNREADABLE",
      ],
    ],
  },
  {
    file: 'src/core/servers-in-text.ts',
    tests: ['test/core/servers-in-text.test.ts'],
    changes: [
      ['(?<![\\\\w+.-])', ''],
      ['of countBy(text, OUTBOUND)', 'of countBy(text, LINK)'],
    ],
  },
];
