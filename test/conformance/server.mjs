import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { spawnChild } from './child.mjs'

const START_MS = 15_000
const STOP_MS = 5_000

/** Starts the server under test on a free port; what it writes goes to `log`. */
export async function startServer (script, log) {
  const child = spawnChild(process.execPath, ['--enable-source-maps', script], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  record(child, log)
  try {
    return { url: await ready(child, log), stop: () => stop(child) }
  } catch (error) {
    await stop(child)
    throw error
  }
}

function record (child, log) {
  mkdirSync(dirname(log), { recursive: true })
  const file = createWriteStream(log)
  child.stdout.pipe(file, { end: false })
  child.stderr.pipe(file, { end: false })
  child.once('close', () => file.end())
}

function ready (child, log) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server was not ready within ${START_MS} ms; see ${log}`)), START_MS)
    createInterface({ input: child.stderr }).on('line', line => {
      const url = /http:\/\/\S+\/mcp\S*/.exec(line)?.[0]
      if (url !== undefined) settle(resolve, url)
    })
    child.once('error', error => settle(reject, error))
    child.once('exit', code => settle(reject, new Error(`the server ended with code ${code} before it was ready; see ${log}`)))

    function settle (how, value) {
      clearTimeout(timer)
      how(value)
    }
  })
}

async function stop (child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  child.kill('SIGTERM')
  await once(child, 'exit')
  clearTimeout(timer)
}
