import type { MutatedFile } from '../mutation.ts';

export const storeDevices: readonly MutatedFile[] = [
  {
    file: 'src/store/noun/device.ts',
    tests: ['test/store/contract/device.test.ts', 'test/store/contract/audit.test.ts'],
    changes: [
      [
        'WHERE s.device_id = :deviceId ORDER BY s.id DESC`',
        'WHERE s.device_id = :deviceId ORDER BY s.id ASC`',
      ],
      ['WHERE o.code = :providerCode', 'WHERE true'],
      ['ORDER BY v.last_seen_at_ms DESC', 'ORDER BY v.last_seen_at_ms'],
      ['IS NULL OR p.device_id IS NOT NULL', 'IS NULL OR true'],
      ['os === null ? null : asciiLower(os)', 'os'],
      ['.slice(0, countMax)', ''],
    ],
  },
  {
    file: 'src/store/noun/check-in.ts',
    tests: ['test/store/contract/device.test.ts'],
    changes: [
      ['isNewLink: isBound && !(', 'isNewLink: isBound || !('],
      ['yield* known.checkIn(deviceId, providerId, nowMs);', ''],
      ['if (domainId !== null) yield* known.tie(deviceId, providerId, domainId, nowMs);', ''],
      ['isLinked: at?.isLinked === 1', 'isLinked: at !== null'],
    ],
  },
  {
    file: 'src/store/noun/forgetting.ts',
    tests: [
      'test/store/contract/device.test.ts',
      'test/store/slot-story.test.ts',
      'test/cli/audit.test.ts',
      'test/core/forget.test.ts',
    ],
    changes: [
      ['            notes.audit(act, deeds.forgetDevice(hwid));', ''],
      ['if (dropped > 0) notes.audit(act, deeds.forgetDevice(hwid));', ''],
      ["if (refusals === 0) return 'device_not_found';", ''],
      ['        endSlots,\n', ''],
      ['yield* on.tokens.run({ id: found.id });', ''],
      ['WHERE id = :id AND holder_count = 0`', 'WHERE id = :id`'],
      ["{ why: 'forgotten', actor: act.actor.name,", "{ why: 'forgotten', actor: '',"],
    ],
  },
  {
    file: 'src/store/postgres/set/check-in.ts',
    tests: ['test/store/set-rules.test.ts', 'test/store/contract/device.test.ts'],
    store: 'postgres',
    changes: [
      ['AND status = ${ACTIVE_BINDING} LIMIT 1', 'LIMIT 1'],
      ['coalesce(tie_count, 0) >= ${TIES_MAX}', 'coalesce(tie_count, 0) > ${TIES_MAX}'],
      ['last_seen_at_ms = excluded.last_seen_at_ms, checked_in', 'checked_in'],
      ['FROM done WHERE is_new_link', 'FROM done WHERE false'],
      ["providerId === null ? 'provider_not_found' : known", 'known'],
    ],
  },
  {
    file: 'src/store/postgres/set/acknowledgement.ts',
    tests: [
      'test/store/set-rules.test.ts',
      'test/store/contract/inbox.test.ts',
      'test/store/contract/outbox.test.ts',
    ],
    store: 'postgres',
    changes: [
      ['AND sent_at_ms IS NOT NULL', ''],
      ['wasDecided: wasDecided || isVerdict', 'wasDecided'],
      ['wasOpened: wasOpened || isOpening', 'wasOpened'],
      ['report.verdict === null) {', 'true) {'],
      ['AND p.token_id = t.id', ''],
      ["if (!wasReceived) figures.note(providerId, 'received', nowMs);", ''],
      ['WHERE call <> ALL(ARRAY(SELECT call FROM held WHERE is_at_gateway))', 'WHERE true'],
    ],
  },
  {
    file: 'src/store/postgres/set/unproven.ts',
    tests: ['test/store/postgres-devices.test.ts'],
    store: 'postgres',
    changes: [
      ['${p}.token_id IS NULL AND ', ''],
      ["coalesce(nullif(${reported}.${fact}, ''), ${p}.${fact})", '${reported}.${fact}'],
    ],
  },
  {
    file: 'src/store/postgres/set/inbox.ts',
    tests: ['test/store/contract/inbox.test.ts'],
    store: 'postgres',
    changes: [
      ['inbox.bytes >= limits.bytesMax', 'false'],
      ['r.inbox = p.provider_id AND r.id > p.after_recipient_id', 'r.inbox = p.provider_id'],
      ['AND r.distribution_id > t.nobody_after_distribution_id', ''],
      ['AND expires_at_ms > k.now_ms', ''],
    ],
  },
  {
    file: 'src/store/postgres/set/sighting.ts',
    tests: ['test/store/set-rules.test.ts'],
    store: 'postgres',
    changes: [
      ['if (isFirstOfDay(seenBeforeMs, nowMs)) ', ''],
      ['SELECT h.now_ms, h.now_ms FROM held h', 'SELECT h.now_ms, p.last_seen_at_ms FROM held h'],
    ],
  },
  {
    file: 'src/store/noun/count.ts',
    tests: ['test/store/contract/provider.test.ts'],
    changes: [
      ['CAST(:providerCode AS text) IS NULL\n        OR ', ''],
      ['SELECT CAST(coalesce(sum(device_count), 0) AS bigint)', 'SELECT count(*)'],
    ],
  },
  {
    file: 'src/store/noun/look-ups.ts',
    tests: [
      'test/store/contract/device.test.ts',
      'test/store/contract/link.test.ts',
      'test/core/slot-model.test.ts',
    ],
    changes: [
      [
        "greatest(sql.raw('s.last_seen_at_ms'), sql.raw('p.checked_in_at_ms'))",
        "sql.raw('s.last_seen_at_ms')",
      ],
      ['(SELECT min(s.last_seen_at_ms)', '(SELECT max(s.last_seen_at_ms)'],
      [`'p.slot_count < 2 - p.seen_apart'`, `'p.slot_count < 2'`],
      [`'p.slot_count < 2 - p.seen_apart'`, `'p.slot_count < 3'`],
    ],
  },
  {
    file: 'src/store/noun/known-device.ts',
    tests: ['test/store/contract/device.test.ts', 'test/store/contract/move.test.ts'],
    changes: [
      ['LIMIT 1 OFFSET ${TIES_MAX})', 'LIMIT 1 OFFSET ${TIES_MAX + 1})'],
      ['ORDER BY ${arrival} DESC LIMIT 1', 'ORDER BY ${arrival} LIMIT 1'],
      ["${least(of('first_seen_at_ms'), sql`:firstSeenAtMs`)}", ':firstSeenAtMs'],
      ["${greatest(of('last_seen_at_ms'), sql`:lastSeenAtMs`)}", ':lastSeenAtMs'],
      ['|| !sameUtcDay(seenBeforeMs, nowMs)', ''],
      // When a provider last saw a device that was on its link already.
      [
        "assignments('device_provider', [...FACT_FIELDS, 'lastSeenAtMs'])",
        "assignments('device_provider', FACT_FIELDS)",
      ],
    ],
  },
  {
    file: 'src/store/noun/door.ts',
    tests: [
      'test/core/slot-model.test.ts',
      'test/store/contract/link.test.ts',
      'test/store/contract/move.test.ts',
    ],
    changes: [
      ['ON s.install_id = i.id AND s.device_id =', 'ON s.device_id ='],
      ['if (lastSeenAtMs === null) return null;', ''],
      ['IS NULL OR i.provider_id =', 'IS NULL OR i.provider_id <>'],
      ['bound.length > 0 ? bound : yield* on.byKey.all(values)', 'bound'],
      ["if (other !== undefined) return 'key_ambiguous';", ''],
      [
        "if (row === undefined) return 'link_not_found';",
        "if (row === undefined) return 'key_ambiguous';",
      ],
      ['slotSeenAtMs === null && (deviceCount', '(deviceCount'],
      [' || hasHashes === 1)', ')'],
      ['byHash && device ?', 'false ?'],
      ["AND s.device_id = (SELECT d.id FROM device d WHERE d.hwid = ${once('hashed')})", ''],
    ],
  },
  {
    file: 'src/store/noun/full-link.ts',
    tests: ['test/core/slot-model.test.ts', 'test/store/contract/link.test.ts'],
    changes: [
      ['if (link?.policy.enforce === 0) return { full: null, counts: true };', ''],
      ['ORDER BY "lastSeenAtMs", s.registered_at_ms', 'ORDER BY "lastSeenAtMs"'],
      ['AND p.device_name = :deviceName', ''],
      ['AND p.os = :os', ''],
      ['alike.find(({ userAgent }) => isSameApp(phone, userAgent))', 'alike[0]'],
      ["link.policy.samePhone === 'off' ? null : phoneIn(reported)", 'phoneIn(reported)'],
    ],
  },
  {
    file: 'src/store/noun/slot.ts',
    tests: [
      'test/core/slot-model.test.ts',
      'test/store/slot-story.test.ts',
      'test/store/contract/link.test.ts',
      'test/store/contract/move.test.ts',
      'test/store/contract/event.test.ts',
    ],
    changes: [
      ['yield* rows.seeSlot.run({ installId, deviceId, nowMs });', ''],
      ['if (deviceCount > installLimit) yield* allowOver.run({ installId });', ''],
      ['registeredAtMs: byHash.registeredAtMs,', 'registeredAtMs: nowMs,'],
      ['if (isOver) yield* allowOver.run({ installId });', ''],
      ['SET over_max = device_count + 1 WHERE', 'SET over_max = 100 WHERE'],
      ["if (isOver) notes.figure(providerId, 'admitted_over', nowMs);", ''],
      ["if (why === 'replaced') yield* replaced.run({ installId, nowMs });", ''],
      ['(isSamePhone ? full.former : null) ?? full.oldest', 'full.oldest'],
      ['WHERE ended_at_ms < :endedBeforeMs\n        AND', 'WHERE'],
      ['if (!isFreed && deviceCount === installLimit)', 'if (deviceCount === installLimit)'],
      ['(isFreed ? 0 : 1)', '1'],
    ],
  },
  {
    file: 'src/store/noun/slot-end.ts',
    tests: [
      'test/store/slot-story.test.ts',
      'test/store/contract/link.test.ts',
      'test/store/contract/move.test.ts',
      'test/http/slot-end-inbox.test.ts',
      'test/http/coverage/device.test.ts',
    ],
    changes: [
      ['() => on.trimLink.run({ installId }),', ''],
      ['() => on.trimProvider.run({ providerId }),', ''],
      ['if (recorded === 0) return;', 'if (recorded > 0) return;'],
      ["notes.figure(providerId, 'freed', nowMs);", ''],
      ['if (last !== undefined && another === undefined)', 'if (false)'],
      ['if (left.length > 0) yield* on.claimFromNow.run({ slotId });', ''],
      ['yield* on.leaveDevice.run({ deviceId });', ''],
      ['AND NOT EXISTS (', 'AND EXISTS ('],
    ],
  },
  {
    file: 'src/store/postgres/set/admission.ts',
    tests: [
      'test/store/admission-rules.test.ts',
      'test/store/postgres-link-ends.test.ts',
      'test/store/contract/move.test.ts',
    ],
    store: 'postgres',
    changes: [
      ['AND (code IS NULL OR install_code = code)', ''],
      ['if (isNew)', 'if (true)'],
      ['device_count + nth <= install_limit', 'device_count + nth < install_limit'],
      ['has_hashes = 0 AND ', ''],
      ['CASE WHEN slot_id IS NULL THEN nth ELSE 0 END AS', '0 AS'],
      ['AND (provider_code IS NULL OR provider_code = owner_code)', ''],
      [' AND webhook_id IS NULL', ''],
      ['WHERE status = ${sql.raw(String(INSTALL_ACTIVE))}', 'WHERE true'],
      ['domain_status = ${sql.raw(String(DOMAIN_ACTIVE))}', 'domain_status IS NOT NULL'],
    ],
  },
  {
    file: 'src/store/postgres/set/addition.ts',
    tests: [
      'test/store/postgres-link-ends.test.ts',
      'test/store/postgres-links.test.ts',
      'test/store/contract/event.test.ts',
      'test/core/audit/listed.test.ts',
      'test/store/contract/audit.test.ts',
      'test/store/contract/provider.test.ts',
      'test/http/coverage',
    ],
    store: 'postgres',
    changes: [
      ["${isNotIn('install')} ", ''],
      [
        'install_count + x.nth <= x.install_count_max',
        'install_count + x.nth <= x.install_count_max + 1',
      ],
      [' AND x.webhook_id IS NULL', ''],
      ['isBounded(actor) ? dayCountMax(entriesMax) : null', 'null'],
      ['AND x.change_day_count + x.nth <= x.day_count_max))', '))'],
      ['change_count = o.change_count + c.n', 'change_count = o.change_count'],
      ['if (id === undefined) return null;', 'if (id !== undefined) return null;'],
      ["figures.note(draft.providerId, 'links', act.atMs);", ''],
    ],
  },
  {
    file: 'src/store/postgres/set/look-ups.ts',
    tests: ['test/store/contract/link.test.ts', 'test/store/postgres-links.test.ts'],
    store: 'postgres',
    changes: [
      ['isBound(other) === isBound(first)', 'isBound(other) !== isBound(first)'],
      ['providerId === ownerId ? [link] : []', '[link]'],
      ['DESC NULLS LAST', 'ASC'],
      ['id < beforeId', 'id <= beforeId'],
      [
        'k.provider_code IS NULL OR k.provider_code =',
        'k.provider_code IS NULL OR k.provider_code <>',
      ],
    ],
  },
  {
    file: 'src/store/noun/install.ts',
    tests: ['test/store/contract/link.test.ts', 'test/http/coverage'],
    changes: [
      ['if (id !== null) return id < bound ?', 'if (id !== null) return id > bound ?'],
      ['notes.audit(act, deeds.freeSlot(installId, hwid), providerId);', ''],
      ['if (room.installCount >= limit) return', 'if (room.installCount > limit) return'],
      ["if (room.takenBy !== null) return 'install_code_exists';", ''],
      ['\n          OR install_limit = :installLimit', ''],
      ['installId === null || found?.id === installId ? found : null', 'found'],
    ],
  },
  {
    file: 'src/store/sqlite/file/copy.ts',
    tests: ['test/backup/restore.test.ts', 'test/backup/room.test.ts'],
    changes: [
      ['copy.run(target);', ''],
      [
        'return Bun.file(file).size + Bun.file(`${file}-wal`).size;',
        'return Bun.file(file).size - Bun.file(`${file}-wal`).size;',
      ],
      [
        `if (!(fault instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(fault.code ?? ''))) {`,
        `if ((fault instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(fault.code ?? ''))) {`,
      ],
    ],
  },
  {
    file: 'src/store/sqlite/file/replace.ts',
    tests: ['test/backup/restore.test.ts'],
    changes: [
      [
        `if (!(error instanceof SQLiteError)) throw error;
      present?.close();`,
        `if ((error instanceof SQLiteError)) throw error;
      present?.close();`,
      ],
    ],
  },
  {
    file: 'src/store/sqlite/file/loss.ts',
    tests: ['test/backup/restore.test.ts'],
    changes: [
      [
        `return tableNames(present).length === 0 ? null : 'it is a database of another program';`,
        `return tableNames(present).length !== 0 ? null : 'it is a database of another program';`,
      ],
      ['if (keys.length !== 1 || key === undefined) return changed;', ''],
      ['if (isUntouched(present)) return null;', ''],
    ],
  },
];
