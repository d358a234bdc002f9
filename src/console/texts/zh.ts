import type { BaseTexts } from './texts.ts';
import { account } from './zh/account.ts';
import { activity } from './zh/activity.ts';
import { command } from './zh/command.ts';
import { compose } from './zh/compose.ts';
import { copying } from './zh/copying.ts';
import { domains } from './zh/domains.ts';
import { jobs } from './zh/jobs.ts';
import { link } from './zh/link.ts';
import { links } from './zh/links.ts';
import { messages } from './zh/messages.ts';
import { overview } from './zh/overview.ts';
import { palette } from './zh/palette.ts';
import { reasons } from './zh/reasons.ts';
import { refusals } from './zh/refusals.ts';
import { shell } from './zh/shell.ts';
import { signIn } from './zh/sign-in.ts';
import { staff } from './zh/staff.ts';
import { userPage } from './zh/user-page.ts';
import { webhooks } from './zh/webhooks.ts';

export const texts: BaseTexts = {
  language: '中文',
  tag: 'zh-CN',
  loading: '加载中',
  retry: '重试',
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
