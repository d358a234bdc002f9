import type { MutatedFile } from '../mutation.ts';

/** The operator's pages. */
export const operatorFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/provider-terms.ts',
    tests: ['test/http/console/operator-providers.test.ts'],
    changes: [
      ['(known.suspendedAtMs ?? nowMs)', 'nowMs'],
      ['.toLowerCase().includes(wanted)', '.includes(wanted)'],
      ['hours * HOUR_MS', 'HOUR_MS'],
    ],
  },
  {
    file: 'src/http/console/visits.ts',
    tests: ['test/http/console/operator-providers.test.ts'],
    changes: [
      ['if (this.#known.has(visit)) return;', ''],
      ['if (signedIn.grants.some(({ providerId }) => providerId === provider.id)) return;', ''],
    ],
  },
  {
    file: 'src/store/noun/audit.ts',
    tests: ['test/store/contract/audit.test.ts'],
    changes: [['notes.audit(act, deeds.visitProvider(), providerId);', '']],
  },
  {
    file: 'src/appliance.ts',
    tests: ['test/appliance.test.ts'],
    changes: [
      ['running ??= work(nowMs)', 'running = work(nowMs)'],
      ['if (result !== null) last =', 'last = result === null ? null :'],
      ["error['code'] !== 'audit_not_verified'", 'false'],
      ['loopCount * 0.99', 'loopCount * 0.5'],
    ],
  },
  {
    file: 'src/core/audit/page.ts',
    tests: ['test/http/console/operator-machine.test.ts'],
    changes: [
      ['(untilMs === null || atMs < untilMs)', 'true'],
      ['(sinceMs === null || atMs >= sinceMs)', 'true'],
      ["(hwidHash === null || entry.object['hwid_sha256'] === hwidHash)", 'true'],
    ],
  },
  {
    file: 'src/http/console/operator-machine-calls.ts',
    tests: ['test/http/console/operator-machine.test.ts'],
    changes: [['from: seesAddresses ? entry.from : null', 'from: entry.from']],
  },
  {
    file: 'src/core/message/waiting.ts',
    tests: ['test/http/console/operator-records.test.ts'],
    changes: [
      ['|| !may(provider, nowMs)', ''],
      ['(one) => one.handedOverAtMs === null', '() => false'],
      ["typeof outcome === 'number' ? new Refused('message_ended') : 'ok'", "'ok'"],
      ['found?.id === id ? found : null', 'found ?? null'],
    ],
  },
  {
    file: 'src/core/device-finding.ts',
    tests: ['test/http/console/operator-records.test.ts'],
    changes: [
      ['.toLowerCase().includes(wanted)', '.includes(wanted)'],
      ['if (exact !== null) return { devices: [exact.device], nextId: null };', ''],
      ['before = device.id;', ''],
    ],
  },
  {
    file: 'src/store/noun/distribution.ts',
    tests: ['test/store/contract/audit.test.ts'],
    changes: [['const list = isUnfinished ?', 'const list = !isUnfinished ?']],
  },
  {
    file: 'src/core/outbox/gateway-test.ts',
    tests: ['test/http/console/operator-delivery.test.ts'],
    changes: [
      ['n < ATTEMPTS_MAX &&', 'n < 1 &&'],
      ['push.gateway === gateway', 'true'],
    ],
  },
  {
    file: 'src/core/outbox/state.ts',
    tests: ['test/http/console/operator-delivery.test.ts', 'test/cli/gateway-list.test.ts'],
    changes: [
      ['problem !== null && !isListed', '!isListed'],
      ['webhook === null || webhook.disabled !== null', 'webhook === null'],
      ['providerId - 1, 1', 'providerId, 1'],
      ["if (retryAtMs > nowMs) return 'paused';", ''],
      ["failingSinceMs === null ? 'ready' : 'failing'", "'ready'"],
    ],
  },
  {
    file: 'src/http/console/operator-delivery-calls.ts',
    tests: ['test/http/console/operator-delivery.test.ts'],
    changes: [
      ['if (!webhookTests.admits(party, nowMs))', 'if (party === "")'],
      ['other.seen - one.seen', 'one.seen - other.seen'],
    ],
  },
  {
    file: 'src/http/console/operator-account-calls.ts',
    tests: ['test/http/console/operator-accounts.test.ts'],
    changes: [["given.role === 'operator' ? stale(caller) : null", 'null']],
  },
  {
    file: 'src/http/console/call.ts',
    tests: ['test/http/console/operator-accounts.test.ts'],
    changes: [['isFresh(signedIn, nowMs) ?', 'isFresh(signedIn, 0) ?']],
  },
  {
    file: 'src/backup/desk.ts',
    tests: ['test/backup/desk.test.ts'],
    changes: [
      ["if (this.#isBusy) return 'busy';", ''],
      ['copy?.sessionId !== sessionId || nowMs >= copy.untilMs', 'copy === null'],
      ['.includes(name)', '.includes(folder) || name !== ""'],
      ['          this.#drop();\n          throw fault;', '          throw fault;'],
    ],
  },
  {
    file: 'src/http/console/operator-backup-calls.ts',
    tests: ['test/http/console/operator-backups.test.ts'],
    changes: [
      ["'backups.prepare': freshCall(", "'backups.prepare': ownerCall("],
      ['=> core.store.noteDownload(actAt(core, nowMs));', '=> Promise.resolve();'],
    ],
  },
  {
    file: 'src/http/console/download.ts',
    tests: ['test/http/console/operator-backups.test.ts'],
    changes: [
      ["mayCall('backups.prepare', signedIn.grants, null)", 'true'],
      ['isOwn ? await', 'true ? await'],
    ],
  },
  {
    file: 'src/console/pages/operator/providers.tsx',
    tests: ['test/console/operator.test.ts'],
    changes: [["go('/console', { at: code })", "go('/console', { at: null })"]],
  },
  {
    file: 'src/console/pages/here.ts',
    tests: ['test/console/operator.test.ts'],
    changes: [['isOfIt === isAtAppliance() && may(needs)', 'may(needs)']],
  },
  {
    file: 'src/live-upstreams.ts',
    tests: ['test/http/console/operator-upstreams.test.ts'],
    changes: [
      ['if (JSON.stringify(kept) === JSON.stringify(this.#kept)) return;', ''],
      ['inForce.has(host) && !hosts.has(host)', 'inForce.has(host)'],
      ['{ ...keys, ...readUpstreamKeys(more) }', '{ ...keys }'],
      ['keys: { ...all, host: upstream.host }', 'keys: all'],
      ["return new Refused('upstream_in_file');", ''],
      ['this.#checking.delete(sessionId);', ''],
      ['if (this.#checking.has(sessionId))', 'if (false)'],
      ['isCovered ? this.parts.certificateExpiresAtMs() : null', 'null'],
      ["return new Refused('provider_not_found');", ''],
    ],
  },
  {
    file: 'src/config/upstreams.ts',
    tests: ['test/http/console/operator-upstreams.test.ts'],
    changes: [
      ['if (named !== undefined) throw', 'if (false) throw'],
      [
        '[keySecretFile, panelHeadersFile, panelTokenFile, providerIdFile]',
        '[providerIdFile, panelTokenFile]',
      ],
      ['kept.filter(({ host }) => !taken.has(host))', 'kept'],
      ['onMistake(host, error.message);', ''],
    ],
  },
  {
    file: 'src/store/noun/upstream.ts',
    tests: ['test/store/contract/account.test.ts'],
    changes: [
      ["if (count >= countMax) return 'upstream_limit_reached';", ''],
      ["return 'upstream_exists';", ''],
      ["if (settings === known.settings) return 'ok';", ''],
      ['ORDER BY name', 'ORDER BY id'],
    ],
  },
];
