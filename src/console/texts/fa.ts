import { account } from './fa/account.ts';
import { activity } from './fa/activity.ts';
import { command } from './fa/command.ts';
import { compose } from './fa/compose.ts';
import { copying } from './fa/copying.ts';
import { domains } from './fa/domains.ts';
import { jobs } from './fa/jobs.ts';
import { link } from './fa/link.ts';
import { links } from './fa/links.ts';
import { messages } from './fa/messages.ts';
import { overview } from './fa/overview.ts';
import { palette } from './fa/palette.ts';
import { reasons } from './fa/reasons.ts';
import { refusals } from './fa/refusals.ts';
import { shell } from './fa/shell.ts';
import { signIn } from './fa/sign-in.ts';
import { staff } from './fa/staff.ts';
import { userPage } from './fa/user-page.ts';
import { webhooks } from './fa/webhooks.ts';
import type { BaseTexts } from './texts.ts';

export const texts: BaseTexts = {
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
};
