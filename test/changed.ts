/**
 * Finds the test files that import a changed file, directly or through others. A test that only
 * starts the executable imports none of `src`: it is not found by a change there.
 */

import { execFileSync } from 'node:child_process';
import { committedFiles, importsOf, isThere, ROOT } from './support/tree.ts';

/** Returns the files that differ from a commit, and those that git does not know yet. */
function changedFiles(commit: string): string[] {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [
    ...git('diff', '--name-only', commit, '--'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
}

/** Returns the test files among `changed`, and those that import a changed file. */
export function affectedTests(
  changed: readonly string[],
  importers: ReadonlyMap<string, readonly string[]>,
): string[] {
  const seen = new Set(changed);
  for (const file of seen) for (const importer of importers.get(file) ?? []) seen.add(importer);
  return [...seen].filter((file) => file.endsWith('.test.ts')).sort();
}

/** Returns the importers of each file of the repository. */
export function importersIn(): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const path of committedFiles().filter((file) => /\.tsx?$/.test(file))) {
    for (const { file } of importsOf(path)) {
      if (file !== null) importers.set(file, [...(importers.get(file) ?? []), path]);
    }
  }
  return importers;
}

/** Returns, of these tests, those of the kits among the files: they begin with its language. */
export function kitTests(changed: readonly string[], of: readonly string[]): string[] {
  const kits = changed.flatMap((file) => /^sdk\/(\w+)\//.exec(file)?.[1] ?? []);
  return of.filter((file) => kits.some((kit) => new RegExp(`^test/kits/${kit}\\b`).test(file)));
}

/**
 * Returns the test files, below `test`, that the changes since a commit affect. `kits` are those
 * of a kit that changed, which no test imports: they run whole.
 */
export function testsSince(commit: string): { files: string[]; kits: string[] } {
  const changed = changedFiles(commit);
  const short = (paths: string[]) =>
    paths.filter(isThere).map((file) => file.replace(/^test\//, ''));
  return {
    files: short(affectedTests(changed, importersIn())),
    kits: short(
      kitTests(
        changed,
        committedFiles().filter((file) => file.endsWith('.test.ts')),
      ),
    ),
  };
}
