/**
 * `gatepost link why`: whether a limited link would admit a HWID now, and why. Applies the rule
 * that admits devices; changes nothing.
 */

import type { Command } from 'commander';
import { counted } from '../core/counted.ts';
import { verdictOn } from '../core/door.ts';
import { hostHash } from '../core/host-name.ts';
import { isRefused } from '../core/outcome.ts';
import { DOMAIN_ACTIVE, type Domain } from '../core/port/domain.ts';
import { INSTALL_ACTIVE } from '../core/port/link.ts';
import type { OwnedLink, SlotEnd } from '../core/port/link-view.ts';
import type { Door, FullLink } from '../core/port/slot.ts';
import { DEVICES_MAX, type DoorVerdict, freeFrom, isAdmitted } from '../core/slot.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { findLink, LINK_ARGUMENT, type LinkName } from './link-name.ts';
import { refusal } from './refusal.ts';
import { table } from './table.ts';
import { type DomainName, domainValue, hwidValue, showTime } from './values.ts';

interface WhyOptions extends CommonOptions {
  domain: DomainName;
}

/** The facts for the decision. */
interface Case {
  hwid: string;
  link: OwnedLink;
  domain: DomainName;
  /** The provider's binding of the domain; null: it has none. */
  binding: Domain | null;
  door: Door;
  verdict: DoorVerdict;
  /** Ends of slots that the HWID had on the link, the latest first. */
  ends: SlotEnd[];
  nowMs: number;
}

/** A check; `ok` null: it does not decide. */
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
      ? `${link.providerCode} has no binding of ${name}`
      : `${name} is ${state} binding of ${link.providerCode}, '${binding.domainName}'`;
  return { step: 'domain', ok: binding?.status === DOMAIN_ACTIVE, text };
}

function linkStep({ door }: Case): Step {
  const isOpen = door.link.status === INSTALL_ACTIVE;
  return { step: 'link', ok: isOpen, text: isOpen ? 'it is active' : 'it is disabled' };
}

function hwidStep({ door, ends: [last] }: Case): Step {
  if (door.device !== null) {
    if (door.isNamed) {
      return { step: 'hwid', ok: true, text: 'it was named for the link, and has not come yet' };
    }
    const holder = door.byHash ? 'its hash' : 'it';
    const text = `${holder} holds a slot, last seen ${showTime(door.device.lastSeenAtMs)}`;
    return { step: 'hwid', ok: true, text };
  }
  return { step: 'hwid', ok: null, text: `it holds no slot${last ? `: ${endText(last)}` : ''}` };
}

const ENDS: Readonly<Record<SlotEnd['why'], string>> = {
  deleted: 'removed',
  inactive: 'freed because it was inactive,',
  replaced: 'replaced',
  forgotten: 'forgotten',
};

function endText({ why, endedAtMs, actor, forHwid }: SlotEnd): string {
  const newcomer = forHwid === null ? '' : ` for ${forHwid}`;
  return `it was ${ENDS[why]} at ${showTime(endedAtMs)} by ${actor}${newcomer}`;
}

function roomStep({ door }: Case): Step {
  const { deviceCount, installLimit } = door.link;
  const text = `taken: ${deviceCount} of ${counted(installLimit, 'slot')}`;
  return { step: 'room', ok: deviceCount < installLimit, text };
}

/** The step of a link that only counts, in place of the ways to free a slot. */
function countingStep({ door }: Case): Step {
  const text = `it only counts: it admits up to ${DEVICES_MAX} devices, whatever its limit`;
  return { step: 'counting', ok: door.link.deviceCount < DEVICES_MAX, text };
}

/** The HWID alone does not decide. */
const SAME_PHONE: Step = {
  step: 'same_phone',
  ok: null,
  text: 'a device with the model, system and app of one that is silent for `same_phone_hours` takes its slot',
};

