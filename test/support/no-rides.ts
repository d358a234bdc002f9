import type { RideRules } from '../../src/core/port/ride.ts';

/** Nothing rides on subscriptions. */
export const NO_RIDES: RideRules = { level: 'off', hours: 72 };
