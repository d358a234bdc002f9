import type { refusals as english } from '../en/refusals.ts';
import type { Like } from '../texts.ts';

export const refusals: Like<typeof english> = {
  offline: 'سرور پاسخ نمی‌دهد. آنچه نوشته‌اید سر جایش است.',
  fault: 'خطایی در سرور رخ داد؛ علت در گزارش آن است.',
  sign_in_wrong: 'درست نیست. آنچه نوشته‌اید را بررسی کنید.',
  code_needed: 'کد برنامهٔ تأیید هویت را بنویسید.',
  code_wrong: 'این کد نادرست است یا پیش‌تر به کار رفته.',
  too_many_requests: 'تلاش‌ها زیاد است. یک دقیقه صبر کنید.',
  signed_out: 'نشست شما پایان یافته است.',
  no_right: 'نقش شما این را اجازه نمی‌دهد.',
  sign_in_afresh: 'نخست دوباره وارد شوید: روش‌های ورود تا ده دقیقه پس از آن تغییر می‌کنند.',
  account_exists: 'این نام گرفته شده است.',
  passkey_wrong: 'کلید عبور بررسی نشد. دوباره تلاش کنید.',
  passkey_exists: 'این کلید عبور پیش‌تر افزوده شده.',
  subscription_required: 'اشتراک پایان یافته یا تعلیق شده است.',
  install_code_limit_reached: 'شمار پیوندها به بیشترین رسیده است.',
  outdated: 'نسخه تازه‌تری نصب شده است. صفحه را دوباره بارگذاری کنید.',
  last_of_role: 'یک نفر باید این نقش را نگه دارد. نخست آن را به حساب دیگری بدهید.',
  key_limit_reached: 'کلیدها به بیشترین شمار رسیده‌اند.',
  one_time_limit_reached: 'دعوت‌نامه‌های باز زیادند. پس از ده دقیقه پایان می‌یابند.',
  domain_limit_reached: 'دامنه‌ها به بیشترین شمار رسیده‌اند.',
  cancel_too_late: 'دیر شده: کمتر از ده دقیقه مانده یا زمان‌بندی نشده بود.',
  cancel_failed: 'پایان یافته است یا ذخیره نشد.',
  notification_not_found: 'چنین پیامی نیست.',
  receipt_not_found: 'فهرست تغییر کرد. صافی را دوباره برگزینید.',
};