/** Returns the ways to free a slot of a full link. */
function freeingSteps(full: FullLink | null, nowMs: number): Step[] {
  const { inactiveMs = null, replacedMs = null } = full === null ? {} : freeFrom(full);
  const isPast = (fromMs: number | null) => fromMs !== null && fromMs <= nowMs;
  const owner = full && `${full.oldest.hwid}, last seen ${showTime(full.oldest.lastSeenAtMs)}`;
  const inactive =
    inactiveMs === null
      ? 'inactive slots are never freed'
      : `slots are freed after ${counted(full?.policy.inactiveDays ?? 0, 'day')} unseen: that of ${owner}, ` +
        `from ${showTime(inactiveMs)}`;
  const replaced =
    replacedMs === null
      ? 'a full link refuses new devices'
      : `a new device replaces ${owner}, once in ${counted(full?.policy.coolDownHours ?? 0, 'hour')}: ` +
        (isPast(replacedMs) ? 'now' : `not before ${showTime(replacedMs)}`);
  const steps = [
    { step: 'inactive', ok: isPast(inactiveMs), text: inactive },
    { step: 'replacement', ok: isPast(replacedMs), text: replaced },
  ];
  return full?.policy.samePhone === 'replace' ? [SAME_PHONE, ...steps] : steps;
}

function stepsOf(facts: Case): Step[] {
  const { door, nowMs } = facts;
  const steps = [domainStep(facts), linkStep(facts), hwidStep(facts)];
  if (door.device !== null) return steps;
  if (door.isClosed) {
    const text = 'the link admits only HWIDs that were named: when_new is refuse';
    return [...steps, { step: 'named', ok: false, text }];
  }
  const room = roomStep(facts);
  if (room.ok) return [...steps, room];
  return [
    ...steps,
    room,
    ...(door.counts ? [countingStep(facts)] : freeingSteps(door.full, nowMs)),
  ];
}

/** Returns the verdict as a sentence. */
function sentence({ verdict, door, hwid }: Case): string {
  const oldest = door.full?.oldest.hwid ?? '';
  const words: Readonly<Record<DoorVerdict, string>> = {
    known: door.isNamed ? 'admitted: it was named' : 'admitted: it holds a slot',
    room: 'admitted: a slot is free',
    over: 'admitted over the limit: the link only counts',
    same_phone: `admitted: it would replace ${door.full?.former?.hwid}, the same phone`,
    inactive: `admitted: the inactive slot of ${oldest} would be freed`,
    replaced: `admitted: it would replace ${oldest}`,
    link_domain_not_bound: 'refused: the provider has no active binding of the domain',
    link_disabled: 'refused: the link is disabled',
    not_named: 'refused: the link admits only named HWIDs (when_new)',
    barred: 'refused: it was cut off from the link',
    link_limit_reached: 'refused: the link is full',
    copied_hwid: 'refused: another phone has its slot',
    hwid_required: 'refused: it is the HWID of a further phone, which no app sends',
  };
  return `${hwid} would be ${words[verdict]}`;
}

async function why(context: CliContext, name: LinkName, hwid: string, options: WhyOptions) {
  const { domain } = options;
  const nowMs = context.nowMs();
  const found = await withCore(context, options, async (core, config): Promise<Case> => {
    const link = await findLink(core, name);
    const { installCode, providerId } = link;
    const upstream = config.gateUpstreams.find(({ host }) => hostHash(host) === domain.hash);
    const enforces = upstream?.enforce ?? true;
    const call = { installCode, domainHash: domain.hash, hwid, isShared: true, enforces };
    const judged = await verdictOn(core, call, nowMs);
    // The link was removed between two reads: no other refusal is possible.
    if (isRefused(judged)) throw refusal('link_not_found', installCode);
    const binding = await core.store.findDomain(providerId, domain.hash);
    const { ends } = await core.store.readLinkStory(link.id);
    return {
      hwid,
      link,
      domain,
      binding,
      nowMs,
      ...judged,
      ends: ends.filter((end) => end.hwid === hwid),
    };
  });
  const steps = stepsOf(found);
  const { link, verdict, door } = found;
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
  print(context, options, facts, `${table(steps, columns)}\n\n${sentence(found)}`);
}

export function addWhyCommand(link: Command, context: CliContext): void {
  link
    .command('why')
    .description('explain whether a link would admit a HWID now; changes nothing')
    .argument(...LINK_ARGUMENT)
    .argument('<hwid>', 'the HWID that the app sends', hwidValue)
    .requiredOption('--domain <host>', 'the domain of the app: a host, or its hash', domainValue)
    .action((name: LinkName, hwid: string, options: WhyOptions) =>
      why(context, name, hwid, options),
    );
}
