/** A release page on this machine: signed files of a small release. */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from './app.ts';

/** Which programs the page needs (test/support/needs.ts). */
export const RELEASE_TOOLS = ['ssh-keygen'] as const;

interface Publication {
  /** The page with the key that signs; absent: this one. */
  signer?: ReleasePage;
  /** The purpose of the signature. */
  namespace?: string;
  executable?: string;
}

export interface ReleasePage {
  url: string;
  folder: string;
  /** The public key, `ssh-ed25519 AAAA…`. */
  key: string;
  /** The files by name; a test may change them. */
  files: Map<string, string | Uint8Array<ArrayBuffer>>;
  /** The paths that were asked for, and the headers of all these requests. */
  asked: string[];
  headers: Headers[];
  /** The answer to a path in place of a file. */
  answer: ((name: string) => Response | Promise<Response> | undefined) | null;
  /** Fills the page with a release, listed and signed. */
  publish(version: string, more?: Publication): void;
  stop(): Promise<void>;
}

/** An executable of a release: it says its version, as the real one does. */
export function fakeExecutable(version: string): string {
  return `#!/bin/sh\necho "gatepost ${version} (commit abc, bun 1, linux-x64)"\n`;
}

const NAMES = ['x64', 'arm64', 'x64-musl', 'arm64-musl'].map((name) => `gatepost-linux-${name}`);

export function releasePage(): ReleasePage {
  const folder = freshFolder();
  mkdirSync(join(folder, 'keys'));
  const keyFile = join(folder, 'keys/key');
  Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'publisher', '-f', keyFile]);
  const key = readFileSync(`${keyFile}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  const asked: string[] = [];
  const headers: Headers[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const name = new URL(request.url).pathname.slice(1);
      asked.push(name);
      headers.push(request.headers);
      const file = page.files.get(name);
      return (
        (await page.answer?.(name)) ??
        (file === undefined ? new Response('none', { status: 404 }) : new Response(file))
      );
    },
  });
  const page: ReleasePage = {
    url: `http://127.0.0.1:${server.port}`,
    folder,
    key,
    asked,
    headers,
    answer: null,
    files: new Map(),
    publish: (version, more = {}) => {
      const { signer = page, namespace = 'gatepost' } = more;
      const { executable = fakeExecutable(version) } = more;
      const { files } = page;
      files.clear();
      for (const name of NAMES) files.set(name, executable);
      for (const name of ['amd64', 'arm64']) files.set(`gatepost_${version}_${name}.deb`, name);
      files.set(`gatepost_${version}.cdx.json`, '{}');
      const list = [...files].map(([name, content]) => {
        const sum = createHash('sha256').update(content).digest('hex');
        return `${sum}  ${name}\n`;
      });
      const path = join(folder, 'SHA256SUMS');
      writeFileSync(path, list.join(''));
      rmSync(`${path}.sig`, { force: true });
      const words = ['-Y', 'sign', '-f', join(signer.folder, 'keys/key'), '-n', namespace, path];
      const signed = Bun.spawnSync(['ssh-keygen', ...words]);
      if (signed.exitCode !== 0) throw new Error(signed.stderr.toString());
      files.set('SHA256SUMS', readFileSync(path, 'utf8'));
      files.set('SHA256SUMS.sig', readFileSync(`${path}.sig`, 'utf8'));
    },
    stop: async () => {
      await server.stop(true);
      rmSync(folder, { recursive: true });
    },
  };
  return page;
}
