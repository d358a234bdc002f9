/** The texts of a language: one that lacks a text does not compile. */

export interface Texts {
  language: string;
  /** The tag for dates and numbers. */
  tag: string;
  signIn: {
    title: string;
    hint: string;
    byAccount: string;
    byKey: string;
    name: string;
    password: string;
    code: string;
    codeHint: string;
    providerCode: string;
    key: string;
    keyHint: string;
    enter: string;
    passkey: string;
    invited: string;
    invitedHint: string;
    accept: string;
  };
  shell: {
    overview: string;
    links: string;
    account: string;
    provider: string;
    theme: string;
    auto: string;
    light: string;
    dark: string;
    languageName: string;
    leave: string;
    navigation: string;
    skip: string;
    noRole: string;
    noRoleHint: string;
  };
  overview: {
    links: string;
    ofMax: (max: string) => string;
    full: string;
    admitted: string;
    refused: string;
    fortnight: string;
    byDay: string;
    refusals: string;
    noRefusals: string;
    refusalCount: (count: number) => string;
    until: (date: string) => string;
    noEnd: string;
    plan: string;
    suspended: string;
  };
  links: {
    search: string;
    all: string;
    full: string;
    disabled: string;
    code: string;
    note: string;
    devices: string;
    status: string;
    made: string;
    active: string;
    off: string;
    add: string;
    limit: string;
    limitHint: string;
    noteHint: string;
    create: string;
    cancel: string;
    isReady: (code: string) => string;
    ofLimit: (count: string, limit: string) => string;
    more: string;
    none: string;
    noneHint: string;
    noMatch: string;
    noMatchHint: string;
    count: (count: number) => string;
  };
  account: {
    title: string;
    finish: string;
    password: string;
    passwordHint: string;
    setPassword: string;
    isSet: string;
    passkeys: string;
    passkeyHint: string;
    passkeyName: string;
    addPasskey: string;
    remove: string;
    sessions: string;
    thisOne: string;
    end: string;
    factor: string;
    factorHint: string;
    beginFactor: string;
    scan: string;
    confirm: string;
    inForce: string;
    removeFactor: string;
    recovery: string;
    seen: (time: string) => string;
    agent: (browser: string, system: string) => string;
  };
  /** Why a known link refused a device. */
  reasons: {
    hwid_required: string;
    link_domain_not_bound: string;
    link_disabled: string;
    link_limit_reached: string;
  };
  refusals: {
    offline: string;
    fault: string;
    sign_in_wrong: string;
    code_needed: string;
    code_wrong: string;
    too_many_requests: string;
    signed_out: string;
    no_right: string;
    sign_in_afresh: string;
    account_exists: string;
    passkey_wrong: string;
    passkey_exists: string;
    subscription_required: string;
    install_code_limit_reached: string;
  };
  loading: string;
  retry: string;
}
