import type { MutatedFile } from '../mutation.ts';

const ASKING = ['test/http/upstream/client.test.ts'];
const PASSING = ['test/http/upstream/proxy.test.ts', 'test/http/upstream/past-the-gate.test.ts'];
const RIDING = ['test/http/upstream/rides.test.ts', 'test/http/rides-doors.test.ts'];
const REAL = ['test/http/upstream/real-panels.test.ts', 'test/http/upstream/link-limit.test.ts'];
const SPELLINGS = ['test/http/spellings.test.ts', 'test/http/upstream/passed-on.test.ts'];
const PROOFS = ['test/http/upstream/proof.test.ts'];
const TOKENS = ['test/http/upstream/tokens.test.ts', 'test/http/upstream/old-tokens.test.ts'];

/** Gatepost as the proxy in front of panels. */
export const upstream: readonly MutatedFile[] = [
  {
    file: 'src/http/upstream/client.ts',
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
      ['if (this.#isOver) controller.error(undefined);', ''],
      ['    this.#message?.pause();\n', ''],
      ['cancel: this.#leave,\n      },', '},'],
      ['if (failure !== STALE) this.question.onEnd(failure);', 'this.question.onEnd(failure);'],
      ["question.signal.addEventListener('abort', this.#leave);", ''],
    ],
  },
  {
    file: 'src/http/upstream/decision.ts',
    tests: [...PASSING, ...REAL, ...RIDING, ...TOKENS],
    changes: [
      ["otherPaths === 'pass' ? BY_OTHER_PATH :", 'true ? BY_OTHER_PATH :'],
      ['return { ...FOR_PAGE, isNewKey: true };', 'return FOR_PAGE;'],
      ["verdict === 'link_disabled' || ", ''],
      [" || verdict === 'link_domain_not_bound'", ''],
    ],
  },
  {
    file: 'src/http/upstream/forwarding.ts',
    tests: [...PASSING, ...REAL],
    changes: [],
  },
  {
    file: 'src/http/upstream/forward.ts',
    tests: [...REAL, ...TOKENS, ...SPELLINGS],
    changes: [
      ["panel.dropsAlways ? 'path' :", "true ? 'path' :"],
      ["request.method === 'HEAD' && !isInfo", "request.method === 'HEAD'"],
      ["if (isInfo) headers['accept-encoding'] = 'identity';", ''],
      ["upstream.hostHeader === 'upstream' ?", 'false ?'],
      ['isSubscription ? withKnownQuery', 'false ? withKnownQuery'],
    ],
  },
  {
    file: 'src/http/upstream/known-query.ts',
    tests: SPELLINGS,
    changes: [
      ['if (panel === null || start < 0) return target;', 'if (start < 0) return target;'],
      ['`?${part}`, true)', '`?${part}`, false)'],
    ],
  },
  {
    file: 'src/http/upstream/proof.ts',
    tests: PROOFS,
    changes: [
      ["if (status !== 200) return 'none';", ''],
      ['const isNamed = !isHtml && ', 'const isNamed = '],
      ["if (isEmpty) return 'none';", ''],
      ['lists !== null || !(waits || isHtml || isEmpty)', 'true'],
      ["return isHtml ? 'none' : 'other';", "return 'other';"],
      ['if (failure !== null) return failure.kind;', ''],
    ],
  },
  {
    file: 'src/http/upstream/decoder.ts',
    tests: PROOFS,
    changes: [
      ['part.subarray(0, this.bytesMax - this.#length)', 'part'],
      ['if (this.#length >= this.bytesMax) this.end();', ''],
      ["name === 'identity' ? '' : name", 'name'],
    ],
  },
  {
    file: 'src/core/subscription.ts',
    tests: [...PROOFS, 'test/core/subscription.test.ts'],
    changes: [
      ["if (text.startsWith('<')) return false;", ''],
      ['if (SECTION.test(text)) return true;', ''],
      ['if (!BASE64.test(text)) return undecided;', ''],
      ['IN_JSON.test(text) || undecided', 'true'],
    ],
  },
  {
    file: 'src/core/outdated-token.ts',
    tests: ['test/http/upstream/outdated-tokens.test.ts'],
    changes: [
      [" || judged.verdict === 'known') return false;", ') return false;'],
      ['signedAtMs + ROUNDING_MS <= createdAtMs', 'signedAtMs <= createdAtMs'],
      ['createdAtMs !== null && ', ''],
      ['call.hwid ?? ANY_HWID', 'call.hwid'],
    ],
  },
  {
    file: 'src/core/former-key.ts',
    tests: SPELLINGS,
    changes: [
      ['if (isSame && mayJoin) {', 'if (isSame) {'],
      ['!isKnown && (await holdsSlot(core, before, nowMs)) ? before : call', 'call'],
      ['!found.door.isBound', 'false'],
    ],
  },
  {
    file: 'src/store/noun/link-join.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [
      [' || ended !== null) return;', ') return;'],
      ['if (overMax > to.installLimit) yield*', 'if (false) yield*'],
      ['const moved = moving.slice(0, room);', 'const moved = moving;'],
      ['if (from.hasHashes === 1) yield*', 'if (false) yield*'],
      ['ORDER BY ${slotSeen(backend)} DESC', 'ORDER BY ${slotSeen(backend)}'],
      ['one.createdAtMs < other.createdAtMs', 'one.createdAtMs > other.createdAtMs'],
      ['yield* passSlot(from.id, slot);', ''],
      ['if (kept !== here) return;', ''],
    ],
  },
  {
    file: 'src/http/upstream/proxy.ts',
    tests: [...PASSING, ...REAL, ...RIDING, ...TOKENS, 'test/http/upstream/misbehaving.test.ts'],
    changes: [
      ["if (unknown === 'path') return", 'if (false) return'],
      ["if (unknown === 'key') return", 'if (false) return'],
      ['isNew || before?.isDue === true', 'isNew'],
      ['host !== upstream.host && hostName(host) !== upstream.host', 'false'],
      ["isOther || headers.has('upgrade')", 'isOther'],
      ["return target.split('#', 1)[0] ?? '';", 'return target;'],
    ],
  },
  {
    file: 'src/http/upstream/admission.ts',
    tests: [...PASSING, ...REAL, ...RIDING, ...TOKENS],
    changes: [
      ['status < 300 && !isRefusal(headers)', 'status < 300'],
      ['return status >= 200 && status < 300 && ', 'return status >= 200 && status < 400 && '],
      ['return isPage(headers) ? null :', 'return true ? null :'],
      ['if (!isGood) return null;', ''],
      ["(proof !== 'none' && believesOther)", "proof !== 'none'"],
      ["(proof !== 'none' && believesOther)", 'believesOther'],
    ],
  },
  {
    file: 'src/http/upstream/old-token.ts',
    tests: TOKENS,
    changes: [
      ['if (known !== undefined) return', 'if (false) return'],
      ['return { ...named, key: keyOf(known) };', 'return { key: keyOf(known), isProven: true };'],
      ['status >= 400 && status < 500 ? null :', 'status >= 400 ? null :'],
      ["if (username !== name) return 'upstream_malformed';", ''],
      ['|| Number(id) < 1', ''],
      ['if (length > BODY_BYTES_MAX) throw', 'if (false) throw'],
    ],
  },
  {
    file: 'src/http/upstream/headers.ts',
    tests: [
      ...['test/http/upstream/headers.test.ts', 'test/http/ride-answer.test.ts', ...REAL],
      'test/http/upstream/passed-on.test.ts',
      ...RIDING,
    ],
    changes: [
      ["    '_',\n", ''],
      ["    '^x-request-ur[il]$',\n", ''],
      ["    '(?:client|connecting|real)-?ip(?:v6)?$',\n", ''],
      ["named.has('*') ? [] :", ''],
      ["[...varying, ...missing].join(', ')", "missing.join(', ')"],
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
      ['if (isSubscription && !OF_SUBSCRIPTION.test(name)) return;', ''],
      ['if (isSubscription && !OF', 'if (!OF'],
      ["const missing = named.has('*') ? [] :", 'const missing ='],
      ['(isTrusted ? headers.get(name) : null)', 'headers.get(name)'],
      ['[...namedHops(headers), ...HOP_BY_HOP]', '[...HOP_BY_HOP]'],
    ],
  },
  {
    file: 'src/http/upstream/panels.ts',
    tests: [
      ...[...PASSING, ...TOKENS, 'test/http/upstream/misbehaving.test.ts'],
      'test/http/upstream/busy.test.ts',
    ],
    changes: [
      ['STRANGERS_SHARE = 3 / 4', 'STRANGERS_SHARE = 1'],
      ['      leaveStrangers();\n    };', '    };'],
      ['if (gateUpstreams !== this.#read)', 'if (this.#read.length === 0)'],
      ['if (count > 0) log.warn', 'log.warn'],
      ['this.userIds.clear();', ''],
      ['nowMs - this.#answeredAtMs < ANSWERS_MS', 'true'],
      ['if (this.dropsAlways) return true;', ''],
      ['keys.uuidCount * 10 >= keys.count * 9', 'true'],
      ['keys.count >= KEYS_MIN && ', ''],
    ],
  },
  {
    file: 'src/http/bound/limiter.ts',
    tests: [...PASSING, 'test/http/upstream/misbehaving.test.ts'],
    changes: [['this.#window = { startMs: nowMs, count: 0 };', 'this.#window.startMs = nowMs;']],
  },
  {
    file: 'src/http/bound/limiter.ts',
    tests: ['test/http/auth-failures.test.ts', 'test/http/console/known-browser.test.ts'],
    changes: [
      ['network: networkOf(from)', 'network: from'],
      ['this.#forget(own?.item ?? oldest?.[0]);', 'this.#forget(oldest?.[0]);'],
      ['this.#windows.delete(surplus);', ''],
      ['new MinuteCounter(windowMs)', 'new MinuteCounter()'],
    ],
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
      ['if (own >= waitingPerPartyMax) return false;', ''],
      ['own + 1 < mostItems', 'own < mostItems'],
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
    file: 'src/http/upstream/riders.ts',
    tests: [...RIDING],
    changes: [
      ["  if (isTrue(headers, 'x-hwid-limit')) return;\n", ''],
      ['intervalHeader(upstream.updateIntervalHours)', 'intervalHeader(0)'],
    ],
  },
  {
    file: 'src/http/upstream/responses.ts',
    tests: ['test/http/upstream/proxy.test.ts'],
    changes: [['`${readable(wording.text)}\\n${address}`', '`${wording.text}\\n${address}`']],
  },
  {
    file: 'src/http/mount.ts',
    tests: ['test/http/upstream/proxy.test.ts'],
    changes: [['page === null ? proxy.answer(request) : quietly(request, page)', 'null']],
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
    tests: [
      'test/http/stream-once.test.ts',
      'test/http/stream.test.ts',
      'test/http/stream-life.test.ts',
      'test/http/stream-looks.test.ts',
    ],
    changes: [
      ['await this.deps.looks.save(save, () => !this.isClosed);', 'await save();'],
      ['this.#mustLookAgain = this.#isLooking;', ''],
      ['this.deps.looks.remove(this);', ''],
      ['if (this.#inHand.length >= FRAMES_IN_HAND_MAX) {', 'if (false) {'],
      ['wasAwaited && this.#isMoreWaiting', 'false'],
      ['if (items > ACK_COUNT_MAX) break;', ''],
    ],
  },
  {
    file: 'src/http/stream/device-stream.ts',
    tests: ['test/http/parties.test.ts'],
    changes: [
      [
        'this.deps.core.store.onBehalfOf(client, String, () => void this.#list());',
        'void this.#list();',
      ],
    ],
  },
  {
    file: 'src/http/stream/looks.ts',
    tests: ['test/http/parties.test.ts', 'test/http/stream-looks.test.ts'],
    changes: [
      ['core.store.onBehalfOf(PARTY, String, look)', 'look()'],
      ['if (lookers.length === LOOK_COUNT) break;', ''],
      ['if (this.#inFlightCount < IN_FLIGHT_MAX) ', ''],
      ['this.#waiting.size > 0 && restedMs', 'restedMs'],
      ['this.#beginSaves(true)', 'this.#beginSaves()'],
      ['restedMs < REST_MAX_MS', 'restedMs < 100 * REST_MAX_MS'],
      ['if (this.#savingCount === SAVES_MAX) return;', ''],
      ['this.#savingCount -= 1;', ''],
      ['for (const looker of lookers) looker.missed(fault);', ''],
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
