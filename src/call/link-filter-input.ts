/** The filter of links in calls of the console. */

import { Type } from '@sinclair/typebox';
import { INSTALL_LIMIT, LINK_SEARCH } from '../core/formats.ts';
import { inputOf, nullable } from './inputs.ts';

const timeMs = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const { minimum, maximum } = INSTALL_LIMIT;

/** The fields of `LinkFilter` in core/link-filter.ts. */
const linkFilter = {
  search: nullable(Type.RegExp(LINK_SEARCH.pattern)),
  status: nullable(Type.Union([Type.Literal(5), Type.Literal(10)])),
  isFull: Type.Boolean(),
  refusedSinceMs: Type.Optional(nullable(timeMs)),
  unusedSinceMs: Type.Optional(nullable(timeMs)),
  limit: Type.Optional(nullable(Type.Integer({ minimum, maximum }))),
};

export const linkFilterInput = inputOf(linkFilter);
