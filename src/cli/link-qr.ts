/** `gatepost link qr`: the final link of a limited link, to be scanned off the terminal. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import type { Core } from '../core/core.ts';
import { ONE_LINE_LENGTH_MAX, readOneLine } from '../core/formats.ts';
import { hostHash, hostName } from '../core/host-name.ts';
import { isRefused } from '../core/outcome.ts';
import { DOMAIN_ACTIVE } from '../core/port/domain.ts';
import { INSTALL_ACTIVE } from '../core/port/install.ts';
import type { OwnedLink } from '../core/port/link.ts';
import { UsageError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { APPS, type App, finalLink } from './final-link.ts';
import { LINK_ARGUMENT, type LinkName, linkNamed } from './link-name.ts';

interface QrOptions extends CommonOptions {
  url: string;
  title?: string;
  app: App;
}

/** The URL of a subscription, to which the code of a link is added. */
function subscriptionUrlValue(text: string): string {
  const url = URL.parse(text);
  // A mistake does not repeat it: there may be a key in it.
  if (!/^https?:\/\//i.test(text) || url === null) {
    throw new InvalidArgumentError('the URL of a subscription begins with http:// or https://');
  }
  if (url.username || url.password || url.hash) {
    throw new InvalidArgumentError('the URL of a subscription has no user and no fragment');
  }
  if ([...url.searchParams.keys()].some((name) => name.toLowerCase() === 'installid')) {
    throw new InvalidArgumentError('the URL of a subscription has no installid: it is added');
  }
  return url.href;
}

/** The title of a subscription. */
function titleValue(text: string): string {
  if (text.trim() === '' || isRefused(readOneLine(text))) {
    throw new InvalidArgumentError(`a title is one line of 1 to ${ONE_LINE_LENGTH_MAX} characters`);
  }
  return text;
}

/** Bytes of the longest link that a camera still reads off a terminal: 105 modules a side. */
const LINK_BYTES_MAX = 1_000;

/** White on black whatever the terminal's colours are: not every camera reads a negative. */
const COLOURS = '\u001b[97;40m';
const COLOURS_END = '\u001b[0m';

/** The code, two modules of its height in each line, with the margin that the standard asks for. */
function drawing(text: string): string[] {
  return renderUnicodeCompact(text, { ecc: 'L', boostEcc: true, border: 4 }).split('\n');
}

async function qr(context: CliContext, name: LinkName, options: QrOptions): Promise<void> {
  const { url, title = null, app } = options;
  const { code, notes } = await withCore(context, options, async (core) => {
    const found = await linkNamed(core, name);
    return { code: found.installCode, notes: await notesOn(core, found, new URL(url).hostname) };
  });
  const link = finalLink(app, { url, title, installCode: code });
  if (Buffer.byteLength(link) > LINK_BYTES_MAX) {
    throw new UsageError(`the link is longer than ${LINK_BYTES_MAX} bytes: take a shorter --title`);
  }
  for (const note of notes) context.stderr(`${note}\n`);
  const lines = drawing(link);
  const facts = { install_code: code, app, link, qr: lines };
  print(context, options, facts, `${shown(context, lines)}${link}`);
}

/** Reasons for which nobody who has the final link would be let in. */
async function notesOn(core: Core, link: OwnedLink, host: string): Promise<string[]> {
  const { providerId, providerCode, installCode } = link;
  const binding = await core.store.findDomain(providerId, hostHash(hostName(host) ?? host));
  const isBound = binding?.status === DOMAIN_ACTIVE;
  return [
    ...(isBound ? [] : [`${host} is no active binding of ${providerCode}: devices are refused`]),
    ...(link.status === INSTALL_ACTIVE ? [] : [`${installCode} is disabled: devices are refused`]),
  ];
}

/** The lines as this terminal can show them; nothing, and a hint, if it is too narrow. */
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
  link
    .command('qr')
    .description('draw the QR code of a subscription on a limited link, and print the link')
    .argument(...LINK_ARGUMENT)
    .requiredOption('--url <url>', 'where the subscription is fetched', subscriptionUrlValue)
    .option('--title <title>', 'the name that apps show; without it the host', titleValue)
    .addOption(
      new Option('--app <form>', 'the form of the link: plain, query, or that of an app')
        .choices(APPS)
        .default('plain'),
    )
    .action((name: LinkName, options: QrOptions) => qr(context, name, options));
}
