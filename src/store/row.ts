/**
 * The types of rows, from the tables of `migrations/schema*.ts`: a column that a table lacks, or
 * has under another name, does not compile.
 */

import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type * as tables from '../../migrations/schema.ts';
import type * as accountTables from '../../migrations/schema-account.ts';
import type * as deviceTables from '../../migrations/schema-device.ts';
import type * as linkTables from '../../migrations/schema-link.ts';
import type * as outboxTables from '../../migrations/schema-outbox.ts';
import type * as reminderTables from '../../migrations/schema-reminder.ts';

type Exports = typeof tables &
  typeof accountTables &
  typeof deviceTables &
  typeof linkTables &
  typeof outboxTables &
  typeof reminderTables;

/** The field of a column: that of `at_ms` is `atMs`. */
type FieldOf<Column extends string> = Column extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<FieldOf<Rest>>}`
  : Column;

/** A value as both databases give it. */
type Plain<Value> = Value extends Uint8Array ? Uint8Array : Value;

/** A row with the names of fields. */
type Fields<Columns> = {
  [Column in keyof Columns & string as FieldOf<Column>]: Plain<Columns[Column]>;
};

/** The fields that an INSERT must have: those without a default that are not null. */
type Required<Columns> = {
  [Column in keyof Columns & string]-?: undefined extends Columns[Column] ? never : FieldOf<Column>;
}[keyof Columns & string];

/** The rows of all tables, by the tables' names. */
type Rows = {
  [Name in keyof Exports as Exports[Name] extends SQLiteTable
    ? Exports[Name]['_']['name']
    : never]: Exports[Name] extends SQLiteTable ? Fields<Exports[Name]['$inferSelect']> : never;
};

export type Table = keyof Rows;

/** The row of a table, with the names of fields. */
export type Row<Name extends Table> = Rows[Name];

/** A table, or tables by their aliases; the fields of `table?`, an outer join, may be null. */
export type From = Table | { readonly [alias: string]: Table | `${Table}?` };

type RowFrom<Source> = Source extends Table
  ? Row<Source>
  : Source extends `${infer Name extends Table}?`
    ? { [Field in keyof Row<Name>]: Row<Name>[Field] | null }
    : never;

/** The field at a path, `id` or `i.id`; never: there is none. */
type At<Source extends From, Path extends string> = Path extends `${infer Alias}.${infer Field}`
  ? Alias extends keyof Source
    ? Field extends keyof RowFrom<Source[Alias]>
      ? RowFrom<Source[Alias]>[Field]
      : never
    : never
  : Source extends Table
    ? Path extends keyof Row<Source>
      ? Row<Source>[Path]
      : never
    : never;

type Blank = ' ' | '\n';
type Trimmed<Text extends string> = Text extends `${Blank}${infer Rest}` | `${infer Rest}${Blank}`
  ? Trimmed<Rest>
  : Text;

/** The items of a list, as a union. */
type Items<List extends string> = List extends `${infer First},${infer Rest}`
  ? Trimmed<First> | Items<Rest>
  : Trimmed<List>;

type PathOf<Item extends string> = Item extends `${infer Path} AS ${string}` ? Path : Item;
type Bare<Field extends string> = Field extends `${infer Name}!` ? Name : Field;
type NameOf<Item extends string> = Item extends `${string} AS ${infer Name}`
  ? Name
  : Item extends `${string}.${infer Field}`
    ? Bare<Field>
    : Bare<Item>;
type Value<Source extends From, Path extends string> = Path extends `${infer Named}!`
  ? NonNullable<At<Source, Named>>
  : At<Source, Path>;

/** The row of a list of columns. */
export type RowOf<Source extends From, List extends string> = {
  [Item in Items<List> as NameOf<Item>]: Value<Source, PathOf<Item>>;
};

/** The items of a list that name no column; never: all do. */
export type Unknown<Source extends From, List extends string> = {
  [Item in Items<List>]: [Value<Source, PathOf<Item>>] extends [never] ? Item : never;
}[Items<List>];

/** The fields of a list of assignments, `atMs` or `id = 1`. */
type Assigned<List extends string> = {
  [Item in Items<List>]: Item extends `${infer Field} = ${string}` ? Field : Item;
}[Items<List>];

/** A list of assignments to columns that the table has; else an error that names the others. */
export type Settable<Name extends Table, List extends string> = [
  Exclude<Assigned<List>, keyof Row<Name>>,
] extends [never]
  ? unknown
  : { unknown: Exclude<Assigned<List>, keyof Row<Name>> };

type Needed = {
  [Name in keyof Exports as Exports[Name] extends SQLiteTable
    ? Exports[Name]['_']['name']
    : never]: Exports[Name] extends SQLiteTable ? Required<Exports[Name]['$inferInsert']> : never;
};

/** A list that, with the fragments, has all that an INSERT needs; else an error that names it. */
export type Whole<Name extends Table, List extends string, Given> = [
  Exclude<Needed[Name], Assigned<List> | keyof Given>,
] extends [never]
  ? unknown
  : { missing: Exclude<Needed[Name], Assigned<List> | keyof Given> };
