import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const siblings = ['plugins', 'routes', 'transports', 'upstreams', 'tools', 'resources', 'prompts', 'stores']

/** The places that each place may import besides itself. A place is a folder at the top, or a file there. */
const below: Record<string, string[]> = {
  cli: ['app', 'upstreams', 'options', 'version', 'loader', 'protocol', 'system', 'lib'],
  app: ['gateway', 'http-server', 'options', 'version', 'loader', ...siblings, 'protocol', 'system', 'lib'],
  gateway: ['options', 'version', ...siblings, 'protocol', 'system', 'lib'],
  'http-server': ['options', ...siblings, 'protocol', 'system', 'lib'],
  loader: ['options', 'version', 'protocol', 'lib'],
  options: ['protocol', 'system', 'lib'],
  ...Object.fromEntries(siblings.map(folder => [folder, ['protocol', 'system', 'lib']])),
  routes: ['transports', 'protocol', 'lib'],
  upstreams: ['options', 'transports', 'protocol', 'system', 'lib'],
  transports: ['protocol', 'lib'],
  protocol: ['lib'],
  system: ['lib'],
  version: [],
  lib: [],
  // The page of the console: routes serve its built files, and nothing imports it.
  console: []
}

export interface Import { specifier: string, line: number, typeOnly: boolean }

/** Reports what is wrong with a file, one `path:line what` for each offence. */
export type Rule = (source: ts.SourceFile) => string[]

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const ships = (path: string): boolean => !/^(test|bench)\//.test(path)

/**
 * Every wanted file as the compiler finds them: those of the gateway, and those of the console. By default these are
 * the files that ship.
 */
export function sources (isWanted = ships): ts.SourceFile[] {
  return pathsOf(isWanted).map(path => parse(path, ts.sys.readFile(`${ROOT}${path}`) ?? ''))
}

/** The paths of every wanted file. */
export function pathsOf (isWanted = ships): string[] {
  const files = [ROOT, `${ROOT}console/`].flatMap(folder => {
    const { config } = ts.readConfigFile(`${folder}tsconfig.json`, ts.sys.readFile) as { config: unknown }
    return ts.parseJsonConfigFileContent(config, ts.sys, folder).fileNames
  })
  return [...new Set(files.map(file => posix.relative(ROOT, file)))].filter(isWanted)
}

export function parse (path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
}

export const followsLayers: Rule = source => offences(source, ({ from, to, typeOnly, specifier }) =>
  to !== 'package' && to !== from && !mayImport(from, to) && !isShared(source.fileName, { typeOnly, specifier }))

/**
 * The console shares the types of the watch feed, the names of revisions, the estimate of tokens and what origins
 * apps have, with the gateway, and no other code.
 */
const isShared = (path: string, { typeOnly, specifier }: Pick<Import, 'typeOnly' | 'specifier'>): boolean =>
  (path === 'console/client/watch-batch.ts' && typeOnly && specifier === '../../protocol/watch/batch.js') ||
  (path === 'console/client/contract.ts' && specifier === '../../protocol/revisions/newest.js') ||
  (path.startsWith('console/apps/') && /^[./]+\/lib\/origins\.js$/.test(specifier)) ||
  (path === 'console/state/costs.ts' && specifier === '../../lib/token-estimate.js')

/** Of the transports, upstreams use those that dial. */
export const dialsOnly: Rule = source =>
  offences(
    source,
    ({ from, to, specifier }) =>
      from === 'upstreams' &&
      to === 'transports' &&
      !posix.join(posix.dirname(source.fileName), specifier).startsWith('transports/client/')
  )

/**
 * The parts of a plugin lie in a folder of its name: `auth.ts` may import `auth/authenticator.ts`, and the parts import
 * each other.
 */
export const keepsPluginsApart: Rule = source =>
  offences(
    source,
    ({ from, to, typeOnly, specifier }) =>
      from === 'plugins' &&
      to === 'plugins' &&
      !typeOnly &&
      !specifier.startsWith(`./${posix.basename(source.fileName, '.ts')}/`) &&
      !isPartOfSame(source.fileName, specifier)
  )

/** True inside of `plugins/AREA/PLUGIN/`. */
const isPartOfSame = (path: string, specifier: string): boolean =>
  path.split('/').length > 3 && /^\.\/[^/]+$/.test(specifier)

export const keepsProtocolPure: Rule = source => offences(source, ({ from, to, specifier }) =>
  from === 'protocol' && to === 'package' && !/^(node:|(ajv|@sinclair\/typebox)(\/|$))/.test(specifier))

