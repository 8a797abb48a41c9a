import type { StatementSyncInstance as Statement } from '@photostructure/sqlite'
import {
  STREAM_LIMITS,
  STANDALONE,
  surplusStreams,
  type LoggedEvent,
  type NumberedEvent,
  type Place,
  type Replay
} from '../../protocol/store.js'
import type { DiskConnection } from './connection.js'
import type { DiskNodes } from './nodes.js'
import { allRows, firstRow } from './row.js'

interface Row {
  stream: string
  first: number
  last: number
  seen: number
  size: number
  ended: number
  interruptedResponse: string
  writer: string
  reader: string
}

const COLUMNS = 'stream, first, last, seen, size, ended, interrupted_response AS interruptedResponse, writer, reader'
const ONE = 'session = ? AND stream = ?'

/** Streams and their events. Called inside the transactions of `DiskSessions`. */
export class DiskStreams {
  readonly #nodes: DiskNodes
  readonly #sql: Record<
    'open' | 'next' | 'setReader' | 'unfinished' | 'add' | 'cut' | 'shrink' | 'saw' | 'end' | 'get' | 'all' | 'events' |
    'dropEvents' | 'drop' | 'removeEvents' | 'remove' | 'session', Statement
  >

  constructor (disk: DiskConnection, nodes: DiskNodes) {
    this.#nodes = nodes
    this.#sql = {
      open: disk.prepare(
        'INSERT INTO streams (session, stream, first, last, seen, size, ended, interrupted_response, writer) SELECT id, ?, 1, 0, 0, 0, 0, ?, ? FROM sessions WHERE id = ? ON CONFLICT DO NOTHING'
      ),
      next: disk.prepare(
        `UPDATE streams SET last = last + 1, size = size + ?, seen = iif(?, last + 1, seen) WHERE ${ONE} AND ended = 0 AND (writer = ? OR stream = '${STANDALONE}') RETURNING ${COLUMNS}`
      ),
      setReader: disk.prepare(
        "UPDATE streams SET reader = iif(writer = ?1, '', ?1) WHERE session = ?2 AND stream = ?3"
      ),
      unfinished: disk.prepare(
        `SELECT ${COLUMNS} FROM streams WHERE session = ? AND ended = 0 AND stream <> '${STANDALONE}' AND writer <> ?`
      ),
      add: disk.prepare('INSERT INTO events (session, stream, number, method, text) VALUES (?, ?, ?, ?, ?)'),
      cut: disk.prepare(`DELETE FROM events WHERE ${ONE} AND number = ? RETURNING text`),
      shrink: disk.prepare(`UPDATE streams SET first = ?, size = ? WHERE ${ONE}`),
      saw: disk.prepare(`UPDATE streams SET seen = max(seen, ?) WHERE ${ONE}`),
      end: disk.prepare(`UPDATE streams SET ended = 1 WHERE ${ONE}`),
      get: disk.prepare(`SELECT ${COLUMNS} FROM streams WHERE ${ONE}`),
      all: disk.prepare(`SELECT ${COLUMNS} FROM streams WHERE session = ? ORDER BY rowid`),
      events: disk.prepare(
        `SELECT number, number - 1 AS after, method, text FROM events WHERE ${ONE} AND number > ? ORDER BY number`
      ),
      dropEvents: disk.prepare(`DELETE FROM events WHERE ${ONE}`),
      drop: disk.prepare(`DELETE FROM streams WHERE ${ONE}`),
      removeEvents: disk.prepare('DELETE FROM events WHERE session = ?'),
      remove: disk.prepare('DELETE FROM streams WHERE session = ?'),
      session: disk.prepare('SELECT 1 FROM sessions WHERE id = ?')
    }
  }

  open (id: string, stream: string, interruptedResponse: string): void {
    this.#sql.open.run(stream, interruptedResponse, this.#nodes.self, id)
  }

  /** The place of the event, or why it was not appended: the stream has ended, or is another node's. */
  append (id: string, stream: string, event: LoggedEvent, seen: boolean): Place | 'ended' | 'elsewhere' {
    const { self } = this.#nodes
    const appended =
      this.#append(id, stream, event, seen, self) ??
      (this.open(id, stream, ''), this.#append(id, stream, event, seen, self))
    return appended ?? (firstRow<Row>(this.#sql.get, id, stream)?.writer === self ? 'ended' : 'elsewhere')
  }

  saw (id: string, stream: string, number: number): void {
    this.#sql.saw.run(number, id, stream)
  }

  end (id: string, stream: string): void {
    this.#sql.end.run(id, stream)
    for (const name of surplusStreams(
      allRows<Row>(this.#sql.all, id).map(row => ({ ...row, ended: row.ended === 1, seen: row.seen === row.last }))
    )) {
      this.#sql.dropEvents.run(id, name)
      this.#sql.drop.run(id, name)
    }
  }

  /** The replies that are not ended of other nodes which have died, and the other nodes that live and write some. */
  unfinished (id: string): { dead: Row[], living: string[] } {
    const rows = allRows<Row>(this.#sql.unfinished, id, this.#nodes.self)
    const living = [...new Set(rows.map(({ writer }) => writer))].filter(writer => this.#nodes.lives(writer))
    return { dead: rows.filter(({ writer }) => !living.includes(writer)), living }
  }

  finish (id: string): void {
    for (const { stream, last, interruptedResponse, writer } of this.unfinished(id).dead) {
      const [latest] = allRows<NumberedEvent>(this.#sql.events, id, stream, last - 1)
      if (latest?.method !== '' && interruptedResponse !== '') {
        this.#append(id, stream, { text: interruptedResponse, method: '' }, false, writer)
      }
      this.end(id, stream)
    }
  }

  /** The node that reads a stream: its writer until another attaches to it. */
  readerOf (id: string, stream: string): string | undefined {
    const row = firstRow<Row>(this.#sql.get, id, stream)
    return row && (row.reader || row.writer)
  }

  setReader (id: string, stream: string, node: string): void {
    this.#sql.setReader.run(node, id, stream)
  }

  read (id: string, stream: string, after: number | undefined): Replay | undefined {
    const row = firstRow<Row>(this.#sql.get, id, stream) ?? this.#emptyStandalone(id, stream)
    if (row === undefined) return undefined
    const from = after ?? Math.max(row.seen, row.first - 1)
    if (from < row.first - 1 || from > row.last) return undefined
    return { after: from, events: allRows<NumberedEvent>(this.#sql.events, id, stream, from), ended: row.ended === 1 }
  }

  remove (id: string): void {
    this.#sql.removeEvents.run(id)
    this.#sql.remove.run(id)
  }

  /** The standalone stream exists from the start; its row is written with its first event. */
  #emptyStandalone (id: string, stream: string): Row | undefined {
    if (stream !== STANDALONE || this.#sql.session.get(id) === undefined) return undefined
    return { stream, first: 1, last: 0, seen: 0, size: 0, ended: 0, interruptedResponse: '', writer: '', reader: '' }
  }

  #append (
    id: string,
    stream: string,
    { text, method }: LoggedEvent,
    seen: boolean,
    writer: string
  ): Place | undefined {
    const row = firstRow<Row>(this.#sql.next, text.length, seen ? 1 : 0, id, stream, writer)
    if (row === undefined) return undefined
    this.#sql.add.run(id, stream, row.last, method, text)
    if (isTooMuch(row)) this.#shrink(id, row)
    return { number: row.last, after: row.last - 1 }
  }

  #shrink (id: string, row: Row): void {
    const { stream } = row
    while (isTooMuch(row)) {
      const { text = '' } = firstRow<{ text: string }>(this.#sql.cut, id, stream, row.first) ?? {}
      row.first++
      row.size -= text.length
    }
    this.#sql.shrink.run(row.first, row.size, id, stream)
  }
}

const isTooMuch = ({ first, last, size }: Row): boolean =>
  last - first >= STREAM_LIMITS.events || (size > STREAM_LIMITS.text && first < last)
