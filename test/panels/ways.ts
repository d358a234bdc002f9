/** The ways by which users of a panel come into Gatepost, each as words of `gatepost import`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binary, plainEnv, run, shell, temporaryFolder } from '../support/process.ts';
import type { Database, RealPanel } from './panel.ts';

export interface Way {
  name: string;
  /** Words of a shell behind `import`, which may read stdin. */
  words: string;
  /** What its stdin is; null: nothing. */
  stdin: string | null;
}

/** A link as the export writes it, without what is made up here. */
export interface BroughtLink {
  key: string;
  limit: number;
  status: number;
  note: string | null;
  devices: string[];
}

/** The commands that write a database as text, by the name of the way. */
const DUMPS: Readonly<Record<Database['kind'], (at: URL | string) => Record<string, string>>> = {
  sqlite: (file) => ({ dump: `sqlite3 '${file}' .dump` }),
  mariadb: (at) => {
    const { hostname, password, pathname, port, username } = new URL(at);
    const to = `--no-defaults --host=${hostname} --port=${port} --user=${username}`;
    return {
      dump: `mariadb-dump ${to} --password='${password}' '${pathname.slice(1)}'`,
      'dump row by row': `mariadb-dump ${to} --password='${password}' --skip-extended-insert --complete-insert '${pathname.slice(1)}'`,
    };
  },
  postgres: (at) => ({
    dump: `pg_dump --dbname='${at}'`,
    'dump as inserts': `pg_dump --inserts --dbname='${at}'`,
  }),
};

/** Writes dumps of what the panel has now, and returns each way to import it. */
export function waysOf({ api, database }: RealPanel): Way[] {
  const folder = temporaryFolder();
  const at = database.kind === 'sqlite' ? database.file : database.url;
  const ofDumps = Object.entries(DUMPS[database.kind](at)).flatMap(([name, command], n): Way[] => {
    const file = join(folder, `${n}.sql`);
    const made = shell(`${command} >'${file}' && gzip --keep '${file}'`);
    if (made.code !== 0) throw new Error(`${command}: ${made.stderr}`);
    return [
      { name, words: `'${file}'`, stdin: null },
      { name: `${name}, gzipped`, words: `'${file}.gz'`, stdin: null },
      { name: `${name} on stdin`, words: '-', stdin: file },
      { name: `${name} on stdin, gzipped`, words: '-', stdin: `${file}.gz` },
    ];
  });
  const ofFile = { name: 'file', words: `'${at}'`, stdin: null };
  const token = join(folder, 'token');
  writeFileSync(token, api.token, { mode: 0o600 });
  const ofApi = { name: 'API', words: `--from '${api.url}' --key-file '${token}'`, stdin: null };
  return [...(database.kind === 'sqlite' ? [ofFile] : []), ...ofDumps, ofApi];
}

/** What an import says for machines. */
export interface Summary {
  users: number;
  view: string | null;
  gone: number;
  out_of_view: number;
  links: { added: number; updated: number; present: number; replaced: number };
  hwids: { added: number };
}

interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

/** Imports by a way, with further options. */
export async function attempt(
  { kind }: RealPanel,
  way: Way,
  dataDir: string,
  code: string,
  more = '',
): Promise<Printed> {
  const from = way.stdin === null ? '' : `<'${way.stdin}'`;
  const rules = `--panel ${kind} --code ${code} --unlimited-as 3 --rate 1000 --json ${more}`;
  const line = `'${binary()}' import ${way.words} ${rules} --data '${dataDir}' ${from}`;
  const child = Bun.spawn(['sh', '-c', line], { env: plainEnv(), stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code: exit, stdout, stderr };
}

/** Imports by a way. Throws where the command fails. */
export async function bring(
  ...[panel, way, ...more]: Parameters<typeof attempt>
): Promise<Summary> {
  const made = await attempt(panel, way, ...more);
  if (made.code !== 0) throw new Error(`import by ${way.name}: ${made.stderr}${made.stdout}`);
  return JSON.parse(made.stdout) as Summary;
}

/** Returns the links of a provider by their keys, those of customers whom no test made left out. */
export async function linksIn(dataDir: string, code: string): Promise<BroughtLink[]> {
  const { stdout, stderr, code: exit } = await run(['export', code, '--data', dataDir]);
  if (exit !== 0) throw new Error(`export: ${stderr}`);
  type Install = {
    subscription_key_hash: string;
    install_limit: number;
    status: number;
    note: string | null;
    hwids: Record<string, unknown>[];
  };
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"install":'));
  return lines
    .map((line) => (JSON.parse(line) as { install: Install }).install)
    .map(({ subscription_key_hash: key, install_limit: limit, status, note, hwids }) => ({
      key,
      limit,
      status,
      note,
      devices: hwids.map((hwid) => JSON.stringify(hwid)).toSorted(),
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
