import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { build } from '../../app.js'
import { filesAt, locatePlugin, lookAt } from '../../loader/plugin-place.js'
import { folder } from '../support/process.js'

/** A folder with files in folders of any depth. */
async function tree (t: Test, files: Record<string, string>): Promise<string> {
  const root = await folder(t, {})
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), text)
  }
  return root
}

const namesAt = (root: string, entry: string): string[] =>
  lookAt(locatePlugin(entry, root)).files.map(file => file.slice(root.length + 1))

const FILES = {
  'tools/b.ts': '',
  'tools/a.mjs': '',
  'tools/c.cjs': '',
  'tools/d.mts': '',
  'tools/e.js': '',
  'tools/a.test.ts': '',
  'tools/types.d.ts': '',
  'tools/_shared.ts': '',
  'tools/.hidden.ts': '',
  'tools/page.tsx': '',
  'tools/data.json': '',
  'tools/deep/f.ts': '',
  'tools/node_modules/x/index.js': '',
  'tools/.git/g.js': '',
  'more/a1.ts': '',
  'more/a2.ts': '',
  'more/a[x].ts': ''
}

t.test(
  'a folder stands for the plugin files directly in it, sorted, without tests, types, and names with _ or .',
  async t => {
    const root = await tree(t, FILES)
    t.strictSame(namesAt(root, 'tools'), ['tools/a.mjs', 'tools/b.ts', 'tools/c.cjs', 'tools/d.mts', 'tools/e.js'])
    t.strictSame(namesAt(root, './tools/'), namesAt(root, 'tools'))
  }
)

const GLOBS: Array<[glob: string, files: string[]]> = [
  ['tools/*.ts', ['tools/b.ts']],
  ['tools/**', ['tools/a.mjs', 'tools/b.ts', 'tools/c.cjs', 'tools/d.mts', 'tools/deep/f.ts', 'tools/e.js']],
  ['**/*.ts', ['more/a1.ts', 'more/a2.ts', 'more/a[x].ts', 'tools/b.ts', 'tools/deep/f.ts']],
  ['more/a?.ts', ['more/a1.ts', 'more/a2.ts']],
  ['more/a[!1].ts', ['more/a2.ts']],
  ['{more,tools}/{a1,b}.ts', ['more/a1.ts', 'tools/b.ts']],
  ['t*/deep/*.ts', ['tools/deep/f.ts']],
  ['tools/node_modules/*/index.js', ['tools/node_modules/x/index.js']],
  ['more/a[x].ts', ['more/a[x].ts']]
]

t.test('a glob stands for the plugin files it matches, sorted, by the same rule', async t => {
  const root = await tree(t, FILES)
  for (const [glob, files] of GLOBS) t.strictSame(namesAt(root, glob), files, glob)
})

t.test('a file that is named is loaded whatever its name begins with', async t => {
  const root = await tree(t, FILES)
  t.strictSame(namesAt(root, 'tools/_shared.ts'), ['tools/_shared.ts'])
})

const pkg = (content: object): string => JSON.stringify(content)

const PACKAGES = {
  'node_modules/plain/package.json': pkg({ name: 'plain', main: 'lib/main.js' }),
  'node_modules/plain/lib/main.js': '',
  'node_modules/plain/other.js': '',
  'node_modules/@scope/modern/package.json': pkg({
    exports: {
      '.': { types: './x.d.ts', require: './x.cjs', import: './x.mjs' },
      './tools/*': './lib/*.mjs',
      './hidden': null
    }
  }),
  'node_modules/@scope/modern/x.mjs': '',
  'node_modules/@scope/modern/lib/time.mjs': '',
  'node_modules/short/package.json': pkg({ exports: './index.mjs' }),
  'node_modules/short/index.mjs': '',
  'sub/dir/a.ts': '',
  short: ''
}

