import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { transform } from 'esbuild'
import t from 'tap'
import { consoleFiles } from '../support/console-files.js'
import { manifest, packedFiles, ROOT } from './packed.js'

interface Locked { dev?: boolean, devOptional?: boolean, hasInstallScript?: boolean }

const files = packedFiles()
const paths = new Set(files.map(({ path }) => path))
const text = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

/** Packages that bundled packages try to load, and do without. */
const OPTIONAL = ['bufferutil', 'utf-8-validate', '@node-rs/xxhash', '@opentelemetry/api']
/** Files that Ajv and fast-json-stringify name in code that they generate for other programs. */
const GENERATED = /^(ajv|ajv-formats|fast-json-stringify)\//
/** Modules that a bundled package imports in scripts for macOS. */
const MACOS = ['AppKit', 'Foundation']

/** The most that a browser loads before the console works, compressed with gzip. */
const MAX_CONSOLE = 120 * 1024

/** The most that the package takes on a disk, in bytes: most of it is what it brings of others. */
const MAX_PACKAGE = 31_000_000

/** The page of the console, by its name on disk. */
const PAGE = consoleFiles().find(({ name }) => name === 'index.html')?.file ?? ''

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
const isBuiltin = (specifier: string): boolean => specifier.startsWith('node:') || builtinModules.includes(specifier)
const isDeclared = (specifier: string): boolean =>
  packageOf(specifier) in { ...manifest.dependencies, ...manifest.peerDependencies }

t.test('a user gets a handful of packages, and none with an install script', async t => {
  const { packages } = JSON.parse(text('package-lock.json')) as { packages: Record<string, Locked> }
  const installed = Object.entries(packages).filter(
    ([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true
  )
  t.strictSame(
    installed.map(([path]) => path.replace('node_modules/', '')).sort(),
    Object.keys(manifest.dependencies).sort(),
    'dependencies have none of their own'
  )
  t.ok(installed.length <= 5, `${installed.length} packages`)
  t.strictSame(installed.filter(([, { hasInstallScript }]) => hasInstallScript === true), [])
  t.strictSame(Object.keys(manifest.peerDependencies), ['fastify'])
})

t.test('the package takes no more of a disk than it may', async t => {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  t.ok(bytes > 10_000_000 && bytes < MAX_PACKAGE, `${bytes} bytes`)
})

t.test('everything that dist/ imports is part of Node.js, of dist/ or of a declared package', async t => {
  const modules = [...paths].filter(path => /^dist\/.*\.c?js$/.test(path))
  t.ok(modules.length > 15)
  for (const path of modules) {
    // Without comments, some of which have imports.
    const { code } = await transform(text(path), { minifyWhitespace: true, legalComments: 'none' })
    const found = [
      ...code.matchAll(/(?:\bfrom|\bimport|\bimport\(|require\d*\(|require\.resolve\()(['"])([.@\w][^'"\s${},]*)\1/g)
    ].map(([, , specifier]) => specifier as string)
    for (const specifier of new Set(found)) {
      if (specifier.startsWith('.')) t.ok(paths.has(resolved(path, specifier)), `${path} imports ${specifier}`)
      else if (!OPTIONAL.includes(specifier) && !MACOS.includes(specifier) && !GENERATED.test(specifier)) {
        t.ok(isBuiltin(specifier) || isDeclared(specifier), `${path} imports ${specifier}`)
      }
    }
  }
})

t.test('everything that the types import is part of Node.js, of the package or of a declared package', async t => {
  const types = [...paths].filter(path => path.endsWith('.d.ts'))
  t.ok(types.includes(manifest.exports['.'].types.slice(2)))
  for (const path of types) {
    for (const [, specifier] of text(path).matchAll(/(?:from|import|import\() ?['"]([^'"]+)['"]/g) as Iterable<
      [string, string]
    >) {
      if (specifier.startsWith('.')) {
        t.ok(paths.has(resolved(path, specifier.replace(/\.js$/, '.d.ts'))), `${path} imports ${specifier}`)
      } else t.ok(isBuiltin(specifier) || isDeclared(specifier), `${path} imports ${specifier}`)
    }
  }
})

t.test('SQLite is there for each platform, and the clipboard programs can be run', async t => {
  for (const platform of ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64']) {
    t.ok([...paths].some(path => path.startsWith(`dist/prebuilds/${platform}/`) && path.endsWith('.node')), platform)
  }
  for (const platform of ['linux-x64', 'linux-arm64']) {
    t.ok(
      [...paths].some(path => path.startsWith(`dist/prebuilds/${platform}/`) && path.includes('musl')),
      `${platform} with musl`
    )
  }
  t.equal((files.find(({ path }) => path === 'dist/fallbacks/linux/xsel')?.mode ?? 0) & 0o111, 0o111)
  for (const name of [
    '@photostructure/sqlite',
    'clipboardy',
    'fastify',
    '@redis/client',
    'ajv',
    'preact',
    '@preact/signals',
    '@preact/signals-core',
    '@cfworker/json-schema',
    'oauth4webapi'
  ]) {
    t.match(`\n${text('dist/LICENSES.txt')}`, `\n${name} `, `the licence of ${name}`)
  }
})

t.test('the console is there, each of its files also compressed, and names no file that is not', async t => {
  const names = consoleFiles().map(({ name }) => name)
  for (const { file } of consoleFiles()) {
    for (const suffix of ['', '.br', '.gz']) t.ok(paths.has(`dist/console/${file}${suffix}`), file + suffix)
  }
  t.ok(paths.has('dist/console/files.json'))
  const named = [...text(`dist/console/${PAGE}`).matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)].map(
    ([, name]) => name as string
  )
  t.ok(named.length > 0)
  for (const name of named) t.ok(names.includes(name), name)
})

t.test('what the console loads at start is small', async t => {
  const html = text(`dist/console/${PAGE}`)
  const linked = [...html.matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)].map(([, name]) => name as string)
  const loaded = new Set([PAGE, ...linked])
  // Chunks that a script imports by a statement are loaded with it; `import(…)` is later.
  for (const name of loaded) {
    for (const [, chunk] of text(`dist/console/${name}`).matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) {
      loaded.add(chunk as string)
    }
  }
  const scripts = [...loaded].filter(name => name.endsWith('.js'))
  t.ok(scripts.length > 0 && scripts.length <= 3, scripts.join(' '))
  t.equal([...loaded].filter(name => name.endsWith('.css')).length, 1)
  const bytes = [...loaded]
    .map(name => files.find(({ path }) => path === `dist/console/${name}.gz`)?.size ?? NaN)
    .reduce((sum, size) => sum + size, 0)
  t.ok(bytes <= MAX_CONSOLE, `${bytes} bytes`)
})

t.test('every file that a page of docs or of the root links to is packed', async t => {
  const pages = [...paths].filter(path => /^((README|CHANGELOG|CONTRIBUTING|SECURITY)|docs\/[\w-]+)\.md$/.test(path))
  t.ok(pages.includes('README.md') && pages.includes('docs/embed.md'))
  for (const page of pages) {
    for (const [, link] of text(page).matchAll(/(?:\]\(|src=")([^)"#:\s]+)(?:#[^)]*)?[)"]/g) as Iterable<
      [string, string]
    >) {
      const path = resolved(page, link)
      t.ok(paths.has(path) || [...paths].some(each => each.startsWith(`${path}/`)), `${page} links to ${link}`)
    }
  }
})

const resolved = (from: string, to: string): string =>
  new URL(to, `file:///${from}`).pathname.slice(1).replace(/\/$/, '')
