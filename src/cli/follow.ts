/** `gatepost follow …`: the panels that are followed, and passes that wait for the operator. */

import type { Command } from 'commander';
import { acceptFollow } from '../core/follow.ts';
import type { Follow } from '../core/port/follow.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { granted, refusal } from './refusal.ts';
import { table } from './table.ts';
import { showTimeOrNull } from './values.ts';

interface AcceptOptions extends ConfirmOptions {
  check?: boolean;
}

function view({ host, source, view: admin, pass, failure, held, isAccepted, nextAtMs }: Follow) {
  return {
    host,
    source,
    admin: admin || null,
    passed_at: showTimeOrNull(pass?.atMs ?? null),
    users: pass?.userCount ?? null,
    added: pass?.addedCount ?? null,
    changed: pass?.changedCount ?? null,
    gone: pass?.goneCount ?? null,
    missing: pass?.missingCount ?? null,
    next_at: showTimeOrNull(nextAtMs || null),
    problem: failure?.problem ?? null,
    reason: failure?.reason ?? null,
    waits_for_accept: held !== null && !isAccepted,
  };
}

async function list(context: CliContext, options: CommonOptions): Promise<void> {
  const follows = await withCore(context, options, async ({ store }) => store.listFollows());
  const shown = follows.map(view);
  const text = table(shown, {
    host: 'host',
    'last whole pass': ({ passed_at }) => passed_at ?? '-',
    users: ({ users }) => users ?? '-',
    problem: ({ problem, reason }) => (problem === null ? '-' : `${problem}: ${reason}`),
  });
  print(context, options, shown, text);
}

/** Returns a sentence about the effect of the pass that waits. */
function effectOf({ host, held, view: before }: Follow, isDisabling: boolean): string {
  const { knownCount = 0, missingCount = 0, view: admin = '' } = held ?? {};
  if (admin !== before) {
    const whose = admin === '' ? 'all users' : `the users of the admin ${admin}`;
    return `${host}: ${whose} of the panel are followed from now on`;
  }
  const links = isDisabling ? 'their links are disabled' : 'their links stay';
  return `${host}: ${missingCount} of ${knownCount} known users count as missing; if the next whole pass misses them too, ${links}`;
}

async function accept(context: CliContext, host: string, options: AcceptOptions): Promise<void> {
  const { check: isCheck = false } = options;
  await withCore(context, options, async (core, { gateUpstreams }) => {
    const follow = (await core.store.listFollows()).find((one) => one.host === host);
    if (follow === undefined) throw refusal('follow_not_found', host);
    if (follow.held === null) throw refusal('follow_not_held', host);
    const upstream = gateUpstreams.find((one) => one.host === host);
    const effect = effectOf(follow, upstream?.followGone === 'disable');
    const { missingCount: missing, knownCount: known } = follow.held;
    const facts = { host, missing, known, check: isCheck };
    if (isCheck) {
      print(
        context,
        options,
        facts,
        `${effect}. Nothing was changed: run the command without --check.`,
      );
      return;
    }
    await confirm(context, options, effect);
    granted(await acceptFollow(core, host, context.nowMs()), host);
    print(context, options, facts, `${effect}. The panel is read again within seconds.`);
  });
}

export function addFollowCommands(program: Command, context: CliContext): void {
  const follow = program.command('follow').description('show panels that are followed');
  follow
    .command('list')
    .description('list the panels with their last whole pass and their problem')
    .action((options: CommonOptions) => list(context, options));
  follow
    .command('accept')
    .argument('<host>', 'the host of the upstream')
    .description('agree to a pass that waits, because many users are missing or others are shown')
    .option('--check', 'show what it would do, and change nothing')
    .option('--yes', 'do not ask')
    .action((host: string, options: AcceptOptions) => accept(context, host, options));
}
