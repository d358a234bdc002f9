/** Every file that a command line can name is opened by the caller. */

import { expect, test } from 'bun:test';
import { Command } from 'commander';
import { commandTree } from '../../packaging/command-tree.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { namedFiles, WITHOUT_DATA } from '../../src/handover/named-files.ts';

type Context = Parameters<typeof buildProgram>[0];
const program = () => buildProgram({} as Context).exitOverride();

/** The files of a command line, by use. */
async function filesOf(...words: string[]) {
  let found: string[] = [];
  const tree = program();
  tree.hook('preAction', (_, command) => {
    found = namedFiles(command).map(({ use, path }) => `${use} ${path}`);
    throw new Error('enough');
  });
  await tree.parseAsync(words, { from: 'user' }).catch((error: Error) => {
    if (error.message !== 'enough') throw error;
  });
  return found.sort();
}

test('options and arguments with files are known by their help', async () => {
  const data = commandTree(program()).filter(({ path }) => !WITHOUT_DATA.includes(path.join(' ')));
  const options = data.flatMap(({ options: own }) =>
    own.filter(({ value }) => value === 'file' || value === 'directory').map(({ flags }) => flags),
  );
  expect([...new Set(options)].sort()).toEqual([
    '--body-file <file>',
    '--config <file>',
    '--csv <file>',
    // The data directory itself.
    '--data <directory>',
    '--file <file>',
    '--form <file>',
    '--headers-file <file>',
    '--key-file <file>',
    '--keys <file>',
    '--out <directory>',
    '--passphrase-file <file>',
    '--token-file <file>',
  ]);
  const args = data
    .filter(({ args: own }) => own.includes('file'))
    .map(({ path }) => path.join(' '));
  expect(args.sort()).toEqual([
    'audit export',
    'backup',
    'export',
    'import',
    'link import',
    'restore',
  ]);
});

test('a command reads some of its files and makes others', async () => {
  expect(await filesOf('backup', './b', '--passphrase-file', 'p', '--config', 'c.toml')).toEqual([
    'make ./b',
    'read c.toml',
    'read p',
  ]);
  expect(await filesOf('restore', './b', '--passphrase-file', '-', '--config', 'none')).toEqual([
    'read ./b',
  ]);
  expect(await filesOf('export', 'MYSHOP01', 'e')).toEqual(['make e']);
  expect(await filesOf('export', 'MYSHOP01', '-')).toEqual([]);
  expect(await filesOf('audit', 'export', 'a')).toEqual(['make a']);
  expect(await filesOf('import', 'f', '--headers-file', 'h', '--key-file', 'k')).toEqual([
    'read f',
    'read h',
    'read k',
  ]);
  const qr = ['link', 'qr', '--url', 'https://a.example/{key}', '--all', '--keys', 'k'];
  expect(await filesOf(...qr, '--out', 'o')).toEqual(['fill o', 'read k']);
});

test('a replaced path is what the command gets', async () => {
  const seen: unknown[] = [];
  const command = new Command('restore')
    .argument('<file>')
    .option('--passphrase-file <file>')
    .action((file, options) => {
      seen.push(file, options);
    });
  command.hook('preAction', (_, own) => {
    for (const one of namedFiles(own)) one.replace(`/copy/${one.path}`);
  });
  await command.parseAsync(['b', '--passphrase-file', 'p'], { from: 'user' });
  expect(seen).toEqual(['/copy/b', { passphraseFile: '/copy/p' }]);
});
