/**
 * Templates such as `/sub/{key}`, which select the subscription key of a path. Paths are read
 * strictly: one that two servers could read differently is rejected, so that no second spelling
 * evades the gate.
 */

import { readPlainKey } from './formats.ts';
import { isRefused, type Misfit, malformed } from './outcome.ts';
import { isSigned, type PanelKey, readPanelToken } from './panel/token.ts';

/** The decoded segments of a path; a final slash is ignored. */
export type Path = readonly string[];

export interface KeyPath {
  /** The template as written. */
  readonly text: string;
  /** The segments in lower case; null: the key's. */
  readonly segments: readonly (string | null)[];
}

const PATH_LENGTH_MAX = 4096;

/** Percent codes of characters that need none, that are delimiters, or that are `%`. */
const ODD_CODE = [
  // Control characters.
  '[01][0-9a-f]|7f',
  // Unreserved characters: - . digits letters _ ~
  '2[de]|3\\d|[46][1-9a-f]|[57][0-9a]|5f|7e',
  // # % / ; ? \
  '2[35f]|3[bf]|5c',
].join('|');

/** RFC 3986 section 3.3, without `;`, where some servers cut a segment. */
const SEGMENT = `(?:[\\w.~!$&'()*+,=:@-]|%(?!${ODD_CODE})[\\da-f]{2})+`;
const PATH = new RegExp(`^(?:/(?!\\.\\.?(?:/|$))${SEGMENT})*/?$`, 'i');

/**
 * Reads the path of a request without its query. Returns null if it has over 4096 characters, empty
 * or dot segments, backslashes, `;`, or codes that no client needs (`%2F`, `%61`).
 */
export function readPath(path: string): Path | null {
  if (path.length > PATH_LENGTH_MAX || path[0] !== '/' || !PATH.test(path)) return null;
  const segments = path.slice(1).split('/');
  if (segments.at(-1) === '') segments.pop();
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    // Not UTF-8.
    return null;
  }
}

const TEMPLATE_LENGTH_MAX = 256;

/** Reads a template: a path with one segment `{key}`. */
export function readKeyPath(text: string): KeyPath | Misfit {
  if (text.length > TEMPLATE_LENGTH_MAX) return NO_TEMPLATE;
  const written = text.split('/');
  const keyAt = written.indexOf('{key}');
  const path = keyAt < 0 ? null : readPath(written.with(keyAt, 'key').join('/'));
  // Index 0 is before the first slash. Paths have no other braces.
  return path === null
    ? NO_TEMPLATE
    : { text, segments: path.map((part, at) => (at === keyAt - 1 ? null : part.toLowerCase())) };
}

/** A path, or all paths under it, that the proxy passes without a key. */
export interface PassPath {
  /** The segments with their case. */
  readonly segments: readonly string[];
  /** True: all paths under it, without itself. */
  readonly isFolder: boolean;
}

/** Reads a pass path; one that ends in `/*` is a folder. */
export function readPassPath(text: string): PassPath | Misfit {
  const isFolder = text.endsWith('/*');
  const written = isFolder ? text.slice(0, -2) : text;
  const segments = text.length > TEMPLATE_LENGTH_MAX ? null : readPath(written);
  const isLiteral = segments !== null && segments.length > 0 && !written.includes('*');
  return isLiteral ? { segments, isFolder } : NO_PASS_PATH;
}

const NO_PASS_PATH = malformed('must be a path such as /favicon.ico, or such as /assets/*');

/**
 * Returns true if one of `passPaths` has the path, with its case. A path that fits a template
 * passes only if the pass path has the segment of the key: `/assets/*` passes beside `/{key}`, but
 * `/sub/*` does not beside `/sub/{key}`.
 */
export function mayPass(
  passPaths: readonly PassPath[],
  templates: readonly KeyPath[],
  path: Path,
): boolean {
  return passPaths.some(({ segments, isFolder }) => {
    const isLong = isFolder ? path.length > segments.length : path.length === segments.length;
    if (!isLong || !segments.every((part, at) => part === path[at])) return false;
    return templates.every(
      (template) => !fits(template, path) || template.segments.indexOf(null) < segments.length,
    );
  });
}

const NO_TEMPLATE = malformed('must be a path of which one segment is {key}, such as /sub/{key}');

/** How a path names a link. */
export interface KeyReading {
  readonly keyPaths: readonly KeyPath[];
  readonly key: PanelKey;
  /** The secret of the panel that signs its tokens; null: unknown. */
  readonly secret: string | null;
}

/** The key of a link in a path. */
export interface KeyInPath {
  readonly key: string;
  /** False: a token without a checked signature; only the panel can prove it. */
  readonly isProven: boolean;
}

/**
 * Reads the key of a path by the first template that fits: literal segments in any case, and any
 * further segments after them. Returns a misfit if the segment is no key, or a token with a wrong
 * signature; null if no template fits.
 */
export function keyIn(
  { keyPaths, key: kind, secret }: KeyReading,
  path: Path,
): KeyInPath | Misfit | null {
  const template = keyPaths.find((one) => fits(one, path));
  if (template === undefined) return null;
  const segment = path[template.segments.indexOf(null)] ?? '';
  if (kind === 'plain') {
    const key = readPlainKey(segment);
    return isRefused(key) ? key : { key, isProven: true };
  }
  const token = readPanelToken(kind, segment);
  if (token === null || (secret !== null && !isSigned(token, secret))) return NO_TOKEN;
  return { key: token.key, isProven: secret !== null };
}

const NO_TOKEN = malformed('must be a token that the panel signed');

function fits({ segments }: KeyPath, path: Path): boolean {
  if (path.length < segments.length) return false;
  return segments.every((part, at) => part === null || part === path[at]?.toLowerCase());
}
