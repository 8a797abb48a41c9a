import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { entry, version } from '../../version.js'
import { packageFiles, type PackageFacts } from '../package-template.js'
import { docsPage, typedCommand } from '../places.js'
import { parseOrHint } from '../settings/parse-arguments.js'
import type { Command } from './command.js'

/** `patchbay new`. */
export const command: Command = {
  help: `Usage: patchbay new NAME

Writes a package into the new folder NAME: one tool in TypeScript, its test, its
types and a README. It compiles, runs and packs as it is. NAME, the name of the
package, is made of lower-case letters, digits and dashes, and may follow
@SCOPE/, which is not part of the folder. A folder that is there already is not
touched.

For example: patchbay new word-count
`,
  run: async argv => {
    const facts = factsOf(argv)
    await checkTool(facts.tool)
    const files = writePackage(facts, process.cwd())
    process.stdout.write(describe(facts, files))
  }
}

/** As in the rules of npm, and nothing that a loader of files would take for a test or a hidden file. */
const NAME = /^(?:@[a-z\d][a-z\d._-]*\/)?([a-z][a-z\d]*(?:-[a-z\d]+)*)$/

/** A tool of a longer name is cut or refused by some clients. */
const LONGEST = 48

/** The packages that a new one depends on: none depends on itself. */
const TAKEN = new Set(['mcp-patchbay', 'typescript', ...builtinModules])

function factsOf (args: string[]): PackageFacts {
  const { positionals: [name, ...more] } = parseOrHint({ args, options: {}, allowPositionals: true })
  if (name === undefined || more.length > 0) throw new Error('a package has one name: patchbay new NAME')
  const [, file] = NAME.exec(name) ?? []
  if (file === undefined) {
    throw new Error(
      `the name of a package is made of lower-case letters, digits and dashes, and begins with a letter, unlike "${name}"${meantBy(name)}`
    )
  }
  if (file.length > LONGEST) throw new Error(`the name "${name}" has more than ${LONGEST} characters; choose a shorter one`)
  if (TAKEN.has(name) || TAKEN.has(file)) {
    throw new Error(`"${name}" is the name of a package or module that the new one needs; choose another`)
  }
  return { name, file, tool: file.replaceAll('-', '_'), version, source: sourceOf(fileURLToPath(new URL('..', entry))) }
}

function meantBy (name: string): string {
  const [, scope = '', rest = ''] = /^(@[a-z\d][a-z\d._-]*\/)?(.*)$/s.exec(name) ?? []
  const words = rest.normalize('NFKD').toLowerCase().replace(/[^a-z\d]+/g, '-').replace(/^[-\d]+|-+$/g, '')
  return words === '' ? '' : `; did you mean "${scope}${words}"?`
}

/** A checkout is used as it is, because npm may not have its version; an installed package by its version. */
function sourceOf (folder: string): string {
  if (folder.split(sep).includes('node_modules')) return `^${version}`
  return `file:${folder.replaceAll(sep, '/').replace(/\/$/, '')}`
}

/** Throws a sentence if the gateway has a tool of that name itself. */
async function checkTool (tool: string): Promise<void> {
  const { build } = await import('../../app.js')
  const app = await build({ ephemeral: true, http: false }, { loggerInstance: pino({ level: 'silent' }) })
  try {
    await app.ready()
    if (app.mcp.tools.get(tool) !== undefined) {
      throw new Error(`Patchbay has a tool "${tool}" itself, so that a package with another could not be served; choose another name`)
    }
  } finally {
    await app.close()
  }
}

/** Writes the files, all of them or none, and returns their names. Throws a sentence if the folder is there. */
export function writePackage (facts: PackageFacts, parent: string, write = writeFileSync): string[] {
  const folder = join(parent, facts.file)
  const files = Object.entries(packageFiles(facts))
  try {
    mkdirSync(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new Error(`${folder} is there already; choose another name, or move it away`)
    throw new Error(`the folder ${folder} cannot be created (${code ?? 'unknown error'}); go to a folder that you may write to`)
  }
  try {
    for (const [name, text] of files) write(join(folder, name), text, { flag: 'wx' })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    const { code } = error as NodeJS.ErrnoException
    throw new Error(`the files of ${folder} cannot be written (${code ?? 'unknown error'}); nothing was left behind`)
  }
  return files.map(([name]) => name)
}

function describe ({ name, file, tool, source }: PackageFacts, files: string[]): string {
  const steps: Array<[string, string]> = [
    [`cd ${file}`, ''],
    ['npm install', ''],
    ['npm test', 'compile it and run its test'],
    [`${typedCommand(process.argv[1], join(process.cwd(), file))} --plugin . --reload`, 'serve it, and each change when you save'],
    ['npm pack', 'make the package']
  ]
  const width = Math.max(...steps.map(([step]) => step.length))
  return [
    `The package ${name} is in ${file}/, with the tool "${tool}":`,
    `  ${files.join('  ')}`,
    '',
    'Next:',
    ...steps.map(([step, why]) => `  ${step.padEnd(width)}  ${why}`.trimEnd()),
    '',
    ...(source.startsWith('file:')
      ? ['Its package.json names this checkout of Patchbay for tests and types; name a version before you publish it.']
      : []),
    `How tools are written: ${docsPage('write-a-tool.md')}`,
    ''
  ].join('\n')
}
