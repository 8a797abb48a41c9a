import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { statusOf, type HttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { modern, oldest } from '../../protocol/revisions/table.js'
import { codes, errors, type McpError } from '../../protocol/wire/errors.js'
import { taskErrors } from '../../protocol/wire/task-errors.js'

/** The file that `npm run errors-page` writes. */
export const PAGE = new URL('../../../docs/errors.md', import.meta.url)

/** docs/errors.md as the two tables and the comments in them make it. */
export function errorsPage (): string {
  return (
    [
      '# Errors',
      '<!-- Made by `npm run errors-page` from protocol/wire/errors.ts, protocol/wire/task-errors.ts and protocol/http/http-errors.ts. Edit those. -->',
      'A request that a client sends ends in one of three ways other than success: a JSON-RPC error, a tool result with `isError: true`, or, over HTTP, a status without a JSON-RPC call.',
      '## JSON-RPC errors',
      'The status is that of the HTTP reply; on other transports there is none. With 429 and 503 comes `Retry-After`, with 401 and 403 `WWW-Authenticate`.',
      'Every error of Patchbay has a name in `data.code`. The name does not change from version to version, while the text may; names are added. The same cause has the same name in the table of [HTTP errors](#http-errors). An error of an upstream server\nis passed on as the server wrote it, without a name of Patchbay, and so is an `McpError` that the author of a tool, prompt or plugin throws. A cancelled request is not answered.',
      table(['code', '`data.code`', 'status', 'text', 'when', 'what to do'], jsonRpcRows()),
      '`data.details` of a -32602 repeats the reason; an unknown resource has `data.uri` instead. Wrong arguments have each mistake in `data.errors` as `{ "path": "/a/0", "message": "must be number" }`: a JSON pointer into the arguments, to the\nplace or to what is missing there, and the text. At most 20 are listed; of arguments with more than 1,000 elements and members, the first.',
      'An id that cannot be read is written as `null` in the revisions with a handshake, and left out in 2026-07-28.',
      '## Tools that fail',
      "A tool that fails is not an error but a result with `isError: true`. From 2025-11-25 on so are arguments that do not fit the tool's schema and an\n`McpError` thrown by a tool, whose text has the `details` and the `hint` of its data; before, they are JSON-RPC errors. From the same revision on, a\nsuccess carries `isError: false`.",
      'Such a result has in `_meta["patchbay/error"]` what `data` of the JSON-RPC error has, without the `details` and the `hint`: `_meta["patchbay/error"].code` is a name of the table above. A failure that the tool itself reports, and an `McpError` of its author,\nhave none.',
      '## HTTP errors',
      "The code does not change from version to version; the text may. A standalone gateway writes a JSON-RPC error (-32600, or -32603 with 429 and 5xx) with the code as `data.code`. In a\nhost application its own error handler writes the body; Fastify's has the code as `code`. With 429 and 503 comes `Retry-After`, with 401 `WWW-Authenticate`. [Limits](limits.md) has all limits.",
      table(['status', 'code', 'text', 'when', 'what to do'], httpRows()),
      'Node.js itself answers with 400 to bytes that are not HTTP, with 408 to a request that did not come in time, and with 431 to headers that are too large.'
    ].join('\n\n') + '\n'
  )
}

interface Entry { name: string, when: string, remedy: string, args: unknown[] }

/** The name of an error, as its data has it. */
export const nameOf = ({ data }: McpError): string => String(Reflect.get(Object(data), 'code'))

/** Every JSON-RPC error, with sample arguments. */
export function sampleErrors (): Array<{ error: McpError, when: string, remedy: string }> {
  return [['protocol/wire/errors.ts', 'errors', errors], ['protocol/wire/task-errors.ts', 'taskErrors', taskErrors]]
    .flatMap(([path, variable, table]) => entriesOf(path as string, variable as string).map(
      ({ name, when, remedy, args }) => ({ error: make<McpError>(table as object, name, args), when, remedy })
    ))
}

function jsonRpcRows (): string[][] {
  return sampleErrors().map(({ error, when, remedy }) => {
    const [legacy, latest] = [statusOf(error, oldest), statusOf(error, modern)]
    return [
      String(error.code),
      literal(nameOf(error)),
      latest === legacy ? String(legacy) : `${legacy}; ${latest} in ${modern.version}`,
      literal(error.message),
      when,
      remedy
    ]
  })
}

/** Every HTTP error, with sample arguments. */
export function sampleHttpErrors (): Array<{ error: HttpError, when: string, remedy: string }> {
  return entriesOf('protocol/http/http-errors.ts', 'httpErrors')
    .map(({ name, when, remedy, args }) => ({ error: make<HttpError>(httpErrors, name, args), when, remedy }))
}

function httpRows (): string[][] {
  return sampleHttpErrors()
    .sort((a, b) => a.error.statusCode - b.error.statusCode)
    .map(({ error, when, remedy }) => [
      String(error.statusCode),
      literal(error.code),
      literal(error.message),
      when,
      remedy
    ])
}

function make<E> (table: object, name: string, args: unknown[]): E {
  return (table as Record<string, (...args: unknown[]) => E>)[name]?.(...args) as E
}

const literal = (text: string): string => `\`${text}\``

function table (heads: string[], rows: string[][]): string {
  return [heads, heads.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/**
 * The entries of a table of errors whose comment is "When. Remedy: what to do."; those without a remedy are not for the
 * page.
 */
function entriesOf (path: string, variable: string): Entry[] {
  const file = new URL(`../../../${path}`, import.meta.url)
  const source = ts.createSourceFile(path, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: Entry[] = []
  for (const property of propertiesOf(source, variable)) {
    if (!ts.isPropertyAssignment(property) || !ts.isArrowFunction(property.initializer)) {
      throw new Error(`${path}: ${property.getText()} is not a function`)
    }
    const [when = '', remedy] = commentOf(source, property).split(/ Remedy: /)
    if (remedy !== undefined) {
      found.push({
        name: property.name.getText(),
        when,
        remedy: capital(remedy),
        args: property.initializer.parameters.map(sample)
      })
    }
  }
  return found
}

function propertiesOf (source: ts.SourceFile, variable: string): readonly ts.ObjectLiteralElementLike[] {
  for (const statement of source.statements.filter(ts.isVariableStatement)) {
    const [declaration] = statement.declarationList.declarations
    if (
      declaration?.name.getText() === variable &&
      declaration.initializer !== undefined &&
      ts.isObjectLiteralExpression(declaration.initializer)
    ) { return declaration.initializer.properties }
  }
  throw new Error(`${source.fileName} has no table ${variable}`)
}

function commentOf (source: ts.SourceFile, node: ts.Node): string {
  const [range] = ts.getLeadingCommentRanges(source.text, node.getFullStart())?.slice(-1) ?? []
  if (range === undefined) {
    throw new Error(`${source.fileName}: ${node.getText().split('\n')[0]} has no comment that says when it happens`)
  }
  return source.text
    .slice(range.pos, range.end)
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** An argument that shows its own name in the text of the error; undefined for one that has a default. */
function sample ({ name, type }: ts.ParameterDeclaration): unknown {
  const shown = `<${name.getText()}>`
  switch (type?.getText()) {
    case 'string[]': case 'readonly string[]': return [shown]
    case 'object': return { [shown]: {} }
    case 'boolean': return false
    case 'Challenge': return () => shown
    case 'AuditReason': return { reason: shown }
    case 'WireError': return { code: codes.internal, message: '<message>' }
    case undefined: return undefined
    default: return name.getText() === 'code' ? codes.resourceNotFound : shown
  }
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
