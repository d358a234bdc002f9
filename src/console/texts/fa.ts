import { account } from './fa/account.ts';
import { accounts } from './fa/accounts.ts';
import { activity } from './fa/activity.ts';
import { backups } from './fa/backups.ts';
import { command } from './fa/command.ts';
import { compose } from './fa/compose.ts';
import { copying } from './fa/copying.ts';
import { delivery } from './fa/delivery.ts';
import { domains } from './fa/domains.ts';
import { jobs } from './fa/jobs.ts';
import { link } from './fa/link.ts';
import { links } from './fa/links.ts';
import { machine } from './fa/machine.ts';
import { messages } from './fa/messages.ts';
import { overview } from './fa/overview.ts';
import { palette } from './fa/palette.ts';
import { providers } from './fa/providers.ts';
import { reasons } from './fa/reasons.ts';
import { records } from './fa/records.ts';
import { refusals } from './fa/refusals.ts';
import { shell } from './fa/shell.ts';
import { signIn } from './fa/sign-in.ts';
import { staff } from './fa/staff.ts';
import { userPage } from './fa/user-page.ts';
import { webhooks } from './fa/webhooks.ts';
import type { Texts } from './texts.ts';

export const texts: Texts = {
  language: 'فارسی',
  tag: 'fa-IR-u-ca-persian',
  loading: 'در حال بارگذاری',
  retry: 'تلاش دوباره',
  signIn,
  shell,
  overview,
  links,
  account,
  reasons,
  refusals,
  jobs,
  link,
  compose,
  command,
  messages,
  copying,
  domains,
  webhooks,
  userPage,
  staff,
  activity,
  palette,
  providers,
  machine,
  records,
  delivery,
  accounts,
  backups,
};
