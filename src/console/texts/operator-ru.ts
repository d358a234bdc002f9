import { accounts } from './ru/accounts.ts';
import { backups } from './ru/backups.ts';
import { delivery } from './ru/delivery.ts';
import { machine } from './ru/machine.ts';
import { providers } from './ru/providers.ts';
import { records } from './ru/records.ts';
import { upstreams } from './ru/upstreams.ts';
import type { OperatorTexts } from './texts.ts';

export const texts: OperatorTexts = {
  accounts,
  backups,
  delivery,
  machine,
  providers,
  records,
  upstreams,
};
