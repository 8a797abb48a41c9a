import t from 'tap'
import ts from 'typescript'
import { parse, sources } from './structure.js'

/** How many calls of `pause` there may be. */
const MAX_PAUSES = 10

/** What may wait for time, and why. */
const ALLOWED: Array<[place: RegExp, why: string]> = [
  [/^test\/(chaos|fuzz|load)\//, 'they are programs that do harm, or send, at a pace and for a while'],
  [/^test\/conformance\//, 'they are the server that the conformance suite asks for, and start it'],
  [/^test\/support\/(wait|clocks)\.ts$/, 'they are what tests wait with'],
  [
    /^test\/support\/(gateway|restarting|timers-awake|environment\/nginx)\.ts$/,
    'a slow tool, polls of a process that starts, and a record of timers'
  ],
  [/^test\/upstreams\/(programs\/server|hostile\/[^/]+)\.ts$/, 'they are servers that are slow, or that attack'],
  [/^test\/app\/crash-(listener|load)\.ts$/, 'they are clients that try again after a while'],
  [/^test\/cli\/drain-clients\.ts$/, 'it is a plugin with a slow tool']
]

const files = sources(path => path.startsWith('test/'))
const held = files.filter(({ fileName }) => !ALLOWED.some(([place]) => place.test(fileName)))

/** Lists each place that waits for a fixed time by other means than wait.ts and clocks.ts, which have names for it. */
function fixedSleeps (source: ts.SourceFile): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && importsSleep(node)) {
      found.push(`${placeOf(source, node)} imports setTimeout as a promise`)
    }
    if (ts.isNewExpression(node) && node.expression.getText() === 'Promise' && settlesByTimer(node)) {
      found.push(`${placeOf(source, node)} makes a promise of a timer`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function importsSleep ({ moduleSpecifier, importClause }: ts.ImportDeclaration): boolean {
  if (!ts.isStringLiteral(moduleSpecifier) || !/^(node:)?timers\/promises$/.test(moduleSpecifier.text)) return false
  const names = importClause?.namedBindings
  return (
    names === undefined ||
    !ts.isNamedImports(names) ||
    names.elements.some(({ name, propertyName = name }) => propertyName.text !== 'setImmediate')
  )
}

/** True for `new Promise(resolve => setTimeout(resolve, 20))`. */
function settlesByTimer ({
  arguments: [executor] = [] as unknown as ts.NodeArray<ts.Expression>
}: ts.NewExpression): boolean {
  if (executor === undefined || !ts.isArrowFunction(executor)) return false
  const resolve = executor.parameters[0]?.name.getText()
  let found = false
  const visit = (node: ts.Node): void => {
    if (
      ts.isCallExpression(node) &&
      node.expression.getText() === 'setTimeout' &&
      node.arguments[0]?.getText() === resolve
    ) { found = true }
    ts.forEachChild(node, visit)
  }
  visit(executor.body)
  return found
}

/** The reasons of the calls of `pause`, in the order of the file. */
function pauses (source: ts.SourceFile): Array<{ place: string, reason: string }> {
  const found: Array<{ place: string, reason: string }> = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'pause') {
      const [, reason] = node.arguments
      found.push({
        place: placeOf(source, node),
        reason: reason !== undefined && ts.isStringLiteral(reason) ? reason.text : ''
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function placeOf (source: ts.SourceFile, node: ts.Node): string {
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}

t.test('tests wait for events, conditions or a clock that they turn, not for a fixed time', async t => {
  t.strictSame(held.flatMap(fixedSleeps), [], 'use until, takeTime, stopTime, or pause with its reason')
  const wrong = [
    "import { setTimeout as sleep } from 'node:timers/promises'",
    "import { setImmediate as turn, setTimeout } from 'timers/promises'",
    'await new Promise(resolve => setTimeout(resolve, 5))',
    'await new Promise<void>(done => { setTimeout(done, 5) })'
  ]
  for (const text of wrong) t.equal(fixedSleeps(parse('test/a.test.ts', text)).length, 1, text)
  const right = [
    "import { setImmediate as turn } from 'node:timers/promises'",
    'const program = "await new Promise(resolve => setTimeout(resolve, 5))"',
    'setTimeout(() => socket.resume(), 5)',
    'await takeTime(5)'
  ]
  for (const text of right) t.strictSame(fixedSleeps(parse('test/a.test.ts', text)), [], text)
})

t.test('what may wait for time is still there', async t => {
  for (const [place] of ALLOWED) t.ok(files.some(({ fileName }) => place.test(fileName)), String(place))
})

t.test(`at most ${MAX_PAUSES} waits for a fixed time are left, each with its reason`, async t => {
  const found = files.flatMap(pauses)
  t.ok(found.length <= MAX_PAUSES, found.map(({ place }) => place).join(', '))
  t.strictSame(
    found.filter(({ reason }) => reason.length < 20).map(({ place }) => place),
    [],
    'a reason that can be read'
  )
  t.strictSame(pauses(parse('test/a.test.ts', "await pause(5, 'why')\nsocket.pause()")), [
    { place: 'test/a.test.ts:1', reason: 'why' }
  ])
})
