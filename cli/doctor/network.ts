import { readdirSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { oneLine, visible } from '../../lib/one-line.js'
import { withTimeout } from '../../lib/time.js'
import type { Options } from '../../options.js'
import { isObject } from '../../protocol/wire/json.js'
import { addressOf } from '../report/clients.js'
import { connectRedis } from '../../system/redis/connection.js'
import type { Finding } from './finding.js'

/** How long one answer is waited for, in milliseconds, and how much of it is read, in bytes. */
const TIMEOUT = 5_000
const MAX_REPLY = 1_000_000

/** A clock that is wrong by more is a warning, in milliseconds: tokens expire too early or too late by it. */
const MAX_SKEW = 60_000

/** The most servers whose clocks are asked. */
const MAX_CLOCKS = 3

/** Looks whether the gateway could listen on its port, or whether one answers there already. */
export async function examinePort (options: Options): Promise<Finding> {
  const { http, host, port, prefix } = options
  const part = 'port'
  if (!http) return { part, level: 'ok', text: 'none is used: HTTP is not served' }
  if (port === 0) return { part, level: 'ok', text: 'any free port is used' }
  const code = await tryToListen(host, port)
  const what = `${host}:${port}`
  switch (code) {
    case undefined: return { part, level: 'ok', text: `${what} is free` }
    case 'EADDRINUSE': return await examineGateway(`${addressOf(options)}${prefix}/health`, what)
    case 'EACCES':
      return { part, level: 'broken', text: `${what} may not be used by this user`, advice: 'choose another port with --port' }
    case 'EADDRNOTAVAIL': case 'ENOTFOUND': case 'EAI_AGAIN':
      return { part, level: 'broken', text: `${host} is no address of this machine`, advice: 'choose another with --host' }
    default:
      return { part, level: 'broken', text: `${what} cannot be listened on (${code})`, advice: 'choose others with --host and --port' }
  }
}

async function tryToListen (host: string, port: number): Promise<string | undefined> {
  return await new Promise(resolve => {
    const server = createServer()
    server.once('error', ({ code = 'unknown error' }: NodeJS.ErrnoException) => resolve(code))
    server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  })
}

async function examineGateway (url: string, what: string): Promise<Finding> {
  const part = 'port'
  const { body = '' } = await ask('GET', url).catch(() => ({ body: '' }))
  const health = parse(body)
  if (!isObject(health) || health['live'] !== true) {
    return {
      part,
      level: 'broken',
      text: `${what} is in use by another program`,
      advice: 'stop that program, or choose another port with --port or PATCHBAY_PORT'
    }
  }
  const { status, reason, version } = health
  const name = `a Patchbay${typeof version === 'string' ? ` ${version}` : ''} answers on ${what}`
  if (status === 'healthy') return { part, level: 'ok', text: `${name}, and is healthy` }
  const why = typeof reason === 'string' ? `: ${reason}` : ''
  return {
    part,
    level: 'warning',
    text: oneLine(visible(`${name}, and is ${String(status)}${why}`), 400),
    advice: `see ${url}, and its log`
  }
}

function parse (body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Another clock: where it is, and how far this one is ahead, in milliseconds. */
interface OtherClock { readonly of: string, readonly ahead: number }

/**
 * Compares the clock with those of servers, by the date of their HTTP replies, or of Redis; where there is none, with
 * the times of files in the data folder.
 */
export async function examineClock (
  urls: readonly string[],
  redis: OtherClock | undefined,
  { data }: Pick<Options, 'data'>
): Promise<Finding> {
  const origins = [...new Set(urls.map(url => new URL(url.replace(/^ws/, 'http')).origin))].slice(0, MAX_CLOCKS)
  const asked = await Promise.all(origins.map(async origin => await clockAt(origin).catch(() => undefined)))
  const clocks = [...asked, redis].filter(clock => clock !== undefined)
  const part = 'clock'
  const wrong = clocks.find(({ ahead }) => Math.abs(ahead) > MAX_SKEW)
  if (wrong !== undefined) {
    const seconds = Math.round(Math.abs(wrong.ahead) / 1_000)
    return {
      part,
      level: 'warning',
      text: `it is ${seconds} seconds ${wrong.ahead > 0 ? 'ahead of' : 'behind'} that of ${wrong.of}`,
      advice: 'set it, or let NTP set it: tokens and sessions would expire too early or too late'
    }
  }
  const [first] = clocks
  if (first !== undefined) return { part, level: 'ok', text: `it agrees with that of ${first.of}` }
  const file = data === undefined ? undefined : fileOfTheFuture(data)
  if (file !== undefined) {
    return { part, level: 'warning', text: `${file} was written in the future`, advice: 'the clock was set back, or is wrong: set it' }
  }
  return { part, level: 'note', text: 'it cannot be compared: no server with a URL answered with a date' }
}

async function clockAt (origin: string): Promise<OtherClock | undefined> {
  const before = Date.now()
  const { date } = await ask('HEAD', `${origin}/`)
  const theirs = Date.parse(date ?? '')
  return Number.isNaN(theirs) ? undefined : { of: origin, ahead: (before + Date.now()) / 2 - theirs }
}

function fileOfTheFuture (data: string): string | undefined {
  if (statSync(data, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined
  return readdirSync(data).map(name => join(data, name)).find(file =>
    (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > Date.now() + MAX_SKEW)
}

/** Asks without a credential. The certificate is not looked at: nothing secret is sent, and little is believed. */
async function ask (method: string, url: string): Promise<{ date: string | undefined, body: string }> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  return await new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(TIMEOUT)
    const sent = send(url, { method, rejectUnauthorized: false, agent: false, signal }, reply => {
      let body = ''
      reply.setEncoding('utf8').on('error', reject).on('data', (text: string) => {
        body += text
        if (body.length > MAX_REPLY) sent.destroy(new Error('it is too long'))
      }).on('end', () => resolve({ date: reply.headers.date, body }))
    })
    sent.on('error', reject).end()
  })
}

/** Looks whether Redis answers, and what time it is there. */
export async function examineRedis (url: string): Promise<{ finding: Finding, clock?: OtherClock }> {
  const part = 'redis'
  const link = await connectRedis(url, () => {})
  try {
    const before = Date.now()
    const time = await withTimeout(link.command('TIME'), TIMEOUT, () => undefined).catch(() => undefined)
    if (!Array.isArray(time)) {
      return {
        finding: {
          part,
          level: 'warning',
          text: `Redis ${link.trouble ?? 'does not answer'}`,
          advice: 'start it, or correct option redis; until then sessions, notes and tickets are not kept or shared'
        }
      }
    }
    const took = Date.now() - before
    const ahead = before + took / 2 - Number(time[0]) * 1_000 - Number(time[1]) / 1_000
    return { finding: { part, level: 'ok', text: `it answers within ${took} ms` }, clock: { of: 'Redis', ahead } }
  } finally {
    link.close()
  }
}
