import type { DatabaseSyncInstance as Database, StatementSyncInstance as Statement } from '@photostructure/sqlite'

type Value = string | number | null

/** The first row of a statement. `T` is what the SQL of the statement selects. */
export function firstRow<T extends object> (statement: Statement, ...values: Value[]): T | undefined {
  return statement.get(...values) as T | undefined
}

/** All rows of a statement. */
export function allRows<T extends object> (statement: Statement, ...values: Value[]): T[] {
  return statement.all(...values) as unknown as T[]
}

/** The value of a pragma that has one, such as `page_size`. */
export function pragma<T extends string | number> (db: Database, name: string): T {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] as T
}
