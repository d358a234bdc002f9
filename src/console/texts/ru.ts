import { account } from './ru/account.ts';
import { activity } from './ru/activity.ts';
import { command } from './ru/command.ts';
import { compose } from './ru/compose.ts';
import { copying } from './ru/copying.ts';
import { domains } from './ru/domains.ts';
import { jobs } from './ru/jobs.ts';
import { link } from './ru/link.ts';
import { links } from './ru/links.ts';
import { messages } from './ru/messages.ts';
import { overview } from './ru/overview.ts';
import { palette } from './ru/palette.ts';
import { reasons } from './ru/reasons.ts';
import { refusals } from './ru/refusals.ts';
import { shell } from './ru/shell.ts';
import { signIn } from './ru/sign-in.ts';
import { staff } from './ru/staff.ts';
import { userPage } from './ru/user-page.ts';
import { webhooks } from './ru/webhooks.ts';
import type { BaseTexts } from './texts.ts';

export const texts: BaseTexts = {
  language: 'Русский',
  tag: 'ru',
  loading: 'Загрузка',
  retry: 'Повторить',
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
