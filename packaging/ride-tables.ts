/** The tables of documents about apps, made from that of the program. */

import { TEXT_LENGTH_MAX } from '../src/core/app/make.ts';
import type { App, AppHeader, AppHwid } from '../src/core/app/record.ts';
import { APPS } from '../src/core/app/table.ts';
import { counted } from '../src/core/counted.ts';
import {
  type AppSetting,
  HAPP_SETTINGS,
  INCY_SETTINGS,
  settingsOf,
} from '../src/core/ride/setting.ts';

const code = (text: string) => `\`${text}\``;

/** Names headers, and counts settings, those behind a Provider ID apart. */
function names(rows: readonly AppHeader[], settings: readonly AppSetting[] = []): string {
  const of = (isBehind: boolean) => {
    const count = settings.filter((one) => one.needsProviderId === isBehind).length;
    return [
      ...rows.filter((one) => one.needsProviderId === isBehind).map(({ header }) => code(header)),
      ...(count > 0 ? [counted(count, 'setting')] : []),
    ].join(', ');
  };
  const behind = of(true);
  const all = [of(false), behind === '' ? '' : `with a Provider ID: ${behind}`];
  return all.filter((text) => text !== '').join('; ') || '-';
}

function appRow(app: App): string[] {
  const { buttons, isKnown, name, reads, textLengthMax } = app;
  const ofMessage = reads.filter(({ part }) => part === 'message');
  const ofCommands = reads.filter(({ part }) => part !== 'message');
  const text = names(ofMessage);
  return [
    name,
    isKnown ? text : `not known; gets ${text}`,
    text === '-' ? '-' : String(textLengthMax),
    names(ofCommands, settingsOf(app)),
    isKnown ? buttons.map(code).join(', ') || '-' : 'not known',
  ];
}

const HWID: Readonly<Record<AppHwid, string>> = {
  default: 'yes, by default',
  switch: 'if turned on',
  sends: 'yes',
  never: 'no',
  unknown: 'not known',
};

const refusalRow = ({ hwid, name, refusal }: App): string[] => [
  name,
  HWID[hwid],
  refusal.status,
  refusal.placeholder,
];

/** Makes one row of those that differ in the cell at `place` alone: its values are listed. */
function shared(rows: readonly string[][], place: number): string[][] {
  const found = new Map<string, string[]>();
  for (const row of rows) {
    const others = row.toSpliced(place, 1).join();
    const listed = [found.get(others)?.[place], row[place]].filter(Boolean).join(', ');
    found.set(others, row.with(place, listed));
  }
  return [...found.values()];
}

const headerRows = (): string[][] =>
  APPS.filter(({ isKnown }) => isKnown).flatMap(({ name, reads }) =>
    reads.map(({ header, effect, isHttpsAlone }) => [
      code(header),
      name,
      isHttpsAlone ? `${effect}, if it is \`https\`` : effect,
    ]),
  );

const passedRows = (): string[][] =>
  APPS.filter(({ passes, panelMoves }) => passes.length + panelMoves.length > 0).map(
    ({ name, passes, panelMoves }) => [
      [...panelMoves.map(({ header }) => header), ...passes].map(code).join(', '),
      name,
    ],
  );

/** Says what an app takes for a setting, with the headers where they are other ones. */
function takes(settings: readonly AppSetting[], key: string): string {
  const found = settings.find((setting) => setting.key === key);
  const all = found?.headers.map(({ header, form }) =>
    header === key && found.headers.length === 1 ? form.takes : `${code(header)}: ${form.takes}`,
  );
  const isOpen = settings === HAPP_SETTINGS && found?.needsProviderId === false;
  return all === undefined
    ? '-'
    : `${all.join('; ')}${isOpen ? '; without a Provider ID too' : ''}`;
}

const keys = new Set([...HAPP_SETTINGS, ...INCY_SETTINGS].map(({ key }) => key));

const settingRows = (): string[][] =>
  [...keys].map((key) => [code(key), takes(HAPP_SETTINGS, key), takes(INCY_SETTINGS, key)]);

const MESSAGES = 'docs/messages-in-apps.md';

/** The tables by their page: heads and rows. */
export const RIDE_TABLES: readonly { page: string; head: string[]; rows: string[][] }[] = [
  {
    page: MESSAGES,
    head: ['App', 'A notification', 'Characters', 'Commands', 'Buttons'],
    rows: [
      ...shared(APPS.map(appRow), 0),
      ['any other', 'not known; gets `announce`', String(TEXT_LENGTH_MAX), '-', 'not known'],
    ],
  },
  {
    page: MESSAGES,
    head: ['Header', 'App', 'What the app does'],
    rows: shared(headerRows(), 1),
  },
  { page: MESSAGES, head: ['Of the panel', 'App'], rows: shared(passedRows(), 1) },
  {
    page: MESSAGES,
    head: ['Setting', 'Happ, with a Provider ID', 'INCY'],
    rows: shared(settingRows(), 0),
  },
  {
    page: 'docs/gate.md',
    head: ['App', '`x-hwid`', 'Reads of a 403 or 404', 'Reads with `placeholder = true`'],
    rows: shared(APPS.map(refusalRow), 0),
  },
];
