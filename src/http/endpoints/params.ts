/** Schemas and parameters that several endpoints share. */

import { Type } from '@sinclair/typebox';
import { HWID, INSTALL_CODE, NEW_INSTALL_CODE } from '../../core/formats.ts';
import type { Maybe } from '../../core/port/maybe.ts';
import type { Page } from '../../core/port/page.ts';
import { NOTE, NOTE_LENGTH_MAX } from '../../core/text.ts';
import { optional, required } from '../endpoint.ts';
import type { Row, RowList } from '../list-text.ts';
import type { MessageKey } from '../messages.ts';

/** The most records that a list returns (specification, "Limits"). */
export const LIST_COUNT_MAX = 5000;

export const Id = Type.Integer({ minimum: 0, maximum: 999_999_999_999_999 });
/**
 * `documented` stands in the documents instead of the pattern, which not every language can read.
 * It is no `maxLength` here: TypeBox counts UTF-16 units, JSON Schema and {@link NOTE} code points.
 */
export const Note = Type.RegExp(NOTE, { documented: { maxLength: NOTE_LENGTH_MAX } });
export const OneLine = Type.RegExp(NOTE, {
  documented: { maxLength: NOTE_LENGTH_MAX, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$' },
});
const InstallCode = Type.RegExp(INSTALL_CODE);
export const NewInstallCode = Type.RegExp(NEW_INSTALL_CODE);
export const Hwid = Type.RegExp(HWID);

export const ID_RULE = 'a whole number of 1 to 15 digits';
export const ONE_LINE_RULE = `one line of up to ${NOTE_LENGTH_MAX} characters in UTF-8`;
export const NOTE_RULE = `a text of up to ${NOTE_LENGTH_MAX} characters in UTF-8`;
const CODE_RULE = '8 to 12 letters and digits';
export const NEW_CODE_RULE = '12 letters and digits';
export const HWID_RULE = '1 to 128 visible ASCII characters without comma';

/** What the examples of the documents are about. */
export const CODE_EXAMPLE = 'FIRSTLINK001';
export const HWID_EXAMPLE = 'my-first-phone';
export const PROVIDER_EXAMPLE = 'EXAMPLE1';
/** SHA-256 of example.com. */
export const HASH_EXAMPLE = 'a379a6f6eeafb9a55e378c118034e2751e682fab9f2d30ab13d2125586ce1947';

/** What every list takes. `before_id` is an extension of ours: it continues further back. */
export const pageParams = {
  id: optional(Id, { misfit: 'unknown_error', rule: ID_RULE, about: 'Only this record.' }),
  before_id: optional(Id, {
    misfit: 'unknown_error',
    rule: ID_RULE,
    about: 'Only records with a lower `id`: continues a list that was cut off.',
  }),
};

/** The list that these parameters ask for, of rows that `readPage` reads. */
export function listOf(
  { id, before_id }: { id: number | null; before_id: number | null },
  readPage: (page: Page) => Maybe<readonly Row[]>,
): RowList {
  return {
    beforeId: before_id,
    countMax: LIST_COUNT_MAX,
    isOne: id !== null,
    read: (beforeId, countMax) => readPage({ id, beforeId, countMax }),
  };
}

/** How list-hwid and delete-hwid name a link; `says` is the answer when neither is given. */
export const selectorParams = <const K extends MessageKey>(says: K) => ({
  install_code: optional(InstallCode, {
    misfit: 'install_code_error',
    rule: CODE_RULE,
    about: 'The code of the link: this or `install_id` is needed.',
    example: CODE_EXAMPLE,
  }),
  install_id: optional<typeof Id, K | 'install_code_error'>(Id, {
    misfit: 'install_code_error',
    rule: ID_RULE,
    about: 'The id of the link: this or `install_code` is needed.',
    neededWithout: { other: 'install_code', says },
  }),
});

export const requiredHwid = required(Hwid, {
  misfit: 'invalid_parameters',
  rule: HWID_RULE,
  example: HWID_EXAMPLE,
});

/** A time in an answer. */
export const WireTime = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$',
  description: '`YYYY-MM-DD HH:MM:SS` in UTC+3, unless the operator set another zone.',
  examples: ['2026-11-20 15:00:00'],
});

/** The id of a record in an answer. */
export const RecordId = Type.Integer({ minimum: 1, examples: [1] });
/** A status value with its name. */
export const statusOf = (names: Readonly<Record<number, string>>) =>
  Type.Union(
    Object.keys(names).map((status) => Type.Literal(Number(status))),
    {
      description: `${Object.entries(names)
        .map(([status, name]) => `${status} ${name}`)
        .join(', ')}.`,
    },
  );

/** One of a few strings. */
export const choice = (values: readonly string[], description?: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { ...(description && { description }) },
  );

/** A string with its meaning and an example. */
export const text = (description: string, example: string) =>
  Type.String({ description, examples: [example] });
