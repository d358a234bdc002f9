import type { MutatedFile } from '../mutation.ts';

export const coreDevices: readonly MutatedFile[] = [
  {
    file: 'src/core/message/inbox.ts',
    tests: [
      'test/http/messaging-inbox.test.ts',
      'test/http/polls.test.ts',
      'test/http/messaging-register.test.ts',
      'test/http/stream-once.test.ts',
    ],
    changes: [
      [`signal.addEventListener('abort', end);`, ''],
      ['filter(({ id }) => !acknowledged.has(id))', 'filter(({ id }) => id > 0)'],
      ['if (left.length > 0 || !isCut) return', 'if (left.length >= 0 || !isCut) return'],
    ],
  },
  {
    file: 'src/core/device.ts',
    tests: [
      'test/http/device-calls.test.ts',
      'test/core/device.test.ts',
      'test/http/coverage',
      'test/http/messaging-register.test.ts',
    ],
    changes: [
      ['if (isRefused(token)) return null;', 'if (!isRefused(token)) return null;'],
      [
        'const found = await core.store.findDeviceByToken(tokenHash);',
        'const found = core.store.findDeviceByToken(tokenHash);',
      ],
      [
        'factsOf((fact) => reported[fact] || known[fact])',
        'factsOf((fact) => reported[fact] && known[fact])',
      ],
      [`if (isRefused(hwid)) return HWID_REQUIRED;`, `if (!isRefused(hwid)) return HWID_REQUIRED;`],
      [
        `if (calledToday && !isNewLink) return standingOf(isLinked);`,
        `if (calledToday && isNewLink) return standingOf(isLinked);`,
      ],
      [`standingOf(isLinked || isNewLink)`, `standingOf(isLinked)`],
      [`standingOf(isLinked || isNewLink)`, `standingOf(isNewLink)`],
    ],
  },
  {
    file: 'src/core/device-info.ts',
    tests: ['test/core/device-info.test.ts', 'test/http/older-calls.test.ts'],
    changes: [
      ['if (header.length > BOUNDS.bytesMax) return NOTHING;', ''],
      [" || info[fact] !== '') continue;", ') continue;'],
      ['text.split(separator, BOUNDS.valuesMax)', 'text.split(separator)'],
    ],
  },
  {
    file: 'src/core/message/registration-rule.ts',
    tests: [
      'test/core/message/registration-rule.test.ts',
      'test/core/message/registration-histories.test.ts',
      'test/store/contract/device.test.ts',
    ],
    changes: [
      [`firstSlot.installId === shown ? 'link'`, `firstSlot.installId !== shown ? 'link'`],
      [`if (isClaimed && installId === shown) return 'link';`, ''],
      [' || !isIdle(place, nowMs))) return', ')) return'],
      ['tokenId === shownTokenId || !isIdle', '!isIdle'],
      ['slot === null || before.isOnLink ? before', 'slot !== null ? before'],
      ['Math.max(mark, sinceSlot) : sinceSlot', 'sinceSlot'],
      [`isIdle(place, nowMs) ? 'granted' : 'refused'`, `'refused'`],
      [`(tokenId === shownTokenId || claim === 'nothing');`, 'tokenId === shownTokenId;'],
      ['firstSlot.id <= afterSlotId;', 'firstSlot.id < afterSlotId;'],
      ['installId === null ? Math.min(mark, sinceSlot) : mark }', 'Math.min(mark, sinceSlot) }'],
    ],
  },
  {
    file: 'src/core/message/registration.ts',
    tests: [
      'test/http/stream.test.ts',
      'test/http/stream-life.test.ts',
      'test/http/messaging-inbox.test.ts',
      'test/http/messaging-register.test.ts',
      'test/http/coverage',
      'test/store/contract/device.test.ts',
    ],
    changes: [
      [
        `if (typeof registered === 'string') return REFUSALS[registered];`,
        `if (typeof registered !== 'string') return REFUSALS[registered];`,
      ],
      ['core.signals.messagesFor(registered.deviceId);', ''],
      [`if (hash === null) return { kind: 'nothing', providerCode };`, ''],
    ],
  },
  {
    file: 'src/core/door.ts',
    tests: [
      'test/core/door.test.ts',
      'test/core/door-figures.test.ts',
      'test/core/model.test.ts',
      'test/http/coverage',
      'test/http/held-by-hash.test.ts',
    ],
    changes: [
      [
        'if (isRefused(name)) return AT_DOOR.link_not_found;',
        'if (!isRefused(name)) return AT_DOOR.link_not_found;',
      ],
      ['core.store.countRefusal(link, says, nowMs, refusedDevice', 'void (refusedDevice'],
      ['isKnown && sameUtcDay', 'device !== null && sameUtcDay'],
      ['if (facts !== null) key.reported = facts;', ''],
      [
        'if (isRefused(key)) return countMisfit(core, call, key, reported, nowMs);',
        'if (isRefused(key)) return key;',
      ],
      [
        "if (reason === 'link_not_found' || reason === 'key_ambiguous' || ",
        "if (reason !== '' || ",
      ],
      [
        'if (isToday && changesNoFact(device, facts)) return withFacts(link, device, facts, key.hwid);',
        '',
      ],
      ["return isHidden ? { ...facts, userAgent: '' } : facts;", 'return facts;'],
      ['=== null && appNameOf(before) !== null', '=== null'],
      ['if (provider === null || !isActive(provider, nowMs))', 'if (provider === null)'],
      ["if (added === 'install_code_exists') continue;", ''],
    ],
  },
  {
    file: 'src/core/slot.ts',
    tests: ['test/core/slot.test.ts', 'test/core/slot-model.test.ts'],
    changes: [
      ["if (!isBound) return 'link_domain_not_bound';", ''],
      ['link.deviceCount < DEVICES_MAX', 'link.deviceCount <= DEVICES_MAX'],
      ["if (link.deviceCount > link.installLimit) return 'link_limit_reached';", ''],
      ['link.enforce ?? provider.enforce', 'provider.enforce ?? link.enforce'],
      ["samePhone === 'replace' && nowMs >= coolMs(full)", "samePhone === 'replace'"],
      ["full.policy.samePhone === 'replace' &&", ''],
      ['nowMs >= lastMsOfDay(former.lastSeenAtMs) + SILENT_MS', 'true'],
      ['enforces ? DEFAULT_POLICY.enforce : 0', 'DEFAULT_POLICY.enforce'],
      [
        "if (link.deviceCount < link.installLimit) return 'room';",
        "if (link.deviceCount <= link.installLimit) return 'room';",
      ],
      [
        "if (inactiveMs !== null && nowMs >= inactiveMs) return 'inactive';",
        "if (inactiveMs !== null && nowMs > inactiveMs) return 'inactive';",
      ],
      ['replacedMs !== null && nowMs >= replacedMs', 'replacedMs !== null && nowMs > replacedMs'],
      ['? lastMsOfDay(oldest.lastSeenAtMs) +', '? oldest.lastSeenAtMs +'],
      [
        'link.inactiveDays ?? provider.inactiveDays ??',
        'provider.inactiveDays ?? link.inactiveDays ??',
      ],
    ],
  },
];
