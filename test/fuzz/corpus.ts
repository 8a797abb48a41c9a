import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ATTACKS } from './principals/attacks.js'
import { digest, fromRow, toRow, type Case, type Row, type TargetName } from './case.js'

/** Where it is kept, seen from the compiled file. */
const FOLDER = fileURLToPath(new URL('../../../test/fuzz/corpus/', import.meta.url))

/** What needs no file to be tried in every run. */
const ALWAYS = Object.values(ATTACKS).flat()

/** Every row of a folder: what once failed, and what shows a behaviour that nothing else in the corpus shows. */
export function readCorpus (folder = FOLDER): Row[] {
  const files = readdirSync(folder).filter(file => file.endsWith('.json')).sort()
  return files.flatMap(file => readRows(join(folder, file)))
}

/** The rows of one file. */
export function readRows (file: string): Row[] {
  const rows = JSON.parse(readFileSync(file, 'utf8')) as Row | Row[]
  return Array.isArray(rows) ? rows : [rows]
}

/** Keeps what failed in a file of its own and gives its path. */
export function keepFinding (input: Case, why: string, folder = FOLDER): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `found-${input.target}-${digest(input)}.json`)
  writeFileSync(file, JSON.stringify(toRow(input, why), undefined, 2) + '\n')
  return file
}

/** Replaces what is kept of a target for its behaviours, one row a line. */
export function keepBehaviours (target: string, shown: Array<{ input: Case, why: string }>, folder = FOLDER): string {
  const always = new Set(ALWAYS.map(digest))
  const kept = shown.filter(({ input }) => !always.has(digest(input)))
  const file = join(folder, `behaviours-${target}.json`)
  writeFileSync(file, `[\n${kept.map(({ input, why }) => JSON.stringify(toRow(input, why))).join(',\n')}\n]\n`)
  return file
}

/** What is kept for one target, after what is always tried there. */
export function corpusOf (target: TargetName, folder = FOLDER): Case[] {
  const kept = readCorpus(folder).filter(row => row.target === target).map(fromRow)
  return target === 'principals' ? [...ALWAYS, ...kept] : kept
}
