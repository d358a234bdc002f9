/** Formats of identifiers: specification, "Identifier formats". */

export const PROVIDER_CODE = /^[A-Za-z0-9]{8}$/;
export const AUTH_KEY = /^[-_A-Za-z0-9]{32}$/;

/** A code by which a link is found: those that moved in may be shorter than new ones. */
export const INSTALL_CODE = /^[A-Za-z0-9]{8,12}$/;

/** A code that a new link may have. */
export const NEW_INSTALL_CODE = /^[A-Za-z0-9]{12}$/;

export const INSTALL_LIMIT_MAX = 100;

/** The stricter of the two patterns of the specification. */
export const DOMAIN_HASH = /^[a-f0-9]{64}$/;

/** 1 to 128 visible ASCII characters without comma; opaque: never parsed, never case-folded. */
export const HWID = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;

/** 256 random bits in base64url. */
export const DEVICE_TOKEN = /^[-_A-Za-z0-9]{43}$/;

/** Most bytes of an encoded push payload: specification, "Limits". */
export const PUSH_ENCODED_MAX = 4096;
