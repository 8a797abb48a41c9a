// Builds the console: its page, style and scripts, and the page of its sandbox, each also compressed, and the list of them that the route
// serves from.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = new URL('../../', import.meta.url)
const out = new URL('dist/console/', root)

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8'
}

const shared = {
  absWorkingDir: fileURLToPath(root),
  outdir: 'dist/console',
  entryNames: '[name].[hash]',
  bundle: true,
  platform: 'browser',
  target: 'es2022',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  write: false
}

/** Returns the result of esbuild, whose inputs tell which licences go with the files. */
export async function buildConsole () {
  // One file without imports, since not every browser takes modules for workers. The page knows its name, so it is made
  // first.
  const worker = await build({ ...shared, entryPoints: ['console/forms/check-worker.ts'], format: 'iife' })
  const [{ path }] = worker.outputFiles
  // Inside its page: its policy allows no files.
  const proxy = await build({ ...shared, entryPoints: ['console/apps/sandbox/proxy.ts'], format: 'iife' })
  const made = await build({
    ...shared,
    entryPoints: ['console/main.tsx'],
    chunkNames: '[name].[hash]',
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { CHECK_WORKER: JSON.stringify(basename(path)) }
  })
  const files = new Map(
    [...worker.outputFiles, ...made.outputFiles].map(({ path, contents }) => [basename(path), Buffer.from(contents)])
  )
  files.set('index.html', page([...files.keys()]))
  files.set('sandbox.html', sandbox(proxy.outputFiles[0].text))
  mkdirSync(out, { recursive: true })
  const list = [...files].map(([name, bytes]) => write(name, bytes))
  writeFileSync(new URL('files.json', out), JSON.stringify(list, null, 2) + '\n')
  return {
    ...made,
    metafile: { inputs: { ...worker.metafile.inputs, ...proxy.metafile.inputs, ...made.metafile.inputs } },
    files: ['files.json', ...list.flatMap(({ file }) => [file, `${file}.gz`, `${file}.br`])].map(
      file => `dist/console/${file}`
    )
  }
}

function page (names) {
  const text = readFileSync(new URL('console/index.html', root), 'utf8')
  const named = extension => names.find(name => name.startsWith('main.') && name.endsWith(extension))
  return Buffer.from(text.replace('{{style}}', named('.css')).replace('{{script}}', named('.js')))
}

/** A function in place of the text, since `$` in that has a meaning. */
function sandbox (script) {
  const text = readFileSync(new URL('console/apps/sandbox/sandbox.html', root), 'utf8')
  return Buffer.from(text.replace('{{script}}', () => script.trim()))
}

/** Writes a file and its compressed forms; returns what the route has to know of it. */
function write (name, bytes) {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  // Pages, too, have their hash in their names on disk: a gateway that runs while another build is made goes on to
  // serve its own.
  const file = name.replace(/^(index|sandbox)(?=\.html$)/, `$1.${hash}`)
  writeFileSync(new URL(file, out), bytes)
  writeFileSync(new URL(`${file}.gz`, out), gzipSync(bytes, { level: 9 }))
  writeFileSync(
    new URL(`${file}.br`, out),
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
  )
  return { name, file, type: TYPES[extname(name)], hash }
}
