import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import { errors } from '../../protocol/wire/errors.js'
import type { ChangeListener, Entry, ListOptions, PutOptions, Values } from '../../protocol/store.js'
import { checkKey, checkSum, isKey, encodeStored } from '../checks.js'
import { WRITE_SIZE, type DiskConnection } from './connection.js'
import { parseStored } from './failure.js'
import { allRows, firstRow } from './row.js'

interface Row { key: string, value: string }

const LIVING = '(expires IS NULL OR expires > ?)'

export class DiskValues implements Values {
  readonly #disk: DiskConnection
  readonly #get: Statement
  readonly #put: Statement
  readonly #delete: Statement
  readonly #count: Statement
  readonly #counted: Statement
  readonly #expire: Statement
  readonly #expiry: Statement
  readonly #lists: Record<
    'keys' | 'entries', Record<'ascending' | 'descending', { all: Statement, following: Statement }>
  >

  constructor (disk: DiskConnection) {
    this.#disk = disk
    this.#get = disk.prepare(`SELECT value FROM entries WHERE space = ? AND key = ? AND ${LIVING}`)
    this.#put = disk.prepare(
      'INSERT INTO entries (space, key, value, expires) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires'
    )
    this.#delete = disk.prepare(`DELETE FROM entries WHERE space = ? AND key = ? RETURNING ${LIVING} AS living`)
    this.#counted = disk.prepare('SELECT count FROM counts WHERE space = ?')
    this.#count = disk.prepare(
      'INSERT INTO counts SELECT space, count(*) FROM entries WHERE space = ? GROUP BY space RETURNING count'
    )
    this.#expiry = disk.prepare('SELECT expires FROM entries WHERE space = ? AND key = ?')
    this.#expire = disk.prepare('DELETE FROM entries WHERE space = ? AND expires <= ?')
    const list = (columns: string, order: string, sign: string) => ({
      all: disk.prepare(`SELECT ${columns} FROM entries WHERE space = ? AND ${LIVING} ORDER BY key ${order} LIMIT ?`),
      following: disk.prepare(
        `SELECT ${columns} FROM entries WHERE space = ? AND ${LIVING} AND key ${sign} ? ORDER BY key ${order} LIMIT ?`
      )
    })
    const both = (columns: string) => ({ ascending: list(columns, 'ASC', '>'), descending: list(columns, 'DESC', '<') })
    this.#lists = { keys: both('key'), entries: both('key, value') }
  }

  async get (space: string, key: string): Promise<unknown> {
    if (!isKey(space) || !isKey(key)) return undefined
    return this.#disk.read(() => parseStored(this.#text(space, key)))
  }

  async put (
    space: string,
    key: string,
    value: unknown,
    { expires, max = Infinity, ifAbsent = false }: PutOptions = {}
  ): Promise<void> {
    checkKey(space, key)
    const text = encodeStored(value)
    await this.#disk.write(() => {
      const present = (ifAbsent || max !== Infinity) && this.#text(space, key) !== undefined
      if (present && ifAbsent) return
      if (!present && max !== Infinity && this.#countLiving(space) >= max) throw errors.full(max)
      if (expires !== undefined && max === Infinity) this.#expire.run(space, Date.now())
      this.#write(space, key, text, expires)
    }, WRITE_SIZE.value)
  }

  async swap (
    space: string,
    key: string,
    before: unknown,
    after: unknown,
    { expires }: Pick<PutOptions, 'expires'> = {}
  ): Promise<boolean> {
    checkKey(space, key)
    const [old, text] = [encodeStored(before), encodeStored(after)]
    return await this.#disk.write(() => {
      if (this.#text(space, key) !== old) return false
      this.#write(space, key, text, expires)
      return true
    }, WRITE_SIZE.value)
  }

  async delete (space: string, key: string): Promise<boolean> {
    if (!isKey(space) || !isKey(key)) return false
    return await this.#disk.write(() => {
      const { living } = firstRow<{ living: number }>(this.#delete, space, key, Date.now()) ?? { living: 0 }
      if (living === 1) this.#disk.noteChange(space, key)
      return living === 1
    })
  }

  async take (space: string, key: string): Promise<unknown> {
    if (!isKey(space) || !isKey(key)) return undefined
    return await this.#disk.write(() => {
      const text = this.#text(space, key)
      if (text === undefined) return undefined
      this.#delete.run(space, key, Date.now())
      this.#disk.noteChange(space, key)
      return parseStored(text)
    })
  }

  async list (space: string, options: ListOptions = {}): Promise<Entry[]> {
    const rows = this.#rows(space, options, 'entries')
    return this.#disk.read(() => rows.map(({ key, value }) => ({ key, value: parseStored(value) })))
  }

  async keys (space: string, options: ListOptions = {}): Promise<string[]> {
    return this.#rows(space, options, 'keys').map(({ key }) => key)
  }

  async increment (space: string, key: string, by: number): Promise<number> {
    checkKey(space, key)
    return await this.#disk.write(() => {
      const text = this.#text(space, key)
      const sum = checkSum(parseStored(text ?? '0'), by)
      const { expires } = (text === undefined
        ? undefined
        : firstRow<{ expires: number | null }>(this.#expiry, space, key)) ?? { expires: null }
      this.#write(space, key, String(sum), expires ?? undefined)
      return sum
    })
  }

  onChange (listener: ChangeListener): () => void {
    return this.#disk.onChange(listener)
  }

  /** Nothing: none is missed. */
  onMissedChanges (): () => void {
    return () => {}
  }

  #rows (space: string, { after, limit = -1, descending = false }: ListOptions, what: 'keys' | 'entries'): Row[] {
    if (!isKey(space)) return []
    const { all, following } = this.#lists[what][descending ? 'descending' : 'ascending']
    return this.#disk.read(() =>
      after === undefined ? allRows(all, space, Date.now(), limit) : allRows(following, space, Date.now(), after, limit)
    )
  }

  #text (space: string, key: string): string | undefined {
    return firstRow<{ value: string }>(this.#get, space, key, Date.now())?.value
  }

  #write (space: string, key: string, text: string, expires?: number): void {
    this.#put.run(space, key, text, expires ?? null)
    this.#disk.noteChange(space, key)
  }

  #countLiving (space: string): number {
    this.#expire.run(space, Date.now())
    const counted = firstRow<{ count: number }>(this.#counted, space) ?? firstRow<{ count: number }>(this.#count, space)
    return counted?.count ?? 0
  }
}
