/** Options of commands for the page of a provider's users. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { PAGE_COLOR, PAGE_NAME } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { OwnPage } from '../core/port/my.ts';

export interface PageOptions {
  page?: 'on' | 'off';
  pageName?: string;
  pageColor?: string;
}

/** Reads a value, or `none`. */
const readerOf =
  (format: typeof PAGE_NAME, what: string) =>
  (text: string): string => {
    if (text === 'none' || !isRefused(format.read(text))) return text;
    throw new InvalidArgumentError(`${what} is ${format.rule}, or none`);
  };

/** Adds the options of the page. */
export function addPage(command: Command): Command {
  return command
    .addOption(
      new Option('--page <answer>', 'whether users have a page where they can free slots').choices([
        ...(['on', 'off'] as const),
      ]),
    )
    .option('--page-name <name>', 'the name on that page, or none', readerOf(PAGE_NAME, 'a name'))
    .option(
      '--page-color <color>',
      'the colour of that page, such as #1a2b3c, or none',
      readerOf(PAGE_COLOR, 'a colour'),
    );
}

const orNull = (text: string) => (text === 'none' ? null : text);

/** Returns what the options set. */
export function givenPage({ page, pageName, pageColor }: PageOptions): Partial<OwnPage> {
  return {
    ...(page !== undefined && { my: page === 'on' ? 1 : 0 }),
    ...(pageName !== undefined && { myName: orNull(pageName) }),
    ...(pageColor !== undefined && { myColor: orNull(pageColor) }),
  };
}

/** Returns the page of a provider as JSON, with the values of the options. */
export const pageView = ({ my, myName, myColor }: OwnPage) => ({
  page: my === 1 ? 'on' : 'off',
  page_name: myName,
  page_color: myColor,
});
