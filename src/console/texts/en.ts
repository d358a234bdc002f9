import { account } from './en/account.ts';
import { activity } from './en/activity.ts';
import { command } from './en/command.ts';
import { compose } from './en/compose.ts';
import { copying } from './en/copying.ts';
import { domains } from './en/domains.ts';
import { jobs } from './en/jobs.ts';
import { link } from './en/link.ts';
import { links } from './en/links.ts';
import { messages } from './en/messages.ts';
import { overview } from './en/overview.ts';
import { palette } from './en/palette.ts';
import { reasons } from './en/reasons.ts';
import { refusals } from './en/refusals.ts';
import { shell } from './en/shell.ts';
import { signIn } from './en/sign-in.ts';
import { staff } from './en/staff.ts';
import { userPage } from './en/user-page.ts';
import { webhooks } from './en/webhooks.ts';

export const texts = {
  language: 'English',
  tag: 'en-GB',
  loading: 'Loading',
  retry: 'Try again',
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
