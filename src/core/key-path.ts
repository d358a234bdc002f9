/**
 * Templates such as `/sub/{key}`: they tell which part of a path is the key of a subscription. A
 * path is read once and strictly: what one server may take for another path is none, so nothing
 * gets by under a second spelling.
 */

import { readSubscriptionKey } from './formats.ts';
import { type Misfit, malformed } from './outcome.ts';

/** A path as the segments between its slashes, decoded. One slash at its end changes nothing. */
export type Path = readonly string[];

/** A template. */
export interface KeyPath {
  /** The template as it was written. */
  readonly text: string;
  /** The segments in lower case; null: the key. */
  readonly segments: readonly (string | null)[];
}

const PATH_LENGTH_MAX = 4096;

/** Codes of signs that need none, that end or divide something, or that begin a code. */
const ODD_CODE = [
  // Control characters.
  '[01][0-9a-f]|7f',
  // Unreserved characters: - . digits letters _ ~
  '2[de]|3\\d|[46][1-9a-f]|[57][0-9a]|5f|7e',
  // # % / ; ? \
  '2[35f]|3[bf]|5c',
].join('|');

/** RFC 3986 section 3.3, without `;`, which some servers cut off with what is behind it. */
const SEGMENT = `(?:[\\w.~!$&'()*+,=:@-]|%(?!${ODD_CODE})[\\da-f]{2})+`;
const PATH = new RegExp(`^(?:/(?!\\.\\.?(?:/|$))${SEGMENT})*/?$`, 'i');

/**
 * Reads the path of a request, without its query. Null for one that is over 4096 characters, has
 * empty or dot segments, backslashes, `;`, or codes that no client has to write (`%2F`, `%61`).
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

/** Reads a template: a path of which one whole segment is `{key}`. */
export function readKeyPath(text: string): KeyPath | Misfit {
  if (text.length > TEMPLATE_LENGTH_MAX) return NO_TEMPLATE;
  const written = text.split('/');
  const keyAt = written.indexOf('{key}');
  const path = keyAt < 0 ? null : readPath(written.with(keyAt, 'key').join('/'));
  // Index 0 is before the first slash. Braces elsewhere are in no path.
  return path === null
    ? NO_TEMPLATE
    : { text, segments: path.map((part, at) => (at === keyAt - 1 ? null : part.toLowerCase())) };
}

/** A path that is no subscription's, or all paths under it. */
export interface PassPath {
  /** The segments as they are, in their case. */
  readonly segments: readonly string[];
  /** True for all paths under it, and not for itself. */
  readonly isFolder: boolean;
}

/** Reads a path that may pass: one path, or all under it when it ends in `/*`. */
export function readPassPath(text: string): PassPath | Misfit {
  const isFolder = text.endsWith('/*');
  const written = isFolder ? text.slice(0, -2) : text;
  const segments = text.length > TEMPLATE_LENGTH_MAX ? null : readPath(written);
  const isLiteral = segments !== null && segments.length > 0 && !written.includes('*');
  return isLiteral ? { segments, isFolder } : NO_PASS_PATH;
}

const NO_PASS_PATH = malformed('must be a path such as /favicon.ico, or such as /assets/*');

/**
 * Tells whether a path is one of `passPaths`, in its case. A path that fits a template is one only
 * if the segment of its key is written out there: `/assets/*` passes beside `/{key}`, and `/sub/*`
 * not beside `/sub/{key}`.
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

/**
 * The key in a path, by the first template that it fits: literal segments in any case, and any
 * further segments behind them. A misfit if what stands in its place can be no key; null if the
 * path fits no template.
 */
export function keyIn(templates: readonly KeyPath[], path: Path): string | Misfit | null {
  const template = templates.find((one) => fits(one, path));
  return template ? readSubscriptionKey(path[template.segments.indexOf(null)]) : null;
}

function fits({ segments }: KeyPath, path: Path): boolean {
  if (path.length < segments.length) return false;
  return segments.every((part, at) => part === null || part === path[at]?.toLowerCase());
}
