import type { MutatedFile } from '../mutation.ts';

/** The wire's bounds and answers, TLS, the clients, the doctor and the monitor. */
export const rim: readonly MutatedFile[] = [
  {
    file: 'src/http/access.ts',
    tests: ['test/conformance/run.test.ts'],
    changes: [
      ['return refusalByPlan(provider, plan, nowMs);', 'return null;'],
      [`if (device === null) return 'device_token_error';`, ''],
    ],
  },
  {
    file: 'src/http/interpreter.ts',
    tests: ['test/http/credentials.test.ts', 'test/http/messaging-token.test.ts'],
    changes: [
      ['GUESSES.has(says) && device === undefined', 'false'],
      ['GUESSES.has(says) && device === undefined', 'device === undefined'],
    ],
  },
  {
    file: 'src/http/traffic.ts',
    tests: ['test/http/request-log.test.ts', 'test/monitor/metrics.test.ts'],
    changes: [
      ['METHODS.has(request.method) ? request.method : OTHER', 'request.method'],
      ['if (answered.tookMs !== null) tally', 'tally'],
    ],
  },
  {
    file: 'src/http/answer/large.ts',
    tests: ['test/http/list.test.ts', 'test/http/unread.test.ts'],
    changes: [
      ['if (place === null) return null;', 'if (place === null) return { body: { data } };'],
      ['place.leave();', ''],
      ['data.length < pageCount || data.length === countMax', 'data.length < pageCount'],
      ['place.resize(payload.size);', ''],
    ],
  },
  {
    file: 'src/http/answer/list-text.ts',
    tests: ['test/http/list.test.ts', 'test/http/unread.test.ts'],
    changes: [
      ['rows.length === pageCount && count < countMax', 'rows.length === pageCount'],
      ['Math.min(pageCount, countMax - count)', 'pageCount'],
      ['    await turn();\n', ''],
    ],
  },
  {
    file: 'src/http/answer/respond.ts',
    tests: ['test/http/respond.test.ts', 'test/http/slow.test.ts', 'test/http/coverage'],
    changes: [
      [`...(isLast && { connection: 'close' }),`, ''],
      [`...(requestId && { 'x-request-id': requestId }),`, ''],
      [', ...messages[says].headers }', ' }'],
    ],
  },
  {
    file: 'src/http/answer/message-view.ts',
    tests: ['test/http/list.test.ts'],
    changes: [['sort(([, a], [, b]) => b - a)', 'sort(([, a], [, b]) => a - b)']],
  },
  {
    file: 'src/http/bound/room.ts',
    tests: ['test/http/room.test.ts'],
    changes: [
      [' || own + bytes > bytesPerCallerMax;', ';'],
      ['if (!this.#waiting.has(caller)) {', '{'],
      ['if (waiter.isTaken()) this.#dismiss(waiter);\n      else ', ''],
      ['[...waiting].length >= perSender.waitingMax', 'false'],
      ['if (this.#waiting.size > 0) this.#admit();', ''],
    ],
  },
  {
    file: 'src/http/bound/polls.ts',
    tests: ['test/http/polls.test.ts'],
    changes: [
      ['if (this.#all.size > this.countMax) this.#endOldest(this.#all);', ''],
      ['parked.delete(oldest);', ''],
    ],
  },
  {
    file: 'src/http/bound/auth-failures.ts',
    tests: ['test/http/auth-failures.test.ts'],
    changes: [
      ['? count(client) <= most', '? count(client) < most'],
      ['count(`${client} ${account}`) <= most', 'count(client) <= most'],
      ['<= NETWORK_TIMES * most', '<= most'],
      ['count(`all of ${networkOf(client)}`)', 'count(`all of ${client}`)'],
      ['if (answers > 0) ', ''],
    ],
  },
  {
    file: 'src/http/bound/turns.ts',
    tests: ['test/http/turns.test.ts'],
    changes: [['this.#waiting.add(caller, begin);', `this.#waiting.add('', begin);`]],
  },
  {
    file: 'src/http/document/openapi.ts',
    tests: ['test/http/document.test.ts', 'test/http/openapi.test.ts'],
    changes: [
      ['if (olderPath) paths[olderPath]', 'if (!olderPath) paths[path]'],
      ['isNeeded(endpoint, param), book', 'param.isRequired, book'],
      [`if (endpoint.method === 'POST') misfits.push('the body does not fit');`, ''],
    ],
  },
  {
    file: 'src/http/document/docs-search.ts',
    tests: ['test/http/docs-page.test.ts'],
    changes: [
      ['words.every((word)', 'words.some((word)'],
      ['words.length > 0 && !part', 'words.length > 9 && !part'],
    ],
  },
  {
    file: 'src/http/document/html.ts',
    tests: ['test/http/document.test.ts'],
    changes: [['replace(/[&<>"\']/g', "replace(/[&<>']/g"]],
  },
  {
    file: 'src/http/document/json-schema.ts',
    tests: ['test/http/document.test.ts'],
    changes: [['else if (known !== schema) throw', 'else if (known === null) throw']],
  },
  {
    file: 'src/http/document/published.ts',
    tests: ['test/http/docs-page.test.ts'],
    changes: [
      ['if (isKnown(requestHeaders', 'if (!isKnown(requestHeaders'],
      [`if (isGzipped) headers['content-encoding'] = 'gzip';`, ''],
    ],
  },
  {
    file: 'src/http/request/query.ts',
    tests: ['test/http/query.test.ts'],
    changes: [
      ['if (known) known[1] = REPEATED;', 'if (known) known[1] = textOf(url.slice(at));'],
      [' && count < PARAM_COUNT_MAX', ''],
    ],
  },
  {
    file: 'src/http/request/address.ts',
    tests: ['test/http/address.test.ts'],
    changes: [
      [` || hop.includes('%')) break;`, ') break;'],
      ['groups.slice(0, 4)', 'groups.slice(0, 5)'],
      ["groups.slice(0, 3).join(':')", "groups.slice(0, 4).join(':')"],
    ],
  },
  {
    file: 'src/http/upstream/exchange.ts',
    tests: ['test/http/upstream/unread.test.ts'],
    changes: [
      ['UNREAD_MAX_MS = 120_000', 'UNREAD_MAX_MS = 60_000'],
      ['setTimeout(this.#leave, UNREAD_MAX_MS)', 'setTimeout(this.#leave, 10 * UNREAD_MAX_MS)'],
    ],
  },
  {
    file: 'src/tls/keeper.ts',
    tests: ['test/tls/keeper.test.ts'],
    changes: [
      ['if (this.#isStopped) return;', ''],
      ['if (error.message !== this.#refusal) {', '{'],
      ['|| nowMs - this.#warnedMs < WARN_INTERVAL_MS', ''],
      [' || found.cert !== this.current.cert', ''],
    ],
  },
  {
    file: 'src/tls/acme.ts',
    tests: ['test/tls/acme.test.ts'],
    changes: [
      ['FIRST_PAUSE_MS * 2 ** (failures - 1)', 'FIRST_PAUSE_MS'],
      ['pauseFor(pauseMs);', ''],
      ['rmSync(draft, { force: true });', ''],
    ],
  },
  {
    file: 'src/tls/acme.ts',
    tests: ['test/tls/renewal.test.ts'],
    changes: [
      ['if (last !== null) pauseFor(RENEWED_PAUSE_MS);', ''],
      ['nowMs >= pause.fromMs && ', ''],
    ],
  },
  {
    file: 'src/tls/renewal.ts',
    tests: ['test/tls/renewal.test.ts', 'test/tls/acme.test.ts'],
    changes: [
      ['const LEFT = 1 / 3;', 'const LEFT = 1 / 2;'],
      ['Math.min(suggestedMs, latestMs)', 'suggestedMs'],
      ['if (!(startMs < endMs))', 'if (false)'],
      ['>= 0x80 ?', '>= 0x100 ?'],
      ['const isFresh = known !== null', 'const isFresh = known === undefined'],
      ['nowMs >= known.askedAtMs && ', ''],
      ['return within(this.timeMaxMs, askAuthority(url));', 'return askAuthority(url);'],
    ],
  },
  {
    file: 'src/tls/order.ts',
    tests: ['test/tls/renewal.test.ts'],
    changes: [
      [`isIP(value) === 0 ? 'dns' : 'ip'`, `'dns'`],
      ['hasAddress && names', 'names'],
      ['const isName = ', 'const isName = false && '],
      [`    return client.createOrder(order);\n  }\n}`, `    throw new Error('refused');\n  }\n}`],
    ],
  },
  {
    file: 'src/tls/challenge.ts',
    tests: ['test/tls/acme.test.ts'],
    changes: [
      [`if (NOT_REDIRECTED.test(url.pathname)) return plain(403, 'Use HTTPS');`, ''],
      [`if (!hosts.has(url.hostname)) return plain(404, 'Not found');`, ''],
    ],
  },
  {
    file: 'src/config/load.ts',
    tests: ['test/e2e/demo.test.ts'],
    changes: [['if (OUTER_VARIABLE.test(name)) delete environment[name];', '']],
  },
  {
    file: 'src/demo/place.ts',
    tests: ['test/e2e/demo.test.ts'],
    changes: [
      ['rmSync(folder, { recursive: true, force: true });', ''],
      ['banner = "${BANNER}"', 'banner = ""'],
      ['provider = "${PROVIDERS[0].code}"', 'provider = "NOBODY01"'],
    ],
  },
  {
    file: 'src/http/upstream/refused-as.ts',
    tests: ['test/http/upstream/refused-as.test.ts'],
    changes: [
      ["{ 'x-hwid-limit': TRUE }", '{}'],
      ["link_limit_reached: [403, 'Device", "link_limit_reached: [404, 'Device"],
      ["'3x-ui': threeXUi", "'3x-ui': pasarguard"],
    ],
  },
  {
    file: 'src/device-check/scene.ts',
    tests: ['test/kits/device-check.test.ts'],
    changes: [
      ['if (pauseMs < leastMs) {', 'if (false) {'],
      ['if (twice !== undefined) throw', 'if (false) throw'],
      ['item.id === this.id(n) && item.state === state', 'item.id === this.id(n)'],
      ["kind !== 'left'", "kind === 'left'"],
    ],
  },
  {
    file: 'src/device-check/stage.ts',
    tests: ['test/kits/device-check.test.ts'],
    changes: [
      ['if (shown === null || shown !== this.token) return', 'if (false) return'],
      ['if (this.script.ignoresFrames) return;', ''],
      ['this.#frame([...this.#messages.values()]);', ''],
    ],
  },
  {
    file: 'src/device-check/stage.ts',
    tests: ['test/kits/device-check-odd.test.ts'],
    changes: [[' && this.#length <= DEEDS_LENGTH_MAX', '']],
  },
  {
    file: 'src/device-check/sent.ts',
    tests: ['test/kits/device-check-odd.test.ts'],
    changes: [['length > FIELD_LENGTH_MAX ?', 'length > 1e9 ?']],
  },
  {
    file: 'src/device-check/check.ts',
    tests: ['test/kits/device-check.test.ts'],
    changes: [
      ['if (!(problem instanceof Fault)) throw problem;', 'if (problem) return passed(one);'],
    ],
  },
  {
    file: 'src/conformance/words.ts',
    tests: ['test/conformance/words.test.ts', 'test/conformance/hostile.test.ts'],
    changes: [
      ['if (!Object.hasOwn(expected, name))', 'if (!(name in expected))'],
      ['if (!fits(kind, list, got)) return { path, expected, got };', ''],
      ['return Object.is(wanted, got) ?', 'return wanted == got ?'],
      ['isFirst ? got.length < count : got.length !== count', 'false'],
    ],
  },
  {
    file: 'src/conformance/run.ts',
    tests: ['test/conformance/run.test.ts'],
    changes: [
      ['if (!reads && !options.writes) return', 'if (false) return'],
      ["['headers.content-type', '<json>', got.headers.get('content-type')],", ''],
      ['if (got.status !== status) return', 'if (false) return'],
      ["rest.replaceAll(key, '***')", 'rest'],
      ["=== 'answer' ? silences + 1 : 0", "=== 'answer' ? silences + 1 : silences"],
      ['if (value === null) continue;', ''],
      ['pauses-- <= 0 || nowMs() >= endMs', 'nowMs() >= endMs'],
      ['if (missing !== undefined) return', 'if (false) return'],
    ],
  },
  {
    file: 'src/conformance/run.ts',
    tests: ['test/conformance/hostile.test.ts'],
    changes: [["this.#shown(path).replace(/[^\\x20-\\x7e]/g, '?')", 'this.#shown(path)']],
  },
  {
    file: 'src/conformance/talk.ts',
    tests: ['test/conformance/run.test.ts'],
    changes: [
      ["redirect: 'manual',", ''],
      ['if (size > BOUNDS.bytesMax) throw', 'if (false) throw'],
    ],
  },
  {
    file: 'src/conformance/case.ts',
    tests: ['test/conformance/cases.test.ts'],
    changes: [['({ ...own, ...step })', '({ ...step, ...own })']],
  },
  {
    file: 'src/client/provider-client.ts',
    tests: ['test/client/provider-client.test.ts'],
    changes: [
      [`redirect: 'manual',`, ''],
      ['if (size > bytesMax) {', 'if (false) {'],
      [`replaceAll(this.options.authKey, '***')`, `replaceAll('***', '')`],
      ['--faultsLeft === 0', '--faultsLeft < 0'],
    ],
  },
  {
    file: 'src/doctor/machine.ts',
    tests: ['test/doctor/doctor.test.ts'],
    changes: [
      ['nowMs + DRIFT_MAX_MS', 'nowMs + 3_600_000'],
      ['if (nowMs < EARLIEST_MS) {', 'if (false) {'],
    ],
  },
  {
    file: 'src/doctor/gateway.ts',
    tests: ['test/doctor/gateway.test.ts'],
    changes: [['if (!existsSync(path) && hasSubscriptions) {', 'if (false) {']],
  },
  {
    file: 'src/monitor/readiness.ts',
    tests: ['test/monitor/readiness.test.ts'],
    changes: [
      ['const PATIENCE_MS = 3_000;', 'const PATIENCE_MS = 30_000;'],
      [`if (this.#phase === 'stopping') return STOPPING;`, ''],
      ['before?.problem === null ? GOOD_MS : BAD_MS', 'GOOD_MS'],
      ['if (problem !== null && wasGood)', 'if (problem !== null)'],
    ],
  },
  {
    file: 'src/monitor/metric-row.ts',
    tests: ['test/monitor/metrics.test.ts'],
    changes: [
      ['    count += ofBucket;\n', '    count = ofBucket;\n'],
      ['value === null || value === undefined ? []', 'value === undefined ? []'],
    ],
  },
  {
    file: 'src/monitor/tallies.ts',
    tests: ['test/monitor/metrics.test.ts'],
    changes: [[`if (typeof added !== 'string' && `, 'if (']],
  },
  {
    file: 'src/monitor/server.ts',
    tests: ['test/monitor/server.test.ts'],
    changes: [['if (isChosen) throw', 'if (false) throw']],
  },
];
