/** `gatepost console link` and `gatepost account …`: first access to the console, and recovery. */

import { type Command, InvalidArgumentError } from 'commander';
import { readAccountName } from '../core/account/formats.ts';
import { makeOperatorEntry } from '../core/account/operator.ts';
import { isRefused } from '../core/outcome.ts';
import {
  type CliContext,
  type CommonOptions,
  print,
  printTable,
  settingsFor,
  withCore,
} from './context.ts';
import { make } from './make.ts';
import { listOwned, OF_PROVIDER, ownerName, type ProviderOptions } from './provider-name.ts';
import { granted } from './refusal.ts';
import { baseUrlValue, showTime } from './values.ts';

interface UrlOptions extends CommonOptions {
  url?: string;
}

interface LinkOptions extends UrlOptions {
  account: string;
}

type ListOptions = CommonOptions & ProviderOptions;

function accountName(text: string): string {
  const name = readAccountName(text);
  if (isRefused(name)) throw new InvalidArgumentError(`a ${name.detail}`);
  return name;
}

/** Prints a link for one use. The secret is in the fragment, which is sent to no server. */
async function printLink(
  context: CliContext,
  options: UrlOptions,
  name: string,
  secret: string,
): Promise<void> {
  const given = options.url?.replace(/\/+$/, '');
  const base = given ?? (await context.urlForPeople(settingsFor(context, options)));
  const link = `${base}/console#entry=${secret}`;
  const note = `It signs ${name} in once, within ten minutes.`;
  print(context, options, { account: name, link }, `${link}\n${note}`);
}

async function link(context: CliContext, options: LinkOptions): Promise<void> {
  const nowMs = context.nowMs();
  const made = await withCore(context, options, (core) =>
    makeOperatorEntry(core, options.account, nowMs),
  );
  const { name, secret } = granted(made, options.account);
  await printLink(context, options, name, secret);
}

async function reset(context: CliContext, name: string, options: UrlOptions): Promise<void> {
  const nowMs = context.nowMs();
  const made = await withCore(context, options, (core) =>
    make('accounts.reset', { core, nowMs }, { name }),
  );
  await printLink(context, options, name, granted(made, name).secret);
}

async function endSessions(context: CliContext, name: string, options: CommonOptions) {
  const nowMs = context.nowMs();
  const made = await withCore(context, options, (core) =>
    make('accounts.end-sessions', { core, nowMs }, { name }),
  );
  const { count } = granted(made, name);
  print(context, options, { account: name, ended: count }, `Sessions ended: ${count}`);
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const members = await withCore(context, options, (core) => {
    const read = (place: number | null) => core.store.listMembers(place);
    return listOwned(core, options, read, () => read(null));
  });
  const shown = members.map((one) => ({
    name: one.name,
    provider_code: one.providerCode,
    role: one.role,
    passkeys: one.passkeyCount,
    password: one.hasPassword ? 'yes' : 'no',
    second_factor: one.hasTotp ? 'yes' : 'no',
    signed_in_at: one.signedInAtMs === null ? '' : showTime(one.signedInAtMs),
  }));
  printTable(context, options, shown, {
    name: 'name',
    at: ownerName,
    role: 'role',
    password: 'password',
    passkeys: 'passkeys',
    'second factor': 'second_factor',
    'signed in at': 'signed_in_at',
  });
}

export function addAccountCommands(program: Command, context: CliContext): void {
  const url = [
    '--url <address>',
    'the address of the server, if it is another than the settings say',
    baseUrlValue,
  ] as const;
  program
    .command('console')
    .description('the console in the browser')
    .command('link')
    .description('print a link that signs an operator in once; adds the account if it is new')
    .option('--account <name>', 'the name of the account', accountName, 'operator')
    .option(...url)
    .action((options: LinkOptions) => link(context, options));
  const account = program.command('account').description('accounts of the console');
  account
    .command('list')
    .description('list the accounts by where they have a role: at the appliance, at each provider')
    .option(...OF_PROVIDER)
    .action((options: ListOptions) => list(context, options));
  account
    .command('reset')
    .argument('<name>', 'the name of the account', accountName)
    .description('remove every way in to the account, and print a link to sign in')
    .option(...url)
    .action((name: string, options: UrlOptions) => reset(context, name, options));
  account
    .command('end-sessions')
    .argument('<name>', 'the name of the account', accountName)
    .description('end all sessions of an account')
    .action((name: string, options: CommonOptions) => endSessions(context, name, options));
}
