import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import { Parser } from 'tap-parser'

const EVERY = process.stdout.isTTY ? 1_000 : 60_000

/**
 * Prints how a run goes. The processes that run the tests tell it of their files, tests and failures while they run; what tap itself prints comes
 * when a process has ended, and counts.
 */
export class Report {
  /** The socket for the processes. */
  path
  #begun = performance.now()
  #count = { passed: 0, failed: 0, skipped: 0 }
  #live = { passed: 0, failed: 0, files: 0, ended: new Set() }
  /** The file of each test on the root, by its title. */
  #files = new Map()
  #times = new Map()
  #printed = new Set()
  #server
  #timer

  constructor (path) {
    this.path = path
    this.#server = createServer(socket => this.#listen(socket)).listen(path).unref()
    this.#timer = setInterval(() => this.#printProgress(), EVERY).unref()
  }

  /** Takes what tap prints. */
  parser () {
    const parser = new Parser()
    parser.on('pass', () => { this.#count.passed++ })
    parser.on('fail', result => {
      this.#count.failed++
      this.#printFailure(result)
    })
    for (const why of ['skip', 'todo']) parser.on(why, result => this.#skip(result, result[why]))
    parser.on('comment', text => { if (text.startsWith('# ERROR')) this.#print(text.trimEnd()) })
    parser.on('extra', text => this.#print(text.trimEnd()))
    return parser
  }

  /** Ends the report; true when tests ran, and none failed. */
  end (code) {
    clearInterval(this.#timer)
    this.#server.close()
    const ran = this.#count.passed + this.#count.failed > 0
    if (!ran) this.#print('No tests ran.')
    else if (code !== 0 && this.#count.failed === 0) this.#print(`No test failed, but tap ended with ${code}.`)
    return ran && code === 0 && this.#count.failed === 0
  }

  printTimes () {
    const slowest = [...this.#times].sort(([, one], [, other]) => other - one)
    for (const [file, ms] of slowest) this.#print(`${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`)
  }

  printLeftOut (files) {
    if (files.length > 0) this.#print(`Not run: the slow tier, ${files.length} files such as ${files.slice(0, 2).join(' and ')} ("npm run test:all" runs both tiers).`)
  }

  printTotals () {
    const { passed, failed, skipped } = this.#count
    this.#print(`The tests took ${duration(performance.now() - this.#begun)}.`)
    this.#print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }

  #listen (socket) {
    const parser = new Parser()
    parser.on('pass', () => { this.#live.passed++ })
    parser.on('fail', result => {
      this.#live.failed++
      this.#printFailure(result)
    })
    socket.on('error', () => {})
    createInterface({ input: socket }).on('line', line => this.#take(JSON.parse(line), parser))
  }

  #take ({ tap, files, begun, ended, file, ms, isLast }, parser) {
    if (tap !== undefined) parser.write(tap)
    if (files !== undefined) this.#live.files += files.length
    if (begun !== undefined) this.#files.set(begun, file)
    if (ended === undefined) return
    this.#times.set(file, (this.#times.get(file) ?? 0) + ms)
    if (isLast) this.#live.ended.add(file)
  }

  #printProgress () {
    const { passed, failed, files, ended } = this.#live
    const line = `… ${duration(performance.now() - this.#begun)}: ${ended.size} of ${files} files, ${passed} passed, ${failed} failed`
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}`)
    else console.log(line)
  }

  #skip ({ fullname }, why) {
    this.#count.skipped++
    this.#print(`- ${titleOf(fullname)}${why === true ? '' : ` (${why})`}`)
  }

  // A failure is heard of twice: when it happens, and when its process has ended.
  #printFailure ({ fullname, diag }) {
    const title = titleOf(fullname)
    if (this.#printed.has(title)) return
    this.#printed.add(title)
    const { at, source, diff, stack, command, args, cwd, stdio, externalID, ...rest } = diag ?? {}
    const place = at?.fileName && `${at.fileName}:${at.lineNumber}:${at.columnNumber}`
    const details = [place, source, diff, stack, Object.keys(rest).length > 0 && inspect(rest, { depth: 8 })]
    const file = this.#files.get(title) ?? [...this.#files].find(([begun]) => title.startsWith(`${begun} > `))?.[1]
    const alone = file === undefined ? '' : `\n    run it alone: npm test -- ${file.replace(/^test\//, '')}`
    this.#print(`\n✖ ${title}\n${indent(details.filter(Boolean).join('\n'))}${alone}\n`)
  }

  #print (text) {
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
    if (text !== '') console.log(text)
  }
}

function titleOf (fullname) {
  return fullname.replace(/^build\/test\/parts\/\w+\.js > /, '')
}

function indent (text) {
  return text.replace(/^(?=.)/gm, '    ')
}

function duration (ms) {
  const seconds = Math.round(ms / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
