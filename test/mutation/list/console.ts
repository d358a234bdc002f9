import type { MutatedFile } from '../mutation.ts';

export const consoleFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/account/roles.ts',
    tests: ['test/http/console/rights.test.ts'],
    changes: [['grant.providerId === providerId', 'grant.providerId !== providerId']],
  },
  {
    file: 'src/core/account/session.ts',
    tests: ['test/http/console/sign-in.test.ts'],
    changes: [
      ['session === null || nowMs >= session.untilMs', 'session === null'],
      ['!sameHash(provider.keyHash, keyHash)', 'provider.keyHash === null'],
      ['nowMs - session.createdAtMs < FRESH_MS', 'session.createdAtMs > 0'],
      ['session.createdAtMs + SESSION_MAX_MS', 'nowMs + SESSION_MAX_MS'],
    ],
  },
  {
    file: 'src/core/account/sign-in.ts',
    tests: ['test/http/console/sign-in.test.ts'],
    changes: [
      ['if (!sameHash(provider.keyHash, keyHash)) return wrong();', ''],
      ['INVITATIONS_MAX = ACCOUNTS_MAX', 'INVITATIONS_MAX = 99'],
      ['(isOperators ? RESERVED_MAX : 0)', '0'],
      ['if (account.totpSinceMs !== null) {', 'if (account.totpStep < 0) {'],
      ['(good) => !good', '() => false'],
      ['(good) => !good', '() => true'],
      ["if (isGood === null) return new Refused('too_many_requests');", ''],
    ],
  },
  {
    file: 'src/core/account/challenge.ts',
    tests: ['test/http/console/passkey.test.ts'],
    changes: [
      ['if (!timingSafeEqual(mac, bytes.subarray(BODY_BYTES))) return false;', ''],
      ["challenge ${accountId ?? ''}", 'challenge'],
      ['leftMs > 0 && ', ''],
      [' && leftMs <= CHALLENGE_MS', ''],
      ['USED_MAX = 100', 'USED_MAX = 101'],
    ],
  },
  {
    file: 'src/http/stream/shares.ts',
    tests: ['test/http/stream-life.test.ts'],
    changes: [
      ['this.#isFull ? (this.#strangers.take()?.item ?? null) : null', 'null'],
      ['STRANGERS_SHARE = 1 / 2', 'STRANGERS_SHARE = 1'],
      ['return !this.#isFull && this', 'return this'],
    ],
  },
  {
    file: 'src/core/account/known-browser.ts',
    tests: ['test/http/console/known-browser.test.ts'],
    changes: [
      ['if (leftMs <= 0 || leftMs > MARK_MS) return false;', 'if (leftMs > MARK_MS) return false;'],
      ['leftMs <= 0 || leftMs > MARK_MS', 'leftMs <= 0'],
      ['passwordHash, factor, passkeys]', 'factor, passkeys]'],
      ['factor, passkeys]', 'factor]'],
      ['`${name}\\n${until}`', 'name'],
    ],
  },
  {
    file: 'src/core/account/sign-in.ts',
    tests: ['test/http/console/known-browser.test.ts'],
    changes: [
      ['attempt(true), isGuess, name', 'attempt(false), isGuess, name'],
      [
        'const said = await bounds.markTries.attempt(mark, nowMs, attempt(true), isGuess, name);',
        'const said = await attempt(true)();',
      ],
      ['attempt(false), isGuess, client', 'attempt(false), () => false, client'],
    ],
  },
  {
    file: 'src/http/console/guess-bounds.ts',
    tests: ['test/http/console/known-browser.test.ts'],
    changes: [
      ['MARK_TRIES_MAX = 10', 'MARK_TRIES_MAX = 11'],
      ['WRONG_TRIES_PER_HOUR_MAX = 1_000', 'WRONG_TRIES_PER_HOUR_MAX = 1_001'],
    ],
  },
  {
    file: 'src/http/console/passwords.ts',
    tests: ['test/http/console/passwords.test.ts'],
    changes: [
      ['of.isKnown ? known.take(of.account, signal) : strangers', 'strangers'],
      ['surplus?.abort();', ''],
      ['[`${network} ${client}`, account],', ''],
      ['const network = networkOf(client);', 'const network = client;'],
    ],
  },
  {
    file: 'src/core/account/passkeys.ts',
    tests: ['test/http/console/passkey.test.ts'],
    changes: [
      ['!proof.verified || !(await shown.use(accountId))', '!proof.verified'],
      ['!made.verified || !(await shown.use(account.id))', '!made.verified'],
    ],
  },
  {
    file: 'src/core/account/second-factor.ts',
    tests: ['test/core/account/account.test.ts'],
    changes: [
      ['step !== undefined && store.useTotpStep(id, step)', 'step !== undefined'],
      ['STEPS_BESIDE = 1', 'STEPS_BESIDE = 2'],
      ["code.replace(/[\\s-]/g, '')", 'code'],
      ['return core.store.useRecoveryCode(account.id, hash, actAt(core, nowMs));', 'return true;'],
    ],
  },
  {
    file: 'src/core/account/formats.ts',
    tests: ['test/core/account/formats.test.ts'],
    changes: [
      ['value.trim().toLowerCase()', 'value.trim()'],
      ['length >= PASSWORD_LENGTH_MIN', 'length > PASSWORD_LENGTH_MIN'],
      ['length <= PASSWORD_LENGTH_MAX', 'length < PASSWORD_LENGTH_MAX'],
      ["typeof value === 'string' ? [...value].length : 0", 'String(value).length'],
      ['length >= PASSPHRASE_LENGTH_MIN', 'length > PASSPHRASE_LENGTH_MIN'],
      [' && line.trim() === line', ''],
      ['length <= LABEL_LENGTH_MAX', 'length < LABEL_LENGTH_MAX'],
    ],
  },
  {
    file: 'src/core/account/operator.ts',
    tests: ['test/core/account/account.test.ts'],
    changes: [
      ['!(await core.store.resetAccount(account.id, actAt(core, nowMs)))', 'account.id < 0'],
    ],
  },
  {
    file: 'src/core/account/session.ts',
    tests: ['test/core/account/account.test.ts'],
    changes: [
      ['nowMs - signedIn.session.seenAtMs >= TOUCH_MS', 'true'],
      ['agent.slice(0, AGENT_LENGTH_MAX)', 'agent'],
    ],
  },
  {
    file: 'src/core/account/keys.ts',
    tests: ['test/core/account/account.test.ts'],
    changes: [
      ['untilMs <= nowMs', 'untilMs < nowMs'],
      [" || need === 'read'", ''],
    ],
  },
  {
    file: 'src/core/account/keys.ts',
    tests: ['test/http/console/sign-in.test.ts'],
    changes: [["has === 'main' || has === need", "need !== 'links' || has === need"]],
  },
  {
    file: 'src/http/access.ts',
    tests: ['test/http/console/sign-in.test.ts'],
    changes: [['if (!opens(scope, needs)) {', 'if (scope === null) {']],
  },
  {
    file: 'src/http/console/site.ts',
    tests: ['test/http/console/site.test.ts'],
    changes: [
      [
        "(host === 'localhost' || isLoopback(host)) && isBare",
        "(host === 'localhost' || isLoopback(host))",
      ],
      ["isLoopback(peer) && (host === 'localhost'", "(host === 'localhost'"],
      ["request.headers.has('origin') && ", ''],
      ['(page === null || page === origin)', 'true'],
      ["(from === null || from === 'same-origin')", 'true'],
    ],
  },
  {
    file: 'src/http/console/answer.ts',
    tests: ['test/http/console'],
    changes: [
      ["if (!isOwnPage(request, site)) return new Refused('other_origin');", ''],
      ["isFree ? provider : new Refused('no_right')", 'provider'],
    ],
  },
  {
    file: 'src/store/noun/account.ts',
    tests: ['test/store/contract/account.test.ts'],
    changes: [
      ["if (isLast) return 'last_of_role';\n        yield* roles.change", 'yield* roles.change'],
      ['if (left === 0) yield* on.remove.run({ accountId });', ''],
      ['        yield* oneTime.endOf(accountId);\n', ''],
      ['        yield* on.removePasskeys.run({ accountId });\n', ''],
      ['          yield* oneTime.endInvitations(place);\n', ''],
    ],
  },
  {
    file: 'src/store/noun/session.ts',
    tests: ['test/store/contract/account.test.ts'],
    changes: [
      ['found === null || !(yield* secrets.take(kind, secretHash))', 'found === null'],
      ['known.slice(countMax - 1)', 'known.slice(countMax)'],
    ],
  },
  {
    file: 'src/console/state.ts',
    tests: ['test/console/page.test.ts'],
    changes: [["if (fault.says === 'signed_out') me.value = null;", '']],
  },
  {
    file: 'src/console/parts/agent.ts',
    tests: ['test/console/page.test.ts'],
    changes: [["'iPhone', 'iPad',", "'iPad',"]],
  },
  {
    file: 'src/console/texts/ru/count.ts',
    tests: ['test/console/page.test.ts'],
    changes: [["form === 'few' ? few : many", 'many']],
  },
  {
    file: 'src/console/texts/en/count.ts',
    tests: ['test/console/page.test.ts'],
    changes: [['counted(n, one, other,', 'counted(n, one, one,']],
  },
  {
    file: 'src/core/counted.ts',
    tests: ['test/cli/export.test.ts'],
    changes: [['count === 1 ? one : other', 'other']],
  },
  {
    file: 'src/console/texts/fa/links.ts',
    tests: ['test/console/page.test.ts'],
    changes: [['`${n} از ${limit}`', '`${limit} از ${n}`']],
  },
  {
    file: 'src/console/texts/zh/links.ts',
    tests: ['test/console/page.test.ts'],
    changes: [['`${n} / ${limit}`', '`${limit} / ${n}`']],
  },
  {
    file: 'src/console/pages/index.ts',
    tests: ['test/console/page.test.ts'],
    changes: [["path: '/console/links'", "path: '/console/account'"]],
  },
  {
    file: 'src/console/texts/fa.ts',
    tests: ['test/console/page.test.ts'],
    changes: [["tag: 'fa-IR-u-ca-persian'", "tag: 'fa-IR-u-ca-gregory'"]],
  },
  {
    file: 'src/console/parts/link-list.ts',
    tests: ['test/console/links-read.test.ts'],
    changes: [["'waiting' && this.rows.length < this.#wanted)", "'waiting')"]],
  },
];
