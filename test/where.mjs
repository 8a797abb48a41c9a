// Finds the tests of a product file by following the imports of the test files.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

const SHOWN = 10
const FOLDERS = /^(node_modules|build|dist|docs|\..*)$/
// The first kind names a module in `from '...'` or `import '...'`, the second in `import('...')`.
const IMPORT = /(?:^|\n)(?:import|export)(?! type\b)[^'";]*?['"](\.{1,2}\/[^'"]+)['"]|\bimport\(\s*['"](\.{1,2}\/[^'"]+)['"]/g
// What these load is not named in an import: the command as a process, and every module of a folder.
const LOADS = { 'test/support/command.ts': /^cli\.ts$/, 'loader/built-ins.ts': /^(tools|resources|prompts)\/[^/]+$/ }

/** Lists the test files that reach `file` by import: direct imports first, then those named like the file, then the nearest. */
export function where (root, file) {
  const graph = importsBelow(root)
  const wanted = relative(root, resolve(root, file)).replaceAll('\\', '/')
  if (!graph.has(wanted)) return `There is no file ${wanted}.`
  const found = distancesTo(graph, wanted).filter(([test]) => test.endsWith('.test.ts'))
  if (found.length === 0) return `No test reaches ${wanted} by import.`
  const rank = ([test, steps]) => [steps === 1 ? 0 : 1, -likeness(basename(test), basename(wanted)), steps, -likeness(test, wanted)]
  found.sort((a, b) => compare(rank(a), rank(b)) || compare([a[0]], [b[0]]))
  const lines = found.slice(0, SHOWN).map(([test, steps]) => `  ${test}${steps === 1 ? '' : `  (through ${steps - 1} more)`}`)
  return [`${wanted} is tested, by import, in:`, ...lines, ...(found.length > SHOWN ? [`  and ${found.length - SHOWN} more files`] : [])].join('\n')
}

function importsBelow (root) {
  const files = readdirSync(root, { withFileTypes: true }).flatMap(entry => entry.isDirectory()
    ? FOLDERS.test(entry.name) ? [] : readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' }).map(file => `${entry.name}/${file.replaceAll('\\', '/')}`)
    : [entry.name]).filter(file => file.endsWith('.ts'))
  return new Map(files.map(file => [file, [...importsOf(root, file), ...files.filter(other => LOADS[file]?.test(other))]]))
}

function importsOf (root, file) {
  const found = [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)]
  return found.map(([, path, dynamic]) => join(dirname(file), path ?? dynamic).replaceAll('\\', '/').replace(/\.js$/, '.ts'))
}

/** Every file that reaches `wanted`, with the number of imports on the shortest way. */
function distancesTo (graph, wanted) {
  const importers = new Map()
  for (const [file, imports] of graph) for (const path of imports) importers.set(path, [...importers.get(path) ?? [], file])
  const steps = new Map([[wanted, 0]])
  for (const [file, distance] of steps) {
    for (const importer of importers.get(file) ?? []) if (!steps.has(importer)) steps.set(importer, distance + 1)
  }
  return [...steps]
}

/** How many words of the path of a file a test has in its own, be it in the plural. */
function likeness (test, file) {
  const words = path => path.replace(/(\.test)?\.ts$/, '').split(/[/-]/).map(word => word.replace(/s$/, ''))
  return words(file).filter(word => words(test).includes(word)).length
}

function compare (a, b) {
  const at = a.findIndex((value, index) => value !== b[index])
  return at === -1 ? 0 : a[at] < b[at] ? -1 : 1
}
