/** The fields of bindings that can be set, one row each, in the order of columns and files. */

import { type Fields, fieldsOf } from './field.ts';
import { DOMAIN_STATUS, ONE_LINE } from './formats.ts';
import type { OwnBinding } from './port/domain.ts';

export const BINDING_FIELDS = {
  domainName: { format: ONE_LINE, audit: 'text' },
  status: { format: DOMAIN_STATUS },
} as const satisfies Fields<OwnBinding>;

export const BINDING_NAMES = fieldsOf(BINDING_FIELDS);
