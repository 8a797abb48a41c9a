import { existsSync, readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { Options } from '../../options.js'
import { optionsPage } from '../support/options-page.js'

/** Pages that are not in the package. */
const CONTRIBUTORS = ['test/README.md', 'test/load/README.md', 'test/seeds/README.md']

const page = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')

t.test(
  'docs/configure.md lists every option in its group, with its variable, default and meaning, and no other',
  async t => {
    const kept = page('configure.md')
    t.strictSame(
      kept.split('\n'),
      optionsPage(kept).split('\n'),
      'run `npm run options-page` and commit what it changed'
    )
    const rows = [...kept.matchAll(/^\| `(\w+)` \| `PATCHBAY_/gm)].map(([, name]) => name)
    t.strictSame(rows, Object.keys(Options.properties))
  }
)

t.test('every page of docs that README links to is there', async t => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const links = [...readme.matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, link]) => link as string)
  t.ok(links.length > 7)
  for (const link of links) t.doesNotThrow(() => readFileSync(new URL(`../../../${link}`, import.meta.url)), link)
})

t.test('every file of this tree that a page shows for an import or a link is there', async t => {
  const root = new URL('../../../', import.meta.url)
  const pages = ['README.md', ...CONTRIBUTORS, ...names('docs').map(name => `docs/${name}`)]
  const shown = pages.flatMap(name => {
    const text = readFileSync(new URL(name, root), 'utf8')
    // An import is shown as it stands in tools/, a folder below the root like docs/.
    const imports = [...text.matchAll(/['`](\.\.\/\w[\w/-]*)\.js['`]/g)].map(
      ([, path]) => new URL(`${path}.ts`, new URL('docs/', root))
    )
    const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(
      ([, path]) => new URL(path as string, new URL(name, root))
    )
    return [...imports, ...links].map(url => ({ name, url }))
  })
  t.ok(shown.length > 20)
  for (const { name, url } of shown) t.ok(existsSync(url), `${name} shows ${url.pathname.slice(root.pathname.length)}`)
})

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

t.test('every heading that a page links to is there', async t => {
  const root = new URL('../../../', import.meta.url)
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    'bench/README.md',
    ...CONTRIBUTORS,
    ...names('docs').map(name => `docs/${name}`)
  ]
  const links = pages.flatMap(name =>
    [...readFileSync(new URL(name, root), 'utf8').matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)].map(([, path, anchor]) => ({
      name,
      path,
      anchor
    }))
  )
  t.ok(links.length > 20)
  for (const { name, path, anchor } of links) {
    const target = readFileSync(
      path === '' ? new URL(name, root) : new URL(path as string, new URL(name, root)),
      'utf8'
    )
    const headings = [...target.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading as string))
    t.ok(headings.includes(anchor as string), `${name} links to ${path}#${anchor}`)
  }
})

t.test('every path that docs/architecture.md, test/seeds/README.md or CONTRIBUTING.md names exists', async t => {
  for (const name of ['docs/architecture.md', 'test/seeds/README.md', 'CONTRIBUTING.md']) {
    const text = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')
    const paths = [...text.matchAll(/`((?:[\w.-]+\/)*(?:[\w-]+\.(?:ts|mjs|md|test\.ts)|[\w-]+\/))`/g)]
      .map(([, path]) => path as string)
      .filter(path => !isBuilt(path))
    t.ok(paths.length > 5, name)
    for (const path of paths) t.ok(existsSync(new URL(`../../../${path}`, import.meta.url)), `${name} names ${path}`)
  }
})

const isBuilt = (path: string): boolean => ['build/', 'dist/'].includes(path)

t.test('docs/logs.md quotes messages of the log as the code has them', async t => {
  const code = sourcesOf('cli', 'plugins', 'system', 'upstreams').replaceAll('${alias}', 'ALIAS') // eslint-disable-line no-template-curly-in-string
  const rows = page('logs.md')
    .split('\n')
    .filter(line => /\| (info|warn|error)/.test(line))
    .map(line => line.split('|')[1] as string)
  const messages = rows.flatMap(cell => [...cell.matchAll(/`([^`]+)`/g)].map(([, message]) => message as string))
  t.ok(messages.length > 10)
  for (const message of messages) t.ok(code.includes(message), message)
})

t.test('docs/troubleshooting.md quotes texts as the code has them', async t => {
  const quoted = [...page('troubleshooting.md').matchAll(/^### `([^`]+)`$/gm)].map(([, text]) => text as string)
  t.ok(quoted.length > 15)
  const code = sourcesOf('cli', 'loader', 'options', 'plugins', 'protocol', 'stores', 'system')
  for (const text of quoted) t.ok(code.includes(text), text)
})

t.test('plugins/README.md lists every member that a plugin adds to app.mcp', async t => {
  const folder = new URL('../../../plugins/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))
  const members = files.flatMap(file =>
    [...readFileSync(new URL(file, folder), 'utf8').matchAll(/provide\('(\w+)'/g)].map(([, member]) => member as string)
  )
  t.ok(members.length > 15)
  for (const member of members) t.match(readFileSync(new URL('README.md', folder), 'utf8'), `\`${member}\``, member)
})

// 31 of them describe the gateway as such; the others are those of the eleven capabilities that came after: views,
// rules, approval, pins, skills, tasks, patience, apps, OpenAPI, routes as tools, tools as plain HTTP.
t.test('docs/ has 42 pages at most, so that they can be read', async t => {
  const pages = readdirSync(new URL('../../../docs', import.meta.url), { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.md')
  )
  t.ok(pages.length <= 42, `${pages.length} pages`)
})

t.test('docs/README.md lists every page', async t => {
  for (const name of names('docs')) if (name !== 'README.md') t.ok(page('README.md').includes(`](${name}`), name)
})

t.test('pages name the client, caller or operator they mean', async t => {
  for (const name of names('docs')) {
    if (name !== 'glossary.md') {
      t.strictSame(
        page(name)
          .replaceAll(/`[^`\n]*`/g, '')
          .match(/whoever|nobody|somebody|anybody|everybody/gi) ?? [],
        [],
        name
      )
    }
  }
})

function names (folder: string): string[] {
  return readdirSync(new URL(`../../../${folder}`, import.meta.url)).filter(name => name.endsWith('.md'))
}

/** The product files of these folders and of the command, as one text. */
function sourcesOf (...folders: string[]): string {
  const root = new URL('../../../', import.meta.url)
  return folders
    .flatMap(folder =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`)
    )
    .concat('cli.ts')
    .filter(file => file.endsWith('.ts'))
    .map(file => readFileSync(new URL(file, root), 'utf8'))
    .join('\n')
}
