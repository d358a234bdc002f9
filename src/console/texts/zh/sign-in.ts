import type { signIn as english } from '../en/sign-in.ts';
import type { Like } from '../texts.ts';

export const signIn: Like<typeof english> = {
  title: '登录',
  hint: '管理您服务的链接、设备和消息。',
  byAccount: '账户',
  byKey: '服务商密钥',
  name: '名称',
  password: '密码',
  code: '身份验证器代码',
  codeHint: '六位数字，或一个恢复代码。',
  providerCode: '服务商代码',
  key: '密钥',
  keyHint: 'API 的 auth_key。只验证一次，不在此保存。',
  enter: '登录',
  passkey: '使用通行密钥登录',
  invited: '您收到邀请',
  invitedHint: '请选择登录名称。',
  accept: '接受',
};
