/**
 * The newest release, by the files of a release page: SHA256SUMS, whose bill of materials has the
 * version in its name, and SHA256SUMS.sig, the publisher's signature by `ssh-keygen -Y sign`.
 */

import { createHash, createPublicKey, verify } from 'node:crypto';
import { OperatorError } from '../base/operator-error.ts';
import { VERSION } from '../base/version.ts';
import type { Config } from '../config/settings/index.ts';
import { OutgoingFailure } from '../outgoing/call.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';

export interface NewestRelease {
  version: string;
  /** False: this version is the newest. */
  isNewer: boolean;
}

/** SHA256SUMS has about ten lines, one for each file. */
const FILE_BYTES_MAX = 64 * 1024;
const ANSWER_MAX_MS = 10_000;
const VERSION_LINE = /^[0-9a-f]{64} {2}gatepost_(\d{1,6}\.\d{1,6}\.\d{1,6})\.cdx\.json$/gm;

/**
 * Asks the page of `update.url`. Throws `OperatorError` if the page gives no
 * answer, or a release that `update.key` did not sign or that is older than `current`.
 */
export async function newestRelease(
  { updateUrl, updateKey }: Pick<Config, 'updateUrl' | 'updateKey'>,
  outgoing: Pick<Outgoing, 'send'>,
  { current = VERSION, signal = new AbortController().signal } = {},
): Promise<NewestRelease> {
  if (updateUrl === '') throw new OperatorError('update.url is not set: it names the release page');
  if (updateKey === '') {
    throw new OperatorError('update.key is not set: the signature of a release needs it');
  }
  const [list, signature] = await Promise.all(
    ['SHA256SUMS', 'SHA256SUMS.sig'].map((name) =>
      fetchFile(outgoing, `${updateUrl}/${name}`, signal),
    ),
  );
  if (!isSigned(list ?? '', signature ?? '', updateKey)) {
    throw refused(`SHA256SUMS at ${updateUrl} is not signed by update.key`);
  }
  const [version, ...others] = [...(list ?? '').matchAll(VERSION_LINE)].map(([, one]) => one);
  if (version === undefined || others.length > 0) {
    throw refused(`SHA256SUMS at ${updateUrl} does not name one version`);
  }
  const order = Bun.semver.order(version, current);
  if (order < 0) {
    throw refused(`${updateUrl} has ${version}, older than this version, ${current}`);
  }
  return { version, isNewer: order > 0 };
}

function refused(sentence: string): OperatorError {
  return new OperatorError(`${sentence}: the release is refused`, 'release_refused');
}

/** Returns a file of the page. Throws `OperatorError` if it cannot be fetched whole. */
async function fetchFile(
  outgoing: Pick<Outgoing, 'send'>,
  url: string,
  signal: AbortSignal,
): Promise<string> {
  const answer = await outgoing.send(
    {
      method: 'GET',
      destination: 'update',
      url,
      trust: 'operator',
      headers: {},
      body: null,
      timeoutMs: ANSWER_MAX_MS,
      answerBytesMax: FILE_BYTES_MAX,
      originConcurrency: 2,
    },
    signal,
  );
  if (answer instanceof OutgoingFailure) throw new OperatorError(answer.problem);
  const { status } = answer;
  if (status >= 300 && status < 400) {
    throw new OperatorError(`${url} redirects (${status}): update.url must be where the files are`);
  }
  if (status !== 200) throw new OperatorError(`${url} answers with status ${status}`);
  if (!answer.isWhole) {
    throw new OperatorError(`${url} has more than ${FILE_BYTES_MAX} bytes, or broke off`);
  }
  return answer.text;
}

/** The purpose of a signature on a release; other purposes are refused. */
const NAMESPACE = 'gatepost';
const SCHEME = 'ssh-ed25519';
const SIGNATURE_BYTES = 64;
const ARMOR =
  /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n?$/;

/** Returns whether a text has this signature (PROTOCOL.sshsig of OpenSSH) by an Ed25519 key. */
function isSigned(text: string, signature: string, key: string): boolean {
  const given = Buffer.from(ARMOR.exec(signature)?.[1] ?? '', 'base64');
  const publicKey = Buffer.from(key.slice(SCHEME.length + 1), 'base64');
  const purpose = [field(NAMESPACE), field(''), field('sha512')];
  // Everything except the last bytes is known; a difference means another key, purpose or scheme.
  const head = Buffer.concat([
    ...[Buffer.from('SSHSIG'), length(1), field(publicKey), ...purpose],
    ...[length(4 + SCHEME.length + 4 + SIGNATURE_BYTES), field(SCHEME), length(SIGNATURE_BYTES)],
  ]);
  if (given.length !== head.length + SIGNATURE_BYTES) return false;
  if (!given.subarray(0, head.length).equals(head)) return false;
  const digest = createHash('sha512').update(text).digest();
  const x = publicKey.subarray(-32).toString('base64url');
  return verify(
    null,
    Buffer.concat([Buffer.from('SSHSIG'), ...purpose, field(digest)]),
    createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } }),
    given.subarray(head.length),
  );
}

/** A string of SSH: its length in four bytes, and its bytes. */
function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([length(bytes.length), bytes]);
}

function length(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
