/** The mark and the icons, drawn by hand; each is beside its words. */

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
