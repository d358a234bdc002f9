import { shortText } from '../readers.ts';
import { live } from '../setting.ts';

export const consoleSettings = {
  consoleBanner: live('console.banner', '', shortText, [
    'A line of text on each page of the console, such as `staging`. Empty: none.',
  ]),
} as const;
