import type { OperatorTexts } from './texts.ts';
import { accounts } from './zh/accounts.ts';
import { backups } from './zh/backups.ts';
import { delivery } from './zh/delivery.ts';
import { machine } from './zh/machine.ts';
import { providers } from './zh/providers.ts';
import { records } from './zh/records.ts';
import { upstreams } from './zh/upstreams.ts';

export const texts: OperatorTexts = {
  accounts,
  backups,
  delivery,
  machine,
  providers,
  records,
  upstreams,
};
