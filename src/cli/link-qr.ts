/** `gatepost link qr`: final links of limited links as QR codes, on the terminal or as files. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { FINAL_FORMS, finalLink } from '../core/final-link.ts';
import { hostHash, hostName } from '../core/host-name.ts';
import { DOMAIN_ACTIVE } from '../core/port/domain.ts';
import { INSTALL_ACTIVE } from '../core/port/link.ts';
import type { OwnedLink } from '../core/port/link-view.ts';
import { subscriptionKeyHash } from '../core/secret.ts';
import { type CliContext, print, withCore } from './context.ts';
import { readLinkFile } from './link-csv.ts';
import { addFilter, choose, type ManyOptions, refuseNoChoice } from './link-filter.ts';
import { LINKS_ARGUMENT, type LinkName } from './link-name.ts';
import { qrLines, qrPng, qrSvg } from './qr-image.ts';
import { table } from './table.ts';
import { fileValue, lineValue } from './values.ts';

interface QrOptions extends ManyOptions {
  url: string;
  title?: string;
  app: string;
  /** False: `--no-code`. */
  code: boolean;
  keys?: string;
  out?: string;
}

/** The place of the subscription key in a URL. */
const KEY = '{key}';

/** Returns the URL of a subscription; null: the text is no URL. */
function urlOf(template: string, key: string): URL | null {
  return URL.parse(template.replaceAll(KEY, encodeURIComponent(key)));
}

function subscriptionUrlValue(text: string): string {
  const url = urlOf(text, 'key');
  // The messages do not repeat the URL, which may hold a key.
  if (!/^https?:\/\//i.test(text) || url === null) {
    throw new InvalidArgumentError('the URL of a subscription begins with http:// or https://');
  }
  if (url.username || url.password || url.hash) {
    throw new InvalidArgumentError('the URL of a subscription has no user and no fragment');
  }
  if ([...url.searchParams.keys()].some((name) => name.toLowerCase() === 'installid')) {
    throw new InvalidArgumentError('the URL of a subscription has no installid: qr adds it');
  }
  return text;
}

/** Bytes of the longest link that a camera can scan from a terminal: 105 modules a side. */
const LINK_BYTES_MAX = 1_000;

/** Most links of one command. */
const MANY_MAX = 10_000;

/** White on black in every terminal: some cameras cannot read an inverted code. */
const COLOURS = '\u001b[97;40m';
const COLOURS_END = '\u001b[0m';

/** A link with its subscription key; null: unknown, because only the hash is stored. */
interface KeyedLink {
  link: OwnedLink;
  key: string | null;
}

/** Finds the links of a file by their keys, else by their codes. */
async function linksOfFile(core: Core, path: string, options: QrOptions): Promise<KeyedLink[]> {
  const found: KeyedLink[] = [];
  for (const { line, key, code } of readLinkFile(path)) {
    const hash = key === null ? null : subscriptionKeyHash(key);
    const withKey = hash === null ? [] : await core.store.findLinksByKey(hash);
    const named = code === null ? null : await core.store.findLink(code);
    const all = withKey.length > 0 || named === null ? withKey : [named];
    const of = all.filter(
      ({ providerCode }) => (options.provider ?? providerCode) === providerCode,
    );
    const [link] = of;
    if (link === undefined) {
      throw new OperatorError(`line ${line}: there is no such link`, 'link_not_found');
    }
    if (of.length > 1) {
      throw new OperatorError(
        `line ${line}: several providers have links with the key: give --provider`,
        'link_ambiguous',
      );
    }
    found.push({ link, key });
  }
  return found;
}

async function linksOf(
  core: Core,
  name: LinkName | undefined,
  options: QrOptions,
  nowMs: number,
): Promise<KeyedLink[]> {
  if (options.keys !== undefined) return linksOfFile(core, options.keys, options);
  const links = await choose(core, name, options, nowMs);
  const key = name !== undefined && 'subscriptionKey' in name ? name.subscriptionKey : null;
  return links.map((link) => ({ link, key }));
}

/** A final link, and the files with its QR code. */
interface Drawn {
  install_code: string;
  note: string | null;
  app: string;
  link: string;
  svg?: string;
  png?: string;
}

function drawnOf({ link, key }: KeyedLink, options: QrOptions): Drawn[] {
  const { url: template, title = null, app, code: hasCode } = options;
  if (template.includes(KEY) && key === null) {
    throw new UsageError(
      `the key of ${link.installCode} is not stored here: give the link as key:KEY, or give --keys`,
    );
  }
  if (template.includes(KEY) && key?.includes('/')) {
    throw new UsageError(
      `the key of ${link.installCode} is the user of a panel: give --url with a token of the panel`,
    );
  }
  const url = urlOf(template, key ?? '')?.href ?? '';
  const installCode = hasCode ? link.installCode : null;
  return (app === 'all' ? FINAL_FORMS : [app]).map((form) => {
    const final = finalLink(form, { url, title, installCode });
    if (Buffer.byteLength(final) > LINK_BYTES_MAX) {
      throw new UsageError(
        `the link is longer than ${LINK_BYTES_MAX} bytes: use a shorter --title`,
      );
    }
    return { install_code: link.installCode, note: link.note, app: form, link: final };
  });
}

