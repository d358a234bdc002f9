/**
 * Templates such as `/sub/{key}`, which select the subscription key of a path. Paths are read
 * strictly: one that two servers could read differently is rejected, so that no second spelling
 * evades the gate.
 */

import { isRefused, type Misfit, malformed } from './outcome.ts';
import { PANEL_TRAITS } from './panel/index.ts';
import type { PanelKey, PanelKind } from './panel/kind.ts';
import { isSigned, readPanelToken } from './panel/token.ts';
import { readPlainKey } from './subscription-key.ts';

/** The decoded segments of a path; a final slash is ignored. */
export interface Path extends ReadonlyArray<string> {
  /** The segment that only a key may be: see {@link readRequestPath}; absent: there is none. */
  readonly looseAt?: number;
}

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
const pathOf = (segment: string) => new RegExp(`^(?:/(?!\\.\\.?(?:/|$))${segment})*/?$`, 'i');
const PATH = pathOf(SEGMENT);
const STRICT = new RegExp(`^${SEGMENT}$`, 'i');
/** All of RFC 3986, without codes of control characters, `/` and `\\`. */
const LOOSE_PATH = pathOf("(?:[\\w.~!$&'()*+,;=:@-]|%(?![01][\\da-f]|7f|2f|5c)[\\da-f]{2})+");

/**
 * Reads a path without its query, strictly. Returns null if it has over 4096 characters, empty or
 * dot segments, backslashes, `;`, or codes that no client needs (`%2F`, `%61`).
 */
export function readPath(path: string): Path | null {
  return isPath(path, PATH) ? decoded(writtenIn(path)) : null;
}

/**
 * Reads the path of a request, as {@link readPath} does. One segment, which only a key may be, may
 * also have codes of letters, and `;`, `%`, `?` and `#`: a panel takes all spellings of a key.
 */
export function readRequestPath(path: string): Path | null {
  if (isPath(path, PATH)) return decoded(writtenIn(path));
  if (!isPath(path, LOOSE_PATH)) return null;
  const written = writtenIn(path);
  const [looseAt, another] = written.flatMap((part, at) => (STRICT.test(part) ? [] : [at]));
  const segments = decoded(written);
  if (looseAt === undefined || another !== undefined || segments === null) return null;
  return /^\.{1,2}$/.test(segments[looseAt] ?? '') ? null : Object.assign(segments, { looseAt });
}

function isPath(path: string, pattern: RegExp): boolean {
  return path.length <= PATH_LENGTH_MAX && path[0] === '/' && pattern.test(path);
}

function writtenIn(path: string): string[] {
  const segments = path.slice(1).split('/');
  if (segments.at(-1) === '') segments.pop();
  return segments;
}

