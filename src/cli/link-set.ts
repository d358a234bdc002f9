/** `gatepost link set`, `enable` and `disable`: change one limited link, or many by a filter. */

import { type Command, Option } from 'commander';
import { actAt } from '../core/audit/entry.ts';
import { type Given, onlyGiven } from '../core/field.ts';
import {
  INSTALL_ACTIVE,
  INSTALL_DISABLED,
  type InstallChange,
  type LinkTerms,
  type OwnLink,
} from '../core/port/install.ts';
import { subscriptionKeyHash } from '../core/secret.ts';
import { LINK_TERMS } from '../core/terms.ts';
import { UsageError } from '../operator-error.ts';
import { type CliContext, print, withCore } from './context.ts';
import {
  addMany,
  choose,
  type ManyOptions,
  onEach,
  preview,
  printOutcomes,
  refuseNoChoice,
} from './link-filter.ts';
import { enableImported } from './link-imported.ts';
import type { LinkName } from './link-name.ts';
import { refusal } from './refusal.ts';
import { addTerms, givenTerms } from './term-options.ts';
import { installLimitValue, noteValue, subscriptionKeyValue } from './values.ts';

const STATUSES = { active: INSTALL_ACTIVE, disabled: INSTALL_DISABLED } as const;

/** Refusals of the store by their names on the command line. */
const REFUSALS = {
  install_not_found: 'link_not_found',
  install_limit_below_count: 'link_limit_below_count',
  subscription_key_exists: 'subscription_key_exists',
} as const;

interface SetOptions extends ManyOptions {
  limit?: number;
  note?: string;
  status?: keyof typeof STATUSES;
  /** False: `--no-key`. */
  key?: string | false;
}

function changeOf({ limit, note, status, key, ...options }: SetOptions): InstallChange {
  const own: Given<Omit<OwnLink, keyof LinkTerms>> = {
    installLimit: limit,
    note: note === '' ? null : note,
    status: status && STATUSES[status],
    subscriptionKeyHash: key === false ? null : key && subscriptionKeyHash(key),
  };
  return { ...onlyGiven(own), ...givenTerms<LinkTerms>(LINK_TERMS, options) };
}

/** Changes links; `done` is a word such as `changed`. */
async function change(
  context: CliContext,
  name: LinkName | undefined,
  options: ManyOptions,
  wanted: InstallChange,
  [verb, done]: readonly [string, string],
): Promise<void> {
  refuseNoChoice(name, options);
  await withCore(context, options, async (core) => {
    const { links, isByFilter } = await choose(core, name, options);
    if (isByFilter) await preview(context, options, verb, links);
    const act = actAt(core, context.nowMs());
    const outcomes = await onEach(links, async ({ installCode, providerId, id }) => {
      const changed = await core.store.updateInstall(providerId, id, wanted, act);
      if (typeof changed !== 'string') return null;
      const error = refusal(REFUSALS[changed], installCode);
      if (!isByFilter) throw error;
      return error.message;
    });
    const [link] = links;
    if (isByFilter || link === undefined) return printOutcomes(context, options, done, outcomes);
    if (outcomes.stopped !== null) throw outcomes.stopped.fault;
    const { installCode } = link;
    print(context, options, { install_code: installCode, done }, `${installCode} ${done}`);
  });
}

async function set(
  context: CliContext,
  name: LinkName | undefined,
  options: SetOptions,
): Promise<void> {
  const wanted = changeOf(options);
  if (Object.keys(wanted).length === 0) {
    throw new UsageError('nothing to change: give --limit, --note or another option');
  }
  if (name === undefined && typeof options.key === 'string') {
    throw new UsageError('--key is for one link: no two links of a provider can have the same key');
  }
  await change(context, name, options, wanted, ['Change', 'changed']);
}

export function addSetCommands(link: Command, context: CliContext): void {
  const setting = link
    .command('set')
    .description('change a link, or many by a filter; omitted options change nothing')
    .option('--limit <number>', 'the most HWIDs on it', installLimitValue)
    .option('--note <text>', 'a note; an empty text removes it', noteValue)
    .addOption(
      new Option('--status <status>', 'disabled refuses all devices').choices(
        Object.keys(STATUSES),
      ),
    )
    .option('--key <key>', 'the subscription key of the panel', subscriptionKeyValue)
    .option('--no-key', 'remove the subscription key');
  addMany(addTerms(setting, LINK_TERMS)).action((name: LinkName | undefined, options: SetOptions) =>
    set(context, name, options),
  );

  addMany(link.command('enable').description('enable a link, or many by a filter'))
    .option(
      '--disabled-by-import',
      'list the links that an import disabled; enable the given one, or with --all all of them',
    )
    .action((name: LinkName | undefined, options: ManyOptions & { disabledByImport?: boolean }) =>
      options.disabledByImport
        ? enableImported(context, name, options)
        : change(context, name, options, { status: INSTALL_ACTIVE }, ['Enable', 'enabled']),
    );
  addMany(link.command('disable').description('refuse all devices of a link, or many')).action(
    (name: LinkName | undefined, options: ManyOptions) =>
      change(context, name, options, { status: INSTALL_DISABLED }, ['Disable', 'disabled']),
  );
}
