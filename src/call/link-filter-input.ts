/** The filter of links in calls of the console. */

import { Type } from '@sinclair/typebox';
import { INSTALL_LIMIT, LINK_SEARCH } from '../core/formats.ts';
import { inputOf, nullable, timeMs } from './inputs.ts';

const { minimum, maximum } = INSTALL_LIMIT;

/** The fields of `FiguresFilter` in core/port/subscription-figures.ts. */
export const figuresFilter = {
  endsFromMs: Type.Optional(nullable(timeMs)),
  endsBeforeMs: Type.Optional(nullable(timeMs)),
  usedPercent: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 100 }))),
  unreadSinceMs: Type.Optional(nullable(timeMs)),
};

/** The fields of `LinkFilter` in core/link-filter.ts. */
const linkFilter = {
  search: nullable(Type.RegExp(LINK_SEARCH.pattern)),
  status: nullable(Type.Union([Type.Literal(5), Type.Literal(10)])),
  isFull: Type.Boolean(),
  isCopied: Type.Optional(Type.Boolean()),
  refusedSinceMs: Type.Optional(nullable(timeMs)),
  unusedSinceMs: Type.Optional(nullable(timeMs)),
  limit: Type.Optional(nullable(Type.Integer({ minimum, maximum }))),
  ...figuresFilter,
};

export const linkFilterInput = inputOf(linkFilter);
