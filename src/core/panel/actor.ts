/** The actor of changes that a panel causes. */

import type { Actor } from '../port/audit.ts';

export const PANEL: Actor = { kind: 'system', name: 'panel', from: 'local' };
