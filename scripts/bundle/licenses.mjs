import { readdirSync, readFileSync } from 'node:fs'

/** The licences of the packages that the given files belong to. */
export function licenses (files) {
  const packages = new Set(files.flatMap(file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
  return [...packages].sort().map(folder => {
    const base = new URL(`../../${folder.replace(/^.*?node_modules/, 'node_modules')}/`, import.meta.url)
    const { name, version, license, repository } = JSON.parse(readFileSync(new URL('package.json', base)))
    const file = readdirSync(base).find(each => /^licen[sc]e/i.test(each))
    const source = repository?.url ?? repository
    return `${name} ${version} (${license})${source === undefined ? '' : `, source: ${source}`}\n\n${file === undefined ? '' : readFileSync(new URL(file, base), 'utf8')}`
  }).join(`\n${'-'.repeat(80)}\n\n`)
}
