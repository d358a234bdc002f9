/**
 * The table of pages. The file of a page is loaded when it is opened. The navigation shows a page
 * to people with the right to the call that it needs.
 */

import type { ComponentType } from 'preact';
import type { CallName } from '../../call/table.ts';
import {
  AccountIcon,
  ActivityIcon,
  BackupsIcon,
  CommandsIcon,
  ComposeIcon,
  DevicesIcon,
  DomainsIcon,
  HealthIcon,
  LinksIcon,
  MessagesIcon,
  MyIcon,
  NodesIcon,
  OverviewIcon,
  ProvidersIcon,
  RemindersIcon,
  SettingsIcon,
  StaffIcon,
  WebhooksIcon,
} from '../parts/icons.tsx';
import { loadReminderTexts } from '../state.ts';
import type { Texts } from '../texts/texts.ts';

/** The properties of each page: `at` is the code of its provider, empty without one. */
export interface PageProps {
  at: string;
}

export interface PageEntry {
  path: `/console${string}`;
  /** Returns the name in the navigation. */
  nameIn: (texts: Texts) => string;
  icon: ComponentType;
  /**
   * The call whose right the page needs; null: every person has the page, and it has no provider.
   */
  needs: CallName | null;
  /** True for a page of the operator: it is about the appliance. */
  isOfAppliance?: true;
  load: () => Promise<ComponentType<PageProps>>;
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/console',
    nameIn: ({ shell }) => shell.overview,
    icon: OverviewIcon,
    needs: 'overview.read',
    load: async () => (await import('./overview.tsx')).OverviewPage,
  },
  {
    path: '/console/links',
    nameIn: ({ shell }) => shell.links,
    icon: LinksIcon,
    needs: 'links.list',
    load: async () => (await import('./links.tsx')).LinksPage,
  },
  {
    path: '/console/messages',
    nameIn: ({ messages }) => messages.title,
    icon: MessagesIcon,
    needs: 'messages.list',
    load: async () => (await import('./messages.tsx')).MessagesPage,
  },
  {
    path: '/console/compose',
    nameIn: ({ compose }) => compose.title,
    icon: ComposeIcon,
    needs: 'send.notification',
    load: async () => (await import('./compose.tsx')).ComposePage,
  },
  {
    path: '/console/commands',
    nameIn: ({ command }) => command.title,
    icon: CommandsIcon,
    needs: 'send.command',
    load: async () => (await import('./commands.tsx')).CommandsPage,
  },
  {
    path: '/console/reminders',
    nameIn: ({ remindersTitle }) => remindersTitle,
    icon: RemindersIcon,
    needs: 'reminders.list',
    load: async () => {
      await loadReminderTexts();
      return (await import('./reminders.tsx')).RemindersPage;
    },
  },
  {
    path: '/console/domains',
    nameIn: ({ domains }) => domains.title,
    icon: DomainsIcon,
    needs: 'domains.list',
    load: async () => (await import('./domains.tsx')).DomainsPage,
  },
  {
    path: '/console/userpage',
    nameIn: ({ my }) => my.title,
    icon: MyIcon,
    needs: 'page.show',
    load: async () => (await import('./my.tsx')).MyPage,
  },
  {
    path: '/console/webhooks',
    nameIn: ({ webhooks }) => webhooks.title,
    icon: WebhooksIcon,
    needs: 'webhooks.list',
    load: async () => (await import('./webhooks.tsx')).WebhooksPage,
  },
  {
    path: '/console/staff',
    nameIn: ({ staff }) => staff.title,
    icon: StaffIcon,
    needs: 'staff.list',
    load: async () => (await import('./staff.tsx')).StaffPage,
  },
  {
    path: '/console/activity',
    nameIn: ({ activity }) => activity.title,
    icon: ActivityIcon,
    needs: 'activity.list',
    load: async () => (await import('./activity.tsx')).ActivityPage,
  },
  {
    path: '/console/providers',
    nameIn: ({ providers }) => providers.title,
    icon: ProvidersIcon,
    needs: 'providers.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/providers.tsx')).ProvidersPage,
  },
  {
    path: '/console/devices',
    nameIn: ({ records }) => records.devices,
    icon: DevicesIcon,
    needs: 'devices.find',
    isOfAppliance: true,
    load: async () => (await import('./operator/devices.tsx')).DevicesPage,
  },
  {
    path: '/console/sends',
    nameIn: ({ messages }) => messages.title,
    icon: MessagesIcon,
    needs: 'sends.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/sends.tsx')).SendsPage,
  },
  {
    path: '/console/gateways',
    nameIn: ({ delivery }) => delivery.gateways,
    icon: WebhooksIcon,
    needs: 'gateways.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/gateways.tsx')).GatewaysPage,
  },
  {
    path: '/console/upstreams',
    nameIn: ({ upstreams }) => upstreams.title,
    icon: DomainsIcon,
    needs: 'upstreams.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/upstreams.tsx')).UpstreamsPage,
  },
  {
    path: '/console/figures',
    nameIn: ({ delivery }) => delivery.figures,
    icon: OverviewIcon,
    needs: 'figures.read',
    isOfAppliance: true,
    load: async () => (await import('./operator/figures.tsx')).FiguresPage,
  },
  {
    path: '/console/accounts',
    nameIn: ({ accounts }) => accounts.title,
    icon: StaffIcon,
    needs: 'accounts.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/accounts.tsx')).AccountsPage,
  },
  {
    path: '/console/backups',
    nameIn: ({ backups }) => backups.title,
    icon: BackupsIcon,
    needs: 'backups.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/backups.tsx')).BackupsPage,
  },
  {
    path: '/console/health',
    nameIn: ({ machine }) => machine.health,
    icon: HealthIcon,
    needs: 'health.read',
    isOfAppliance: true,
    load: async () => (await import('./operator/health.tsx')).HealthPage,
  },
  {
    path: '/console/nodes',
    nameIn: ({ machine }) => machine.nodes,
    icon: NodesIcon,
    needs: 'nodes.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/nodes.tsx')).NodesPage,
  },
  {
    path: '/console/settings',
    nameIn: ({ machine }) => machine.settings,
    icon: SettingsIcon,
    needs: 'settings.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/settings.tsx')).SettingsPage,
  },
  {
    path: '/console/audit',
    nameIn: ({ machine }) => machine.audit,
    icon: ActivityIcon,
    needs: 'audit.list',
    isOfAppliance: true,
    load: async () => (await import('./operator/audit.tsx')).AuditPage,
  },
  {
    path: '/console/account',
    nameIn: ({ shell }) => shell.account,
    icon: AccountIcon,
    needs: null,
    load: async () => (await import('./account.tsx')).AccountPage,
  },
];
