/** The form of a setting. */

import type { TableForm } from './tables.ts';
import type { ValueForm } from './value-form.ts';

export interface Setting<T> extends ValueForm<T> {
  /** Key in the file, `section.name`; only `data` has no section. */
  key: string;
  /** Environment variable. */
  env: string;
  /** Default as the environment would have it; an array is joined with commas. */
  default: string;
  /** Form of the tables that the file has in place of a value. */
  tables?: TableForm;
  /** Tells whether a change takes effect on SIGHUP, without a restart. */
  isLive?: true;
  /** Tells whether it is never shown. */
  isSecret?: true;
  /** The text as it is shown, if there may be a secret in it. */
  mask?(text: string): string;
}

/** Makes a row of the table; its value is a string in the file unless it names other types. */
export function setting<T>(row: Omit<Setting<T>, 'types'> & Partial<Setting<T>>): Setting<T> {
  return { types: ['string'], ...row };
}
