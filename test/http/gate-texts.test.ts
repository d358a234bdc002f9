/** The text of a refusal, by the languages that a request names. */

import { describe, expect, test } from 'bun:test';
import { announcing, type GateTexts, textFor } from '../../src/http/gate/texts.ts';

const OWN: GateTexts = {
  de: { link_disabled: 'Abgeschaltet.' },
  'pt-br': { link_disabled: 'Off' },
};

function languageFor(headers: Record<string, string>, gateLanguage = 'en'): string {
  const settings = { gateTexts: OWN, gateLanguage };
  return textFor(settings, 'link_disabled', new Headers(headers)).language;
}

describe('the language', () => {
  test.each([
    ['ru', 'ru'],
    ['ru-RU,en;q=0.9', 'ru'],
    ['fr, fa;q=0.4, zh;q=0.8', 'zh'],
    ['zh-Hant-TW', 'zh'],
    ['pt-BR', 'pt-br'],
    ['pt', 'en'],
    ['DE_de', 'de'],
    ['ru;q=0, fa', 'fa'],
    ['ru;q=0', 'en'],
    ['*', 'en'],
    ['', 'en'],
    [';;q=,,;=', 'en'],
    ['__proto__, constructor', 'en'],
    [`${'xx,'.repeat(5000)}ru`, 'en'],
  ])('of %p is %p', (accepted, language) => {
    expect(languageFor({ 'accept-language': accepted })).toBe(language);
  });

  test('is that of the device if the request accepts none', () => {
    expect(languageFor({ 'x-device-locale': 'RU' })).toBe('ru');
    expect(languageFor({ 'x-device-locale': 'RU', 'accept-language': 'fa' })).toBe('fa');
  });

  test('is the operator’s choice for those who name none, and English without one', () => {
    expect(languageFor({}, 'zh')).toBe('zh');
    expect(languageFor({}, 'xx')).toBe('en');
  });
});

test("the operator's text goes before the built-in one, reason by reason", () => {
  const settings = { gateTexts: { ru: { link_disabled: 'Своё' } }, gateLanguage: 'en' };
  const headers = new Headers({ 'accept-language': 'ru' });
  expect(textFor(settings, 'link_disabled', headers).text).toBe('Своё');
  const other = textFor(settings, 'link_limit_reached', headers);
  expect(other.language).toBe('ru');
  expect(other.text).toContain('лимит');
});

describe('a full link', () => {
  const settings = { gateTexts: {}, gateLanguage: 'en' };
  const page = `https://sub.example.com/my?link=CodeOfLink01&this=${'x'.repeat(50)}`;
  const REMOVES = { en: /Remove/, ru: /Удалить/, fa: /حذف/, zh: /删除/ };
  const SUPPORT = { en: /support/, ru: /поддержку/, fa: /پشتیبانی/, zh: /客服/ };

  test.each(['en', 'ru', 'fa', 'zh'] as const)(
    'asks in %s for what its user can do',
    (language) => {
      const headers = new Headers({ 'accept-language': language });
      const textOf = (address: string | null) => {
        const wording = textFor(settings, 'link_limit_reached', headers, address);
        const { announce = '' } = announcing(wording, address);
        return Buffer.from(announce.replace('base64:', ''), 'base64').toString();
      };
      const off = textOf(null);
      expect(off).toMatch(SUPPORT[language]);
      expect(off).not.toMatch(REMOVES[language]);
      const [said = '', address] = textOf(page).split('\n');
      expect(said).toMatch(REMOVES[language]);
      expect(said).toMatch(/[:：]$/);
      expect(address).toBe(page);
      // An address that stands in the button alone is not pointed at.
      expect(textOf(`${page}${'y'.repeat(40)}`)).toBe(off);
    },
  );

  test('has the text of the operator with the page, too', () => {
    const gateTexts = { en: { link_limit_reached: 'Full.' } };
    const own = textFor({ ...settings, gateTexts }, 'link_limit_reached', new Headers(), page);
    expect(own.text).toBe('Full.');
  });
});
