/** `gatepost link set`: changes a limited link. */

import { type Command, Option } from 'commander';
import { actAt } from '../core/audit/entry.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED, type InstallChange } from '../core/port/install.ts';
import { subscriptionKeyHash } from '../core/secret.ts';
import { UsageError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { findLink, LINK_ARGUMENT, type LinkName } from './link-name.ts';
import { addPolicy, givenPolicy, type PolicyOptions } from './policy.ts';
import { refusal } from './refusal.ts';
import { installLimitValue, noteValue, subscriptionKeyValue } from './values.ts';

const STATUSES = { active: INSTALL_ACTIVE, disabled: INSTALL_DISABLED } as const;

/** Refusals of the store by their names on the command line. */
const REFUSALS = {
  install_not_found: 'link_not_found',
  install_limit_below_count: 'link_limit_below_count',
  subscription_key_exists: 'subscription_key_exists',
} as const;

interface SetOptions extends CommonOptions, PolicyOptions {
  limit?: number;
  note?: string;
  status?: keyof typeof STATUSES;
  /** False: `--no-key`. */
  key?: string | false;
}

function changeOf({ limit, note, status, key, ...policy }: SetOptions): InstallChange {
  return {
    ...(limit !== undefined && { installLimit: limit }),
    ...(note !== undefined && { note: note === '' ? null : note }),
    ...(status !== undefined && { status: STATUSES[status] }),
    ...(key !== undefined && {
      subscriptionKeyHash: key === false ? null : subscriptionKeyHash(key),
    }),
    ...givenPolicy(policy),
  };
}

async function set(context: CliContext, name: LinkName, options: SetOptions): Promise<void> {
  const wanted = changeOf(options);
  if (Object.keys(wanted).length === 0) {
    throw new UsageError('nothing to set: give --limit, --note or another option that changes it');
  }
  const code = await withCore(context, options, async (core) => {
    const { installCode, providerId, id } = await findLink(core, name);
    const act = actAt(core, context.nowMs());
    const changed = await core.store.updateInstall(providerId, id, wanted, act);
    if (typeof changed === 'string') throw refusal(REFUSALS[changed], installCode);
    return installCode;
  });
  print(context, options, { install_code: code, done: 'changed' }, `${code} changed`);
}

export function addSetCommand(link: Command, context: CliContext): void {
  const setting = link
    .command('set')
    .description('change a link; omitted options change nothing')
    .argument(...LINK_ARGUMENT)
    .option('--limit <number>', 'the most HWIDs on it', installLimitValue)
    .option('--note <text>', 'a note; an empty text removes it', noteValue)
    .addOption(
      new Option('--status <status>', 'disabled refuses all devices').choices(
        Object.keys(STATUSES),
      ),
    )
    .option('--key <key>', 'the subscription key of the panel', subscriptionKeyValue)
    .option('--no-key', 'remove the subscription key');
  addPolicy(setting).action((name: LinkName, options: SetOptions) => set(context, name, options));
}
