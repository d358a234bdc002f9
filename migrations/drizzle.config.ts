import type { Config } from 'drizzle-kit';

/** Read by drizzle-kit alone, when `make migration NAME=…` writes the next migration. */
export default {
  dialect: 'sqlite',
  schema: [
    './migrations/schema.ts',
    './migrations/schema-account.ts',
    './migrations/schema-device.ts',
    './migrations/schema-link.ts',
    './migrations/schema-outbox.ts',
    './migrations/schema-reminder.ts',
  ],
  out: './migrations/sqlite',
  migrations: { prefix: 'index' },
  breakpoints: false,
} satisfies Config;
