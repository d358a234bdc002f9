/** Settings of a running server that a command beside it cannot see. */

import type { SettingName } from './settings/index.ts';

export interface Unseen {
  name: SettingName;
  key: string;
  variable: string;
}

/** Returns the sentence that a command lacks variables of the running server. */
export function unseenText(unseen: readonly Unseen[]): string {
  const names = unseen.map(({ variable }) => variable).join(', ');
  return `the server runs with ${names}, which this command cannot see`;
}

/** Returns the sentence that a command cannot read the file of the running server. */
export const unseenFileText = (file: string) =>
  `the server runs with the settings of ${file}, which this command cannot read`;
