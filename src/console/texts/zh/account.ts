import type { account as english } from '../en/account.ts';
import type { Like } from '../texts.ts';

export const account: Like<typeof english> = {
  title: '您的账户',
  finish: '您通过一次性链接进入。请设置密码或添加通行密钥，以便再次登录。',
  password: '密码',
  passwordHint: '至少 10 个字符。更改后其他会话将结束。',
  setPassword: '设置密码',
  isSet: '密码已设置。',
  passkeys: '通行密钥',
  passkeyHint: '指纹、面容或安全密钥。需要主机名，不能是 IP 地址。',
  passkeyName: '此设备的名称',
  addPasskey: '添加通行密钥',
  remove: '移除',
  sessions: '会话',
  thisOne: '此浏览器',
  end: '结束',
  factor: '身份验证器应用',
  factorHint: '密码之外再输入代码。',
  beginFactor: '设置',
  scan: '用应用扫描，然后输入它显示的代码。',
  confirm: '确认',
  inForce: '登录时除密码外还需代码。',
  removeFactor: '关闭',
  recovery: '请保存恢复代码：每个只能用一次，不会再次显示。',
  seen: (time) => `上次使用 ${time}`,
  agent: (browser, system) => `${system} 上的 ${browser}`,
};
