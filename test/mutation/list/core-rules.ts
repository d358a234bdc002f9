import type { MutatedFile } from '../mutation.ts';

export const coreRules: readonly MutatedFile[] = [
  {
    file: 'src/core/moving/merge.ts',
    tests: ['test/store/contract/move.test.ts', 'test/cli/import.test.ts'],
    changes: [
      ['updates || before?.[name] === known[name]', 'true'],
      ['Math.max(wanted, least)', 'wanted'],
      ['Math.max(after.installLimit, known.deviceCount);', 'after.installLimit;'],
      [`if (!updates) return { was: 'different', after: known };`, ''],
    ],
  },
  {
    file: 'src/core/message/send-bounds.ts',
    tests: ['test/store/contract/distribution.test.ts', 'test/core/send-interval.test.ts'],
    changes: [
      ['unboundCount > unboundQuota.countMax) {', 'unboundCount >= unboundQuota.countMax) {'],
      ['Math.abs(createdAtMs - fromMs) < ms;', 'createdAtMs - fromMs < ms;'],
      ['if (usage.keptBytes + bytes > bounds', 'if (usage.keptBytes + bytes >= bounds'],
      ['isGeneral ? createdAtMs : lastGeneralAtMs,', 'createdAtMs,'],
    ],
  },
  {
    file: 'src/core/audit/deeds.ts',
    tests: [
      'test/core/audit/deeds.test.ts',
      'test/core/audit/settings.test.ts',
      'test/store/contract',
      'test/cli/audit.test.ts',
    ],
    changes: [
      ["...(hasKey && { subscription_key: 'set' }),", ''],
      ['hwids === 0 ? null :', 'hwids > 0 ? null :'],
      [
        `before.status === after.status ? 'domain.rename' : turned;`,
        `before.status !== after.status ? 'domain.rename' : turned;`,
      ],
    ],
  },
  {
    file: 'src/core/moving/fields.ts',
    tests: ['test/cli/export.test.ts', 'test/core/moving/source-record.test.ts'],
    changes: [
      ['if (isRefused(value)) throw new FieldFault(`${name} ${value.detail}`);', ''],
      ['[name, fit(fields, wire, read)]', '[wire, fit(fields, wire, read)]'],
      ['if (!isRecord(value)) throw', 'if (isRecord(value)) throw'],
      ['malformed(subject + fault.message)', 'malformed(fault.message)'],
    ],
  },
  {
    file: 'src/core/moving/fit.ts',
    tests: ['test/core/moving/fit.test.ts'],
    changes: [
      ['rows + more > ROWS_MAX', 'rows + more >= ROWS_MAX'],
      ['const more = 1 + install.slots.length;', 'const more = install.slots.length;'],
      ['      rows = 0;\n', ''],
      ['atMs > nowMs + DAY_MS', 'atMs >= nowMs + DAY_MS'],
      ['...[slot.registeredAtMs, slot.firstSeenAtMs, slot.lastSeenAtMs],', ''],
      ['firstSeenAtMs: past(slot.firstSeenAtMs, nowMs),', ''],
    ],
  },
  {
    file: 'src/core/event/happenings.ts',
    tests: ['test/core/event/happenings.test.ts', 'test/store/contract/event.test.ts'],
    changes: [
      ["[BLOCKED]: 'distribution.blocked',", ''],
      ["kind === 'device.removed'", "kind !== 'device.removed'"],
      ['(isSamePhone && {', '({'],
      ['if (kind !== undefined) return happening(kind, { provider_code: code });', ''],
      ['REASON_LENGTH_MAX)', '10_000)'],
    ],
  },
  {
    file: 'src/core/message/cancel.ts',
    tests: ['test/core/message/cancel.test.ts'],
    changes: [
      ['core.leastMs(nowMs) + CANCEL_CUTOFF_MS', 'core.leastMs(nowMs)'],
      ["isTerminal(outcome) ? 'cancel_failed'", "!isTerminal(outcome) ? 'cancel_failed'"],
    ],
  },
  {
    file: 'src/core/message/html.ts',
    tests: ['test/core/message/html.test.ts', 'test/core/message/push.test.ts'],
    changes: [
      ["...['script', 'style', 'textarea'", "...['style', 'textarea'"],
      ['(isUrlToOpen(value.trim()) ? value.trim() : null)', 'value'],
      ["(value === '_blank' ? value : null)", 'value'],
      ['return isDone ? filtered : sanitizeHtml(filtered, FILTER);', 'return filtered;'],
      ['|| / src="http/i.test(filtered)', ''],
      ['this.#tagCount > HTML_TAG_COUNT_MAX ||', ''],
      ['this.#bytes > HTML_BYTES_MAX ||', ''],
    ],
  },
  {
    file: 'src/core/message/plain-text.ts',
    tests: ['test/core/message/push.test.ts'],
    changes: [[".replace(BREAKS_LINE, '\\n')", '']],
  },
  {
    file: 'src/core/idempotency.ts',
    tests: ['test/http/repeat.test.ts'],
    changes: [
      ['value !== null && value', 'value'],
      ['Object.fromEntries(Object.entries(value).sort(byName))', 'value'],
      [' && given !== inQuery', ' && false'],
      ['afterMs: nowMs - ANSWER_KEPT_MS', 'afterMs: nowMs - 2 * ANSWER_KEPT_MS'],
    ],
  },
  {
    file: 'src/core/install.ts',
    tests: ['test/http/repeat.test.ts'],
    changes: [['if (isKeyRefusal(outcome)) return refusedKey(outcome);', '']],
  },
  {
    file: 'src/monitor/tallies.ts',
    tests: ['test/http/repeat.test.ts'],
    changes: [[' && !added.isRepeat', '']],
  },
  {
    file: 'src/http/endpoints/once.ts',
    tests: ['test/http/repeat.test.ts'],
    changes: [['if (made === null) return', 'return']],
  },
  {
    file: 'src/store/noun/idempotency.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [
      ['kept.call === call && ', ''],
      [' && kept.paramsHash === paramsHash', ''],
      ['count >= keyed.countMax', 'count > keyed.countMax'],
      ['AND answered_at_ms > :afterMs', ''],
      ["if (typeof made === 'string') return made;", ''],
    ],
  },
  {
    file: 'src/core/install.ts',
    tests: ['test/http/coverage', 'test/core/model.test.ts'],
    changes: [
      ['provider.installCountMax ?? core', 'core'],
      ["updated === 'subscription_key_exists'", 'false'],
      ['{ ...refused, recordId: known?.id }', 'refused'],
      ['link.providerId === provider.id', 'link.providerId > 0'],
    ],
  },
  {
    file: 'src/core/outcome.ts',
    tests: ['test/core/outcome.test.ts'],
    changes: [
      ['return outcome instanceof Refused;', "return typeof outcome === 'object';"],
      ['if (fault instanceof WriteFailed) return new Refused(says, { fault });', ''],
    ],
  },
  {
    file: 'src/core/message/status.ts',
    tests: ['test/state-machine.test.ts', 'test/core/message/status.test.ts'],
    changes: [
      ['[CREATED]: [CHECKING, CANCELLED, BLOCKED],', '[CREATED]: [CHECKING, BLOCKED],'],
      ['if (sentCount === 0) return FAILED;', ''],
      ['failedCount > 0 ? SENT_WITH_ERRORS', 'failedCount < 0 ? SENT_WITH_ERRORS'],
    ],
  },
  {
    file: 'src/core/port/store.ts',
    tests: ['test/core/port/store.test.ts'],
    changes: [
      ['if (fault instanceof kind) return true;', ''],
      ['return hasCause(fault, StoreBusy);', 'return hasCause(fault, StoreAway);'],
      ['hasCause(fault.cause, kind)', '!hasCause(fault.cause, kind)'],
      ['method.bind(store)', 'method'],
    ],
  },
  {
    file: 'src/core/port/maybe.ts',
    tests: ['test/core/port/store.test.ts'],
    changes: [['value instanceof Promise ? value.then(next) : next(value)', 'next(value as T)']],
  },
  {
    file: 'src/core/audit/listed.ts',
    tests: [
      'test/core/audit/listed.test.ts',
      'test/store/contract/audit.test.ts',
      'test/http/audit-share.test.ts',
    ],
    changes: [
      ['atMs < fromMs + LISTED_WINDOW_MS', 'atMs <= fromMs + LISTED_WINDOW_MS'],
      ['atMs > fromMs - HOUR_MS', 'atMs >= fromMs - HOUR_MS'],
      ['today === day - 1', 'false'],
      ['count >= LISTED_MAX', 'count > LISTED_MAX'],
      ['aloneCount >= ALONE_MAX', 'aloneCount > ALONE_MAX'],
      ['dayCount >= dayCountMax(entriesMax)) {\n    return', 'false) {\n    return'],
      [' || aloneDayCount >= dayCountMax(entriesMax)', ''],
      ['return { after: { ...tally, dayCount: dayCount + 1 }', 'return { after: tally'],
      ["kind === 'account' && staffOf !== null", "kind === 'account'"],
      ["  'install.update',\n", ''],
      ["  'session.open',\n", ''],
      ["new Set<Action>(['domain.add'])", 'new Set<Action>()'],
    ],
  },
  {
    file: 'src/core/audit/fold.ts',
    tests: ['test/core/audit/listed.test.ts', 'test/store/contract/change.test.ts'],
    changes: [
      ['firstId: before === null ? idIn(deed) : before.firstId', 'firstId: idIn(deed)'],
      ['Object.keys(actors).length < ACTORS_MAX', 'true'],
      ["'folded' in object", 'false'],
    ],
  },
  {
    file: 'src/core/audit/verify.ts',
    tests: ['test/core/audit/chain.test.ts', 'test/core/audit/forged.test.ts'],
    changes: [
      ['if (anchor.number > before.number) before = anchor;', ''],
      ['if (block.atMs !== Date.parse(', 'if (block.atMs < Date.parse('],
      ['if (!isByProgram(entry)) return', 'if (isByProgram(entry)) return'],
      ['from === earlier.object', 'from !== earlier.object'],
      ['if (isOld || isSurplus) return null;', 'return null;'],
      ['newest - from > auditEntriesMax && ', ''],
      ['?? missingProblem([...missing], anchor, measure)', ''],
    ],
  },
  {
    file: 'src/core/audit/prune.ts',
    tests: ['test/store/contract/audit.test.ts', 'test/cli/audit.test.ts'],
    changes: [
      [
        'const isSurplus = newest - anchor.number > bounds.entriesMax;',
        'const isSurplus = newest + anchor.number > bounds.entriesMax;',
      ],
      ['old.length < step.blocks };', 'old.length <= step.blocks };'],
    ],
  },
  {
    file: 'src/core/audit/entry.ts',
    tests: ['test/cli/audit.test.ts', 'test/http/coverage'],
    changes: [
      [
        'const differing = Object.keys(after).filter((name) => before[name] !== after[name]);',
        'const differing = Object.keys(after).filter((name) => before[name] === after[name]);',
      ],
      ['if (differing.length === 0) return null;', ''],
      [
        `return who === 'provider' ? name : (provider ?? null);`,
        `return who !== 'provider' ? name : (provider ?? null);`,
      ],
    ],
  },
  {
    file: 'src/core/calendar.ts',
    tests: ['test/core/calendar.test.ts'],
    changes: [
      ['if (new Date(midnightMs).toISOString().slice(0, 10) !== date) return null;', ''],
      [
        'if (parts === null || startMs === null) return null;',
        'if (parts !== null || startMs === null) return null;',
      ],
      [
        'if (parts === null || startMs === null) return null;',
        'if (parts === null && startMs === null) return null;',
      ],
    ],
  },
  {
    file: 'src/core/message/command.ts',
    tests: ['test/core/message/command.test.ts'],
    changes: [
      [
        `const action = ACTION_TYPES.find((known) => known === body['action_type']);`,
        `const action = ACTION_TYPES.find((known) => known !== body['action_type']);`,
      ],
      [
        `if (!isText(data)) return malformed('import_data must be a string of whole Unicode characters');`,
        `if (isText(data)) return malformed('import_data must be a string of whole Unicode characters');`,
      ],
      [
        `if (type !== 'domain' && type !== 'url') return malformed('change_type must be domain or url');`,
        '',
      ],
    ],
  },
  {
    file: 'src/core/message/notification.ts',
    tests: ['test/core/message/notification.test.ts', 'test/core/message/html.test.ts'],
    changes: [
      ['if (isAbsent(value) || (Array.isArray(value) && value.length === 0)) return {};', ''],
      ['if (!LOCALE_KEY.test(key)) {', 'if (LOCALE_KEY.test(key)) {'],
      [
        'if (isAbsent(content) || (Array.isArray(content) && content.length === 0)) return {};',
        'if (isAbsent(content) && (Array.isArray(content) && content.length === 0)) return {};',
      ],
      ['.length > PUSH_ENCODED_MAX;', '.length >= PUSH_ENCODED_MAX;'],
    ],
  },
  {
    file: 'src/core/message/deliver.ts',
    tests: [
      'test/core/message/deliver.test.ts',
      'test/core/message/deliver-lanes.test.ts',
      'test/core/message/deliver-keep.test.ts',
    ],
    changes: [
      ['await wakeDevices(core, sent.deviceIds);', ''],
      ["if (named.status === 'rejected') throw named.reason;", ''],
    ],
  },
  {
    file: 'src/core/target-count.ts',
    tests: [
      'test/core/target-count.test.ts',
      'test/http/coverage',
      'test/http/console/recipients.test.ts',
    ],
    changes: [
      ['targetOs !== null, terms)', 'targetOs === null, terms)'],
      [
        'devices.filter(({ isLinked }) => !isLinked).length',
        'devices.filter((d) => d.isLinked).length',
      ],
      ['unboundCount > 0 && !reachesUnbound', 'unboundCount > 0 || !reachesUnbound'],
      ['linked.length < devices.length ?', 'linked.length > devices.length ?'],
      ['.catch(() => null)', ''],
      ['counted.recipients >= countMax || isOver', 'counted.recipients >= countMax'],
      ['counted.recipients >= countMax || isOver', 'isOver'],
      ['countMax > 1 && steps >= STEP_COUNT_MAX', 'steps >= STEP_COUNT_MAX'],
    ],
  },
  {
    file: 'src/core/send.ts',
    tests: [
      'test/core/send-interval.test.ts',
      'test/core/message/deliver.test.ts',
      'test/http/coverage',
    ],
    changes: [['const added = await saving<', 'const added = saving<']],
  },
  {
    file: 'src/core/port/distribution.ts',
    tests: ['test/http/coverage'],
    changes: [['export const PUSH = 10;', 'export const PUSH = 11;']],
  },
  {
    file: 'src/core/port/domain.ts',
    tests: ['test/http/coverage'],
    changes: [['export const DOMAIN_DISABLED = 5;', 'export const DOMAIN_DISABLED = 6;']],
  },
  {
    file: 'src/core/domain.ts',
    tests: ['test/http/coverage'],
    changes: [
      ["await saving('domain_save_error', step)", 'await step'],
      [
        `return { says: activated === 'activated' ? 'domain_activated' : 'domain_exists', id: added.id };`,
        `return { says: activated !== 'activated' ? 'domain_activated' : 'domain_exists', id: added.id };`,
      ],
    ],
  },
  {
    file: 'src/core/moving/export-lines.ts',
    tests: ['test/cli/export.test.ts', 'test/cli/import.test.ts'],
    changes: [
      [
        `typeof value === 'number' ? read(value) : MISFIT;`,
        `typeof value !== 'number' ? read(value) : MISFIT;`,
      ],
      [`if (!Array.isArray(hwids)) throw new FieldFault('hwids is not a list');`, ''],
    ],
  },
  {
    file: 'src/core/moving/import.ts',
    tests: [
      'test/core/moving/import.test.ts',
      'test/cli/import.test.ts',
      'test/cli/export.test.ts',
    ],
    changes: [
      [`if (was === 'different') this`, `if (was !== 'different') this`],
      [
        `if (options.isStopped()) return;
  await core.store.reserveIds({ installId: highestId(installs), domainId: highestId(domains) });`,
        `
  await core.store.reserveIds({ installId: highestId(installs), domainId: highestId(domains) });`,
      ],
      [
        'if (options.rechecks || !idsHere.has(next)) ids.push(next);',
        'if (options.rechecks || idsHere.has(next)) ids.push(next);',
      ],
    ],
  },
  {
    file: 'src/core/moving/source.ts',
    tests: ['test/cli/import.test.ts', 'test/client/provider-client.test.ts'],
    changes: [
      [
        '.filter((install) => install.sourceId === id)',
        '.filter((install) => install.sourceId !== id)',
      ],
      ['if (!Array.isArray(rows)) return null;', ''],
      [
        'beforeId = ids.reduce((lowest, id) => Math.min(lowest, id));',
        'beforeId = ids.reduce((lowest, id) => Math.max(lowest, id));',
      ],
    ],
  },
];
