/** The fields of a link as the staff of a provider gives them: in the console and in files. */

import { each, type Fields, fieldsOf, readGiven } from './field.ts';
import { INSTALL_CODE, NOTE } from './formats.ts';
import type { BulkChange } from './job/work.ts';
import { isRefused, type Misfit } from './outcome.ts';
import type { LinkTerms } from './port/link.ts';
import { SUBSCRIPTION_KEY } from './subscription-key.ts';
import { LINK_FIELDS, LINK_TERMS } from './terms.ts';

/** The terms of a link that staff may set; they may be absent. */
export const STAFF_TERMS = each(fieldsOf(LINK_TERMS), (field) =>
  LINK_TERMS[field].may.includes('staff') ? LINK_TERMS[field] : undefined,
) as Fields<Partial<LinkTerms>>;

export interface LinkForm extends Partial<LinkTerms> {
  /** The panel's key of the subscription, well formed; null: none. */
  key: string | null;
  /** The code; null: a random one. */
  code: string | null;
  limit: number;
  note: string | null;
}

export const LINK_FORM: Fields<LinkForm> = {
  key: { format: SUBSCRIPTION_KEY, usual: null },
  code: { format: INSTALL_CODE, usual: null },
  limit: LINK_FIELDS.installLimit,
  note: LINK_FIELDS.note,
  ...STAFF_TERMS,
};

/** Reads the given fields of a link; an empty note is none. */
export function readLink(given: { readonly [F in keyof LinkForm]?: unknown }) {
  const { note } = given;
  const tidy = typeof note === 'string' && note !== '' ? NOTE.tidy?.(note) : note || null;
  return readGiven<LinkForm>(LINK_FORM, { ...given, ...(note !== undefined && { note: tidy }) });
}

/** Reads a change of links; absent fields stay. */
export function readLinkChange({
  asTheyLeave = false,
  status,
  ...given
}: Partial<Record<keyof LinkForm, unknown>> &
  Pick<BulkChange, 'asTheyLeave'> & {
    status?: 5 | 10;
  }): BulkChange | Misfit {
  const read = readLink(given);
  if (isRefused(read)) return read;
  const { limit, ...terms } = read;
  return {
    ...terms,
    ...(limit !== undefined && { installLimit: limit }),
    ...(limit !== undefined && asTheyLeave && { asTheyLeave }),
    ...(status !== undefined && { status }),
  };
}
