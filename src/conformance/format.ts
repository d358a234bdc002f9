/** The form of the files in `conformance/`, whose README explains each field; a test checks it. */

import { type Static, Type } from '@sinclair/typebox';

const Words = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Number(), Type.Null(), Type.Array(Type.String())]),
);
/** The fields that a case and its steps share; a step inherits missing ones from its case. */
const request = {
  call: Type.Optional(Type.RegExp(/^(?:GET|POST|PUT|DELETE|PATCH|HEAD) \/\S*$/)),
  as: Type.Optional(Type.RegExp(/^\w+$/)),
  query: Type.Optional(Words),
  headers: Type.Optional(Words),
  body: Type.Optional(Type.Any()),
  /** Values by their place in the request; the step runs once for each value. */
  each: Type.Optional(
    Type.Record(Type.RegExp(/^(?:query|headers|body)(?:\.[-\w]+)*$/), Type.Array(Type.Any()), {
      minProperties: 1,
      maxProperties: 1,
    }),
  ),
  status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
  answer: Type.Optional(Type.Any()),
  answer_headers: Type.Optional(Words),
  when: Type.Optional(Type.Literal('nothing can be saved')),
  until: Type.Optional(Type.Integer({ minimum: 1, maximum: 30 })),
};

const Step = Type.Object(
  {
    ...request,
    open: Type.Optional(Type.RegExp(/^\/\S+$/)),
    stream: Type.Optional(Type.RegExp(/^\w+$/)),
    protocols: Type.Optional(Type.Array(Type.String())),
    send: Type.Optional(Type.Any()),
    frame: Type.Optional(Type.Any()),
    closed: Type.Optional(Type.Integer({ minimum: 1000, maximum: 4999 })),
  },
  { additionalProperties: false },
);

const CaseForm = Type.Object(
  {
    name: Type.RegExp(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
    rule: Type.String({ minLength: 10, maxLength: 160 }),
    reads: Type.Optional(Type.Literal(true)),
    ours: Type.Optional(Type.Literal(true)),
    given: Type.Optional(Type.Array(Type.String())),
    ...request,
    steps: Type.Optional(Type.Array(Step, { minItems: 1 })),
  },
  { additionalProperties: false },
);

/** A file of cases. */
export const CaseFile = Type.Object(
  {
    about: Type.String(),
    as: Type.Optional(Type.String()),
    given: Type.Optional(Type.Record(Type.String(), Type.Array(Step))),
    records: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.Any()))),
    cases: Type.Array(CaseForm),
  },
  { additionalProperties: false },
);

export type Step = Static<typeof Step>;
export type CaseFile = Static<typeof CaseFile>;
