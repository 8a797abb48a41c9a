import { readFileSync } from 'node:fs'
import t from 'tap'
import { Options } from '../options.js'

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')

t.test('docs/configure.md lists every option with its variable, default and meaning, and no other', async t => {
  const expected = Object.entries(Options.properties).map(([name, schema]) => {
    const variable = `PATCHBAY_${name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
    const preset = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``
    return `| \`${name}\` | \`${variable}\` | ${preset} | ${schema.description} |`
  })
  t.strictSame(page('configure.md').split('\n').filter(line => /^\| `\w+` \| `PATCHBAY_/.test(line)), expected)
})

t.test('every page of docs that README links to is there', async t => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const links = [...readme.matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, link]) => link as string)
  t.ok(links.length > 7)
  for (const link of links) t.doesNotThrow(() => readFileSync(new URL(`../../${link}`, import.meta.url)), link)
})
