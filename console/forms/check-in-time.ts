import type { Json } from '../client/contract.js'
import type { FieldError } from './check.js'

/** The name of the worker's file; the build puts it in. */
declare const CHECK_WORKER: string

/** How long a check may take, in milliseconds. */
const CHECK_MS = 1_000
/** How long the worker may take to be loaded. */
const LOAD_MS = 10_000

/** A request to the worker. */
export interface CheckRequest { value: Json, schema: Json, first: boolean }

/** The part of a `Worker` that is used. It says `ready` first. */
export interface Checker {
  onmessage: ((event: { data: FieldError[] | 'ready' | undefined }) => void) | null
  onerror: (() => void) | null
  postMessage: (request: CheckRequest) => void
  terminate: () => void
}

interface Options {
  /** Stops at the first error, so that the list of a large value stays short. */
  first?: boolean
  ms?: number
  open?: () => Checker
}

/**
 * Finds the mistakes in a value by its schema, in a worker that is ended when its time is over: no schema of a server
 * can stop the page. Says `late` when it was, and `unknown` when the schema cannot be followed, or this browser starts
 * no worker.
 */
export async function checkInTime (
  value: Json,
  schema: Json,
  { first = false, ms = CHECK_MS, open = openWorker }: Options = {}
): Promise<FieldError[] | 'late' | 'unknown'> {
  let worker: Checker | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise((resolve, reject) => {
      const limit = (ms: number): void => {
        clearTimeout(timer)
        timer = setTimeout(() => resolve('late'), ms)
      }
      limit(LOAD_MS)
      worker = open()
      worker.onerror = () => reject(new Error('The worker failed.'))
      worker.onmessage = ({ data }) => (data === 'ready' ? limit(ms) : resolve(data ?? 'unknown'))
      worker.postMessage({ value, schema, first })
    })
  } catch {
    return 'unknown'
  } finally {
    clearTimeout(timer)
    worker?.terminate()
  }
}

interface TrustedTypes {
  createPolicy: (name: string, rules: { createScriptURL: () => string }) => { createScriptURL: (url: string) => string }
}

const page = globalThis as unknown as { Worker: new (url: string) => Checker, trustedTypes?: TrustedTypes }

/** Where a browser has Trusted Types, the only script that the page may start is this one. */
let policy: ReturnType<TrustedTypes['createPolicy']> | undefined

function openWorker (): Checker {
  policy ??= page.trustedTypes?.createPolicy('check-worker', { createScriptURL: () => CHECK_WORKER })
  return new page.Worker(policy?.createScriptURL('') ?? CHECK_WORKER)
}