function decoded(written: string[]): string[] | null {
  if (!written.some((part) => part.includes('%'))) return written;
  try {
    return written.map(decodeURIComponent);
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
  if (path.looseAt !== undefined) return false;
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
  /** The panel behind; null: unknown. */
  readonly panel: PanelKind | null;
}

/** The key of a link in a path. */
export interface KeyInPath {
  readonly key: string;
  /** False: a token without a checked signature; only the panel can prove it. */
  readonly isProven: boolean;
  /** The spelling under which a link may have the key; absent: there is no other. */
  readonly former?: FormerKey;
  /** The token of the panel; absent: a plain key. */
  readonly token?: SignedToken;
}

/** A token in a path. */
export interface SignedToken {
  readonly text: string;
  /** The time at which the panel made it, ms; the panel rounds up to a second. */
  readonly signedAtMs: number;
}

/** Another spelling of a key, as versions before 0.18.0 stored it. */
export interface FormerKey {
  readonly key: string;
  /** True: the panel takes both spellings for one customer. */
  readonly isSame: boolean;
}

/**
 * Reads the key of a path by the first template that fits: literal segments in any case, and any
 * further segments after them. Returns a misfit if the segment is no key of the panel, or a token
 * with a wrong signature; null if no template fits.
 */
export function keyIn(
  { keyPaths, key: kind, secret, panel }: KeyReading,
  path: Path,
): KeyInPath | Misfit | null {
  const template = keyPaths.find((one) => fits(one, path));
  if (template === undefined) return path.looseAt === undefined ? null : ODD_PATH;
  const segment = path[template.segments.indexOf(null)] ?? '';
  const form = kind === 'plain' ? kind : PANEL_TRAITS[kind].keys;
  if (form === 'plain') return plainKeyIn(segment, panel);
  if (form === 'uuid') return uuidIn(segment);
  const token = readPanelToken(form, segment);
  if (token === null || (secret !== null && !isSigned(token, secret))) return NO_TOKEN;
  const { key, signedAtMs } = token;
  return { key, isProven: secret !== null, token: { text: segment, signedAtMs } };
}

/** The names in the path of a request. */
interface NamedPath {
  path: Path;
  /** True for a pass path, which has no key. */
  mayPass: boolean;
  /** As {@link keyIn} returns it. */
  key: KeyInPath | Misfit | null;
}

/** Reads what a path names, as {@link readRequestPath}; null: it is no path. */
export function readNamedPath(
  text: string,
  reading: KeyReading & { readonly passPaths: readonly PassPath[] },
): NamedPath | null {
  const path = readRequestPath(text);
  if (path === null) return null;
  const isPassed = mayPass(reading.passPaths, reading.keyPaths, path);
  return { path, mayPass: isPassed, key: isPassed ? null : keyIn(reading, path) };
}

/**
 * Finds whether the segment of a key, or the one behind it, is a UUID, which some panels compare as
 * numbers, and its template; null: no template fits.
 */
export function uuidAt(
  keyPaths: readonly KeyPath[],
  path: Path,
): { template: string; isFound: boolean } | null {
  const template = keyPaths.find((one) => fits(one, path));
  if (template === undefined) return null;
  const at = template.segments.indexOf(null);
  const isFound = isUuid(path[at] ?? '') || isUuid(path[at + 1] ?? '');
  return { template: template.text, isFound };
}

const ODD_PATH = malformed('must be a path that all servers read alike');
const NO_TOKEN = malformed('must be a token that the panel signed');
const NO_UUID = malformed('must be a UUID');
const NO_DELIMITERS = malformed('must have no ; % & ? and #, where servers cut a segment');
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns true for a UUID in any case. */
const isUuid = (text: string): boolean => text.length === 36 && UUID.test(text);

function plainKeyIn(segment: string, panel: PanelKind | null): KeyInPath | Misfit {
  const key = readPlainKey(segment);
  if (isRefused(key)) return key;
  const isCut = /[;%&?#]/.test(key) && !(panel && PANEL_TRAITS[panel].keysHaveDelimiters);
  if (isCut) return NO_DELIMITERS;
  const folded = key.normalize('NFKC');
  if (folded === key) return { key, isProven: true };
  const isExact = panel !== null && PANEL_TRAITS[panel].keysAreExact;
  if (isExact) return { key, isProven: true, former: { key: folded, isSame: false } };
  // A panel that compares otherwise would take both for one customer.
  const same = readPlainKey(folded);
  return isRefused(same) ? same : { key: same, isProven: true, former: { key, isSame: true } };
}

/** Reads a key of a panel that compares UUIDs as numbers. */
function uuidIn(segment: string): KeyInPath | Misfit {
  if (!isUuid(segment)) return NO_UUID;
  const key = segment.toLowerCase();
  if (key === segment) return { key, isProven: true };
  return { key, isProven: true, former: { key: segment, isSame: true } };
}

function fits({ segments }: KeyPath, path: Path): boolean {
  if (path.length < segments.length) return false;
  if (path.looseAt !== undefined && segments[path.looseAt] !== null) return false;
  return segments.every((part, at) => part === null || part === path[at]?.toLowerCase());
}
