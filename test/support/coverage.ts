import { mkdirSync, writeFileSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector'
import { fileURLToPath } from 'node:url'

const BUILD = new URL('../../', import.meta.url).href
const TESTS = new URL('../', import.meta.url).href

/**
 * Measures which blocks of the product this process runs, and none that it starts, from now until it exits: into a file
 * of the folder, as V8 writes them.
 */
export function measureCoverage (folder: string): void {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  process.on('exit', () => {
    session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error
      mkdirSync(folder, { recursive: true })
      writeFileSync(`${folder}/${process.pid}.json`, JSON.stringify({ result: result.filter(isProduct) }))
    })
  })
}

function isProduct ({ url }: Profiler.ScriptCoverage): boolean {
  return url.startsWith(BUILD) && !url.startsWith(TESTS) && !url.includes('?') && fileURLToPath(url).endsWith('.js')
}
