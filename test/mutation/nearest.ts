/** Which tests are asked about a mistake: those that import its file, the likeliest first. */

import { basename, dirname } from 'node:path';
import { importersIn } from '../changed.ts';
import { committedFiles, importsOf, readText } from '../support/tree.ts';

/** A test that starts the program, or opens the page, imports neither. */
const LOADED_BY = {
  'src/main.ts': ['test/support/process.ts'],
  'packaging/console.ts': ['test/support/process.ts'],
};
/** Lines before and after a mistake whose words say what it is about. */
const LINES_NEAR = 12;

/** Returns the function that ranks the tests of a file, by words of the text around a line. */
export function ranking(): (file: string, line: number) => string[] {
  const importers = importersIn();
  const page = committedFiles().filter((path) => /^src\/console\/.*\.tsx?$/.test(path));
  for (const path of page) {
    importers.set(path, [...(importers.get(path) ?? []), 'packaging/console.ts']);
  }
  for (const [path, by] of Object.entries(LOADED_BY)) {
    importers.set(path, [...(importers.get(path) ?? []), ...by]);
  }
  const tests = committedFiles().filter((path) => path.endsWith('.test.ts'));
  const wordsOf = new Map(tests.map((path) => [path, wordsOfTest(path)]));
  /** In how many tests a word is. */
  const counts = new Map<string, number>();
  for (const words of wordsOf.values()) {
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }

  return (file, line) => {
    const text = readText(file);
    const lines = text.split('\n').slice(Math.max(0, line - 1 - LINES_NEAR), line + LINES_NEAR);
    const weights = new Map<string, number>();
    const weigh = (words: ReadonlySet<string>, weight: number) => {
      for (const word of words) {
        const rarity = Math.log(tests.length / (counts.get(word) ?? tests.length));
        weights.set(word, (weights.get(word) ?? 0) + weight * rarity);
      }
    };
    weigh(wordsIn(text), 1);
    weigh(wordsIn(lines.join('\n')), 2);
    weigh(wordsOfPath(file), 4);
    const likeness = (test: string) => {
      const words = wordsOf.get(test) ?? new Set();
      let sum = 0;
      for (const [word, weight] of weights) if (words.has(word)) sum += weight;
      return sum / Math.sqrt(words.size + 1);
    };
    return [...distancesFrom(file, importers)]
      .filter(([path]) => path.endsWith('.test.ts'))
      .map(([path, distance]) => ({ path, rank: likeness(path) / (3 + distance) }))
      .sort((a, b) => b.rank - a.rank || a.path.localeCompare(b.path))
      .map(({ path }) => path);
  };
}

/** Returns over how many imports each file reaches this one. */
function distancesFrom(
  file: string,
  importers: ReadonlyMap<string, readonly string[]>,
): Map<string, number> {
  const distances = new Map([[file, 0]]);
  for (const [path, distance] of distances) {
    for (const importer of importers.get(path) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  return distances;
}

/** The words of a test, and of its own parts that lie beside it. */
function wordsOfTest(path: string): Set<string> {
  const beside = importsOf(path).flatMap(({ file }) =>
    file !== null && dirname(file) === dirname(path) ? [file] : [],
  );
  const texts = [path, ...beside].map((each) => wordsIn(readText(each)));
  return new Set([...texts, wordsOfPath(path)].flatMap((words) => [...words]));
}

/** Names, in one piece and in their parts. */
function wordsIn(text: string): Set<string> {
  const names = new Set(text.match(/[A-Za-z_]{3,}/g) ?? []);
  return new Set([...names].flatMap((name) => [name, ...partsOf(name)]));
}

const partsOf = (name: string) =>
  name.split(/(?=[A-Z])|_/).flatMap((part) => (part.length > 2 ? [part.toLowerCase()] : []));

/** The folders and the name of a file, as words of their own: they say most. */
function wordsOfPath(path: string): Set<string> {
  const name = basename(path).replace(/\..*$/, '');
  // The contract tries the nouns of the store, one by one.
  const folders = dirname(path).replace('store/contract', 'store/noun/contract').split('/');
  return new Set([...name.split('-'), name, ...folders].map((word) => `/${word}`));
}
