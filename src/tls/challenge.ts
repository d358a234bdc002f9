/** Proofs for the authority that names belong to this server: RFC 8555, section 8. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { wordsOfErrno } from '../base/errno.ts';
import type { Log } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import { makeOwnFolder } from '../base/permissions.ts';
import { runHook } from './hook.ts';

export interface Prover {
  type: 'http-01' | 'dns-01';
  /** Publishes `proof`, which the authority must find for the challenge `token`. */
  present(domain: string, token: string, proof: string): Promise<void>;
  cleanUp(domain: string, token: string, proof: string): Promise<void>;
  /** Ends the work in progress; publishes and removes nothing afterwards. */
  stop(): Promise<void>;
}

interface HttpProverOptions {
  /** The folder of the proofs: files, so that any process on the data directory can answer. */
  folder: string;
  host: string;
  port: number;
  /** Names to which requests may be redirected. */
  domains: readonly string[];
  log: Log;
}

const PREFIX = '/.well-known/acme-challenge/';
/** The form of tokens: base64url, section 8.1; nothing else becomes part of a path. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;
/** Paths with credentials are not redirected: a caller without TLS must notice its mistake. */
const NOT_REDIRECTED = /^\/(?:api|remote|device)(?:\/|$)/;

/** Answers http-01 on a port of its own, and redirects all other requests to https. */
export function makeHttpProver(options: HttpProverOptions): Prover & { port: number | null } {
  const { folder } = options;
  const hosts = new Set(options.domains.map((name) => (isIPv6(name) ? `[${name}]` : name)));
  makeOwnFolder(folder);

  function answer(request: Request): Response {
    const url = new URL(request.url);
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(403, 'Use HTTPS');
    if (url.pathname.startsWith(PREFIX)) return proofFor(url.pathname.slice(PREFIX.length));
    if (!hosts.has(url.hostname)) return plain(404, 'Not found');
    if (NOT_REDIRECTED.test(url.pathname)) return plain(403, 'Use HTTPS');
    const location = `https://${url.hostname}${url.pathname}${url.search}`;
    return new Response(null, { status: 308, headers: { location } });
  }

  function proofFor(token: string): Response {
    if (!TOKEN.test(token)) return plain(404, 'Not found');
    try {
      return plain(200, readFileSync(join(folder, token), 'utf8'));
    } catch {
      return plain(404, 'Not found');
    }
  }

  const server = serve(options, answer);
  return {
    type: 'http-01',
    port: server?.port ?? null,
    present: async (_domain, token, proof) => {
      if (!TOKEN.test(token)) throw new OperatorError('the authority sent a malformed token');
      writeFileSync(join(folder, token), proof, { mode: 0o600 });
    },
    cleanUp: async (_domain, token) => rmSync(join(folder, token), { force: true }),
    stop: async () => server?.stop(true),
  };
}

function serve(
  { host, port, log }: HttpProverOptions,
  fetch: (request: Request) => Response,
): Bun.Server<undefined> | null {
  try {
    return Bun.serve({
      hostname: host,
      port,
      reusePort: false,
      idleTimeout: 10,
      maxRequestBodySize: 0,
      fetch,
      error: () => plain(500, 'Internal fault'),
    });
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    // Another Gatepost on the same data directory answers from the same files.
    if (code !== 'EADDRINUSE') {
      throw new OperatorError(
        `cannot listen on ${host}:${port} for acme.challenge: ${wordsOfErrno(code)}`,
      );
    }
    log.warn('acme_port_taken', { port });
    return null;
  }
}

function plain(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'content-type': 'text/plain' } });
}

/** Proves names by TXT records, which a program of the operator creates and removes. */
export function makeDnsProver(hook: string): Prover {
  const stopping = new AbortController();
  // A name and its wildcard share one record set: two hooks at a time could lose a record.
  let queue: Promise<void> = Promise.resolve();
  const inTurn = (action: string) => (domain: string, _token: string, proof: string) => {
    const words = [hook, action, `_acme-challenge.${domain}`, proof] as const;
    const turn = queue.then(() => runHook(words, stopping.signal));
    queue = turn.catch(() => {});
    return turn;
  };
  return {
    type: 'dns-01',
    present: inTurn('present'),
    cleanUp: inTurn('cleanup'),
    stop: () => {
      stopping.abort();
      return queue;
    },
  };
}
