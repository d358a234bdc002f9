import { count } from './count.ts';

export const accounts = {
  title: 'Accounts',
  what: 'Operators and observers of the appliance. The staff of a provider is on its own pages.',
  you: 'you',
  roles: { operator: 'Operator', observer: 'Observer' },
  rights: {
    operator: 'does everything, also at each provider.',
    observer: 'looks at everything and changes nothing.',
  },
  removeSure: (name: string) => `Remove ${name}?`,
  removeHint: 'The account loses its role here; without another role it is deleted.',
  rescue: 'Help an account',
  rescueHint: 'Any account by its name, also of the staff of a provider.',
  endSessions: 'End its sessions',
  ended: (n: number) => `${count(n, 'session', 'sessions')} ended.`,
  reset: 'Reset password and second factor',
  resetHint: 'Its password, second factor and sessions end. A link signs it in once.',
  entryHint: 'This link signs the account in once, in the next ten minutes. It is not shown again.',
};
