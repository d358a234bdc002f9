/** Schemas and parameters that several endpoints share. */

import { Type } from '@sinclair/typebox';
import { HWID } from '../../core/device.ts';
import { INSTALL_CODE } from '../../core/install.ts';
import type { Page } from '../../core/store.ts';
import { NOTE } from '../../core/text.ts';
import { optional, required } from '../endpoint.ts';

/** The most records that a list returns (specification, "Limits"). */
export const LIST_COUNT_MAX = 5000;

export const Id = Type.Integer({ minimum: 0, maximum: 999_999_999_999_999 });
/** No `maxLength`: TypeBox counts UTF-16 units, {@link NOTE} counts code points. */
export const OneLine = Type.RegExp(NOTE);
export const InstallCode = Type.RegExp(INSTALL_CODE);
export const Hwid = Type.RegExp(HWID);

export const ID_RULE = 'a whole number of 1 to 15 digits';
export const ONE_LINE_RULE = 'one line of up to 255 characters in UTF-8';
export const CODE_RULE = '12 letters and digits';
export const HWID_RULE = '1 to 128 visible ASCII characters without comma';

/** What every list takes. `before_id` is an extension of ours: it continues further back. */
export const pageParams = {
  id: optional(Id, { misfit: 'unknown_error', rule: ID_RULE }),
  before_id: optional(Id, { misfit: 'unknown_error', rule: ID_RULE }),
};

export function pageOf(params: { id: number | null; before_id: number | null }): Page {
  return { id: params.id, beforeId: params.before_id, countMax: LIST_COUNT_MAX };
}

/** How list-hwid and delete-hwid name a link. */
export const selectorParams = {
  install_code: optional(InstallCode, { misfit: 'install_code_error', rule: CODE_RULE }),
  install_id: optional(Id, { misfit: 'install_code_error', rule: ID_RULE }),
};

export const requiredHwid = required(Hwid, { misfit: 'invalid_parameters', rule: HWID_RULE });
