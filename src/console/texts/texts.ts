/** The texts of a language: one that lacks a text does not compile. English is the model. */

import type { texts } from './en.ts';

/** A text, a function that makes one, or a group of them, as English has it. */
export type Like<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : { [Name in keyof T]: Like<T[Name]> };

export type Texts = Like<typeof texts>;
