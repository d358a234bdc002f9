import type { refusals as english } from '../en/refusals.ts';
import type { Like } from '../texts.ts';

export const refusals: Like<typeof english> = {
  offline: '服务器没有响应。您输入的内容仍在。',
  fault: '服务器出错，原因见其日志。',
  sign_in_wrong: '不正确，请检查输入。',
  code_needed: '请输入身份验证器代码。',
  code_wrong: '代码错误或已使用。',
  too_many_requests: '尝试过多，请等一分钟。',
  signed_out: '会话已结束。',
  no_right: '您的角色不允许此操作。',
  sign_in_afresh: '请先重新登录：登录后十分钟内才能更改登录方式。',
  account_exists: '该名称已被使用。',
  passkey_wrong: '无法验证通行密钥，请重试。',
  passkey_exists: '此通行密钥已存在。',
  subscription_required: '订阅已结束或暂停。',
  install_code_limit_reached: '链接数量已达上限。',
  outdated: '已安装新版本，请重新加载页面。',
  last_of_role: '必须有人保留此角色。请先把它交给另一个账户。',
  key_limit_reached: '密钥数量已达上限。',
  one_time_limit_reached: '未使用的邀请过多，它们十分钟后失效。',
  domain_limit_reached: '域名数量已达上限。',
  cancel_too_late: '来不及了：距发送不到十分钟，或未定时。',
  cancel_failed: '它已结束，或无法保存。',
  notification_not_found: '没有这条消息。',
  receipt_not_found: '列表已变化，请重新选择筛选条件。',
};
