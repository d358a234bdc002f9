/** Calls of the console that make many links, and read and write files of links in pieces. */

import { type Static, Type } from '@sinclair/typebox';
import { LOOK, SEND } from '../core/account/roles.ts';
import { fieldsOf, only, onlyGiven } from '../core/field.ts';
import { withFigures } from '../core/figures-filter.ts';
import { readKeyedCall } from '../core/idempotency.ts';
import { type LinkRow, linkHead, linkLine, linkRows } from '../core/link-csv.ts';
import { filterAt } from '../core/link-filter.ts';
import { type LinkForm, readLink, STAFF_TERMS } from '../core/link-form.ts';
import { foreseeLink, type LinkDraft, type MadeLink, makeLinks } from '../core/link-make.ts';
import { isRefused, type Misfit, malformed } from '../core/outcome.ts';
import type { LinkTerms } from '../core/port/link.ts';
import { seesCodes, shownCode } from '../core/secret-code.ts';
import { LINK_TERMS } from '../core/terms.ts';
import { nextTurn } from '../core/turn.ts';
import { type DoerOf, lookCall, type Staff, sharedCall } from './call.ts';
import { figuresStateOf, refusedFilter } from './figures.ts';
import { atProvider, id, inputOf, inputsOf, nullable, text } from './inputs.ts';
import { linkFilterInput } from './link-filter-input.ts';

/** The most links that one call makes, and the most lines that one call reads. */
export const DRAFTS_MAX = 100;
const LINES_MAX = 500;
/** Rows of a file that are looked up together. */
const TOGETHER = 50;
const LINES_COUNT = 1_000;
const PIECE_LENGTH_MAX = 20_000;

const draft = inputOf({
  key: nullable(text(1_024)),
  code: nullable(text(12)),
  limit: Type.Integer(),
  note: nullable(text(2_000)),
  ...inputsOf<Partial<LinkTerms>>(STAFF_TERMS),
  /** With this key a repeat makes no second link. */
  once: Type.Optional(text(64)),
});

/**
 * A draft as the command line gives it. The console, which the key of a bot opens too, joins no
 * links by it: see `joins` of `LinkDraft`.
 */
type Draft = Static<typeof draft> & { joins?: boolean };

/** Parses a draft by the formats of the API; the command line gives terms that no form has. */
function readDraft(given: Draft, nowMs: number): LinkDraft | Misfit {
  const { joins, once = null, ...form } = given;
  const link = readLink(form);
  if (isRefused(link)) return link;
  const keyed = readKeyedCall('add-install', once, form, nowMs);
  if (isRefused(keyed)) return malformed(`keyed ${keyed.detail}`);
  return {
    ...only(form as Partial<LinkTerms>, fieldsOf(LINK_TERMS)),
    ...(link as LinkForm),
    keyed,
    ...onlyGiven({ joins }),
  };
}

/** Returns the result of a draft: its link, or the reason of its refusal. */
const madeOf = (made: MadeLink) => {
  if (made.done === 'added') return { ...made, why: null };
  return made.done === 'keyed'
    ? { ...made, id: null, why: null }
    : { ...made, id: null, code: null };
};

/** Finds which rows of a file would make links, {@link TOGETHER} at a time. */
async function foreseen({ core, provider }: Staff, rows: readonly LinkRow[]) {
  const found: (LinkRow & { why: string | null })[] = [];
  for (let at = 0; at < rows.length; at += TOGETHER) {
    const some = rows.slice(at, at + TOGETHER);
    const whys = await Promise.all(some.map((row) => foreseeLink(core, provider, row)));
    for (const [n, row] of some.entries()) {
      found.push({ ...row, why: whys[n] ? madeOf(whys[n]).why : null });
    }
    await nextTurn();
  }
  return found;
}

export const linkFileCalls = {
  /** Makes links in order; stops at the first one that cannot be saved or exceeds the cap. */
  'links.add-many': sharedCall(
    SEND,
    ['install.add', 'install.tie', 'install.update', 'install.remove'],
    { commands: ['link add', 'link import'] },
    atProvider({ drafts: Type.Array(draft, { minItems: 1, maxItems: DRAFTS_MAX }) }),
    async (staff: DoerOf, given: { drafts: Draft[] }) => {
      const drafts: LinkDraft[] = [];
      for (const one of given.drafts) {
        const read = readDraft(one, staff.core.leastMs(staff.nowMs));
        if (isRefused(read)) return read;
        drafts.push(read);
      }
      const made = await makeLinks(staff.core, staff.provider, drafts, staff.nowMs);
      const stopped = made.find(({ done }) => done === 'stopped');
      return { made: made.map(madeOf), isStopped: stopped !== undefined };
    },
  ),
  /** Parses a piece of a file, which repeats the header row, and returns what it would make. */
  'links.csv-read': lookCall(
    SEND,
    atProvider({ text: text(PIECE_LENGTH_MAX) }),
    async (staff, { text: piece }) => {
      const rows: LinkRow[] = [];
      const mistakes: { line: number; what: string }[] = [];
      for (const row of linkRows(piece)) {
        if ('what' in row) mistakes.push({ line: row.line, what: row.what });
        else rows.push(row);
        if (rows.length + mistakes.length > LINES_MAX) {
          return malformed(`text: has more than ${LINES_MAX} lines`);
        }
      }
      return { rows: await foreseen(staff, rows), mistakes };
    },
  ),
  /** Returns the next lines of a file of the matching links; the first piece has the header row. */
  'links.csv': lookCall(
    LOOK,
    atProvider({ filter: linkFilterInput, beyondId: nullable(id) }),
    async (staff, { beyondId, filter }) => {
      const { core, provider, signedIn } = staff;
      const { store } = core;
      const refused = refusedFilter(staff, filter);
      if (refused !== null) return refused;
      const isFigured = figuresStateOf(staff) === 'shown';
      const isWhole = seesCodes(core, provider, signedIn.grants);
      const hidesCodes = !isWhole;
      const of = { ...filterAt(provider, filter), hidesCodes, beyondId, isOldest: false };
      const { links, nextId } = await store.listLinkSlice({ ...of, countMax: LINES_COUNT });
      const head = beyondId === null ? linkHead(isFigured) : '';
      const listed = isFigured ? await withFigures(core, links) : links;
      const lines = listed.map((link) =>
        linkLine(isWhole ? link : { ...link, installCode: shownCode(link.installCode) }),
      );
      return { text: head + lines.join(''), count: links.length, nextId };
    },
  ),
};
