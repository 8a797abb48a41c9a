import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const FOLDERS = ['tools', 'resources', 'prompts']

/** Packages that Fastify loads at every start and most gateways do not use. They are loaded on first use. */
export const LATE = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@fastify/proxy-addr',
  '@pinojs/redact',
  'light-my-request',
  'semver'
]

/** jsonc-parser for cli/settings/, which every start loads: the package itself is loaded with the first config file. */
const JSONC_PARSER = ['printParseErrorCode', 'stripComments', 'visit']
  .map(name => `export const ${name} = (...given) => require('./late/jsonc-parser.cjs').${name}(...given)`)
  .join('\n')

/**
 * Node.js modules that dependencies load at every start, that are slow to load and mostly not used. They are loaded on
 * first access.
 */
const LATE_BUILTINS = ['child_process', 'dns', 'http2', 'https', 'perf_hooks', 'tls', 'v8', 'vm', 'worker_threads']

/** pino's transport starts threads from files beside it, so the package that an installed Fastify has is used. */
const PINO_TRANSPORT = `module.exports = (...given) => {
  let fastify
  try { fastify = require.resolve('fastify') } catch { throw new Error('log transports run in threads of their own, and need Fastify to be installed: npm install fastify') }
  return require('node:module').createRequire(fastify)('pino').transport(...given)
}`

/** SQLite, from the libraries in dist/prebuilds/. */
const SQLITE = `try { module.exports = require('./sqlite/index.cjs') } catch (cause) {
  throw new Error('this package has no SQLite for ' + process.platform + ' on ' + process.arch + ': keep nothing on disk with --ephemeral', { cause })
}`

/** An esbuild plugin that replaces some modules. */
export const standIns = {
  name: 'stand-ins',
  setup ({ onResolve, onLoad }) {
    const lateParts = findLateParts()
    onLoad({ filter: /[\\/]built-ins\.ts$/ }, () => ({ contents: listOfBuiltIns(), resolveDir: fileURLToPath(root) }))
    onLoad({ filter: /[\\/]load-ajv\.ts$/ }, () => ({
      contents: "export const loadAjv = dialect => require('./late/ajv.cjs')[dialect]()"
    }))
    onLoad({ filter: /pino[\\/]lib[\\/]transport\.js$/ }, () => ({ contents: PINO_TRANSPORT }))
    onResolve({ filter: /^fastify$/ }, ({ path, importer }) =>
      /pino[\\/]lib[\\/]transport\.js$/.test(importer) ? { path, external: true } : undefined
    )
    onResolve({ filter: /^clipboardy$/ }, () => ({ path: './late/clipboardy.js', external: true }))
    onResolve({ filter: /^@redis\/client$/ }, () => ({ path: './late/redis-client.cjs', external: true }))
    onResolve({ filter: /^jsonc-parser$/ }, ({ path, importer }) =>
      /json-places\.ts$/.test(importer)
        ? { path, namespace: 'jsonc' }
        : { path: './late/jsonc-parser.cjs', external: true }
    )
    onLoad({ filter: /./, namespace: 'jsonc' }, () => ({ contents: JSONC_PARSER }))
    onResolve({ filter: /^undici$/ }, () => ({ path: './late/undici.cjs', external: true }))
    onLoad(
      { filter: /[\\/](upstreams|transports[\\/]client|protocol[\\/](tasks|watch)|plugins|stores)[\\/].*\.ts$/ },
      ({ path }) =>
        lateParts.has(path)
          ? {
              contents: `import '${fileURLToPath(new URL('app.ts', root))}'\n${readFileSync(path, 'utf8')}`,
              loader: 'ts'
            }
          : undefined
    )
    // A command that imports the table of commands shares all that the table loads with it; otherwise each command would
    // cut a part of what every start loads into a file of its own. One that has to do with servers shares app.ts in the same way.
    onLoad({ filter: /[\\/]cli[\\/](commands|move)[\\/].*\.ts$/ }, ({ path }) =>
      /serve\.ts$/.test(path) || (/[\\/]cli[\\/]move[\\/]/.test(path) && !lateParts.has(path))
        ? undefined
        : { contents: `${loadedBefore(path)}\n${readFileSync(path, 'utf8')}`, loader: 'ts' }
    )
    replace(LATE, latePackage)
    replace(LATE_BUILTINS.flatMap(name => [name, `node:${name}`]), lateBuiltin)
    // The CommonJS build of the package loads much faster than its ES module.
    replace(['@photostructure/sqlite'], () => SQLITE)

    function replace (names, contentsOf) {
      const filter = new RegExp(`^(${names.join('|')})$`)
      onResolve({ filter }, ({ path, namespace }) =>
        namespace === 'stand-in' ? { path, external: true } : { path, namespace: 'stand-in' }
      )
      onLoad({ filter, namespace: 'stand-in' }, async ({ path }) => ({ contents: await contentsOf(path) }))
    }
  }
}

