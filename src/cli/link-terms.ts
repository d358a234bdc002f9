/** Options of commands for the terms of a link, the same where it is made and where it changes. */

import type { Command } from 'commander';
import { addButtons, type ButtonOptions, givenButtons } from './buttons.ts';
import { addPolicy, givenPolicy, type PolicyOptions } from './policy.ts';

export type TermOptions = PolicyOptions & ButtonOptions;

/** Adds the options of the terms. */
export const addTerms = (command: Command): Command => addButtons(addPolicy(command));

/** Returns the terms that the options set. */
export const givenTerms = (options: TermOptions) => ({
  ...givenPolicy(options),
  ...givenButtons(options),
});
