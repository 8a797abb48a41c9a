import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import { Parser } from 'tap-parser'

/** Clears the line of the terminal. */
const CLEAR = '\r\x1b[K'

/** How often a line says how far the run is, in milliseconds: on a terminal, where it replaces the one before, and elsewhere. */
const EVERY = { terminal: 1_000, elsewhere: 60_000 }

/**
 * Prints how a run goes. It reads what tap prints in the processes that run the tests, and they tell it of their files.
 */
export class Report {
  /** The socket for the processes. */
  path
  #begun = performance.now()
  #count = { passed: 0, failed: 0, skipped: 0 }
  #done = { files: 0, ended: new Set() }
  /** The file of each test on the root, by its title. */
  #files = new Map()
  #times = new Map()
  /** One line for each test that failed, to be repeated at the end, and its file, if it is known. */
  #failures = []
  /** The files that run a second time. */
  #again = []
  /** Settle when the processes have told all. */
  #connections = []
  #out
  #server
  #timer

  constructor (path, out = process.stdout) {
    this.path = path
    this.#out = out
    this.#server = createServer(socket => this.#listen(socket)).listen(path).unref()
    this.#timer = setInterval(() => this.#printProgress(), out.isTTY ? EVERY.terminal : EVERY.elsewhere).unref()
  }

  /** Takes what tap prints in one process. */
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

  /** Finds the files in which a test failed, after all processes; none where one of them is not known, or a file did not run to its end. */
  async findFailed () {
    await Promise.all(this.#connections)
    const files = new Set(this.#failures.map(({ file }) => file))
    return files.has(undefined) || this.#done.ended.size < this.#done.files ? [] : [...files]
  }

  /** Begins a second run of these files, which counts in place of the first. */
  beginAgain (files) {
    this.#print(`Once more, alone: ${files.join(', ')}`)
    this.#again = files
    this.#failures = []
    this.#count.failed = 0
  }

  /** Ends the report, with the exit codes of the processes; true when tests ran, and none failed. */
  end (codes) {
    clearInterval(this.#timer)
    this.#server.close()
    const ran = this.#count.passed + this.#count.failed > 0
    const bad = codes.filter(code => code !== 0)
    if (!ran) this.#print('No tests ran.')
    else if (bad.length > 0 && this.#count.failed === 0) this.#print(`No test failed, but a process of the tests ended with ${bad.join(' and ')}.`)
    return ran && bad.length === 0 && this.#count.failed === 0
  }

  printTimes () {
    const slowest = [...this.#times].sort(([, one], [, other]) => other.cpu - one.cpu)
    for (const [file, { ms, cpu }] of slowest) this.#print(`${seconds(ms)} s, CPU ${seconds(cpu)} s  ${file}`)
  }

  printLeftOut (files) {
    if (files.length > 0) this.#print(`Not run: the slow tier, ${files.length} files such as ${files.slice(0, 2).join(' and ')} ("npm run test:all" runs both tiers).`)
  }

  printTotals () {
    const { passed, failed, skipped } = this.#count
    const unsteady = this.#again.filter(again => this.#failures.every(({ file }) => file !== again))
    if (unsteady.length > 0) this.#print(`Failed beside others, and passed alone, so to be mended: ${unsteady.join(', ')}`)
    for (const { line } of this.#failures) this.#print(line)
    this.#print(`The tests took ${duration(performance.now() - this.#begun)}.`)
    this.#print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  }

  #listen (socket) {
    this.#connections.push(once(socket, 'close').catch(() => {}))
    socket.on('error', () => {})
    createInterface({ input: socket }).on('line', line => this.#take(JSON.parse(line)))
  }

  #take ({ files, begun, ended, file, ms, cpu, isLast }) {
    if (files !== undefined) this.#done.files += files.length
    if (begun !== undefined) this.#files.set(begun, file)
    if (ended === undefined) return
    const before = this.#times.get(file) ?? { ms: 0, cpu: 0 }
    this.#times.set(file, { ms: before.ms + ms, cpu: before.cpu + cpu })
    if (isLast) this.#done.ended.add(file)
  }

  #printProgress () {
    const { passed, failed } = this.#count
    const { files, ended } = this.#done
    const line = `… ${duration(performance.now() - this.#begun)}: ${ended.size} of ${files} files, ${passed} passed, ${failed} failed`
    this.#out.write(this.#out.isTTY ? `${CLEAR}${line}` : `${line}\n`)
  }

  #skip ({ fullname }, why) {
    this.#count.skipped++
    this.#print(`- ${fullname}${why === true ? '' : ` (${why})`}`)
  }

  #printFailure ({ fullname: title, diag }) {
    const { at, source, diff, stack, command, args, cwd, stdio, externalID, ...rest } = diag ?? {}
    const place = at?.fileName && `${at.fileName}:${at.lineNumber}:${at.columnNumber}`
    const details = [place, source, diff, stack, Object.keys(rest).length > 0 && inspect(rest, { depth: 8 })]
    const file = this.#files.get(title) ?? [...this.#files].find(([begun]) => title.startsWith(`${begun} > `))?.[1]
    const alone = file === undefined ? '' : `npm test -- ${file.replace(/^test\//, '')}`
    const hint = alone === '' ? '' : `\n    run it alone: ${alone}`
    this.#print(`\n✖ ${title}\n${indent(details.filter(Boolean).join('\n'))}${hint}\n`)
    this.#failures.push({ line: `✖ ${title}${alone === '' ? '' : ` (${alone})`}`, file })
  }

  #print (text) {
    this.#out.write(`${this.#out.isTTY ? CLEAR : ''}${text}${text === '' ? '' : '\n'}`)
  }
}

function indent (text) {
  return text.replace(/^(?=.)/gm, '    ')
}

function duration (ms) {
  const seconds = Math.round(ms / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

function seconds (ms) {
  return (ms / 1_000).toFixed(1).padStart(7)
}