/** The name of a late package's file in dist/late/. */
export function fileOf (name) {
  return name.replace(/^@\w+\//, '')
}

const root = new URL('../..', import.meta.url)

/** Folders of files that import others when they are needed. */
const IMPORTING = [
  'cli/ask',
  'cli/commands',
  'cli/move',
  'upstreams',
  'transports/client',
  'plugins',
  'stores'
]

/**
 * The files of plugins, upstream servers, watchers, tasks and stores that are imported when they are needed. In the
 * bundle they import app.ts, which is loaded by then: what they share with it would otherwise be cut into more files, which
 * every start has to load.
 */
function findLateParts () {
  const files = [
    'app.ts',
    'gateway.ts',
    ...IMPORTING.flatMap(folder =>
      readdirSync(new URL(folder, root), { recursive: true }).map(name => `${folder}/${name}`)
    )
  ]
  const imports = files.filter(file => file.endsWith('.ts')).flatMap(file => {
    const url = new URL(file, root)
    return [...readFileSync(url, 'utf8').matchAll(/import\('(\.[^']+)\.js'\)/g)].map(([, path]) =>
      fileURLToPath(new URL(`${path}.ts`, url))
    )
  })
  return new Set(imports)
}

/** Imports of what is loaded when a command is asked for. */
function loadedBefore (path) {
  const isLate = /[\\/]cli[\\/]move[\\/]/.test(path)
  const needsServers = isLate || /from '\.\.\/(ask\/ask|doctor\/examine)\.js'/.test(readFileSync(path, 'utf8'))
  return ['cli/commands.ts', 'cli/process/start-error.ts', ...(needsServers ? ['app.ts'] : [])]
    .map(file => `import '${fileURLToPath(new URL(file, root))}'`)
    .join('\n')
}

function listOfBuiltIns () {
  const files = FOLDERS.flatMap(modulesIn)
  const imports = files.map((file, index) => `import * as module${index} from '${file}'`)
  const entries = files.map((file, index) => `[new URL('${file}', import.meta.url), module${index}]`)
  return `${[...reExports(), ...imports].join('\n')}\nexport const builtIns = async () => [${entries.join(', ')}]`
}

/**
 * Imports of what app.ts re-exports. The files that use it by the name of the package are part of app.ts, so it has to
 * be evaluated before them.
 */
function reExports () {
  const source = readFileSync(new URL('app.ts', root), 'utf8')
  return [...source.matchAll(/^export \{.*\} from ('\..+')$/gm)].map(([, path]) => `import ${path}`)
}

function modulesIn (folder) {
  const names = readdirSync(new URL(folder, root)).filter(name => name.endsWith('.ts')).sort()
  return names.map(name => `./${folder}/${name.replace(/ts$/, 'js')}`)
}

/**
 * Source that loads the package when it is called, or one of its members is read. The schema compilers are called
 * twice: for their options, and to compile.
 */
function latePackage (name) {
  const load = `require('./late/${fileOf(name)}.cjs')`
  if (!name.endsWith('-compiler')) {
    const members = Object.keys(createRequire(import.meta.url)(name))
    return `module.exports = (...given) => ${load}(...given)
      ${lateMembers('module.exports', members, load)}`
  }
  return `module.exports = (...setup) => {
    let begin
    return (...given) => (begin ??= ${load}(...setup))(...given)
  }`
}

async function lateBuiltin (name) {
  const { default: real } = await import(name)
  return lateMembers('exports', Object.keys(real), `require('${name}')`)
}

/** Source of members that are read from what `load` loads. */
function lateMembers (target, names, load) {
  return `for (const name of ${JSON.stringify(names)}) Object.defineProperty(${target}, name, { enumerable: true, get: () => ${load}[name] })`
}
