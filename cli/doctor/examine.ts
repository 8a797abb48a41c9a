import { once } from 'node:events'
import type { Options } from '../../options.js'
import { check } from '../report/check.js'
import { readServers, type ServerReading } from '../report/read-servers.js'
import type { Finding } from './finding.js'
import { examineClipboard, examineData, examineNode } from './machine.js'
import { examineClock, examinePort, examineRedis } from './network.js'
import { describeServer } from './servers.js'

/** Everything that was found, and the servers in detail. */
export interface Examined {
  readonly findings: readonly Finding[]
  readonly servers: readonly ServerReading[]
  /** True where there are servers, and each of them is down. */
  readonly areAllDown: boolean
}

interface Examination {
  /** The alias or the name of the only server that is wanted. */
  server: string | undefined
  /** How long each server may take, in milliseconds. */
  limit: number
  locate: (error: Error) => Error
  /** Ends it early. */
  signal: AbortSignal
}

/** Examines a set-up whose options could be read; all parts side by side, each for a limited time. */
export async function examine (options: Options, examination: Examination): Promise<Examined> {
  const { locate, signal, server } = examination
  const reading = readServers(options, examination).catch((error: Error) => onlyMistakes(error, signal))
  const parts = Promise.all([
    reading,
    examineConfig(options, locate),
    examineData(options),
    examinePort(options),
    examineClipboard(),
    options.redis === undefined ? undefined : examineRedis(options.redis)
  ])
  const [servers, config, data, port, clipboard, store] = await Promise.race([parts, endOf(signal, reading)])
  const urls = servers.flatMap(({ url, state }) => url === undefined || state === 'disabled' ? [] : [url])
  const wanted = servers.filter(({ state }) => state !== 'disabled')
  const clock = await examineClock(urls, store?.clock, options)
  return {
    findings: [
      examineNode(),
      ...config,
      data,
      port,
      ...(store === undefined ? [] : [store.finding]),
      clock,
      clipboard,
      ...servers.map(describeServer)
    ],
    servers,
    areAllDown: server === undefined && wanted.length > 0 && wanted.every(({ state }) => state !== 'read')
  }
}

/** Rejects when the signal has aborted, and the servers are stopped: nothing else is waited for. */
async function endOf (signal: AbortSignal, reading: Promise<unknown>): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  await reading.catch(() => {})
  throw signal.reason
}

/**
 * No servers where a file of theirs cannot be used, which is found in the config, too. Throws what a person has to
 * know: a server that is not there, or an early end.
 */
function onlyMistakes (error: Error, signal: AbortSignal): ServerReading[] {
  signal.throwIfAborted()
  if (error.name === 'OptionsError') return []
  throw error
}

/** The mistakes and warnings of `patchbay check`, without those about single servers, which are examined themselves. */
async function examineConfig (options: Options, locate: Examination['locate']): Promise<Finding[]> {
  const warnings: string[] = []
  const { mistakes, aboutServers } = await check(() => options, locate, sentence => warnings.push(sentence))
  const findings = [
    // The data folder is examined by itself.
    ...mistakes
      .filter(sentence => !aboutServers.includes(sentence) && !sentence.startsWith('data folder '))
      .map(sentence => describeMistake(sentence, 'broken')),
    ...warnings.map(sentence => describeMistake(sentence, 'warning'))
  ]
  return findings.length > 0
    ? findings
    : [{ part: 'config', level: 'ok', text: 'options, keys and plugins are right' }]
}

/** A sentence about the config says what is wrong, and behind its first semicolon what to do. */
export function describeMistake (sentence: string, level: Finding['level']): Finding {
  const [text = '', ...advice] = sentence.split('; ')
  return { part: 'config', level, text, advice: advice.join('; ') || 'correct it, and look again with patchbay check' }
}
