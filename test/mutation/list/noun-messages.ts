import type { MutatedFile } from '../mutation.ts';

export const nounMessages: readonly MutatedFile[] = [
  {
    file: 'src/store/noun/ride.ts',
    tests: ['test/store/contract/delivery.test.ts'],
    changes: [
      ["sql.raw('coalesce(o.suspended_at_ms, r.until_ms)')", "sql.raw('r.until_ms')"],
      ["sql.raw('coalesce(o.active_until_ms, r.until_ms)')", "sql.raw('r.until_ms')"],
    ],
  },
  {
    file: 'src/core/device-reach.ts',
    tests: [
      'test/store/contract/serving.test.ts',
      'test/store/contract/pushing.test.ts',
      'test/cli/send.test.ts',
      'test/core/device-reach.test.ts',
      'test/http/console/recipients.test.ts',
    ],
    changes: [
      ['isForHomes ? group.isAtHome : group.hasSlot', 'group.hasSlot'],
      ['gateway !== null && gateways.includes(gateway)', 'gateway !== null'],
      [' && partsTo(isToAll, type, payload).length > 0', ''],
      ['type === COMMAND || !isToAll', '!isToAll'],
      ['carriers.has(appOf(userAgent)?.name ?? null)', 'true'],
      ["hasStream ? 'stream' : 'inbox'", "'inbox'"],
      ['inbox + stream;', 'inbox;'],
    ],
  },
  {
    file: 'src/store/noun/terms.ts',
    tests: ['test/store/contract/provider.test.ts'],
    changes: [
      ['ride_version = ride_version + 1', 'ride_version = ride_version'],
      ['coalesce(support_url, web_page_url) IS NOT NULL', 'support_url IS NOT NULL'],
    ],
  },
  {
    file: 'src/core/ride/preview.ts',
    tests: ['test/cli/send-preview.test.ts'],
    changes: [
      ['const { [PROVIDER_ID_HEADER]: _, ...shown } = headers;', 'const shown = headers;'],
      ['locale === null ? [] : [locale]', '[]'],
      ['carried.length === 0 ? null :', ''],
    ],
  },
  {
    file: 'src/core/ride/ways.ts',
    tests: ['test/cli/send-preview.test.ts', 'test/core/ride-ways.test.ts'],
    changes: [
      ["const most = RIDE_LEVELS.indexOf(ride ?? 'on');", 'const most = 2;'],
      ['filter(({ provider }) => provider === code)', 'slice()'],
      ['Math.max(...hours)', 'Math.min(...hours)'],
      ['updateIntervalHours === 0)', 'updateIntervalHours > 0)'],
    ],
  },
  {
    file: 'src/core/message/replacing.ts',
    tests: ['test/store/contract/distribution.test.ts', 'test/http/coverage/notification.test.ts'],
    changes: [
      ['if (old?.notificationType !== PUSH)', 'if (old === null)'],
      ['|| !isSame(old.targetHwid, draft.targetHwid)', ''],
      ['old.expiresAtMs <= draft', 'old.expiresAtMs < draft'],
      ['old.status === BLOCKED || ', ''],
      ['.sort()', ''],
      ["if (old.beganAtMs === null) return 'replaced_waits';", ''],
      ["old.replacesId === null ? 'exempt' : 'counts'", "'exempt'"],
    ],
  },
  {
    file: 'src/store/noun/recipient-serving.ts',
    tests: ['test/store/contract/distribution.test.ts'],
    changes: [['replacesId === null ? bounds.gateways : []', 'bounds.gateways']],
  },
  {
    file: 'src/store/noun/distribution.ts',
    tests: [
      'test/store/contract/distribution.test.ts',
      'test/store/contract/audit.test.ts',
      'test/core/message/cancel.test.ts',
      'test/cli/audit.test.ts',
    ],
    changes: [
      [
        'SELECT ${COLUMNS} FROM distribution x WHERE x.id = :id AND ${ofProvider}`',
        'SELECT ${COLUMNS} FROM distribution x WHERE x.id = :id `',
      ],
      [
        'ORDER BY x.id DESC LIMIT :countMax`),\n    block: prepare(',
        'ORDER BY x.id ASC LIMIT :countMax`),\n    block: prepare(',
      ],
      [
        'deeds.blockDistribution({ id, status }, { id, status: BLOCKED });',
        'deeds.blockDistribution({ id, status }, { id, status });',
      ],
      ['if (known?.providerId !== providerId)', 'if (known === null)'],
    ],
  },
  {
    file: 'src/store/noun/acceptance.ts',
    tests: ['test/store/contract/distribution.test.ts', 'test/store/contract/event.test.ts'],
    changes: [
      [
        '() => on.setCount.run({ providerId, lastGeneralAtMs, sendsFromMs, sendCount }),',
        '() => on.usage.get({ providerId }),',
      ],
      ["refusals.includes('kept_bytes_full') ? keptBytesMax :", ''],
      ['AND unbound_count > 0\n          AND created_at_ms > ', 'AND created_at_ms >= '],
      ['        yield* on.expire.run({ replacesId, createdAtMs });\n', ''],
      ['        yield* rides.end(replacesId, providerId, backend.storeMs(createdAtMs));\n', ''],
      ["judged === 'exempt' ? { ...guards, generalIntervalMs: null } : guards", 'guards'],
      ['= :replacesId AND provider_id = :providerId`', '= :replacesId`'],
    ],
  },
  {
    file: 'src/store/noun/acceptance.ts',
    tests: ['test/store/contract/race-connections.test.ts'],
    store: 'postgres',
    changes: [['usage.keptBytes += keptBytesOf(draft, guards.bounds);', '']],
  },
  {
    file: 'src/store/noun/reach.ts',
    tests: ['test/store/contract/serving.test.ts', 'test/store/contract/pushing.test.ts'],
    changes: [
      ['AND p.provider_id = r.inbox', ''],
      ['OR r.inbox < 0 AND EXISTS', 'OR r.inbox > 0 AND EXISTS'],
      ['r.received_at_ms IS NOT NULL OR p.token_id IS NOT NULL', 'p.token_id IS NOT NULL'],
      ['counted === rowsMax', 'counted > rowsMax'],
      ['AND until_ms > :nowMs', ''],
      ['const isFetched = isCarried === 1 && !facts.isReachable;', 'const isFetched = false;'],
      ['(carriers ?? carriersOfParts(riding))', 'carriersOfParts(riding)'],
    ],
  },
  {
    file: 'src/store/noun/receipt.ts',
    tests: ['test/store/contract/serving.test.ts', 'test/http/receipts.test.ts'],
    changes: [
      ['if ((yield* on.owned.get({ distributionId, providerId })) === null) return null;', ''],
      ['AND r.device_id < ', 'AND r.device_id <= '],
      [' AND distribution_id = :distributionId`),', '`),'],
      [
        "distributionId }))?.deviceId ?? 'receipt_not_found';",
        'distributionId }))?.deviceId ?? null;',
      ],
      ['began_at_ms IS NOT NULL AND pruned_at_ms IS NULL', 'pruned_at_ms IS NULL'],
    ],
  },
  {
    file: 'src/store/noun/targets.ts',
    tests: [
      'test/store/contract/device.test.ts',
      'test/store/contract/recipient.test.ts',
      'test/store/contract/serving.test.ts',
      'test/store/contract/pushing.test.ts',
      'test/store/contract/inbox.test.ts',
    ],
    changes: [
      [
        'WHERE b.device_id = p.device_id AND b.provider_id = p.provider_id AND',
        'WHERE b.device_id = p.device_id AND',
      ],
      ['THEN 1 ELSE 1 + 2 * tie_count END', 'THEN 1 ELSE 1 END'],
      ['isLinked: isLinked === 1', 'isLinked: true'],
      ['isReachable: row.isReachable === 1', 'isReachable: row.hasSlot === 1'],
      [
        'AND p.home_install_id IS NOT NULL\n    AND p.home_left_at_ms IS NULL',
        'AND p.home_install_id IS NOT NULL',
      ],
      ['sql`CAST(p.token_id IS NOT NULL AS integer)`', 'sql`1`'],
      [
        'for (let { source, id: afterId } = from; ; source += 1, afterId = 0)',
        'for (let { source, id: afterId } = from; ; source += 1)',
      ],
      ['ORDER BY device_id LIMIT ${once', 'ORDER BY device_id DESC LIMIT ${once'],
    ],
  },
  {
    file: 'src/store/noun/lane-order.ts',
    tests: ['test/store/contract/distribution.test.ts', 'test/core/message/lane-model.test.ts'],
    changes: [
      ["AND due_at_ms <= ${once('dueByMs')} AND due_at_ms <=", 'AND due_at_ms <='],
      [
        '${IN_LANE} AND ${unscheduled()} ORDER BY id LIMIT 1)`;',
        '${IN_LANE} AND ${unscheduled()} ORDER BY due_at_ms, id LIMIT 1)`;',
      ],
      ['(${free} AND ${isBeforeScheduled(backend)})', '(${free})'],
      ["x.id ${among('ids')} AND ${free} AND ${IN_LANE}", "x.id ${among('ids')} AND ${IN_LANE}"],
      ['OR x.status IN ${IN_DELIVERY} THEN 0', 'THEN 0'],
    ],
  },
  {
    file: 'src/store/noun/lane.ts',
    tests: ['test/store/contract/distribution.test.ts', 'test/core/message/lane-model.test.ts'],
    changes: [
      ['THEN 0 ELSE cursor_id END,', 'THEN cursor_id ELSE cursor_id END,'],
      ['.sort((a, b) => servedAt(a) - servedAt(b));', ''],
      ['const clockMs = backend.storeNowMs();', 'const clockMs = lease.nowMs;'],
      ['.slice(0, BULKY_COUNT_MAX);', ';'],
      ['AND status = :from\n', '\n'],
    ],
  },
  {
    file: 'src/store/noun/named.ts',
    tests: ['test/store/contract/distribution.test.ts'],
    changes: [
      ['work.isNamed === 1 && isSmall && mayBegin(work.status)', 'mayBegin(work.status)'],
      ['if (!(yield* deliver(notes, batch, { owner, lease, rules }, done))) break;', 'break;'],
      ['if (batch.length === 0) break;', 'if (batch.length <= 1) break;'],
      ['if (next === LOAD) added += hwidsOf(work).length;', ''],
      ['lastLane = served[n] as number;', ''],
    ],
  },
  {
    file: 'src/store/noun/named.ts',
    tests: ['test/store/contract/distribution.test.ts'],
    store: 'postgres',
    changes: [['for (const hwid of hwidsOf(work)) hwids.add(hwid);', '']],
  },
  {
    file: 'src/store/noun/recipient.ts',
    tests: [
      'test/store/contract/recipient.test.ts',
      'test/store/contract/serving.test.ts',
      'test/store/contract/pushing.test.ts',
      'test/store/contract/delivery.test.ts',
    ],
    changes: [
      [
        'recipient_count = recipient_count + :added,',
        'recipient_count = recipient_count - :added,',
      ],
      ['cursorId === 0 ? yield* loadNamed', 'cursorId >= 0 ? yield* loadNamed'],
      ['+ hwids.length - found;', ';'],
      ['CASE WHEN d.is_served THEN 1 ELSE 3 END', '1'],
    ],
  },
  {
    file: 'src/store/noun/recipient.ts',
    tests: ['test/store/postgres-messages.test.ts'],
    store: 'postgres',
    changes: [['AND cursor_source = :fromSource AND cursor_id = :fromId', '']],
  },
  {
    file: 'src/store/noun/recipient-serving.ts',
    tests: [
      'test/store/contract/recipient.test.ts',
      'test/store/contract/serving.test.ts',
      'test/store/contract/pushing.test.ts',
      'test/store/contract/delivery.test.ts',
    ],
    changes: [
      ['count < stepMax && rows < SERVE_ROWS;', 'count < stepMax || rows < SERVE_ROWS;'],
      ['const send = queued > 0 ? on.sendAndPush : on.send;', 'const send = on.send;'],
      ['recipient_count - sent_count - push_waiting_count\n', 'recipient_count - sent_count\n'],
      ['handed_over_at_ms = :nowMs, lease_owner = NULL,', 'handed_over_at_ms = :nowMs,'],
      ['FILTER (WHERE waiting >= ', 'FILTER (WHERE waiting > '],
    ],
  },
  {
    file: 'src/store/noun/push-queue.ts',
    tests: [
      'test/store/contract/recipient.test.ts',
      'test/store/contract/serving.test.ts',
      'test/store/contract/pushing.test.ts',
      'test/store/contract/outbox.test.ts',
      'test/core/message/push-model.test.ts',
    ],
    changes: [
      ['AND p.after_recipient_id < r.id', ''],
      ['n.nobody_after_distribution_id < r.distribution_id', 'n.nobody_after_distribution_id > 0'],
      ["failureCount: kind === 'webpush' ? UNPROVEN_COUNT : 0", 'failureCount: 0'],
      [
        'Number(isService(b)) - Number(isService(a))',
        'Number(isService(a)) - Number(isService(b))',
      ],
    ],
  },
  {
    file: 'src/store/noun/push-steps.ts',
    tests: [
      'test/store/contract/recipient.test.ts',
      'test/store/contract/serving.test.ts',
      'test/store/contract/pushing.test.ts',
      'test/store/contract/outbox.test.ts',
      'test/store/contract/inbox.test.ts',
      'test/core/message/push-model.test.ts',
    ],
    changes: [
      ['else if (destinationId !== push.destinationId) {', 'else {'],
      ['if (left.waitingCount === 0)', 'if (left.waitingCount >= 0)'],
      ['() => on.remove.run({ ids: ends.map(({ push }) => push.id) }),', ''],
      ['=> pushState === FAILED).length', '=> pushState !== ACCEPTED).length'],
      ['const failedCount = counts.recipientCount - counts.sentCount;', 'const failedCount = 0;'],
    ],
  },
  {
    file: 'src/store/noun/ledger.ts',
    tests: [
      'test/store/contract/inbox.test.ts',
      'test/store/contract/audit.test.ts',
      'test/store/contract/recipient.test.ts',
      'test/store/contract/serving.test.ts',
      'test/store/contract/pushing.test.ts',
      'test/store/contract/outbox.test.ts',
      'test/cli/push.test.ts',
    ],
    changes: [
      [
        'AND device_id <= :toId AND (state = 1 OR is_waiting = 1)',
        'AND device_id <= :toId AND state = 1',
      ],
      ['expiredAtMs: isDone ? nowMs : null', 'expiredAtMs: nowMs'],
      ['if (waitingCount > 0) yield*', 'if (waitingCount < 0) yield*'],
      ['coalesce(r.push_problem, o.problem, t.problem)', 'r.push_problem'],
      ['AND received_at_ms IS NULL\n', '\n'],
    ],
  },
  {
    file: 'src/store/noun/outbox.ts',
    tests: ['test/store/contract/outbox.test.ts'],
    changes: [
      ['(${STOPPED_UNTIL} <= ', '(0 <= '],
      ['return found.slice(0, countMax)', 'return found'],
      ['Math.min(failingMax, countMax)', 'countMax'],
      ['const not = [...except, ...lost];', 'const not = [...lost];'],
      ['AND (failure_count > 0\n      OR', 'AND (false\n      OR'],
    ],
  },
  {
    file: 'src/store/noun/settlement.ts',
    tests: ['test/store/contract/outbox.test.ts', 'test/store/contract/delivery.test.ts'],
    changes: [
      ['AND t.push = u.push', ''],
      ['if (leaseOwner !== owner) return false;', ''],
      ['o.attempt_count + u.counted,', 'o.attempt_count + 1,'],
      ['nextAtMs: Math.min(nextAtMs, latestMs),', 'nextAtMs,'],
      ['rows.delete(settlement.id);', ''],
      ['if (late !== null) yield* endNext(notes, late.id, nowMs);', ''],
    ],
  },
];
