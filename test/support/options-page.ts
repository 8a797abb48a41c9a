import { GROUPS } from '../../options.js'

export const PAGE = new URL('../../../docs/configure.md', import.meta.url)

const HEADING = '## All options\n'

/** docs/configure.md with the tables of all options as options.ts has them, one for each group. */
export function optionsPage (page: string): string {
  const end = page.indexOf(HEADING)
  if (end === -1) throw new Error(`docs/configure.md has no ${HEADING}`)
  return `${page.slice(0, end)}${HEADING}\n${Object.entries(GROUPS)
    .map(([title, options]) => `### ${title}\n\n${table(options)}`)
    .join('\n')}`
}

function table (options: Record<string, { default?: unknown, description?: string }>): string {
  const rows = Object.entries(options).map(
    ([name, { default: preset, description = '' }]) =>
      `| \`${name}\` | \`${variable(name)}\` | ${preset === undefined ? '' : `\`${JSON.stringify(preset)}\``} | ${description} |\n`
  )
  return `| option | environment | default | meaning |\n|---|---|---|---|\n${rows.join('')}`
}

const variable = (name: string): string => `PATCHBAY_${name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
