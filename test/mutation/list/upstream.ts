import type { MutatedFile } from '../mutation.ts';

const ASKING = ['test/http/upstream/ask.test.ts'];
const PASSING = ['test/http/upstream/proxy.test.ts', 'test/http/upstream/past-the-gate.test.ts'];
const RIDING = ['test/http/upstream/rides.test.ts', 'test/http/rides-doors.test.ts'];
const REAL = ['test/http/upstream/real-panels.test.ts', 'test/http/upstream/link-limit.test.ts'];
const TOKENS = ['test/http/upstream/tokens.test.ts'];

/** Gatepost as the proxy in front of panels. */
export const upstream: readonly MutatedFile[] = [
  {
    file: 'src/http/upstream/ask.ts',
    tests: [...ASKING, 'test/http/upstream/misbehaving.test.ts'],
    changes: [
      ['if (first !== STALE) return first;', 'return first as Answer | Failure;'],
      ['maxHeaderSize: HEAD_BYTES_MAX,', 'maxHeaderSize: 1e9,'],
      ['      boundInterims(request, () => exchange.flood());\n', ''],
      ['        question.onEnd(UNSENDABLE);\n', ''],
    ],
  },
  {
    file: 'src/http/upstream/exchange.ts',
    tests: [...ASKING, ...REAL, 'test/http/upstream/misbehaving.test.ts'],
    changes: [
      ['isClosed && this.#isAccepted && ', 'isClosed && '],
      [' && this.request.socket?.bytesRead === 0', ''],
      ['if (this.#hasBody && length > this.upstream.answerBytesMax)', 'if (false)'],
      ['if (this.#bytes > this.upstream.answerBytesMax)', 'if (false)'],
      ['isTooFine(this.#pieces, this.#bytes, PIECE_BOUNDS)', 'false'],
      ['if (this.#message?.complete) return;', ''],
      ['setTimeout(() => this.#begin(), GATHER_MS)', 'setTimeout(() => this.#begin(), 0)'],
      ['status < 200 || status > 599', 'status < 200'],
      ["else if (code.startsWith('HPE_'))", 'else if (false)'],
      ['this.#controller?.error(undefined);', 'this.#controller?.close();'],
      ['    this.#message?.pause();\n', ''],
      ['cancel: this.#leave,\n      },', '},'],
      ['if (failure !== STALE) this.question.onEnd(failure);', 'this.question.onEnd(failure);'],
      ["question.signal.addEventListener('abort', this.#leave);", ''],
    ],
  },
  {
    file: 'src/http/upstream/passage.ts',
    tests: [...PASSING, ...REAL, ...RIDING, ...TOKENS],
    changes: [
      ['if (isRefused(named) || code === REPEATED)', 'if (isRefused(named))'],
      ["if (isRefused(named) && kind !== 'plain') return", 'if (false) return'],
      ['if (named === null || named.isProven) return', 'if (true) return'],
      ['if (user !== key) return', 'if (false) return'],
      ["otherPaths === 'pass' ? BY_OTHER_PATH :", 'true ? BY_OTHER_PATH :'],
      ['BY_OTHER_PATH: Passage = { ...FREELY, isOtherPath: true }', 'BY_OTHER_PATH = FREELY'],
      ['return { ...FOR_PAGE, isNewKey: true };', 'return FOR_PAGE;'],
      ['!isRefused(admission) && admission.isNew === true', '!isRefused(admission)'],
      ["isBrowser && upstream.browsers === 'pass'", 'isBrowser'],
      ['if (!takesSlot) return JUDGED;', ''],
      ['link, isShared: hwid === null', 'link, isShared: false'],
      ['judge, isShared: hwid === null', 'judge, isShared: false'],
      ['if (judged !== null) return judged;', 'if (judged !== null && !code) return judged;'],
      ['await limitLinks<Admission>(make, isMade)', 'await make()'],
      ["verdict === 'link_disabled' || ", ''],
      [" || verdict === 'link_domain_not_bound'", ''],
    ],
  },
  {
    file: 'src/http/upstream/proxy.ts',
    tests: [...PASSING, ...REAL, ...RIDING, ...TOKENS, 'test/http/upstream/misbehaving.test.ts'],
    changes: [
      ['if (!passage.isForAll) keepFromSharedCaches(answer.headers);', ''],
      ['if (isDropped && passage.isNewKey) return', 'if (isDropped) return'],
      ['const isGuess = isDropped && passage.isOtherPath;', 'const isGuess = false;'],
      ['if (!(failure.isDropped && isNewKey)) panel', 'panel'],
      ['isGuess: isGuess || admitted.isGuess === true', 'isGuess: admitted.isGuess === true'],
      [' || admitted.isGuess === true', ''],
      ['passage.judge !== null || before?.isDue === true', 'passage.judge !== null'],
      ['passage.judge !== null || before', 'before'],
      ['passage.judge ? null : addressOfRequest', 'addressOfRequest'],
      ["  if (isTrue(headers, 'x-hwid-limit')) return;\n", ''],
      ["if (isAdmitted && upstream.ride !== 'off') keepFresh(answer.headers);", ''],
      ['intervalHeader(upstream.updateIntervalHours)', 'intervalHeader(0)'],
      ['if (mayPass(passPaths, keyPaths, path)) return FREELY;', ''],
      ['host !== upstream.host && hostName(host) !== upstream.host', 'false'],
      ["isOdd || headers.has('upgrade')", 'isOdd'],
      ['if (path === null) return', 'if (false) return'],
      ['isUnknown && (passage.isNewKey || passage.isOtherPath)', 'isUnknown'],
      ['answer.status >= 400 && answer.status < 500', 'false'],
      ["return target.split('#', 1)[0] ?? '';", 'return target;'],
      ["upstream.hostHeader === 'upstream' ?", 'false ?'],
    ],
  },
  {
    file: 'src/http/upstream/admission.ts',
    tests: [...PASSING, ...REAL, ...RIDING, ...TOKENS],
    changes: [
      ['status < 300 && !isRefusal(headers)', 'status < 300'],
      ['return status >= 200 && status < 300 && ', 'return status >= 200 && status < 400 && '],
      ['return isPage ? null :', 'return true ? null :'],
      ['return admit === null || !isSeen ?', 'return admit === null ?'],
      ['(holdsSlot && answer.status === NOT_MODIFIED)', 'false'],
      ['(holdsSlot && answer', '(answer'],
      ['judge === null || !isSuccess(answer) ?', 'judge === null ?'],
      ["if ('reason' in passage) return passage;", ''],
    ],
  },
  {
    file: 'src/http/upstream/headers.ts',
    tests: [
      ...['test/http/upstream/headers.test.ts', 'test/http/ride-answer.test.ts', ...REAL],
      ...RIDING,
    ],
    changes: [
      ["    '_',\n", ''],
      ["    '^x-request-ur[il]$',\n", ''],
      ["    '(?:client|connecting|real)-?ip(?:v6)?$',\n", ''],
      ["name === '*' || ", ''],
      ["[...varying, 'x-hwid'].join(', ')", "'x-hwid'"],
      [
        'if (directives.some((directive) => /^(?:private|no-store)$/i.test(directive))) return;',
        '',
      ],
      ['for (const name of OF_SHARED_CACHES) headers.delete(name);', ''],
      ["[...kept, 'private']", "[...directives, 'private']"],
      ['HOP_BY_HOP.has(name) || named.has(name) ||', 'HOP_BY_HOP.has(name) ||'],
      ["isTrusted ? headers.get('x-forwarded-for') : null", "headers.get('x-forwarded-for')"],
      ['!CLAIM.test(name) && ', ''],
      ['isWhole && CONDITIONAL', 'CONDITIONAL'],
      ["const missing = named.has('*') ? [] :", 'const missing ='],
      ['(isTrusted ? headers.get(name) : null)', 'headers.get(name)'],
      ['[...namedHops(headers), ...HOP_BY_HOP]', '[...HOP_BY_HOP]'],
    ],
  },
  {
    file: 'src/http/upstream/panels.ts',
    tests: [...PASSING, 'test/http/upstream/misbehaving.test.ts'],
    changes: [
      ['if (gateUpstreams !== this.#read)', 'if (this.#read.length === 0)'],
      ['if (count > 0) log.warn', 'log.warn'],
    ],
  },
  {
    file: 'src/http/bound/limiter.ts',
    tests: [...PASSING, 'test/http/upstream/misbehaving.test.ts'],
    changes: [['this.#window = { startMs: nowMs, count: 0 };', 'this.#window.startMs = nowMs;']],
  },
  {
    file: 'src/http/upstream/placeholder.ts',
    tests: ['test/http/upstream/placeholder.test.ts'],
    changes: [
      ['.toWellFormed()', ''],
      ['`⛔ ${', '`${'],
      ['[&<>', '[<>'],
      ['\\u2028\\u2029', ''],
      ['encodeURIComponent(name)', 'name'],
      ["if (/\\btext\\/html\\b/i.test(headers.get('accept') ?? '')) return null;", ''],
    ],
  },
  {
    file: 'src/queue.ts',
    tests: ['test/queue.test.ts'],
    changes: [
      ['if (own >= waitingPerPartyMax) return item;', ''],
      ['own + 1 >= mostItems', 'own >= mostItems'],
      ['const last = items.at(-1);', 'const last = items.at(0);'],
      ['if (this.#waiting.delete(party)) this.#waiting.set(party, items);', ''],
      ['Math.min(placesPerPartyMax, placesMax - 1)', 'placesPerPartyMax'],
      ['this.#takenCount < placesMax && (', '('],
      ['if (!isHeld) return;', ''],
      ["if (signal.aborted) return Promise.resolve('wait_ended');", ''],
      ['        this.#queue.remove(party, waiter);\n', ''],
    ],
  },
  {
    file: 'src/http/upstream/answers.ts',
    tests: ['test/http/upstream/proxy.test.ts'],
    changes: [['`${readable(wording.text)}\\n${address}`', '`${wording.text}\\n${address}`']],
  },
  {
    file: 'src/http/mount.ts',
    tests: ['test/http/upstream/proxy.test.ts'],
    changes: [
      ['this.#outside(request) ?? (isAt', '(isAt'],
      ['=> this.#outside(request) ?? this.#answer(request);', '=> this.#answer(request);'],
    ],
  },
  {
    file: 'src/http/mount.ts',
    tests: ['test/http/parties.test.ts'],
    changes: [['core.store.onBehalfOf(begun, clientOf, answer)', 'answer(begun)']],
  },
  {
    file: 'src/http/interpreter.ts',
    tests: ['test/http/parties.test.ts'],
    changes: [['deps.core.store.onBehalfOf(call, nameOf, proceed)', 'proceed(call)']],
  },
  {
    file: 'src/http/stream/device-stream.ts',
    tests: ['test/http/parties.test.ts'],
    changes: [
      [
        'core.store.onBehalfOf(this.socket.data.client, String, () => void this.#readInbox())',
        'void this.#readInbox()',
      ],
    ],
  },
  {
    file: 'src/http/bound/crowd.ts',
    tests: ['test/http/crowd.test.ts'],
    changes: [
      ['const PER_TURN = 32;', 'const PER_TURN = 32_000;'],
      ['this.#waiting.add(this.options.clientOf(request), call)', "this.#waiting.add('', call)"],
      ['this.#begunCount = 0;\n        return;', 'return;'],
      ['if (this.options.isGone(item.request)) {', 'if (false) {'],
    ],
  },
  {
    file: 'src/http/endpoints/stats.ts',
    tests: ['test/http/turns.test.ts'],
    changes: [['const PIECE_DAYS = 31;', 'const PIECE_DAYS = 731;']],
  },
  {
    file: 'src/store/postgres/group.ts',
    tests: ['test/store/postgres-fairness.test.ts'],
    changes: [
      ['Math.max(1, this.#inFlightMax - 1)', 'this.#inFlightMax'],
      ["const party = currentParty() ?? '';", "const party = '';"],
      ['home.onClose(() => this.#calls.close());', ''],
    ],
  },
  {
    file: 'src/store/postgres/database.ts',
    tests: ['test/store/postgres-fairness.test.ts'],
    changes: [
      ['party === null ? null : await this.#placeIn(this.#statements, party, call)', 'null'],
      [
        "this.#placeIn(this.#transactions, currentParty() ?? '', call)",
        "this.#placeIn(this.#transactions, '', call)",
      ],
    ],
  },
];
