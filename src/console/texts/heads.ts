import type { Labels } from '../../labels/en.ts';

/** Returns labels as they stand at the head of a control or column. */
export const headsOf = (labels: Labels) =>
  Object.fromEntries(
    Object.entries(labels).map(([field, label]) => [
      field,
      label.charAt(0).toUpperCase() + label.slice(1),
    ]),
  ) as Labels;
