import { posix } from 'node:path'
import ts from 'typescript'
import { importsOf, nodes } from './structure.js'

/** What `plugins/core/mcp.ts` itself gives to `app.mcp`. */
const BASE = [
  'dispatcher',
  'store',
  'standalone',
  'provide',
  'method',
  'notification',
  'use',
  'onBegin',
  'onEnd',
  'onRefusal',
  'onLog'
]

interface Plugin { name: string, dependencies: string[] }

/**
 * Lists which members of `app.mcp` are used by plugins, and by the routes and transports they import, without a
 * declared dependency on the plugin that provides them. A member that is used only if it is there (`mcp.a?.()`, `'a' in
 * mcp`) needs no declaration.
 */
export function undeclaredMembers (sources: ts.SourceFile[]): string[] {
  const all = new Map(sources.map(source => [source.fileName, source]))
  const providers = providersOf(sources)
  const ports = portsOf(sources)
  const charged = new Set<string>()
  const wrong: string[] = []
  for (const source of sources) {
    const plugin = pluginOf(source)
    if (plugin === undefined) continue
    for (const part of partsOf(source, all)) {
      charged.add(part.fileName)
      for (const member of membersUsed(part, ports)) {
        const provider = providers.get(member)
        if (provider === undefined || provider === plugin.name || plugin.dependencies.includes(provider)) continue
        wrong.push(
          `${source.fileName} does not declare ${provider}, but ${part === source ? 'uses' : `${part.fileName} uses`} mcp.${member}`
        )
      }
    }
  }
  for (const source of sources) {
    if (!isPart(source.fileName) || charged.has(source.fileName)) continue
    for (const member of membersUsed(source, ports)) {
      if (providers.has(member) && !BASE.includes(member)) {
        wrong.push(`${source.fileName} uses mcp.${member}, and no plugin that declares it imports this file`)
      }
    }
  }
  return wrong
}

function providersOf (sources: ts.SourceFile[]): Map<string, string> {
  const providers = new Map(BASE.map(member => [member, 'patchbay-mcp']))
  for (const source of sources) {
    const name = pluginOf(source)?.name
    if (name !== undefined) for (const member of provided(source)) providers.set(member, name)
  }
  return providers
}

const provided = (source: ts.SourceFile): string[] => nodes(source).flatMap(node => {
  if (!ts.isCallExpression(node) || !/\bmcp\.provide$/.test(node.expression.getText(source))) return []
  const [name] = node.arguments
  return name !== undefined && ts.isStringLiteral(name) ? [name.text] : []
})

/** The name and the dependencies that a file gives to `fp`. */
function pluginOf (source: ts.SourceFile): Plugin | undefined {
  if (!isPart(source.fileName)) return undefined
  const options = nodes(source).find(
    node => ts.isCallExpression(node) && node.expression.getText(source) === 'fp' && ts.isExportAssignment(node.parent)
  ) as ts.CallExpression | undefined
  const given = options?.arguments[1]
  if (given === undefined || !ts.isObjectLiteralExpression(given)) return undefined
  const texts = (name: string): string[] =>
    given.properties
      .filter(property => property.name?.getText(source) === name)
      .flatMap(nodes)
      .filter(ts.isStringLiteral)
      .map(({ text }) => text)
  return { name: texts('name')[0] ?? '', dependencies: texts('dependencies') }
}

/** A file and those that it imports, as far as they are no plugins themselves. */
function partsOf (
  source: ts.SourceFile,
  all: Map<string, ts.SourceFile>,
  found = new Set<ts.SourceFile>()
): Set<ts.SourceFile> {
  found.add(source)
  for (const { specifier, typeOnly } of importsOf(source)) {
    const path = posix.join(posix.dirname(source.fileName), specifier).replace(/\.js$/, '.ts')
    const part = typeOnly || !isPart(path) ? undefined : all.get(path)
    if (part !== undefined && !found.has(part) && pluginOf(part) === undefined) partsOf(part, all, found)
  }
  return found
}

const isPart = (path: string): boolean => /^(plugins|routes|transports)\//.test(path)

/** The members of the interfaces by which transports take `app.mcp`, such as `HttpGateway`. */
function portsOf (sources: ts.SourceFile[]): Map<string, string[]> {
  const interfaces = sources
    .filter(({ fileName }) => fileName.startsWith('transports/'))
    .flatMap(nodes)
    .filter(ts.isInterfaceDeclaration)
  return new Map(
    interfaces
      .filter(({ name }) => name.text.endsWith('Gateway'))
      .map(({ name, members }) => [name.text, members.flatMap(member => member.name?.getText() ?? [])])
  )
}

function membersUsed (source: ts.SourceFile, ports: Map<string, string[]>): Set<string> {
  const uses = nodes(source).flatMap(node =>
    isMcp(node) ? membersOf(node) : ts.isTypeReferenceNode(node) ? membersOfPort(node, ports) : []
  )
  const optional = [...source.text.matchAll(/'(\w+)' in (?:\w+\.)*mcp\b/g)].map(([, member]) => member)
  return new Set(uses.filter(member => !optional.includes(member)))
}

/** True for `mcp`, `app.mcp`, and the `mcp` of a pattern such as `{ mcp: { tools } }`. */
function isMcp (node: ts.Node): boolean {
  if (ts.isIdentifier(node)) {
    return node.text === 'mcp' && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node)
  }
  return ts.isPropertyAccessExpression(node) && node.name.text === 'mcp'
}

/** All members of a port, or those that `Pick<HttpGateway, 'sessions'>` names. */
function membersOfPort (node: ts.TypeReferenceNode, ports: Map<string, string[]>): string[] {
  const { parent } = node
  const members = ports.get(node.typeName.getText()) ?? []
  if (
    !ts.isTypeReferenceNode(parent) ||
    parent.typeName.getText() !== 'Pick' ||
    parent.typeArguments?.[1] === undefined
  ) { return members }
  const picked = nodes(parent.typeArguments[1]).filter(ts.isStringLiteral).map(({ text }) => text)
  return members.filter(member => picked.includes(member))
}

function membersOf (node: ts.Node): string[] {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) && parent.expression === node) {
    return isOptional(parent) ? [] : [parent.name.text]
  }
  if (ts.isBindingElement(parent) && parent.propertyName === node) return namesIn(parent.name)
  if (ts.isVariableDeclaration(parent) && parent.initializer === node) return namesIn(parent.name)
  return []
}

const isOptional = (node: ts.Node): boolean =>
  (ts.isCallExpression(node.parent) || ts.isPropertyAccessExpression(node.parent)) &&
  node.parent.questionDotToken !== undefined

const namesIn = (name: ts.BindingName): string[] =>
  ts.isObjectBindingPattern(name) ? name.elements.map(element => (element.propertyName ?? element.name).getText()) : []
