/** The tables of docs/messages-in-apps.md, made from those of the program. */

import { APPS, type App, type AppHeader, headersReadBy } from '../src/core/ride/app.ts';
import { type AppSetting, HAPP_SETTINGS, INCY_SETTINGS } from '../src/core/ride/setting.ts';

const code = (text: string) => `\`${text}\``;

/** Names headers, those behind a Provider ID apart. */
function names(rows: readonly AppHeader[], more: string, needsProviderId: boolean): string {
  const of = (isBehind: boolean) =>
    [
      ...rows.filter((row) => row.needsProviderId === isBehind).map(({ header }) => code(header)),
      ...(more !== '' && needsProviderId === isBehind ? [more] : []),
    ].join(', ');
  const behind = of(true);
  const all = [of(false), behind === '' ? '' : `with a Provider ID: ${behind}`];
  return all.filter((text) => text !== '').join('; ') || '-';
}

function appRow(app: App | null): string[] {
  const reads = headersReadBy(app);
  const settings =
    app === null || app.settings.length === 0 ? '' : `${app.settings.length} settings`;
  const ofMessage = reads.filter(({ part }) => part === 'message');
  const ofCommands = reads.filter(({ part }) => part !== 'message');
  return [
    app?.name ?? 'any other',
    names(ofMessage, '', false),
    names(ofCommands, settings, app?.settingsNeedProviderId ?? false),
    app?.buttons.map(code).join(', ') || '-',
  ];
}

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
  APPS.flatMap(({ name, reads }) =>
    reads.map(({ header, effect }) => [code(header), name, effect]),
  );

/** Says what an app takes for a setting, with the headers where they are other ones. */
function takes(settings: readonly AppSetting[], key: string): string {
  const found = settings.find((setting) => setting.key === key);
  const all = found?.headers.map(({ header, form }) =>
    header === key && found.headers.length === 1 ? form.takes : `${code(header)}: ${form.takes}`,
  );
  return all?.join('; ') ?? '-';
}

const keys = new Set([...HAPP_SETTINGS, ...INCY_SETTINGS].map(({ key }) => key));

const settingRows = (): string[][] =>
  [...keys].map((key) => [code(key), takes(HAPP_SETTINGS, key), takes(INCY_SETTINGS, key)]);

/** The heads and rows of the tables. */
export const RIDE_TABLES: readonly { head: string[]; rows: string[][] }[] = [
  {
    head: ['App', 'A notification', 'Commands', 'Buttons'],
    rows: shared([...APPS, null].map(appRow), 0),
  },
  { head: ['Header', 'App', 'What the app does'], rows: shared(headerRows(), 1) },
  {
    head: ['Setting', 'Happ, with a Provider ID', 'INCY'],
    rows: shared(settingRows(), 0),
  },
];
