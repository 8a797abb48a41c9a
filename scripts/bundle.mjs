// Builds dist/: a few files with the code that every start loads, and separate files that are loaded on demand.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const FOLDERS = ['tools', 'resources', 'prompts']

/** Packages that Fastify loads at every start and most gateways do not use. They are loaded on first call. */
const LATE = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

/** Node.js modules that dependencies load at every start, that are slow to load and mostly not used. They are loaded on first access. */
const LATE_BUILTINS = ['child_process', 'dns', 'http2', 'https', 'perf_hooks', 'tls', 'v8', 'vm', 'worker_threads']

/** Packages with binary files, or seldom used: not bundled but loaded from node_modules. */
const EXTERNAL = ['@photostructure/sqlite', '@swc/wasm-typescript', 'clipboardy', '@redis/client']

/** Bundled CommonJS packages call `require`. */
const REQUIRE = "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

const shared = {
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  // A file of tools/ that imports the package by its name gets this code, not a second copy.
  alias: { 'mcp-patchbay': './app.ts' },
  metafile: true
}

/** Replaces some modules. */
const standIns = {
  name: 'stand-ins',
  setup ({ onResolve, onLoad }) {
    onLoad({ filter: /[\\/]built-ins\.ts$/ }, () => ({ contents: listOfBuiltIns(), resolveDir: shared.absWorkingDir }))
    // pino's transport starts threads from files beside it, so the installed package is used.
    onLoad({ filter: /pino[\\/]lib[\\/]transport\.js$/ }, () => ({ contents: "module.exports = (...given) => require('pino').transport(...given)" }))
    onResolve({ filter: /^pino$/ }, ({ path, importer }) => /transport\.js$/.test(importer) ? { path, external: true } : undefined)
    replace(LATE, latePackage)
    replace(LATE_BUILTINS.flatMap(name => [name, `node:${name}`]), lateBuiltin)
    // The CommonJS build of the package loads much faster than its ES module.
    replace(['@photostructure/sqlite'], name => `module.exports = require('${name}')`)

    function replace (names, contentsOf) {
      const filter = new RegExp(`^(${names.join('|')})$`)
      onResolve({ filter }, ({ path, namespace }) => namespace === 'stand-in' ? { path, external: true } : { path, namespace: 'stand-in' })
      onLoad({ filter, namespace: 'stand-in' }, async ({ path }) => ({ contents: await contentsOf(path) }))
    }
  }
}

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
const made = await Promise.all([
  build({
    ...shared,
    entryPoints: [{ in: 'cli.ts', out: 'cli' }, { in: 'app.ts', out: 'app' }, { in: 'loader/module-hooks.ts', out: 'module-hooks' }],
    outdir: 'dist',
    format: 'esm',
    splitting: true,
    external: [...EXTERNAL, './late/*'],
    banner: { js: REQUIRE },
    plugins: [standIns]
  }),
  build({
    ...shared,
    entryPoints: LATE.map(name => ({ in: name, out: fileOf(name) })),
    outdir: 'dist/late',
    format: 'cjs',
    outExtension: { '.js': '.cjs' }
  })
])
writeFileSync(new URL('../dist/LICENSES.txt', import.meta.url), licenses(made.flatMap(({ metafile: { inputs } }) => Object.keys(inputs))))

/** The licences of the bundled packages. */
function licenses (files) {
  const packages = new Set(files.flatMap(file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
  return [...packages].sort().map(folder => {
    const base = new URL(`../${folder.replace(/^.*?node_modules/, 'node_modules')}/`, import.meta.url)
    const { name, version, license } = JSON.parse(readFileSync(new URL('package.json', base)))
    const file = readdirSync(base).find(each => /^licen[sc]e/i.test(each))
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(new URL(file, base), 'utf8')}`
  }).join(`\n${'-'.repeat(80)}\n\n`)
}

function listOfBuiltIns () {
  const files = FOLDERS.flatMap(modulesIn)
  const imports = files.map((file, index) => `import * as module${index} from '${file}'`)
  const entries = files.map((file, index) => `[new URL('${file}', import.meta.url), module${index}]`)
  return `${[...reExports(), ...imports].join('\n')}\nexport const builtIns = async () => [${entries.join(', ')}]`
}

/** Imports of what app.ts re-exports. The files that use it by the name of the package are part of app.ts, so it has to be evaluated before them. */
function reExports () {
  const source = readFileSync(new URL('../app.ts', import.meta.url), 'utf8')
  return [...source.matchAll(/^export \{.*\} from ('\..+')$/gm)].map(([, path]) => `import ${path}`)
}

function modulesIn (folder) {
  const names = readdirSync(new URL(`../${folder}`, import.meta.url)).filter(name => name.endsWith('.ts')).sort()
  return names.map(name => `./${folder}/${name.replace(/ts$/, 'js')}`)
}

/** Source that loads the package when it is called. The schema compilers are called twice: for their options, and to compile. */
function latePackage (name) {
  const load = `require('./late/${fileOf(name)}.cjs')`
  if (!name.endsWith('-compiler')) return `module.exports = (...given) => ${load}(...given)`
  return `module.exports = (...setup) => {
    let begin
    return (...given) => (begin ??= ${load}(...setup))(...given)
  }`
}

async function lateBuiltin (name) {
  const { default: real } = await import(name)
  return `for (const name of ${JSON.stringify(Object.keys(real))}) Object.defineProperty(exports, name, { enumerable: true, get: () => require('${name}')[name] })`
}

function fileOf (name) {
  return name.replace('@fastify/', '')
}
