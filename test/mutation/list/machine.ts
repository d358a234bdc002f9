import type { MutatedFile } from '../mutation.ts';

const LOAD = ['test/config/load.test.ts'];
const DATABASE = ['test/config/database.test.ts'];
const DOCUMENTS = ['test/docs.test.ts'];

/** Configuration, backups, disks and the leaves of src. */
export const machine: readonly MutatedFile[] = [
  {
    file: 'src/core/door.ts',
    tests: ['test/http/full-disk.test.ts'],
    changes: [['orUnsaved(isKnown, ', 'orUnsaved(false, ']],
  },
  {
    file: 'src/core/device.ts',
    tests: ['test/http/full-disk.test.ts'],
    changes: [['orUnsaved(seenAtMs !== null && !isNewLink, ', 'orUnsaved(false, ']],
  },
  {
    file: 'src/disk/fault.ts',
    tests: ['test/e2e/commands-full-disk.test.ts'],
    changes: [
      [
        'const where = whereFull(fault, folders);\n  if (where !== null) {',
        'const where = null;\n  if (where !== null) {',
      ],
    ],
  },
  {
    file: 'src/disk/lock-holder.ts',
    tests: ['test/store/held-lock.test.ts'],
    changes: [
      ["kind === 'WRITE' && ", ''],
      [".filter(({ 5: place }) => place?.split(':')[2] === inode)", ''],
      [' && pid !== process.pid', ''],
    ],
  },
  {
    file: 'src/store/troubles.ts',
    tests: ['test/store/held-lock.test.ts'],
    changes: [['if (sinceMs < REPORT_MS) return;', '']],
  },
  {
    file: 'src/store/sqlite/connection.ts',
    tests: ['test/store/held-lock.test.ts'],
    changes: [['if (isBusy(error)) return', 'if (false) return']],
  },
  {
    file: 'src/http/stream/looks.ts',
    tests: ['test/http/stream-away.test.ts'],
    changes: [
      ['if (!isAway(fault) || ', 'if (true || '],
      [' || clock.steadyMs() >= endMs', ''],
    ],
  },
  {
    file: 'src/config/files.ts',
    tests: LOAD,
    changes: [
      ['if (isInData && data) {', 'if (data) {'],
      ['else if (isNamed || !isAbsent) {', 'else if (isNamed) {'],
      ['if (size <= BYTES_MAX) return', 'if (size <= BYTES_MAX + 1) return'],
    ],
  },
  {
    file: 'src/config/load.ts',
    tests: LOAD,
    changes: [
      [' && value.test(text)', ''],
      ['const isUsage = problems.every(', 'const isUsage = problems.some('],
      ['waiting: changed.filter(([, row]) => !row.isLive)', 'waiting: changed'],
      ['{ ...next.sources, ...kept(current.sources) }', 'next.sources'],
    ],
  },
  {
    file: 'src/config/settings/limits.ts',
    tests: ['test/config/ranges.test.ts'],
    changes: [['integer(15, 600)', 'integer(14, 600)']],
  },
  {
    file: 'src/config/readers.ts',
    tests: ['test/config/ranges.test.ts'],
    changes: [
      ['value >= minimum && value <= maximum', 'value >= minimum'],
      ['{1,16}$/.test(given)', '{1,15}$/.test(given)'],
    ],
  },
  {
    file: 'src/config/conflicts.ts',
    tests: [...DATABASE, 'test/config/tables.test.ts'],
    changes: [
      ['isPlainAsked && !databaseInsecure,', 'isPlainAsked,'],
      ['databaseInsecure && wantsTls,', 'false,'],
      ["signs(gateKey) && gateKeySecretFile === '',", 'false,'],
      ["!signs(key) && file !== ''", 'false'],
      ["asks && panel !== null && url === ''", 'false'],
      ["!url.isNameChecked && databaseCaFile === '',", '!url.isNameChecked,'],
    ],
  },
  {
    file: 'src/config/database-url.ts',
    tests: DATABASE,
    changes: [
      [' || /^127\\./.test(host)', ''],
      ["isNameChecked = value !== 'verify-ca';", ''],
      ['given.slice(head.length + password.length)', 'given.slice(head.length)'],
      ['if (port < 1 || port > 65_535)', 'if (port > 65_535)'],
    ],
  },
  {
    file: 'src/config/setting.ts',
    tests: [...LOAD, ...DOCUMENTS],
    changes: [
      ["key.replace(OMITTED, '')", 'key'],
      ['return { ...setting(...row), isLive: true };', 'return setting(...row);'],
    ],
  },
  {
    file: 'src/config/render.ts',
    tests: ['test/cli/config.test.ts', 'test/cli/data.test.ts', ...DATABASE, ...DOCUMENTS],
    changes: [
      ["isSecret && text !== '' ? MASK", 'false ? MASK'],
      ["row.isLive ? ' SIGHUP.' : ''", "''"],
      ['line.length + 1 + word.length > columns', 'line.length > columns'],
    ],
  },
  {
    file: 'src/config/settings/gate.ts',
    tests: ['test/config/tables.test.ts', ...DOCUMENTS],
    changes: [
      ["countMax: 64, distinct: 'host'", "countMax: 65, distinct: 'host'"],
      ["'other_paths', 'refuse'", "'other_paths', 'pass'"],
      ['integer(1, 240).read(text) * 1_000', 'integer(1, 240).read(text)'],
    ],
  },
  {
    file: 'src/config/settings/server.ts',
    tests: [...DOCUMENTS, ...LOAD],
    changes: [
      ["'server.host', '127.0.0.1'", "'server.host', '0.0.0.0'"],
      ["'server.trusted_proxies', '', array(networks)", "'server.trusted_proxies', '', networks"],
    ],
  },
  {
    file: 'src/config/settings/backup.ts',
    tests: [...LOAD, 'test/cli/config.test.ts', 'test/cli/data.test.ts', ...DOCUMENTS],
    changes: [['    isSecret: true,\n', '']],
  },
  {
    file: 'src/backup/container.ts',
    tests: ['test/backup/forged.test.ts', 'test/backup/damage.test.ts', 'test/backup/room.test.ts'],
    changes: [
      ["if (databaseBytes > manifest.value.database_bytes) throw new Error('it is too long');", ''],
      ["throw new Error('its checksum is wrong')", '{}'],
      ['const WINDOW_LOG_MAX = 23;', 'const WINDOW_LOG_MAX = 30;'],
      ['Number(manifest.created_at_ms) <= TIME_MAX_MS &&', ''],
      ['if (own.fault !== null) throw own.fault.cause;', ''],
      ["if (start.startsWith(AGE_MAGIC)) return 'encrypted';", ''],
    ],
  },
  {
    file: 'src/backup/encryption.ts',
    tests: ['test/backup/forged.test.ts'],
    changes: [
      ['if (Number(factor) > WORK_FACTOR_MAX) {', 'if (Number(factor) > 19) {'],
      ['if (factor === undefined) return false;', ''],
    ],
  },
  {
    file: 'src/backup/make.ts',
    tests: ['test/backup/restore.test.ts', 'test/backup/leftover.test.ts'],
    changes: [
      ['  await kindOf(file);\n', ''],
      ["if (isOfData && basename(file).startsWith('gatepost.')) {", 'if (false) {'],
      ['    scratch?.drop();\n', ''],
    ],
  },
  {
    file: 'src/backup/restore.ts',
    tests: ['test/backup/restore.test.ts', 'test/backup/forged.test.ts'],
    changes: [
      ['isForced ? null : replacement.loss()', 'null as string | null'],
      ['database.refuseNewer(file, promised.schema, promised.gatepost);', ''],
      ['rows[table] !== manifest.rows[table]', 'false'],
    ],
  },
  {
    file: 'src/backup/shelf.ts',
    tests: ['test/backup/shelf.test.ts', 'test/jobs/stop.test.ts'],
    changes: [
      ['Math.abs(nowMs - momentOf(newest)) < SAME_TIME_MS', 'false'],
      ['older.slice(Math.max(keep - 1, 0))', 'older.slice(keep)'],
      ['    .reverse();', ';'],
      ["force = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);", ''],
    ],
  },
  {
    file: 'src/backup/passphrase.ts',
    tests: ['test/backup/shelf.test.ts'],
    changes: [['file || settings.backupPassphraseFile', 'file']],
  },
  {
    file: 'src/disk/lock.ts',
    tests: ['test/backup/leftover.test.ts', 'test/backup/shelf.test.ts'],
    changes: [
      ['if (isBusy(error)) return null;', ''],
      ["db.run('BEGIN EXCLUSIVE');", "db.run('BEGIN');"],
    ],
  },
  {
    file: 'src/disk/room.ts',
    tests: ['test/backup/room.test.ts'],
    changes: [
      ['>= bytes + SPARE_BYTES', '>= bytes + 10 ** 15'],
      ['throw noRoom(this.#leftBytes, this.folder)', '{}'],
    ],
  },
  {
    file: 'src/disk/scratch.ts',
    tests: ['test/backup/leftover.test.ts'],
    changes: [
      ['if (release === null) return;', ''],
      ['all.filter((one) => one.isFile())', 'all'],
      ['isTarget(OLD_NAME', '!isTarget(OLD_NAME'],
    ],
  },
  {
    file: 'src/disk/fault.ts',
    tests: [
      'test/disk/fault.test.ts',
      'test/cli/read-only.test.ts',
      'test/cli/error-codes.test.ts',
    ],
    changes: [
      ['if (!isOfDisk) return fault;', 'return fault;'],
      ["codeOf(error) === 'EROFS'", 'true'],
    ],
  },
  {
    file: 'src/deadline.ts',
    tests: ['test/deadline.test.ts'],
    changes: [
      ["else outer.addEventListener('abort', this.#stop);", ''],
      ['if (nextMs !== null) this.#timer = setTimeout(this.#check, nextMs - nowMs + 1);', ''],
      ['      running.stop();\n', ''],
    ],
  },
  {
    file: 'src/port-holder.ts',
    tests: ['test/port-holder.test.ts'],
    changes: [
      ['.filter((fields) => fields[3] === LISTENING)', ''],
      ["['/proc/net/tcp', '/proc/net/tcp6']", "['/proc/net/tcp6']"],
      ['socket.port === port &&', ''],
      [' && areInConflict(socket.address, host)', ''],
      [' || ANY_ADDRESS.test(address)', ''],
      ['.some((link) => links.has(link))', '.some(() => true)'],
    ],
  },
  {
    file: 'src/main.ts',
    tests: ['test/journal.test.ts'],
    changes: [['isInJournal ? withPriority(level, text) : text', 'text']],
  },
  {
    file: 'src/journal.ts',
    tests: ['test/journal.test.ts'],
    changes: [
      ['return variable === `${dev}:${ino}`;', 'return true;'],
      ['text.replace(/^(?!$)/gm, `<', 'text.replace(/^(?!$)/g, `<'],
    ],
  },
  {
    file: 'src/file-check.ts',
    tests: ['test/cli/config-check.test.ts'],
    changes: [
      ['new SecretFiles().prepare(settings);', ''],
      ['readStrangerPage(settings.strangerPage);', ''],
      ['isPushing && !existsSync', 'false && !existsSync'],
    ],
  },
  {
    file: 'src/systemd.ts',
    tests: ['test/systemd.test.ts'],
    changes: [
      ['watchdogMs / 3', 'watchdogMs * 3_000'],
      ['if (watchdogPid && watchdogPid !== String(process.pid)) return null;', ''],
      ["if (socket.startsWith('@')) path[0] = 0;", ''],
    ],
  },
  {
    file: 'src/stopping.ts',
    tests: ['test/jobs/stop.test.ts'],
    changes: [
      ['await within(patienceMs, ended);', 'await ended;'],
      ['for (const part of last) await end(part);', 'await Promise.all(last.map(end));'],
    ],
  },
  {
    file: 'src/whereabouts.ts',
    tests: ['test/cli/ready.test.ts'],
    changes: [['if (notedMonitor(dataDir) === url) rmSync', 'rmSync']],
  },
  {
    file: 'src/whereabouts.ts',
    tests: ['test/http/upstream/ipv6.test.ts'],
    changes: [['hostInUrl(ANY_ADDRESS[host] ?? host)', 'hostInUrl(host)']],
  },
  {
    file: 'src/output.ts',
    tests: ['test/cli/output.test.ts'],
    changes: [["if (error && error.code !== 'EPIPE')", 'if (error)']],
  },
];
