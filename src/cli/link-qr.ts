/** `gatepost link qr`: the final link of a limited link as a QR code. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { renderUnicodeCompact } from 'uqr';
import type { Core } from '../core/core.ts';
import { hostHash, hostName } from '../core/host-name.ts';
import { DOMAIN_ACTIVE } from '../core/port/domain.ts';
import { INSTALL_ACTIVE } from '../core/port/install.ts';
import type { OwnedLink } from '../core/port/link.ts';
import { UsageError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { APPS, type App, finalLink } from './final-link.ts';
import { findLink, LINK_ARGUMENT, type LinkName } from './link-name.ts';
import { lineValue } from './values.ts';

interface QrOptions extends CommonOptions {
  url: string;
  title?: string;
  app: App;
}

function subscriptionUrlValue(text: string): string {
  const url = URL.parse(text);
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
  return url.href;
}

/** Bytes of the longest link that a camera can scan from a terminal: 105 modules a side. */
const LINK_BYTES_MAX = 1_000;

/** White on black in every terminal: not every camera reads a negative. */
const COLOURS = '\u001b[97;40m';
const COLOURS_END = '\u001b[0m';

/** Returns the lines of the QR code, two modules high each, with the margin of the standard. */
function drawing(text: string): string[] {
  return renderUnicodeCompact(text, { ecc: 'L', boostEcc: true, border: 4 }).split('\n');
}

async function qr(context: CliContext, name: LinkName, options: QrOptions): Promise<void> {
  const { url, title = null, app } = options;
  const { code, notes } = await withCore(context, options, async (core) => {
    const found = await findLink(core, name);
    return { code: found.installCode, notes: await notesOn(core, found, new URL(url).hostname) };
  });
  const link = finalLink(app, { url, title, installCode: code });
  if (Buffer.byteLength(link) > LINK_BYTES_MAX) {
    throw new UsageError(`the link is longer than ${LINK_BYTES_MAX} bytes: use a shorter --title`);
  }
  for (const note of notes) context.stderr(`${note}\n`);
  const lines = drawing(link);
  const facts = { install_code: code, app, link, qr: lines };
  print(context, options, facts, `${shown(context, lines)}${link}`);
}

/** Returns reasons why every device with the final link is refused. */
async function notesOn(core: Core, link: OwnedLink, host: string): Promise<string[]> {
  const { providerId, providerCode, installCode } = link;
  const binding = await core.store.findDomain(providerId, hostHash(hostName(host) ?? host));
  const isBound = binding?.status === DOMAIN_ACTIVE;
  return [
    ...(isBound ? [] : [`${host} is no active binding of ${providerCode}: devices are refused`]),
    ...(link.status === INSTALL_ACTIVE ? [] : [`${installCode} is disabled: devices are refused`]),
  ];
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
  link
    .command('qr')
    .description('draw the QR code of a subscription on a limited link, and print the link')
    .argument(...LINK_ARGUMENT)
    .requiredOption('--url <url>', 'the URL of the subscription', subscriptionUrlValue)
    .option('--title <title>', 'the name that apps show; the host if omitted', lineValue('a title'))
    .addOption(
      new Option('--app <form>', 'the form of the link: plain, query, or of an app')
        .choices(APPS)
        .default('plain'),
    )
    .action((name: LinkName, options: QrOptions) => qr(context, name, options));
}
