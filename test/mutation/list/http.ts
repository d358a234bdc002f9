import type { MutatedFile } from '../mutation.ts';

export const http: readonly MutatedFile[] = [
  {
    file: 'src/http/front/front.ts',
    tests: ['test/http/proxy-header.test.ts'],
    changes: [['!isCallable(read.address, [])', 'false']],
  },
  {
    file: 'src/http/request/param-reader.ts',
    tests: ['test/http/older-calls.test.ts', 'test/http/coverage'],
    changes: [
      [`const raw = given || (`, `const raw = (`],
      [`readInteger(raw) ?? raw : null;`, `readInteger(raw) : null;`],
    ],
  },
  {
    file: 'src/http/endpoints/app.ts',
    tests: ['test/http/older-calls.test.ts', 'test/http/device-calls.test.ts'],
    changes: [
      ['params.hwid ?? (older?.hwid || null)', '(older?.hwid || params.hwid)'],
      ['params.os_name ?? older?.os', 'older?.os ?? params.os_name'],
      [`olderPath: '/api/provider',`, ''],
    ],
  },
  {
    file: 'src/http/endpoints/receipt.ts',
    tests: ['test/http/receipts.test.ts'],
    changes: [
      ["receivedAtMs === null ? receipt.state : 'received'", 'receipt.state'],
      ['opened_at: time(receipt.openedAtMs)', 'opened_at: time(receipt.executedAtMs)'],
      ["if (begun === 'receipt_not_found') return", 'if (false) return'],
    ],
  },
  {
    file: 'src/http/endpoints/params.ts',
    tests: ['test/http/coverage/install.test.ts', 'test/http/coverage/domain-hwid.test.ts'],
    changes: [['(value === DEFAULT ? null : value)', 'value as T']],
  },
  {
    file: 'src/http/request/query.ts',
    tests: ['test/http/unknown-parameters.test.ts'],
    changes: [
      ['ECHO_NAME = /^[a-z_]{1,32}$/', 'ECHO_NAME = /^[a-z_]+/'],
      ['.slice(0, ECHO_COUNT_MAX)', ''],
    ],
  },
  {
    file: 'src/http/interpreter.ts',
    tests: ['test/http/unknown-parameters.test.ts', 'test/http/wire.test.ts'],
    changes: [
      ["says !== 'ok' || foldCase || ", "says !== 'ok' || "],
      ["const isAll = says !== 'ok' || ", 'const isAll = '],
      ['detail && unknown ?', 'false ?'],
      ['`this endpoint takes ${method} alone`', "'this endpoint takes another'"],
    ],
  },
  {
    file: 'src/http/endpoints/install.ts',
    tests: ['test/http/coverage', 'test/http/turns.test.ts'],
    changes: [
      [' && (id === null || link.id === id)', ''],
      ['limits.turns.next(nameOf({ provider }))', 'Promise.resolve()'],
    ],
  },
  {
    file: 'src/http/endpoints/link-end.ts',
    tests: ['test/http/turns.test.ts'],
    changes: [['limits.turns.next(nameOf({ provider }))', 'Promise.resolve()']],
  },
  {
    file: 'src/http/endpoints/hwid.ts',
    tests: ['test/http/coverage'],
    changes: [['details === 1 && {', 'details !== null && {']],
  },
  {
    file: 'src/http/stream/handshake.ts',
    tests: ['test/http/stream-token.test.ts'],
    changes: [
      ["offered.includes(SUBPROTOCOL) ? SUBPROTOCOL : ''", "offered[0] ?? ''"],
      ['isAuthorized || carrier !== undefined', 'isAuthorized'],
      ['isAuthorized ? bearerToken(headers) : ', ''],
    ],
  },
  {
    file: 'src/http/stream/token-frame.ts',
    tests: ['test/http/stream-token.test.ts'],
    changes: [
      ['const surplus = this.#queue.add(socket.data.client, socket);', 'const surplus = null;'],
      ['const delayMs = this.deps.authFailed(socket.data.client);', 'const delayMs = 0;'],
      ['if (wait.hasFrame) return;', 'return;'],
      ['wait.hasFrame = true;', ''],
    ],
  },
  {
    file: 'src/http/mount.ts',
    tests: ['test/http/cors.test.ts'],
    changes: [
      ['one[0].startsWith(DEVICE_PATHS) ? openToPages(one, traffic) : one', 'one'],
      ['one[0].startsWith(DEVICE_PATHS) ?', 'true ?'],
    ],
  },
];
