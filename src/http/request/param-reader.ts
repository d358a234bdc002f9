/** Reads parameters strictly: each by its schema, from its header or from the query. */

import { Kind, type TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { readInteger } from '../../core/json-input.ts';
import { utf8InLatin1 } from '../../core/text.ts';
import type { Param } from '../endpoint.ts';
import type { MessageKey } from '../messages.ts';
import type { IncomingCall } from './call.ts';
import { REPEATED, valueIn } from './query.ts';

interface Misfit {
  says: MessageKey;
  detail: string;
}

/** The parts of a call that hold raw and read parameters. */
type Readable = Pick<IncomingCall, 'params' | 'query' | 'readCount' | 'request'> &
  Partial<Pick<IncomingCall, 'provider'>>;

type ReadParam = (call: Readable) => Misfit | undefined;

/** Makes the function that reads one parameter into a call's `params`, or returns its misfit. */
export function reader(name: string, param: Param): ReadParam {
  const checker = TypeCompiler.Compile(param.schema);
  const { wider } = param;
  const widerChecker = wider && TypeCompiler.Compile(wider.schema);
  const { header, isRequired, keepsEmpty, misfit, neededWithout, olderHeader, rule, tidy } = param;
  const decode = decoderOf(param.schema) ?? tidy ?? ((raw: string) => raw);
  const refuse = (detail: string): Misfit | undefined =>
    misfit === null ? undefined : { says: misfit, detail };

  return (call) => {
    const { params, query, request } = call;
    params[name] = null;
    const inQuery = valueIn(query, name);
    if (inQuery !== undefined) call.readCount += 1;
    // Only for parameters with a header: reading the first makes Bun parse all headers.
    const given = (header && readHeader(request.headers, header)) || inQuery;
    const raw = given || ((olderHeader && readHeader(request.headers, olderHeader)) ?? given);
    if (raw === REPEATED) return refuse(`${name} was given more than once`);
    if (raw === undefined || (raw === '' && !keepsEmpty)) {
      if (isRequired) return refuse(`${name} is required: ${rule}`);
      if (neededWithout === undefined || params[neededWithout.other] !== null) return undefined;
      return { says: neededWithout.says, detail: `${neededWithout.other} or ${name} is required` };
    }
    const decoded = decode(raw);
    if (!checker.Check(decoded)) {
      const isWider = call.provider !== undefined && wider?.isFor(call.provider) === true;
      if (!isWider) return refuse(`${name} must be ${rule}`);
      if (!widerChecker?.Check(decoded)) return refuse(`${name} must be ${wider.rule}`);
    }
    params[name] = decoded;
    return undefined;
  };
}

/** Returns the reader of whole numbers, or of those and some words; null: values are texts. */
function decoderOf(schema: TSchema): ((raw: string) => number | string | null) | null {
  if (schema[Kind] !== 'Union') return isNumeric(schema) ? readInteger : null;
  const kinds = schema['anyOf'] as TSchema[];
  return kinds.some(isNumeric) ? (raw) => readInteger(raw) ?? raw : null;
}

function isNumeric(schema: TSchema): boolean {
  return schema[Kind] === 'Integer' || typeof schema['const'] === 'number';
}

/** Reads a header as UTF-8 if it is valid UTF-8: Bun reads header bytes as Latin-1. */
function readHeader(headers: Headers, name: string): string | null {
  const value = headers.get(name);
  return value === null ? null : utf8InLatin1(value);
}
