import type { MutatedFile } from '../mutation.ts';

export const commandLineFiles: readonly MutatedFile[] = [
  {
    file: 'src/cli/provider-name.ts',
    tests: ['test/cli/domain.test.ts', 'test/cli/error-codes.test.ts', 'test/cli/owners.test.ts'],
    changes: [
      ['if (others.length === 0) return only;', 'return only;'],
      ['await readOperators?.()', 'undefined'],
      [
        'await store.listProviders() : [await',
        '(await store.listProviders()).slice(0, 1) : [await',
      ],
      ['(await named(store, code)).code', 'code'],
    ],
  },
  {
    file: 'src/cli/explain.ts',
    tests: ['test/cli/explain.test.ts'],
    changes: [
      ['[one.code, ...(one.texts ?? [])]', '[one.code]'],
      ["text.trim().toLowerCase().replace(/\\.$/, '')", 'text'],
    ],
  },
  {
    file: 'src/cli/domain.ts',
    tests: ['test/cli/domain.test.ts'],
    changes: [['(isNew ? host : null)', 'host']],
  },
  {
    file: 'src/cli/send.ts',
    tests: ['test/cli/send.test.ts'],
    changes: [
      ['if (refused !== null) throw sendRefusal(refused, provider);', ''],
      ["const plan = kind === 'notification' ? 'enterprise' : 'pro';", "const plan = 'pro';"],
      ['options.dryRun ? rehearsing(counting) : counting', 'counting'],
      ["(reset ?? []).map((key) => [key, ''])", "(reset ?? []).map((key) => [key, '0'])"],
      ['targetFields(options), replaces }', 'targetFields(options) }'],
    ],
  },
  {
    file: 'src/cli/send-preview.ts',
    tests: ['test/cli/send-preview.test.ts'],
    changes: [['ridesAt(type, terms.level) ? []', 'true ? []']],
  },
  {
    file: 'src/cli/send-options.ts',
    tests: ['test/cli/send.test.ts'],
    changes: [
      [
        '(context, options).outputOffsetMinutes));',
        '(context, options).outputOffsetMinutes * 0));',
      ],
      ["throw new UsageError('give one of --all, --os and --hwid');", ''],
    ],
  },
  {
    file: 'src/core/final-link.ts',
    tests: ['test/cli/link-qr.test.ts'],
    changes: [
      ["url.includes('?') ? '&' : '?'", "url.includes('?') ? '?' : '&'"],
      ['encodeURIComponent(title ?? new URL(url).hostname)', 'title ?? new URL(url).hostname'],
      ["happ: after('happ://add/', inFragment)", "happ: after('happ://add/', inQuery)"],
    ],
  },
  {
    file: 'src/cli/link-qr.ts',
    tests: ['test/cli/link-qr.test.ts'],
    changes: [
      ['if (columns < width) {', 'if (columns <= width) {'],
      ['Buffer.byteLength(final) > LINK_BYTES_MAX', 'Buffer.byteLength(final) < 0'],
      ['binding?.status === DOMAIN_ACTIVE', 'binding !== null'],
    ],
  },
  {
    file: 'src/cli/link-why.ts',
    tests: ['test/cli/link-why.test.ts'],
    changes: [
      ['if (door.device !== null) return steps;', ''],
      ['fromMs !== null && fromMs <= nowMs', 'fromMs !== null'],
      ['ends.filter((end) => end.hwid === hwid)', 'ends'],
    ],
  },
  {
    file: 'src/cli/link-name.ts',
    tests: ['test/cli/link-many.test.ts', 'test/cli/link.test.ts'],
    changes: [
      ['if (found.length === 1) return link;', 'return link;'],
      ['whole.length > 0 ? whole : found', 'found'],
    ],
  },
  {
    file: 'src/cli/link-set.ts',
    tests: ['test/cli/link.test.ts', 'test/cli/error-codes.test.ts'],
    changes: [
      ["note === '' ? null : note", 'note'],
      [
        'key === false ? null : key && subscriptionKeyHash(key)',
        'subscriptionKeyHash(String(key))',
      ],
      ['if (!isByFilter) throw error;', ''],
    ],
  },
  {
    file: 'src/store/noun/link.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [
      ['i.device_count >= i.install_limit', 'i.device_count > i.install_limit'],
      [
        "booleans('hasSubscriptionKey')",
        '(row) => ({ ...row, hasSubscriptionKey: row.hasSubscriptionKey === 0 })',
      ],
      ['ORDER BY e.id DESC', 'ORDER BY e.id'],
      ['i.status = :status)', 'true)'],
      ['(providerCode === null ? on.ofAll : on.ofOne)', 'on.ofAll'],
      ['isOver || [search', 'isOver && [search'],
      ['Math.max(begin, leastId)', 'begin'],
      [' || fromId === leastId', ''],
      ['beforeId = fromId;\n      await turn();', 'beforeId = fromId;'],
      ['beyondId = endId;\n        await turn();', 'beyondId = endId;'],
      ['n < SLICE_RANGES', 'n < 99'],
      ['next = isOldest ? of.rangeBeyond : of.range', 'next = of.range'],
      ['filter.isOldest ? of.listOldest', 'filter.isOldest ? of.list'],
      ['countMax - links.length', 'countMax'],
      ['(beyondId ?? 0) + 1', '(beyondId ?? 0)'],
      ['AND i.provider_id = :providerId', ''],
      ['i.install_limit = :limit)', 'true)'],
      ['${refusedAt} >= ', '${refusedAt} > '],
      ['coalesce(${seenAt}, 0) <', 'coalesce(${seenAt}, 0) <='],
      ['(i.created_at_ms <', '(0 <'],
    ],
  },
  {
    file: 'src/cli/values.ts',
    tests: [
      ...['test/cli/audit.test.ts', 'test/cli/import.test.ts', 'test/cli/usage.test.ts'],
      'test/doctor/outside.test.ts',
    ],
    changes: [
      ['previous.length >= OUTSIDE_MAX', 'false'],
      ['url.href === `${url.origin}/`', 'true'],
      [' && date.toISOString().startsWith(text)', ''],
      ['from < 1 || from > to', 'from < 1'],
      ['nowMs - agoMs', 'nowMs + agoMs'],
    ],
  },
  {
    file: 'src/cli/table.ts',
    tests: ['test/cli/table.test.ts'],
    changes: [
      ["typeof source?.[i] === 'number'", 'false'],
      ['return Bun.stringWidth(text);', 'return text.length;'],
    ],
  },
  {
    file: 'src/cli/sink.ts',
    tests: ['test/visible.test.ts'],
    changes: [['columns === null ? terminal.stdout : stdout', 'terminal.stdout']],
  },
  {
    file: 'src/visible.ts',
    tests: ['test/visible.test.ts'],
    changes: [
      ['\\u2066-\\u2069', ''],
      ['sign === LINE_FEED', 'false'],
    ],
  },
  {
    file: 'src/cli/program.ts',
    tests: ['test/visible.test.ts'],
    changes: [
      ['stderr: (text, level) => outer.stderr(shown(text), level),', 'stderr: outer.stderr,'],
    ],
  },
  {
    file: 'src/cli/program.ts',
    tests: ['test/cli/data.test.ts'],
    changes: [["if (failure.code === 'usage') return EXIT_USAGE;", '']],
  },
  {
    file: 'src/cli/program.ts',
    tests: ['test/cli/import-panel-users.test.ts'],
    changes: [['? EXIT_PARTIAL', '? EXIT_ERROR']],
  },
  {
    file: 'src/cli/confirm.ts',
    tests: ['test/cli/confirm.test.ts', 'test/cli/provider.test.ts'],
    changes: [
      ['/^y(es)?$/i', '/^y?(es)?$/i'],
      ['if (!context.isTerminal) {', 'if (false) {'],
    ],
  },
  {
    file: 'src/cli/sink.ts',
    tests: ['test/cli/export.test.ts'],
    changes: [["open(path, 'wx', 0o600)", "open(path, 'w', 0o600)"]],
  },
  {
    file: 'src/cli/import-file.ts',
    tests: ['test/cli/export.test.ts'],
    changes: [
      ['if (!Bun.deepEquals(found, counts)) {', 'if (false) {'],
      ['if (!isOver) throw', 'if (false) throw'],
    ],
  },
  {
    file: 'src/cli/webhook.ts',
    tests: ['test/cli/webhook.test.ts'],
    changes: [
      ["if (locale !== undefined) throw new UsageError('--locale goes with --telegram');", ''],
      ['isEnabled: enable || disable ? enable === true', 'isEnabled: enable || disable ? true'],
    ],
  },
  {
    file: 'src/cli/link-filter.ts',
    tests: ['test/cli/link-many.test.ts'],
    changes: [
      ['if (name === undefined && !isFiltered) {', 'if (false) {'],
      ["await confirm(context, options, `${verb} ${counted(links.length, 'link')}`);", ''],
      ['if (stopped !== null) throw stopped.fault;', ''],
      ['if (failed !== undefined) return', 'if (false) return'],
    ],
  },
  {
    file: 'src/cli/link-end.ts',
    tests: ['test/cli/link-end.test.ts'],
    changes: [
      ['if (isAll || named.isByNote) {', 'if (isAll) {'],
      ['if (hadKey) context.stderr(', 'if (false) context.stderr('],
    ],
  },
  {
    file: 'src/core/link-make.ts',
    tests: ['test/cli/link-add.test.ts', 'test/http/console/link-files.test.ts'],
    changes: [
      ["says === 'install_code_exists'", "says !== 'not_saved'"],
      ['return taken === null', 'return taken !== null'],
    ],
  },
  {
    file: 'src/cli/link-add.ts',
    tests: ['test/cli/link-add.test.ts'],
    changes: [
      ['if (room < notes.length) {', 'if (false) {'],
      ['{ deviceCount: 0, status', '{ deviceCount: 1, status'],
    ],
  },
  {
    file: 'src/cli/link-csv.ts',
    tests: ['test/cli/link-add.test.ts'],
    changes: [['if (mistakes.length > 0) {', 'if (false) {']],
  },
  {
    file: 'src/core/link-csv.ts',
    tests: ['test/cli/link-add.test.ts', 'test/http/console/link-files.test.ts'],
    changes: [
      ['if (before !== undefined) return {', 'if (false) return {'],
      ['textOf(fields[n]', '(fields[n]'],
    ],
  },
  {
    file: 'src/core/csv.ts',
    tests: ['test/cli/link-add.test.ts', 'test/http/console/link-files.test.ts'],
    changes: [
      ["FORMULA.test(text) ? `'${text}` : text", 'text'],
      ['[=+\\-@', '[=+@'],
      ["replaceAll('\"', '\"\"')", "replaceAll('', '')"],
      ["if (text[quote + 1] !== '\"') {", 'if (true) {'],
    ],
  },
  {
    file: 'src/cli/qr-image.ts',
    tests: ['test/cli/link-qr-files.test.ts'],
    changes: [['if (!isDark) pixels[at]', 'if (isDark) pixels[at]']],
  },
  {
    file: 'src/cli/key.ts',
    tests: ['test/cli/provider.test.ts'],
    changes: [['if (isRefused(AUTH_KEY.read(text))) {', 'if (false) {']],
  },
];
