// Makes dist/ of the sources: what is loaded at every start in a handful of files, and the rest beside it, for when it is needed.
import { readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const FOLDERS = ['tools', 'resources', 'prompts']

/** Fastify asks for these at every start, and most gateways have no use for them. */
const LATE = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

/** What has binary files of its own or is seldom needed, and is found where it is installed. */
const EXTERNAL = ['@photostructure/sqlite', '@swc/wasm-typescript', 'clipboardy', '@redis/client']

const shared = {
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning'
}

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
await Promise.all([
  build({
    ...shared,
    entryPoints: ['cli.ts', 'app.ts', 'loader-hooks.ts'],
    outdir: 'dist',
    format: 'esm',
    splitting: true,
    external: EXTERNAL,
    // For packages that were written for CommonJS.
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    plugins: [{
      name: 'patchbay',
      setup: ({ onResolve, onLoad }) => {
        onLoad({ filter: /[\\/]builtins\.ts$/ }, () => ({ contents: listOfBuiltIns(), resolveDir: shared.absWorkingDir }))
        for (const name of LATE) onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: 'late' }))
        onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({ contents: late(path) }))
        onResolve({ filter: /^\.\/late\// }, ({ path }) => ({ path, external: true }))
      }
    }]
  }),
  build({
    ...shared,
    entryPoints: LATE.map(name => ({ in: name, out: fileOf(name) })),
    outdir: 'dist/late',
    format: 'cjs',
    outExtension: { '.js': '.cjs' }
  })
])

function listOfBuiltIns () {
  const files = FOLDERS.flatMap(folder => readdirSync(new URL(`../${folder}`, import.meta.url)).filter(name => name.endsWith('.ts')).sort().map(name => `./${folder}/${name.replace(/ts$/, 'js')}`))
  return `${files.map((file, index) => `import * as module${index} from '${file}'`).join('\n')}
    export const builtIns = async () => [${files.map((file, index) => `[new URL('${file}', import.meta.url), module${index}]`)}]`
}

/** A stand-in that loads the package when it is used. Those that compile schemas are called twice: to be set up, and to begin. */
function late (name) {
  const load = `require('./late/${fileOf(name)}.cjs')`
  if (!name.endsWith('-compiler')) return `module.exports = ${load}`
  return `module.exports = (...setup) => {
    let begin
    return (...given) => (begin ??= ${load}(...setup))(...given)
  }`
}

function fileOf (name) {
  return name.replace('@fastify/', '')
}
