import type { MutatedFile } from '../mutation.ts';

/** Where people stand, who they become, and what the folder of the configuration may hold. */
export const standing: readonly MutatedFile[] = [
  {
    file: 'src/config/folder.ts',
    tests: ['test/config/folder.test.ts'],
    changes: [
      ['O_RDONLY | O_NOFOLLOW | flags', 'O_RDONLY | flags'],
      ['if (!NAME.test(name)) {', 'if (name === NAME.source) {'],
      [
        'return problem === null ? { text: utf8(readFileSync(fd)) } : { problem };',
        'return { text: utf8(readFileSync(fd)) };',
      ],
      ['if (problem !== null) problems.push(problem);', ''],
      ['names.length > FILES_MAX', 'names.length > 10 * FILES_MAX'],
      ['stats.size > BYTES_MAX', 'stats.size > 10 * BYTES_MAX'],
      ['readdirSync(folder).sort()', 'readdirSync(folder).sort().reverse()'],
    ],
  },
  {
    file: 'src/config/files.ts',
    tests: ['test/config/folder.test.ts', 'test/e2e/where-people-stand.test.ts'],
    changes: [
      ['if (value.text === before.text) return;', 'return;'],
      ['Number(number) + old.length', 'Number(number)'],
      ['uid !== 0 && (own === uid', 'true && (own === uid'],
      ['isPackaged && data === null ? [system]', 'isPackaged && data === null ? [inData, system]'],
      ['isPackaged ? SYSTEM_DATA : SETTINGS.dataDir.default', 'SETTINGS.dataDir.default'],
      ["code === 'EACCES' && !isReached && mayBeOutOfReach", 'false'],
      ['const mayBeOutOfReach = !isPackaged && !serves;', 'const mayBeOutOfReach = !isPackaged;'],
    ],
  },
  {
    file: 'src/permissions.ts',
    tests: ['test/config/folder.test.ts'],
    changes: [
      ['if (!owners.includes(stats.uid)) {', 'if (owners.length === 0) {'],
      ['stats.mode & WORLD_WRITE ?', 'stats.mode < 0 ?'],
    ],
  },
  {
    file: 'src/handover/become-owner.ts',
    tests: ['test/e2e/become-owner.test.ts'],
    changes: [
      ['if (stats.uid !== 0) {', 'if (stats.uid < 0) {'],
      ['else initgroups(name, gid);', 'else process.setgroups?.([gid]);'],
      ['process.setgroups?.([gid]);', ''],
      ['process.setgid?.(gid);', ''],
      ['delete env[variable];', ''],
      ["env['HOME'] = home;", ''],
    ],
  },
  {
    file: 'src/handover/handover.ts',
    tests: ['test/e2e/named-files.test.ts'],
    changes: [
      ['chmodSync(path, stats.mode & 0o777);', ''],
      ['if (!replaces && existsSync(target)) {', 'if (false) {'],
      ['said.replaceAll(path, name)', 'said'],
      ['rmSync(this.#path, { recursive: true, force: true })', 'undefined'],
    ],
  },
  {
    file: 'src/handover/named-files.ts',
    tests: ['test/handover/named-files.test.ts', 'test/e2e/named-files.test.ts'],
    changes: [
      ["flags === '--out <directory>' ? 'fill' : null", 'null'],
      ['(folder !== null && existsSync(folder))', 'false'],
      ["MAKERS.includes(pathOf(command)) ? 'make' : 'read'", "'read'"],
    ],
  },
  {
    file: 'src/handover/output-writer.ts',
    tests: ['test/e2e/named-files.test.ts', 'test/handover/output-writer.test.ts'],
    changes: [
      ['if (!isFolder && replaces && existsSync(file)) await kindOf(file);', ''],
      ['giveToOwnerOfFolder(part);', ''],
      ['if (isFolder && dirname(file) !== making.target)', 'if (making.target === null)'],
      ['    scratch.drop();\n', ''],
    ],
  },
];
