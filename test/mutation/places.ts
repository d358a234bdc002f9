/** The places of the project where a mistake can be planted, and whether it compiles. */

import { join } from 'node:path';
import { API } from 'typescript/unstable/async';
import type { Random } from '../support/random.ts';
import { committedFiles, readText } from '../support/tree.ts';
import { changesIn, type Mistake } from './plant.ts';
import { changesInSql } from './sql.ts';

/** Texts for people, and the look of the page, are the reader's. */
const IS_TEXT = /^src\/console\/(?:texts|look)\//;
/** The page of the console is a project of its own. */
const PROJECTS = ['tsconfig.json', 'src/console/tsconfig.json'] as const;
const projectOf = (file: string) => PROJECTS[file.startsWith('src/console/') ? 1 : 0];

/** The sources that can have a mistake: those of the program, and the tables. */
export const SOURCES = committedFiles().filter(
  (path) =>
    (/^src\/.*(?<!\.d)\.tsx?$/.test(path) && !IS_TEXT.test(path)) ||
    /^migrations\/\w+\/\d+_\w+\.sql$/.test(path),
);

/** Sources with a mistake in them, for the compiler alone: nothing is written. */
export class Compiler implements AsyncDisposable {
  readonly #root: string;
  readonly #texts = new Map<string, string>();
  readonly #api: API;

  constructor(root: string) {
    this.#root = root;
    this.#api = new API({ cwd: root, fs: { readFile: (path) => this.#texts.get(path) } });
  }

  async #programOf(file: string, changed: readonly string[] = []) {
    const config = join(this.#root, projectOf(file));
    const snapshot = await this.#api.updateSnapshot({
      openProjects: [config],
      fileChanges: { changed: [...changed] },
    });
    const project = snapshot.getProjects().find(({ configFileName }) => configFileName === config);
    if (project === undefined) throw new Error(`${config} is no project`);
    return project.program;
  }

  async mistakesIn(file: string): Promise<Mistake[]> {
    if (file.endsWith('.sql')) return inTables(file).map((change) => ({ file, ...change }));
    const program = await this.#programOf(file);
    const source = await program.getSourceFile(join(this.#root, file));
    if (source === undefined) throw new Error(`${file} is of no project`);
    return changesIn(source).map((change) => ({ file, ...change }));
  }

  /** Returns whether the file of a mistake compiles with it: one that does not is no mistake. */
  async compiles(mistake: Mistake): Promise<boolean> {
    if (mistake.file.endsWith('.sql')) return true;
    const path = join(this.#root, mistake.file);
    this.#texts.set(path, withMistake(readText(mistake.file), mistake));
    const program = await this.#programOf(mistake.file, [path]);
    const faults = [
      ...(await program.getSyntacticDiagnostics(path)),
      ...(await program.getSemanticDiagnostics(path)),
    ];
    this.#texts.delete(path);
    await this.#programOf(mistake.file, [path]);
    return faults.length === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api.close();
  }
}

export function withMistake(text: string, { from, to, replacement }: Mistake): string {
  return text.slice(0, from) + replacement + text.slice(to);
}

/** Returns the halves of CHECKs of a migration, but for tables that a later one makes again. */
function inTables(file: string) {
  const text = readText(file);
  const later = SOURCES.filter((path) => path > file && path.startsWith(file.slice(0, 15)))
    .map(readText)
    .join('\n');
  return [...text.matchAll(/^CREATE TABLE [`"]?(?:__new_)?(\w+)[^;]*;/gm)]
    .filter(([, table]) => !later.includes(`__new_${table}\``))
    .flatMap(({ index, 0: table }) =>
      [...table.matchAll(/CHECK\s*\(.*\)/g)].flatMap((check) =>
        changesInSql(check[0]).map(({ from, to, ...change }) => {
          const start = index + check.index;
          return { ...change, from: start + from, to: start + to };
        }),
      ),
    );
}

/**
 * Returns mistakes that compile, by chance: one of each file in turn, so that no long one has most,
 * and of each kind in turn, so that no frequent one has.
 */
export async function* planted(
  compiler: Compiler,
  files: readonly string[],
  random: Random,
): AsyncGenerator<Mistake, void, void> {
  const left = new Map<string, Mistake[]>();
  for (let order = shuffled(files, random); order.length > 0; ) {
    for (const file of order) {
      const own = left.get(file) ?? shuffled(await compiler.mistakesIn(file), random);
      left.set(file, own);
      while (own.length > 0) {
        const kind = random.pick([...new Set(own.map((mistake) => mistake.kind))]);
        const at = own.findIndex((mistake) => mistake.kind === kind);
        const [mistake] = own.splice(at, 1);
        if (mistake === undefined || !(await compiler.compiles(mistake))) continue;
        yield mistake;
        break;
      }
    }
    order = order.filter((file) => left.get(file)?.length !== 0);
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