/** Forbids a global, and the module of that name. */
export const avoids =
  (name: string): Rule =>
    source => [
      ...nodes(source)
        .filter(node => ts.isIdentifier(node) && node.text === name && !isName(node))
        .map(node => `${at(source, node)} uses ${name}`),
      ...offences(source, ({ specifier }) => specifier.replace('node:', '') === name)
    ]

/** Errors that cross the wire are made by the entries of a table, which docs/errors.md lists. */
export const makesNoWireError: Rule = source => nodes(source)
  .filter(node => ts.isNewExpression(node) && /^(McpError|HttpError)$/.test(node.expression.getText(source)))
  .map(node => `${at(source, node)} makes an error outside the tables`)

export const namesNoRevision: Rule = source => nodes(source)
  .filter(node => ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
  .filter(node => /\b20\d\d-\d\d-\d\d\b(?!T)/.test(node.getText(source)))
  .map(node => `${at(source, node)} names the revision ${node.getText(source)}`)

export const isAtMost = (lines: number): Rule => source => {
  const length = source.text.trimEnd().split('\n').length
  return length > lines ? [`${source.fileName}:${length} is longer than ${lines} lines`] : []
}

/** The words that say nothing of what a comment is about. */
const RIDDLE = /^\s*(?:\/\*\*?|\*|\/\/)\s*(What|Those|Whether|The same)\b/

/** A comment begins with a verb or with the noun of the thing it stands before. */
export const beginsCommentsPlainly: Rule = source => source.text.split('\n').flatMap((line, index, lines) => {
  const [, word] = RIDDLE.exec(line) ?? []
  const goesOn =
    /^\s*(?:\/\/|\*(?!\/))|^\s*\/\*\*? ./.test(lines[index - 1] ?? '') && !/\*\/\s*$/.test(lines[index - 1] ?? '')
  return word === undefined || goesOn ? [] : [`${source.fileName}:${index + 1} begins a comment with ${word}`]
})

/** Counts a function with its signature, and what is inside of it. */
export const hasShortFunctions =
  (lines: number): Rule =>
    source =>
      nodes(source)
        .filter(
          node => ts.isFunctionLike(node) && 'body' in node && node.body !== undefined && lengthOf(source, node) > lines
        )
        .map(node => `${at(source, node)} is a function of ${lengthOf(source, node)} lines`)

const lengthOf = (source: ts.SourceFile, node: ts.Node): number =>
  source.getLineAndCharacterOfPosition(node.end).line + 2 - lineOf(source, node)

export function importsOf (source: ts.SourceFile): Import[] {
  return nodes(source).flatMap(node => {
    const specifier = specifierOf(node)
    return specifier === undefined ? [] : [{ specifier, line: lineOf(source, node), typeOnly: isTypeOnly(node) }]
  })
}

interface Edge extends Import { from: string, to: string }

function offences (source: ts.SourceFile, isWrong: (edge: Edge) => boolean): string[] {
  return importsOf(source)
    .map(found => edgeOf(source.fileName, found))
    .filter(isWrong)
    .map(({ line, specifier }) => `${source.fileName}:${line} imports ${specifier}`)
}

function edgeOf (path: string, found: Import): Edge {
  const isOurs = found.specifier.startsWith('.')
  return {
    ...found,
    from: placeOf(path),
    to: isOurs ? placeOf(posix.join(posix.dirname(path), found.specifier)) : 'package'
  }
}

function mayImport (from: string, to: string): boolean {
  return below[from]?.includes(to) === true
}

function placeOf (path: string): string {
  const [first = ''] = path.split('/')
  return first.replace(/\.[jt]sx?$/, '')
}

function specifierOf (node: ts.Node): string | undefined {
  const specifier = moduleOf(node)
  return specifier !== undefined && ts.isStringLiteralLike(specifier) ? specifier.text : undefined
}

function moduleOf (node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal
  if (ts.isCallExpression(node) && /^(import|require)$/.test(node.expression.getText())) return node.arguments[0]
  return undefined
}

function isTypeOnly (node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
  return ts.isImportTypeNode(node) || (ts.isExportDeclaration(node) && node.isTypeOnly)
}

// A property or a binding may bear the name of a global.
function isName (node: ts.Node): boolean {
  const parent: ts.Node & { name?: ts.Node, propertyName?: ts.Node } = node.parent
  return parent.name === node || parent.propertyName === node
}

export function nodes (root: ts.Node): ts.Node[] {
  const found: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    found.push(node)
    ts.forEachChild(node, visit)
  }
  visit(root)
  return found
}

function lineOf (source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
}

function at (source: ts.SourceFile, node: ts.Node): string {
  return `${source.fileName}:${lineOf(source, node)}`
}
