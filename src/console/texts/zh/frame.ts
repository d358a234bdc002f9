import type { texts as english } from '../en/frame.ts';
import type { Like } from '../texts.ts';

const common: Like<typeof english.common> = {
  save: '保存',
  saved: '已保存。',
  close: '关闭',
  cancel: '取消',
  remove: '移除',
  enable: '启用',
  disable: '禁用',
  change: '更改',
  more: '显示更多',
  further: '查找更早的',
  stop: '停止',
  goOn: '继续',
  name: '名称',
  password: '密码',
  key: 'API 密钥',
  plan: '套餐',
  state: '状态',
  file: '文件',
  actions: '操作',
  asItIs: '保持不变',
  system: '系统',
  address: '地址',
  off: '已禁用',
  restored: '已恢复您之前输入的内容。',
  throwAway: '清除',
  numbered: (id) => `编号 ${id}`,
};

const shell: Like<typeof english.shell> = {
  overview: '概览',
  links: '链接',
  account: '您的账户',
  provider: '服务商',
  theme: '主题',
  auto: '跟随系统',
  light: '浅色',
  dark: '深色',
  languageName: '语言',
  leave: '退出',
  navigation: '页面',
  skip: '跳到内容',
  noRole: '还没有服务商',
  noRoleHint: '请向所有者索取邀请，或用 gatepost provider add 添加。',
  noRightHint: '所有者可以为您更改角色。',
  offline: '连接已断开。页面上的数据可能不是最新的，恢复后会自动更新。',
};

const signIn: Like<typeof english.signIn> = {
  title: '登录',
  hint: '管理您服务的链接、设备和消息。',
  byAccount: '账户',
  byKey: '主 API 密钥',
  code: '身份验证器的验证码',
  codeHint: '六位数字，或一个恢复码。',
  providerCode: '服务商代码',
  keyHint: 'API 的 auth_key。只验证一次，不在此保存。',
  enter: '登录',
  passkey: '使用通行密钥登录',
  invited: '您收到邀请',
  invitedHint: '请选择登录名称。',
  linkOver: '此链接已失效或已被使用，请索取新的链接。',
  signedInAs: (name) => `您当前以 ${name} 登录。您打开的链接需要单独登录。`,
  leaveFor: '退出登录并打开链接',
  accept: '接受',
};

const account: Like<typeof english.account> = {
  title: '您的账户',
  finish:
    '您目前还无法再次登录。请在打开链接后的十分钟内设置密码或添加通行密钥；之后需要新的链接。',
  passwordHint: '至少 10 个字符。更改后其他会话将结束。',
  setPassword: '设置密码',
  isSet: '密码已设置。',
  passkeys: '通行密钥',
  passkeyHint: '指纹、面容或硬件安全密钥。需要主机名，不能是 IP 地址。',
  passkeyName: '此设备的名称',
  addPasskey: '添加通行密钥',
  rename: '重命名',
  byKey: '您使用服务商的主 API 密钥登录。更换后其所有会话都会结束。',
  surePasskey: (name) => `删除通行密钥 ${name}？`,
  surePasskeyHint: '之后不能再用它登录。',
  sessions: '会话',
  thisOne: '此浏览器',
  end: '结束',
  factor: '身份验证器应用',
  factorHint: '密码之外再输入验证码。',
  beginFactor: '设置',
  scan: '用应用扫描，然后输入它显示的验证码。',
  confirm: '确认',
  inForce: '登录时除密码外还需验证码。',
  removeFactor: '关闭',
  recovery: '请保存恢复码：每个只能用一次，不会再次显示。',
  seen: (time) => `上次使用 ${time}`,
  agent: (browser, system) => `${system} 上的 ${browser}`,
};

const palette: Like<typeof english.palette> = {
  name: '前往页面、记录或操作',
  hint: '页面、链接、备注、HWID、消息编号或操作',
  pages: '页面',
  records: '记录',
  nothing: '没有匹配的内容。',
  keys: '快捷键',
  keyPalette: '打开此面板',
  keySearch: '在页面中搜索',
  keyMove: '在列表中移动',
  keyOpen: '打开所选内容',
  keyClose: '关闭已打开的内容',
  keyUndo: '撤销删除设备或批量更改',
  open: '搜索',
  theme: (name) => `主题：${name}`,
  message: (id) => `消息 ${id}`,
};

const copying: Like<typeof english.copying> = {
  copy: '复制',
  copied: '已复制',
  asCurl: '复制为 curl',
  failed: '无法复制：浏览器不允许。',
};

/** The rules of fields. */
const misfit: Like<typeof english.misfit> = {
  somewhere: '有一项输入无法接受：',
  length: (a, b) => `${a} 到 ${b} 个字符`,
  range: (a, b) => `${a} 到 ${b} 之间的整数`,
  address: '可从互联网访问的完整 https 地址',
  empty: '不能为空',
  placeholder: (name) => `未知占位符 ${name}`,
  other: '该值不符合要求',
};

export const texts = { common, shell, signIn, account, palette, copying, misfit };
