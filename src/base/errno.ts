/** Words for codes of the system, name servers and TLS: none stands alone in a message. */

/** The cause of each code, as the end of a sentence. */
export const ERRNO_WORDS: Readonly<Record<string, string>> = {
  EACCES: 'this user has no right to it',
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAFNOSUPPORT: 'this machine has no address of that kind',
  EAI_AGAIN: 'the name servers do not answer',
  EAI_FAIL: 'the name servers fail',
  EBUSY: 'another program uses it',
  ECONNABORTED: 'the connection was broken off',
  ECONNREFUSED: 'the connection is refused, no program listens there',
  ECONNRESET: 'the connection was broken off',
  EDQUOT: 'the quota of the disk is used up',
  EEXIST: 'it exists already',
  EFBIG: 'the file is larger than the disk or a limit allows',
  EHOSTUNREACH: 'there is no way to that machine',
  EINVAL: 'the system does not accept the value',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a directory',
  ELOOP: 'symbolic links lead in a circle',
  EMFILE: 'this process has too many files open',
  ENAMETOOLONG: 'the name is too long',
  ENETDOWN: 'the network is down',
  ENETUNREACH: 'there is no way to that network',
  ENFILE: 'this machine has too many files open',
  ENODATA: 'the name has no address',
  ENODEV: 'there is no such device',
  ENOENT: 'it does not exist',
  ENOEXEC: 'the system cannot run this file',
  ENOMEM: 'memory is used up',
  ENOSPC: 'no space is left on the disk',
  ENOTCONN: 'there is no connection',
  ENOTDIR: 'a part of the path is no directory',
  ENOTEMPTY: 'the directory is not empty',
  ENOTFOUND: 'the name does not exist',
  EPERM: 'the system does not allow it',
  EPIPE: 'the other side closed the connection',
  EREFUSED: 'the name servers refuse to answer',
  EROFS: 'the disk is mounted read-only',
  ESERVFAIL: 'the name servers fail',
  ESTALE: 'the network disk has lost the file',
  ETIMEDOUT: 'there is no answer in time',
  ETIMEOUT: 'the name servers do not answer in time',
  ETXTBSY: 'the program is running',
  EXDEV: 'it is on another disk',
};

const UNKNOWN_AUTHORITY = 'its certificate is of an authority that is not known here';

/** The fault of the other side by the code of TLS. */
export const TLS_WORDS: Readonly<Record<string, string>> = {
  EPROTO: 'it speaks no TLS, or no HTTP/2 where that is needed',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks no TLS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
};

const WORDS = { ...TLS_WORDS, ...ERRNO_WORDS };

/** A code without words after its colon, and the place that a library puts behind it. */
const ALONE = /\b([A-Z]+(?:_[A-Z]+)*)\b(?!:)(?: (?=\S*[\d./])[^\s;,)]+)?/g;

/**
 * Gives each code in a text its words, unless it has them.
 *
 * @example
 * wordsOfErrno('connect ECONNREFUSED 127.0.0.1:5432')
 * // 'connect ECONNREFUSED 127.0.0.1:5432: the connection is refused, no program listens there'
 */
export function wordsOfErrno(text: string): string {
  return text.replace(ALONE, (found, code: string) => {
    const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
    return words === undefined || text.includes(words) ? found : `${found}: ${words}`;
  });
}
