import type { signIn as english } from '../en/sign-in.ts';
import type { Like } from '../texts.ts';

export const signIn: Like<typeof english> = {
  title: 'ورود',
  hint: 'پیوندها، دستگاه‌ها و پیام‌های سرویس شما.',
  byAccount: 'حساب',
  byKey: 'کلید ارائه‌دهنده',
  name: 'نام',
  password: 'گذرواژه',
  code: 'کد برنامهٔ تأیید هویت',
  codeHint: 'شش رقم، یا یکی از کدهای بازیابی.',
  providerCode: 'کد ارائه‌دهنده',
  key: 'کلید',
  keyHint: 'همان auth_key در API. یک بار بررسی می‌شود و اینجا نگه داشته نمی‌شود.',
  enter: 'ورود',
  passkey: 'ورود با کلید عبور',
  invited: 'شما دعوت شده‌اید',
  invitedHint: 'نامی را که با آن وارد می‌شوید برگزینید.',
  accept: 'پذیرفتن',
};
