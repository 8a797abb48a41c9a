// Builds dist/: a few files with the code that every start loads, and separate files that are loaded on demand.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildConsole } from './bundle/console.mjs'
import { noteFiles } from './bundle/last-build.mjs'
import { licenses } from './bundle/licenses.mjs'
import { fileOf, LATE, standIns } from './bundle/stand-ins.mjs'

/** Bundled CommonJS packages call `require`. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

/** Loads Ajv for the dialect that is asked for. */
const AJV =
  "module.exports = { 'draft-07': () => require('ajv').default, '2020-12': () => require('ajv/dist/2020.js').default }"

/** The build of jsonc-parser whose imports a bundler sees. */
const JSONC_PARSER = "export * from './node_modules/jsonc-parser/lib/esm/main.js'"

/** The one function of the Redis client that is used. */
const REDIS = "export { createClient } from '@redis/client'"

/** The one class of undici that is used, without what fetch and caches need. */
const UNDICI = "export { default as Pool } from 'undici/lib/dispatcher/pool.js'"

const root = new URL('..', import.meta.url)

const shared = {
  absWorkingDir: fileURLToPath(root),
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
const common = { ...shared, format: 'cjs', outExtension: { '.js': '.cjs' } }

const made = await Promise.all([
  buildConsole(),
  build({
    ...shared,
    entryPoints: [
      { in: 'cli.ts', out: 'cli' },
      { in: 'app.ts', out: 'app' }
    ],
    outdir: 'dist',
    format: 'esm',
    splitting: true,
    external: ['@swc/wasm-typescript', './late/*', './sqlite/*'],
    banner: { js: REQUIRE },
    plugins: [standIns]
  }),
  // Apart, since what it shares with the others would be one more file for every start.
  build({
    ...shared,
    entryPoints: ['loader/module-hooks.ts'],
    outfile: 'dist/module-hooks.js',
    format: 'esm',
    external: ['@swc/wasm-typescript']
  }),
  build({ ...common, entryPoints: LATE.map(name => ({ in: name, out: fileOf(name) })), outdir: 'dist/late' }),
  build({ ...common, stdin: { contents: AJV, resolveDir: shared.absWorkingDir }, outfile: 'dist/late/ajv.cjs' }),
  build({
    ...common,
    stdin: { contents: JSONC_PARSER, resolveDir: shared.absWorkingDir },
    outfile: 'dist/late/jsonc-parser.cjs'
  }),
  build({
    ...common,
    stdin: { contents: REDIS, resolveDir: shared.absWorkingDir },
    outfile: 'dist/late/redis-client.cjs'
  }),
  build({ ...common, stdin: { contents: UNDICI, resolveDir: shared.absWorkingDir }, outfile: 'dist/late/undici.cjs' }),
  // These two find their programs and libraries in the folder above their own.
  build({
    ...shared,
    entryPoints: ['clipboardy'],
    outfile: 'dist/late/clipboardy.js',
    format: 'esm',
    banner: { js: REQUIRE }
  }),
  build({
    ...common,
    entryPoints: [{ in: 'node_modules/@photostructure/sqlite/dist/index.cjs', out: 'index' }],
    outdir: 'dist/sqlite'
  })
])
// Deleted first: a library that a process has loaded must not be overwritten.
for (const name of ['fallbacks', 'prebuilds', 'types']) {
  rmSync(new URL(`dist/${name}`, root), { recursive: true, force: true })
}
cpSync(new URL('node_modules/clipboardy/fallbacks', root), new URL('dist/fallbacks', root), { recursive: true })
cpSync(new URL('node_modules/@photostructure/sqlite/prebuilds', root), new URL('dist/prebuilds', root), {
  recursive: true
})
writeFileSync(
  new URL('dist/LICENSES.txt', root),
  licenses(made.flatMap(({ metafile: { inputs } }) => Object.keys(inputs)))
)
// The folder may hold files of the bundle before, which scripts/build.mjs deletes after the next one: a gateway that
// runs may load them yet.
noteFiles(
  shared.absWorkingDir,
  made.flatMap(({ metafile: { outputs }, files = Object.keys(outputs) }) =>
    files.map(file => file.replace(/^dist\//, ''))
  )
)
