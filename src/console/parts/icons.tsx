/** The logo and the icons, drawn by hand; each has a text beside it. */

const icon = (path: string) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
);

export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" class="mark-ground" />
    <path d="M9 7v18M23 7v18M9 13h9" class="mark-line" />
    <circle cx="23" cy="13" r="2.6" class="mark-dot" />
  </svg>
);

export const OverviewIcon = () => icon('M2.5 13.5v-4M6.2 13.5v-8M9.9 13.5v-5M13.5 13.5v-11');
export const LinksIcon = () =>
  icon('M6.5 9.5l3-3M7 4.5l1.3-1.3a3 3 0 014.3 4.3L11.3 9M9 11.5l-1.3 1.3a3 3 0 01-4.3-4.3L4.7 7');
export const AccountIcon = () =>
  icon('M8 8a2.8 2.8 0 100-5.6A2.8 2.8 0 008 8zM2.8 13.8c.6-2.6 2.6-4 5.2-4s4.6 1.4 5.2 4');
export const SearchIcon = () => icon('M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.5 10.5l3 3');
export const AddIcon = () => icon('M8 3v10M3 8h10');
export const MessagesIcon = () =>
  icon('M2.5 3.5h11v7.5h-6l-3 2.5v-2.5h-2zM5.3 6.2h5.4M5.3 8.4h3.4');
export const ComposeIcon = () => icon('M2.5 8l11-5-3.6 10.5-2.3-4.3zM7.6 9.2l5.9-6.2');
export const CommandsIcon = () => icon('M3 4l3.5 3.5L3 11M8 12h5');
export const RemindersIcon = () =>
  icon(
    'M3.500 11.500h9c-1-1-1.300-2-1.300-4.500a3.200 3.200 0 00-6.400 0c0 2.500-.3 3.500-1.300 4.500zM7 13.500h2',
  );
export const DomainsIcon = () =>
  icon('M8 13.8a5.8 5.8 0 100-11.6 5.8 5.8 0 000 11.6zM2.4 8h11.2M8 2.2c-3.4 3.4-3.4 8.2 0 11.6');
export const WebhooksIcon = () =>
  icon('M8 6.6a2.2 2.2 0 10-2.2-2.2M8 6.6L5 11.4M3.4 9.4a2.2 2.2 0 102.4 3h5M10 5l2.4 4.2');
export const MyIcon = () =>
  icon(
    'M4.500 1.800h7v12.400h-7zM6.500 10.800h3M8 7.600a1.600 1.600 0 100-3.200 1.600 1.600 0 000 3.200z',
  );
export const StaffIcon = () =>
  icon(
    'M5.8 7.6a2.4 2.4 0 100-4.8 2.4 2.4 0 000 4.8zM1.6 13c.3-2.4 2-3.6 4.2-3.6S9.700 10.6 10 13M10.400 3.100a2.300 2.300 0 010 4.300M12 9.800c1.500.5 2.300 1.700 2.400 3.200',
  );
export const ProvidersIcon = () =>
  icon('M2.5 13.5v-7l4-2.5v9.5M6.5 13.5h7v-9l-4-2v11M9.500 6.500h.1M11.500 8.500h.1');
export const DevicesIcon = () => icon('M4.500 2h7v12h-7zM7 11.800h2');
export const BackupsIcon = () => icon('M2.500 3h11v3h-11zM3.500 6v7h9V6M6.500 8.800h3');
export const HealthIcon = () =>
  icon(
    'M8 13.500C3.500 10.400 2 8.400 2 6.200a3 3 0 016-.8 3 3 0 016 .8c0 2.200-1.500 4.200-6 7.300z',
  );
export const NodesIcon = () =>
  icon('M3 3h10v3.500H3zM3 9.500h10V13H3zM5.500 4.800h.1M5.500 11.300h.1M8 6.500v3');
export const SettingsIcon = () =>
  icon('M2.500 5h6M12 5h1.500M2.500 11H4M7.500 11h6M10.200 3.300v3.400M5.800 9.300v3.400');
export const ActivityIcon = () => icon('M1.800 8.500h2.700l2-5.500 3 10 2-4.500h2.700');
export const CloseIcon = () => icon('M4 4l8 8M12 4l-8 8');
export const MenuIcon = () => icon('M2.5 4.5h11M2.5 8h11M2.5 11.500h11');
export const DoneIcon = () => icon('M3.5 8.5l3 3 6-7');
export const ColumnsIcon = () => icon('M2.5 3.5h11v9h-11zM6.2 3.5v9M9.9 3.5v9');
export const MoreIcon = () => icon('M3.2 8h.1M8 8h.1M12.8 8h.1');
