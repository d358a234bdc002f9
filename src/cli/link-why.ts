/**
 * `gatepost link why`: whether a HWID would be let in on a limited link now, and on what grounds.
 * It asks the rule that devices are judged by, and changes nothing.
 */

import type { Command } from 'commander';
import { verdictOn } from '../core/door.ts';
import { isRefused } from '../core/outcome.ts';
import { DOMAIN_ACTIVE, type Domain } from '../core/port/domain.ts';
import { INSTALL_ACTIVE } from '../core/port/install.ts';
import type { OwnedLink, SlotEnd } from '../core/port/link.ts';
import type { Door, FullLink } from '../core/port/slot.ts';
import { freeFrom, isAdmitted, type Verdict } from '../core/slot.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { LINK_ARGUMENT, type LinkName, linkNamed } from './link-name.ts';
import { refusal } from './refusal.ts';
import { table } from './table.ts';
import { type DomainName, domainValue, hwidValue, showTime } from './values.ts';

interface WhyOptions extends CommonOptions {
  domain: DomainName;
}

/** The grounds of a verdict. */
interface Case {
  hwid: string;
  link: OwnedLink;
  domain: DomainName;
  /** The provider's binding of the domain; null: it has none. */
  binding: Domain | null;
  door: Door;
  verdict: Verdict;
  /** Ends of slots that the HWID had on the link, the latest first. */
  ends: SlotEnd[];
  nowMs: number;
}

/** A thing that is looked at; `ok` null: it neither lets in nor keeps out. */
interface Step {
  step: string;
  ok: boolean | null;
  text: string;
}

function domainStep({ domain, binding, link }: Case): Step {
  const name = domain.host ?? 'the domain of this hash';
  const state = binding?.status === DOMAIN_ACTIVE ? 'an active' : 'a disabled';
  const text =
    binding === null
      ? `${name} is no binding of ${link.providerCode}`
      : `${name} is ${state} binding of ${link.providerCode}, '${binding.domainName}'`;
  return { step: 'domain', ok: binding?.status === DOMAIN_ACTIVE, text };
}

function linkStep({ door }: Case): Step {
  const isOpen = door.link.status === INSTALL_ACTIVE;
  return { step: 'link', ok: isOpen, text: isOpen ? 'it is active' : 'it is disabled' };
}

function hwidStep({ door, ends: [last] }: Case): Step {
  if (door.device !== null) {
    const text = `it holds a slot, last seen ${showTime(door.device.lastSeenAtMs)}`;
    return { step: 'hwid', ok: true, text };
  }
  return { step: 'hwid', ok: null, text: `it holds no slot${last ? `: ${endText(last)}` : ''}` };
}

const ENDS: Readonly<Record<SlotEnd['why'], string>> = {
  deleted: 'taken off',
  inactive: 'freed, as it was inactive,',
  replaced: 'replaced',
  forgotten: 'forgotten',
};

function endText({ why, endedAtMs, actor, forHwid }: SlotEnd): string {
  const newcomer = forHwid === null ? '' : ` for ${forHwid}`;
  return `it was ${ENDS[why]} at ${showTime(endedAtMs)} by ${actor}${newcomer}`;
}

function roomStep({ door }: Case): Step {
  const { deviceCount, installLimit } = door.link;
  const text = `${deviceCount} of ${installLimit} slots are taken`;
  return { step: 'room', ok: deviceCount < installLimit, text };
}

/** The two ways in which the oldest slot of a full link may be freed; null: its policy has none. */
function freeingSteps(full: FullLink | null, nowMs: number): Step[] {
  const { inactiveMs = null, replacedMs = null } = full === null ? {} : freeFrom(full);
  const isPast = (fromMs: number | null) => fromMs !== null && fromMs <= nowMs;
  const owner = full && `${full.oldest.hwid}, last seen ${showTime(full.oldest.lastSeenAtMs)}`;
  const inactive =
    inactiveMs === null
      ? 'slots are never freed for being inactive'
      : `slots are free after ${full?.policy.inactiveDays} days unseen: that of ${owner}, ` +
        `from ${showTime(inactiveMs)}`;
  const replaced =
    replacedMs === null
      ? 'a full link refuses'
      : `a newcomer replaces ${owner}, once in ${full?.policy.coolDownHours} hours: ` +
        (isPast(replacedMs) ? 'now' : `not before ${showTime(replacedMs)}`);
  return [
    { step: 'inactive', ok: isPast(inactiveMs), text: inactive },
    { step: 'replacement', ok: isPast(replacedMs), text: replaced },
  ];
}

function stepsOf(grounds: Case): Step[] {
  const { door, nowMs } = grounds;
  const steps = [domainStep(grounds), linkStep(grounds), hwidStep(grounds)];
  if (door.device !== null) return steps;
  const room = roomStep(grounds);
  return [...steps, room, ...(room.ok ? [] : freeingSteps(door.full, nowMs))];
}

/** The verdict for people. */
function sentence({ verdict, door, hwid }: Case): string {
  const oldest = door.full?.oldest.hwid ?? '';
  const words: Readonly<Record<Verdict, string>> = {
    known: 'let in: it holds a slot',
    room: 'let in: a slot is free',
    inactive: `let in: the slot of ${oldest} would be freed, as it is inactive`,
    replaced: `let in: it would replace ${oldest}`,
    link_domain_not_bound: 'refused: the provider has no active binding of the domain',
    link_disabled: 'refused: the link is disabled',
    link_limit_reached: 'refused: the link is full',
  };
  return `${hwid} would be ${words[verdict]}`;
}

async function why(
  context: CliContext,
  name: LinkName,
  hwid: string,
  options: WhyOptions,
): Promise<void> {
  const { domain } = options;
  const nowMs = context.nowMs();
  const grounds = await withCore(context, options, async (core): Promise<Case> => {
    const link = await linkNamed(core, name);
    const { installCode, providerId } = link;
    const call = { installCode, domainHash: domain.hash, hwid };
    const judged = await verdictOn(core, call, nowMs);
    // It was removed between two looks: nothing else of the call can be refused.
    if (isRefused(judged)) throw refusal('link_not_found', installCode);
    const binding = await core.store.findDomain(providerId, domain.hash);
    const { ends } = await core.store.readLinkStory(link.id);
    return {
      ...{ hwid, link, domain, binding, nowMs, ...judged },
      ends: ends.filter((end) => end.hwid === hwid),
    };
  });
  const steps = stepsOf(grounds);
  const { link, verdict, door } = grounds;
  const frees = verdict === 'inactive' || verdict === 'replaced' ? door.full?.oldest.hwid : null;
  const facts = {
    install_code: link.installCode,
    provider_code: link.providerCode,
    hwid,
    domain_hash: domain.hash,
    admitted: isAdmitted(verdict),
    verdict,
    frees: frees ?? null,
    steps,
  };
  const marks = { true: 'yes', false: 'no', null: '-' };
  const columns = { ABOUT: 'step', OK: ({ ok }: Step) => marks[`${ok}`], FOUND: 'text' } as const;
  print(context, options, facts, `${table(steps, columns)}\n\n${sentence(grounds)}`);
}

export function addWhyCommand(link: Command, context: CliContext): void {
  link
    .command('why')
    .description('explain whether a HWID would be let in now; nothing is changed')
    .argument(...LINK_ARGUMENT)
    .argument('<hwid>', 'what the app tells of its device', hwidValue)
    .requiredOption('--domain <host>', 'where it comes from: a host, or its hash', domainValue)
    .action((name: LinkName, hwid: string, options: WhyOptions) =>
      why(context, name, hwid, options),
    );
}