/**
 * Writes the QR code of a link, readable for its owner only. The file name has the note, without
 * characters that files cannot have.
 */
function written(folder: string, drawn: Drawn): Drawn {
  const note = (drawn.note ?? '').replace(/[^\p{L}\p{M}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
  const parts = [[...note].slice(0, 40).join(''), drawn.install_code, drawn.app];
  const path = `${folder}/${parts.filter((part) => part !== '').join('_')}`;
  const [svg, png] = [`${path}.svg`, `${path}.png`];
  writeFileSync(svg, qrSvg(drawn.link), { mode: 0o600 });
  writeFileSync(png, qrPng(drawn.link), { mode: 0o600 });
  return { ...drawn, svg, png };
}

function writeAll(folder: string, drawn: readonly Drawn[]): Drawn[] {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return drawn.map((one) => written(folder, one));
  } catch (error) {
    throw new OperatorError(`cannot write into ${folder}: ${(error as Error).message}`);
  }
}

async function qr(
  context: CliContext,
  name: LinkName | undefined,
  options: QrOptions,
): Promise<void> {
  const { out, keys, app } = options;
  if (keys === undefined) refuseNoChoice(name, options);
  else if (name !== undefined) throw new UsageError('give a link or --keys, not both');
  const { found, notes } = await withCore(context, options, async (core) => {
    const links = await linksOf(core, name, options, context.nowMs());
    const host = urlOf(options.url, 'key')?.hostname ?? '';
    return { found: links, notes: await notesOn(core, links, host) };
  });
  if (found.length > MANY_MAX) throw new UsageError(`more than ${MANY_MAX} links match`);
  const drawn = found.flatMap((one) => drawnOf(one, options));
  for (const note of notes) context.stderr(`${note}\n`);
  const [first] = drawn;
  if (name !== undefined && app !== 'all' && out === undefined && first !== undefined) {
    if (!options.json) context.terminal.stdout(shown(context, qrLines(first.link)));
    return print(context, options, first, first.link);
  }
  const done = out === undefined ? drawn : writeAll(out, drawn);
  const columns = { CODE: 'install_code', APP: 'app', LINK: 'link' } as const;
  const rows = table(done, { ...columns, NOTE: ({ note }) => note ?? '' });
  const files = out === undefined ? '' : `\n${counted(done.length * 2, 'file')} in ${out}`;
  print(context, options, done, `${rows}${files}`);
}

/** Returns reasons why devices with the final links are refused. */
async function notesOn(core: Core, found: readonly KeyedLink[], host: string): Promise<string[]> {
  const notes: string[] = [];
  const owners = new Map(found.map(({ link }) => [link.providerId, link.providerCode]));
  for (const [providerId, providerCode] of owners) {
    const binding = await core.store.findDomain(providerId, hostHash(hostName(host) ?? host));
    if (binding?.status === DOMAIN_ACTIVE) continue;
    notes.push(`${providerCode} has no active binding of ${host}: devices are refused`);
  }
  const disabled = found.filter(({ link }) => link.status !== INSTALL_ACTIVE);
  const [first] = disabled;
  if (first === undefined) return notes;
  const { installCode } = first.link;
  const which = disabled.length === 1 ? `${installCode} is` : `${disabled.length} links are`;
  return [...notes, `${which} disabled: devices are refused`];
}

/** Returns the lines for this terminal; the empty text, and a hint, if it is too narrow. */
function shown({ columns, stderr }: CliContext, lines: readonly string[]): string {
  if (columns === null) return `${lines.join('\n')}\n`;
  const width = lines[0]?.length ?? 0;
  if (columns < width) {
    stderr(`the QR code needs ${width} columns, and this terminal has ${columns}\n`);
    return '';
  }
  return lines.map((line) => `${COLOURS}${line}${COLOURS_END}\n`).join('');
}

export function addQrCommand(link: Command, context: CliContext): void {
  const drawing = link
    .command('qr')
    .description('draw the QR code of a subscription on a limited link, or write those of many')
    .argument(...LINKS_ARGUMENT)
    .requiredOption(
      '--url <url>',
      `the URL of the subscription; ${KEY} in it is the key of the link`,
      subscriptionUrlValue,
    )
    .option('--title <title>', 'the name that apps show; the host if omitted', lineValue('a title'))
    .addOption(
      new Option('--app <form>', 'the form of the link: plain, query, the name of an app, or all')
        .choices([...FINAL_FORMS, 'all'])
        .default('plain'),
    )
    .option('--no-code', 'without the code: the key in the URL names the link')
    .option('--keys <file>', 'the links in a CSV file for link import, with their keys', fileValue)
    .option('--out <directory>', 'write SVG and PNG files into this folder', fileValue);
  addFilter(drawing)
    .option('--all', 'all links')
    .action((name: LinkName | undefined, options: QrOptions) => qr(context, name, options));
}
