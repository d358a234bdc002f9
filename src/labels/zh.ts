import type { Choices, Labels } from './en.ts';

export const labels: Labels = {
  install_limit: '设备数上限',
  status: '状态',
  note: '备注',
  subscription_key: '订阅 ID',
  inactive_days: '未使用天数',
  when_full: '链接已满时的新设备',
  cool_down_hours: '替换间隔小时数',
  enforce: '上限的执行',
  without_hwid: '不发送 HWID 的应用',
  same_phone: '换了 HWID 的手机',
  ride: '随订阅下发的内容',
  ride_desktop: '发往桌面系统的通知',
  support_url: '客服按钮',
  web_page_url: '网页按钮',
  buttons: '按钮的下发条件',
  page: '用户页面',
  page_name: '页面名称',
  page_color: '页面颜色',
  name: '名称',
  plan: '套餐',
  active_until: '套餐到期',
  suspended_at: '暂停时间',
  max_links: '链接上限',
};

export const choices: Choices = {
  status: { 5: '已禁用', 10: '有效' },
  when_full: { refuse: '被拒绝', 'replace-oldest': '替换最旧的设备' },
  enforce: { 1: '强制执行', 0: '仅统计' },
  without_hwid: { refuse: '被拒绝', pass: '放行', count: '合计为一台设备' },
  same_phone: { off: '视为新设备', ask: '先询问您', replace: '接替原有设备' },
  ride: { off: '不下发', notifications: '仅通知' },
  ride_desktop: { 0: '不下发', 1: '同样下发' },
  buttons: { missing: '面板没有提供时', always: '始终' },
};
