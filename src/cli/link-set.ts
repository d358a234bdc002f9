/** `gatepost link set`, `enable` and `disable`: change one limited link, or many by a filter. */

import { type Command, Option } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import { type Given, onlyGiven } from '../core/field.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED, type LinkTerms } from '../core/port/link.ts';
import { LINK_TERMS } from '../core/terms.ts';
import { labels } from '../labels/en.ts';
import type { CliContext } from './context.ts';
import { addMany, changeLinks, type ManyOptions } from './link-filter.ts';
import { enableLinks } from './link-imported.ts';
import type { LinkName } from './link-name.ts';
import { make } from './make.ts';
import { addTerms, givenTerms } from './term-options.ts';
import { installLimitValue, noteValue, subscriptionKeyValue } from './values.ts';

const STATUSES = { active: INSTALL_ACTIVE, disabled: INSTALL_DISABLED } as const;

interface SetOptions extends ManyOptions {
  limit?: number;
  asTheyLeave?: true;
  note?: string;
  status?: keyof typeof STATUSES;
  /** False: `--no-key`. */
  key?: string | false;
}

type LinkChange = Omit<Parameters<typeof make<'links.edit'>>[2], 'id'>;

function changeOf({ asTheyLeave, limit, note, status, key, ...options }: SetOptions): LinkChange {
  const own: Given<Omit<LinkChange, keyof LinkTerms>> = {
    limit,
    asTheyLeave,
    note,
    status: status && STATUSES[status],
    subscriptionKey: key === false ? null : key,
  };
  return { ...onlyGiven(own), ...givenTerms<LinkTerms>(LINK_TERMS, options) };
}

/** Changes links; the words are such as `Change` and `changed`. */
function change(
  context: CliContext,
  name: LinkName | undefined,
  options: ManyOptions,
  wanted: LinkChange,
  [verb, done]: readonly [string, string],
): Promise<void> {
  return changeLinks(context, name, options, {
    verb,
    done,
    change: (core, { providerId, id }) =>
      make(
        'links.edit',
        { core, nowMs: context.nowMs(), provider: { id: providerId } },
        { id, ...wanted },
      ),
  });
}

async function set(
  context: CliContext,
  name: LinkName | undefined,
  options: SetOptions,
): Promise<void> {
  const wanted = changeOf(options);
  if (options.asTheyLeave && options.limit === undefined) {
    throw new UsageError('--as-they-leave needs --limit');
  }
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
    .option('--limit <number>', `the ${labels.install_limit}`, installLimitValue)
    .option(
      '--as-they-leave',
      'with more devices on the link, lower its limit as they leave; new ones are refused until then',
    )
    .option('--note <text>', `a ${labels.note}; an empty text removes it`, noteValue)
    .addOption(
      new Option('--status <status>', `${labels.status}: disabled refuses all devices`).choices(
        Object.keys(STATUSES),
      ),
    )
    .option('--key <key>', `the ${labels.subscription_key} of the panel`, subscriptionKeyValue)
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
        ? enableLinks(context, name, options)
        : change(context, name, options, { status: INSTALL_ACTIVE }, ['Enable', 'enabled']),
    );
  addMany(link.command('disable').description('refuse all devices of a link, or many')).action(
    (name: LinkName | undefined, options: ManyOptions) =>
      change(context, name, options, { status: INSTALL_DISABLED }, ['Disable', 'disabled']),
  );
}
