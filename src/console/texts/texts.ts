/**
 * The types of the texts. English is the model: a language without one of its texts does not
 * compile.
 */

import type { texts as reminderTexts } from './en/reminders.ts';
import type { texts } from './en.ts';
import type { texts as operatorTexts } from './operator-en.ts';

/** A text, a function that returns one, or a group of them, as in English. */
export type Like<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : { [Name in keyof T]: Like<T[Name]> };

/** The texts of everyone's pages. */
export type BaseTexts = Like<typeof texts>;
/** The texts of the operator's pages, loaded after an operator has signed in. */
export type OperatorTexts = Like<typeof operatorTexts>;
/** The texts of the page of reminders, loaded with it. */
export type ReminderTexts = Like<typeof reminderTexts>;
export type Texts = BaseTexts & OperatorTexts & ReminderTexts;
