import type { MutatedFile } from '../mutation.ts';

/** Calls out: whom they may reach, and what the other side may do to them. */
export const outgoing: readonly MutatedFile[] = [
  {
    file: 'src/core/outbox/address.ts',
    tests: ['test/outgoing/address.test.ts'],
    changes: [
      ["'10.0.0.0/8', ", ''],
      ["'100.64.0.0/10', ", ''],
      ["'127.0.0.0/8', ", ''],
      [", '169.254.0.0/16'", ''],
      ["'0.0.0.0/8', ", ''],
      [", '240.0.0.0/4'", ''],
      ["  '168.63.129.16/32',\n", ''],
      ["'2000::/3'", "'::/0'"],
      ["'2001::/23', ", ''],
      ["'2002::/16', ", ''],
      ['if (isIn(read, allow)) return true;', ''],
      ['isV6 === address.isV6 && ', ''],
      ['value >> 32n === MAPPED', 'false'],
      ["url.protocol !== 'https:' && !reach.outgoingAllowHttp", 'false'],
      ["url.hostname.endsWith('.')", 'false'],
      ['address !== null && !isCallable(address, reach.outgoingAllow)', 'false'],
      ["url.username !== '' || url.password !== ''", 'false'],
      ['text.length <= URL_LENGTH_MAX && ', ''],
      ['WEB_URL.test(text) && ', ''],
      ['(?:^|\\.)localhost', '^localhost'],
      ['if (length > width) return null;', ''],
    ],
  },
  {
    file: 'src/core/outbox/retry-after.ts',
    tests: ['test/outgoing/retry-after.test.ts'],
    changes: [
      ['Math.min(Number(given) * 1000, RETRY_AFTER_MS_MAX)', 'Number(given) * 1000'],
      ['Math.max(atMs - nowMs, 0)', 'atMs - nowMs'],
    ],
  },
  {
    file: 'src/outgoing/outgoing.ts',
    tests: [
      'test/outgoing/name.test.ts',
      'test/outgoing/place.test.ts',
      'test/outgoing/answer.test.ts',
      'test/outgoing/http2.test.ts',
    ],
    changes: [
      ['addresses.every((address) =>', 'addresses.some((address) =>'],
      ["if (call.trust === 'operator') {", 'if (addresses.length > 0) {'],
      ['has no public address`', 'has ${addresses.length} addresses`'],
      ["call.trust === 'operator' && url.protocol === 'https:'", "call.trust === 'operator'"],
      ['isTrusted ? null : settings.outgoingOriginRate', 'null'],
      [
        "if (signal.aborted) return failure('stopped', `the call to ${url.host} was stopped`);\n      if",
        'if',
      ],
      ['      if (deadline.isOver) {', '      if (false) {'],
      ['      deadline.end();\n      origin.leave();', '      deadline.end();'],
      [
        '      origin.putBehind(address);\n      if (!isUnreachable(outcome)) return outcome;',
        '      return outcome;',
      ],
      ['    origin.forgetAddresses();\n', ''],
      [
        'if (ca === null || !(first instanceof Trouble) || !isDistrusted(first)) return first;',
        'return first;',
      ],
    ],
  },
  {
    file: 'src/outgoing/origin.ts',
    tests: ['test/outgoing/name.test.ts', 'test/outgoing/place.test.ts'],
    changes: [
      ['nowMs < this.#addresses.untilMs', 'true'],
      ['this.#lookUp ??= ', 'this.#lookUp = '],
      ['if (literal !== null) return [literal];', ''],
      ['if (this.#running >= next.concurrency) return;', ''],
      ['this.#waiting.splice(this.#waiting.indexOf(waiter), 1);', ''],
      ['Math.max(this.#nextAtMs, nowMs) + 1000 / rate', 'nowMs'],
      ['Math.max(this.#nextAtMs, nowMs) + 1000', 'this.#nextAtMs + 1000'],
      ['!origin.isIdle || origin === except', 'origin === except'],
      ['`${sharers} ${url.origin}`', 'url.origin'],
    ],
  },
  {
    file: 'src/outgoing/http1.ts',
    tests: ['test/outgoing/answer.test.ts', 'test/outgoing/place.test.ts'],
    changes: [
      ["signal.removeEventListener('abort', leave);\n      if (!isOver) request.destroy();", ''],
      ["'accept-encoding': 'identity'", ''],
      ['maxHeaderSize: HEAD_BYTES_MAX,', 'maxHeaderSize: 1e9,'],
      ['if (isFramed || rawBytes', 'if (rawBytes'],
      ['    boundInterims(request,', '    void (request,'],
      ['if (!body.take(chunk)) end(false,', 'if (!body.take(chunk)) void (false,'],
      ['{ servername: isNamed ?', "{ servername: url.hostname === '' ?"],
    ],
  },
  {
    file: 'src/outgoing/http2.ts',
    tests: ['test/outgoing/http2.test.ts', 'test/outgoing/alone.test.ts'],
    changes: [
      ['  goDirectly(host);\n', ''],
      ["env['no_proxy'] || env['NO_PROXY']", "env['NO_PROXY']"],
      ['      if (body.take(value)) continue;', '      body.take(value); continue;'],
    ],
  },
  {
    file: 'src/slices.ts',
    tests: ['test/slices.test.ts'],
    changes: [
      ['      if (socket.destroyed) break;\n', ''],
      ['if (!boundsOf.has(socket)) slice(socket);', 'slice(socket);'],
      ["  request.on('continue', pass);\n", ''],
    ],
  },
  {
    file: 'src/outgoing/answer.ts',
    tests: ['test/outgoing/answer.test.ts'],
    changes: [
      ["isPlain ? body.text() : ''", 'body.text()'],
      ['isOver && body.isAll', 'isOver'],
      ['chunk.subarray(0, this.bytesMax - this.#bytes)', 'chunk'],
      [' || this.#wholeBytes <= LET_BY_BYTES', ''],
      ['isTooFine(this.#pieces, this.#wholeBytes, PIECE_BOUNDS)', 'false'],
    ],
  },
];
