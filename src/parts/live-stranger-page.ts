/** The answer to strangers that the operator chose: a file, or what an address answers. */

import { extname } from 'node:path';
import type { Log } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import { readAtMost } from '../base/permissions.ts';
import type { Config } from '../config/settings/index.ts';
import type { StrangerPage } from '../http/strangers.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../outgoing/call.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';

type Settings = Pick<Config, 'strangers' | 'strangerPage'>;

interface StrangerPageParts {
  settings: Settings;
  outgoing: Pick<Outgoing, 'send'>;
  log: Log;
}

/** The largest page, bytes: memory holds it, and each stranger gets it. */
const BYTES_MAX = 128 * 1024;
const TIMEOUT_MS = 10_000;

/** Headers of an address's answer that are passed on; others belong to one connection or client. */
const PASSED_ON = [
  'cache-control',
  'content-language',
  'content-type',
  'etag',
  'last-modified',
  'location',
  'server',
  'www-authenticate',
] as const;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.htm': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};
const OTHER_TYPE = 'application/octet-stream';

/** Returns whether a page is an address, and not a file. */
const isAddress = (source: string) => /^https?:/.test(source);

export class LiveStrangerPage {
  #page: StrangerPage | null = null;
  /** The setting by which the page came. */
  #source = '';
  #hasFailed = false;

  /** Reads the file of the settings; throws as {@link prepare} does. */
  constructor(private readonly parts: StrangerPageParts) {
    this.prepare(parts.settings)();
  }

  /** Returns the page; null: there is none now. */
  current = (): StrangerPage | null => this.#page;

  /**
   * Reads the file of these settings. Returns a function that applies it. Throws `OperatorError`
   * and changes nothing if it cannot be read or is too large.
   */
  prepare({ strangerPage: source }: Settings): () => void {
    const isSame = isAddress(source) && source === this.#source;
    const page = readStrangerPage(source);
    return () => {
      this.#source = source;
      if (!isSame) this.#page = page;
      this.#hasFailed = false;
    };
  }

  /** Asks the address, if the settings name one; keeps no page that it does not serve any more. */
  refresh = async (signal: AbortSignal): Promise<void> => {
    const { log, outgoing, settings } = this.parts;
    const source = this.#source;
    if (settings.strangers !== 'quiet' || !isAddress(source)) return;
    const answer = await outgoing.send({ ...CALL, url: source }, signal);
    if (signal.aborted || source !== this.#source) return;
    const made = answer instanceof OutgoingFailure ? answer.problem : pageOf(answer);
    const hasFailed = typeof made === 'string';
    if (hasFailed && !this.#hasFailed) log.warn('stranger_page_failed', { problem: made });
    this.#hasFailed = hasFailed;
    this.#page = hasFailed ? null : made;
  };
}

/** Makes the page of an answer; returns the problem as a sentence if it cannot be passed on. */
function pageOf({ header, isWhole, status, text }: OutgoingAnswer): StrangerPage | string {
  const isPage = status >= 200 && status <= 599 && !BODILESS.has(status);
  if (!isPage) return `the answer has status ${status}`;
  if (!isWhole) return `the answer has more than ${BYTES_MAX} bytes or broke off`;
  if (!/^(?:identity)?$/i.test(header('content-encoding') ?? '')) return 'the answer is compressed';
  const given = PASSED_ON.map((name) => [name, header(name)] as const);
  const headers = {
    'content-type': OTHER_TYPE,
    ...Object.fromEntries(given.filter(([, value]) => value !== null)),
  };
  return { status, headers, body: new TextEncoder().encode(text) };
}

/** Statuses whose answers have no body. */
const BODILESS = new Set([204, 205, 304]);

/** The same for every asker: nothing of a stranger's request goes out. */
const CALL = {
  destination: 'page',
  method: 'GET',
  trust: 'operator',
  headers: {},
  body: null,
  originConcurrency: 1,
  timeoutMs: TIMEOUT_MS,
  answerBytesMax: BYTES_MAX,
} as const;

/** Reads the page if the setting names a file, else returns null. Throws `OperatorError`. */
export function readStrangerPage(file: string): StrangerPage | null {
  if (file === '' || isAddress(file)) return null;
  const read = readAtMost(file, BYTES_MAX);
  if (read === null) {
    throw new OperatorError(`server.stranger_page: ${file} is larger than ${BYTES_MAX} bytes`);
  }
  if ('problem' in read) throw new OperatorError(`server.stranger_page: ${read.problem}`);
  const type = TYPES[extname(file).toLowerCase()] ?? OTHER_TYPE;
  const body = new Uint8Array(read.bytes);
  return { status: 404, headers: { 'content-type': type }, body };
}
