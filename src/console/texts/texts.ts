/** The texts of a language: one that lacks a text does not compile. English is the model. */

import type { texts } from './en.ts';
import type { texts as operatorTexts } from './operator-en.ts';

/** A text, a function that makes one, or a group of them, as English has it. */
export type Like<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : { [Name in keyof T]: Like<T[Name]> };

/** The texts that each person needs. */
export type BaseTexts = Like<typeof texts>;
/** Those of the operator's pages, which are loaded once an operator has signed in. */
export type OperatorTexts = Like<typeof operatorTexts>;
export type Texts = BaseTexts & OperatorTexts;
