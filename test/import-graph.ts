import { posix } from 'node:path'
import type ts from 'typescript'
import { importsOf, type Rule } from './structure.js'

/** The folders inside `protocol`, lowest first. A folder imports those on lower floors, types included. */
const FLOORS = [
  ['wire'],
  ['nodes', 'rules'],
  ['schema', 'store'],
  ['byte-counts'],
  ['revisions', 'http', 'tasks'],
  ['peer'],
  ['questions'],
  ['dispatch'],
  ['definitions', 'sessions'],
  ['watch']
]

export const followsFloors: Rule = source => importsOf(source)
  .filter(({ specifier }) => !mayImport(source.fileName, resolve(source.fileName, specifier)))
  .map(({ line, specifier }) => `${source.fileName}:${line} imports ${specifier}`)

/** Every circle of imports, types included, as the paths of its files in order, the first one again at the end. */
export function importCircles (sources: ts.SourceFile[]): string[] {
  const names = new Set(sources.map(source => source.fileName))
  const found = (path: string): string => names.has(`${path}x`) ? `${path}x` : path
  const graph = new Map(
    sources.map(source => [
      source.fileName,
      importsOf(source).map(({ specifier }) => found(resolve(source.fileName, specifier)))
    ])
  )
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    else if (!done.has(file)) for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return circles
}

function mayImport (from: string, to: string): boolean {
  const [lower, upper] = [floorOf(to), floorOf(from)]
  return lower === undefined || upper === undefined || folderOf(to) === folderOf(from) || lower < upper
}

/** Undefined outside of `protocol`; a folder without a floor is above all others. */
function floorOf (path: string): number | undefined {
  if (!path.startsWith('protocol/')) return undefined
  const floor = FLOORS.findIndex(folders => folders.includes(folderOf(path)))
  return floor === -1 ? FLOORS.length : floor
}

const folderOf = (path: string): string => (path.split('/')[1] ?? '').replace(/\.ts$/, '')

const resolve = (from: string, specifier: string): string =>
  specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts') : specifier