t.test('the name of a package stands for the file that import would load, also from a folder below', async t => {
  const root = await tree(t, PACKAGES)
  const from = join(root, 'sub/dir')
  for (const [name, file] of [
    ['plain', 'plain/lib/main.js'],
    ['plain/other.js', 'plain/other.js'],
    ['@scope/modern', '@scope/modern/x.mjs'],
    ['@scope/modern/tools/time', '@scope/modern/lib/time.mjs'],
    ['short', 'short/index.mjs']
  ] as const) {
    t.equal(locatePlugin(name, from), join(root, 'node_modules', file), name)
  }
  t.equal(locatePlugin('short', root), join(root, 'short'), 'a path beats a package')
  await rm(join(root, 'short'))
  t.equal(locatePlugin('short', root), join(root, 'node_modules/short/index.mjs'))
})

t.test('what cannot be found is named, with what was looked for', async t => {
  const root = await tree(t, { ...PACKAGES, 'weather.ts': '', 'empty/x.json': '' })
  t.throws(
    () => locatePlugin('wether', root),
    new RegExp(`plugin wether: there is no file or folder ${root}/wether, and ${root} has no package "wether"`)
  )
  t.throws(() => locatePlugin('@scope/modern/hidden', root), /does not export "@scope\/modern\/hidden"/)
  t.throws(
    () => filesAt(join(root, 'empty')),
    /plugin .*\/empty: there is no \.ts, \.mts, \.js, \.mjs or \.cjs file in this folder/
  )
  t.throws(() => filesAt(join(root, 'empty/*.ts')), /plugin .*\/empty\/\*\.ts: no \.ts, .* file matches/)
  await t.rejects(
    build({ plugins: [join(root, 'wether.ts')], http: false }),
    /wether\.ts: there is no such file; did you mean "weather\.ts"\?/
  )
  await t.rejects(build({ plugins: [join(root, 'empty/x.json')], http: false }), /x\.json: it must be a \.ts/)
})

t.test('a .tsx file is refused with the reason', async t => {
  const root = await tree(t, { 'a.tsx': '' })
  await t.rejects(build({ plugins: [join(root, 'a.tsx')], http: false }), /a\.tsx: JSX cannot be loaded/)
})

t.test('a gateway serves the tools of folders, globs and packages, each file once', async t => {
  const source = (name: string): string =>
    `import { tool } from 'mcp-patchbay'\nexport default tool({ name: '${name}', description: '', run: () => '' })`
  const root = await tree(t, {
    'tools/one.ts': source('one'),
    'tools/two.mjs': source('two'),
    'tools/one.test.ts': 'throw new Error("a test")',
    'node_modules/three/package.json': pkg({ main: 'm.mjs' }),
    'node_modules/three/m.mjs': source('three')
  })
  const plugins = [join(root, 'tools'), join(root, 'tools/*.ts'), locatePlugin('three', root)]
  const app = await build({ plugins, tools: false, http: false })
  t.teardown(async () => await app.close())
  t.strictSame(app.mcp.tools.names(), ['one', 'three', 'two'])
})

t.test('a link in a circle is left out of a folder and a glob', async t => {
  const root = await tree(t, { 'tools/good.ts': '' })
  await symlink('b.ts', join(root, 'tools/a.ts'))
  await symlink('a.ts', join(root, 'tools/b.ts'))
  await symlink('c', join(root, 'tools/c'))
  for (const name of ['up', 'again', 'more']) await symlink('.', join(root, 'tools', name))
  t.strictSame(namesAt(root, 'tools'), ['tools/good.ts'])
  t.strictSame(namesAt(root, 'tools/**/*.ts'), ['tools/good.ts'])
})

t.test('a package without the export that is named is not said to be missing', async t => {
  const root = await tree(t, {
    'node_modules/kit/package.json': '{"exports":{"./x":"./x.js"}}',
    'node_modules/kit/x.js': ''
  })
  t.equal(locatePlugin('kit/x', root), join(root, 'node_modules/kit/x.js'))
  t.throws(() => locatePlugin('kit', root), {
    message: /the package of that name does not export "kit"; name a path that its package\.json exports/
  })
})
