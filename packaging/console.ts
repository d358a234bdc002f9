/**
 * Makes the files of the console's page in dist/console: a script and one for each page, one style,
 * one file of texts for each language and the mark, in Brotli, each with a hash in its name.
 *
 *   bun packaging/console.ts
 */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

const SOURCE = join(import.meta.dir, '..', 'src', 'console');
const LANGUAGES = ['en', 'ru', 'zh', 'fa'];
export const CONSOLE_FOLDER = join(import.meta.dir, '..', 'dist', 'console');

/** Makes the files. Throws with the reasons if a source is wrong. */
export async function buildConsole(folder = CONSOLE_FOLDER): Promise<void> {
  const built = await Bun.build({
    entrypoints: [
      join(SOURCE, 'app.tsx'),
      // By names of their own: the server tells the browser early which one it needs.
      ...readdirSync(join(SOURCE, 'pages'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.tsx') && name !== 'sign-in.tsx')
        .map((name) => join(SOURCE, 'pages', name)),
      ...LANGUAGES.flatMap((language) => [
        join(SOURCE, 'texts', `${language}.ts`),
        join(SOURCE, 'texts', `operator-${language}.ts`),
      ]),
    ],
    target: 'browser',
    minify: true,
    splitting: true,
    naming: '[name]-[hash].[ext]',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const files = built.outputs.map((content) => ({
    name: content.path.replace(/^.*\//, ''),
    content: content as Blob,
  }));
  const mark = Bun.file(join(SOURCE, 'mark.svg'));
  const hash = Bun.hash(await mark.text()).toString(36);
  files.push({ name: `mark-${hash}.svg`, content: mark });
  mkdirSync(folder, { recursive: true });
  for (const old of readdirSync(folder)) rmSync(join(folder, old));
  for (const { name, content } of files) {
    // By its usual quality, the best: browsers take it on HTTPS and on this machine.
    const bytes = brotliCompressSync(new Uint8Array(await content.arrayBuffer()));
    writeFileSync(join(folder, `${name}.br`), bytes);
  }
}

if (import.meta.main) await buildConsole();
