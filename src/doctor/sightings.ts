/** Explains what running servers have seen at panels: {@link SightingKind}. */

import { about, type Finding } from '../base/finding.ts';
import { counted } from '../core/counted.ts';
import { PANEL_TRAITS } from '../core/panel/index.ts';
import { PANELS } from '../core/panel/kind.ts';
import type { SeenSighting, SightingKind } from '../core/port/sighting.ts';

const say = about('gate');

interface Explanation {
  /** The fact, with the subjects as a list. */
  what(subjects: string, host: string): string;
  /** The remedy. */
  todo(subjects: readonly SeenSighting[]): string;
}

const PANEL_HOST = "reach the panel's page on a host name of its own";

const EXPLANATIONS: Readonly<Record<SightingKind, Explanation>> = {
  page_with_servers: {
    what: (schemes, host) =>
      `pages of ${host} list servers (${schemes}): each browser that has the address gets them without a slot`,
    todo: () => `set browsers = "refuse" for it in gate.upstream, and ${PANEL_HOST}`,
  },
  pass_path_with_servers: {
    what: (schemes, host) =>
      `pass_paths of ${host} let answers with servers pass (${schemes}), without a limit`,
    todo: () => `remove these paths from pass_paths, and ${PANEL_HOST}`,
  },
  no_subscription: {
    what: (answers, host) =>
      `the panel of ${host} answers without a subscription (${answers}); such answers make links`,
    todo: () =>
      'check key_path, and set panel of gate.upstream: then only a subscription makes a link',
  },
  keys_are_uuids: {
    what: (templates, host) =>
      `nearly all keys of ${host} are UUIDs (${templates}): another spelling of a key is another link`,
    todo: () =>
      PANELS.filter((panel) => PANEL_TRAITS[panel].keys === 'uuid')
        .map((panel) => {
          const { title } = PANEL_TRAITS[panel];
          return `if the panel is ${title}, add the line  key = "${panel}"  to its gate.upstream`;
        })
        .join('; '),
  },
  dropped_header: {
    what: (headers, host) =>
      `the panel of ${host} sends apps to another host (${headers}); these headers are dropped`,
    todo: (subjects) => {
      const hosts = [...new Set(subjects.map(({ subject }) => subject.split(' ').at(-1) ?? ''))];
      const line = `hosts = ${JSON.stringify(hosts)}`;
      return `to let them pass, add the line  ${line}  to [ride], beside the hosts that it has; else remove them from the panel`;
    },
  },
  moving_line: {
    what: (lines, host) =>
      `subscriptions of ${host} have lines that send apps to another host (${lines})`,
    todo: () => 'remove them from the panel unless the host is yours: Gatepost changes no body',
  },
  alternative_hwid: {
    what: (_, host) =>
      `the panel of ${host} sends subscription-alternative-hwid-enabled: the HWIDs of all apps change, and each takes a new slot`,
    todo: () => 'remove the header from the panel',
  },
  stranger_served: {
    what: (_, host) => `the panel of ${host} serves a made-up key: no new links are made there`,
    todo: () => 'check key_path and url of gate.upstream, and that the panel refuses unknown keys',
  },
};

/** Returns a finding for each kind at each host; `hosts` are those of the upstreams. */
export function checkSightings(
  sightings: readonly SeenSighting[],
  hosts: readonly string[],
): Finding[] {
  const present = sightings.filter(({ host }) => hosts.includes(host));
  const groups = Map.groupBy(present, ({ host, kind }) => `${kind} ${host}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { what, todo } = EXPLANATIONS[first.kind];
    const subjects = group
      .map(({ subject, count }) => `${subject} ${counted(count, 'time')}`)
      .join(', ');
    const last = new Date(Math.max(...group.map(({ lastSeenAtMs }) => lastSeenAtMs)));
    const level = first.kind === 'stranger_served' ? say.problem : say.warning;
    return [
      level(
        `panel_${first.kind}`,
        `${what(subjects, first.host)}; last seen ${showTime(last)}`,
        todo(group),
        first.host,
      ),
    ];
  });
}

const showTime = (at: Date) => `${at.toISOString().slice(0, 19)}Z`;
