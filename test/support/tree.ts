/** The files of this repository as they lie on disk, for tests that read sources and documents. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dir, '..', '..');

/** The text of a file, named from the root of the repository. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function isThere(path: string): boolean {
  return existsSync(join(ROOT, path));
}

/**
 * Every file that is or could be committed, by its path from the root, sorted. Reads `.gitignore`
 * itself, so that a copy without git gives the same answer.
 */
export function committedFiles(): string[] {
  const ignored = readText('.gitignore')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      glob: new Bun.Glob(line.replace(/^\/|\/$/g, '')),
      isOfTop: line.startsWith('/'),
    }));
  const walk = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
      const isIgnored = ignored.some(
        ({ glob, isOfTop }) => (folder === '' || !isOfTop) && glob.match(entry.name),
      );
      if (entry.name === '.git' || isIgnored) return [];
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? walk(path) : [path];
    });
  return walk('').sort();
}

export interface Import {
  /** The text in the source: `./clock.ts`, `node:fs`. */
  specifier: string;
  /** The file it names, from the root; null: a package or something built in. */
  file: string | null;
  /** The names that it takes; null: all. */
  names: readonly string[] | null;
  isTypeOnly: boolean;
  /** It is loaded when the code comes there. */
  isLazy: boolean;
}

const STATIC =
  /^(?:import|export)\b(?<type> type\b)?(?:(?<clause>[^;'"()]*?)\bfrom)? '(?<from>[^']+)'/gm;
const DYNAMIC = /\bimport\((['"`])(?<from>[^'"`]+)\1\)(?:\.(?<clause>\w+))?/g;

/** The names in `{ one, type two as three }`, or in `one` of `import('…').one`. */
function namesIn(clause: string): string[] | null {
  if (clause.includes('*')) return null;
  const names = clause.split(/[{},]/).map((part) => part.trim().replace(/^type /, ''));
  return names.map((name) => name.split(' as ')[0] ?? '').filter((name) => name !== '');
}

/** The imports of a source, in any of the ways the language has. */
export function importsOf(path: string): Import[] {
  const text = readText(path);
  const found = (pattern: RegExp, isLazy: boolean) =>
    [...text.matchAll(pattern)].map(({ groups }) => {
      const specifier = groups?.['from'] ?? '';
      const file = specifier.startsWith('.') ? join(path, '..', specifier) : null;
      const names = namesIn(groups?.['clause'] ?? (isLazy ? '*' : ''));
      return { specifier, file, names, isTypeOnly: groups?.['type'] !== undefined, isLazy };
    });
  return [...found(STATIC, false), ...found(DYNAMIC, true)];
}

/** A way along the imports that comes back to where it began, or null. */
export function circleIn(imports: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const done = new Set<string>();
  const visit = (place: string, way: readonly string[]): string[] | null => {
    if (way.includes(place)) return [...way.slice(way.indexOf(place)), place];
    if (done.has(place)) return null;
    for (const next of imports.get(place) ?? []) {
      const circle = visit(next, [...way, place]);
      if (circle !== null) return circle;
    }
    done.add(place);
    return null;
  };
  for (const place of imports.keys()) {
    const circle = visit(place, []);
    if (circle !== null) return circle;
  }
  return null;
}

/** The sources that these files reach by the imports that `follows` takes, themselves included. */
export function reachedFrom(
  paths: readonly string[],
  follows: (one: Import) => boolean = () => true,
): Set<string> {
  const reached = new Set<string>();
  const todo = [...paths];
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (reached.has(path) || !/\.tsx?$/.test(path)) continue;
    reached.add(path);
    for (const one of importsOf(path)) if (one.file !== null && follows(one)) todo.push(one.file);
  }
  return reached;
}
