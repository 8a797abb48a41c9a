import { extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../protocol/wire/json.js'
import { editJsonc } from './jsonc-edit.js'

/** Changes of the servers in a file of a client. */
export interface ServerChanges {
  /** The place of the new entry: an object, or a list. */
  readonly root: readonly string[]
  /** The servers that go, by their paths in the file. */
  readonly remove: ReadonlyArray<readonly string[]>
  readonly name: string
  readonly entry: object
}

const BOM = '\uFEFF'

/**
 * The text of a client's file with the changes, and with all other bytes as they were. Throws a sentence where that
 * cannot be done safely: the result is parsed, and has to be the old value with these changes and nothing else.
 */
export async function editText (file: string, text: string, changes: ServerChanges): Promise<string> {
  const [mark, body] = text.startsWith(BOM) ? [BOM, text.slice(1)] : ['', text]
  const { parse, edit, isList = false } = await formatOf(file)
  const after = edit(body, changes)
  const wanted = withChanges(body.trim() === '' ? {} : parse(body), changes, isList)
  if (!isDeepStrictEqual(plain(parse(after)), plain(wanted))) {
    throw new Error('its servers are written in a way that is not understood well enough')
  }
  return mark + after
}

interface Format {
  parse: (text: string) => unknown
  edit: (text: string, changes: ServerChanges) => string
  /** True where the servers are in a list that is made if it is missing. */
  isList?: boolean
}

async function formatOf (file: string): Promise<Format> {
  switch (extname(file).toLowerCase()) {
    case '.toml': {
      const [{ parseToml }, { editToml }] = await Promise.all([
        import('../../../upstreams/config/formats/toml.js'),
        import('./toml-edit.js')
      ])
      return {
        parse: text => parseToml(text).value,
        edit: (text, { root: [root = ''], remove, ...rest }) =>
          editToml(text, { root, remove: remove.map(path => path[1] ?? ''), ...rest })
      }
    }
    case '.yaml': case '.yml': {
      const [{ parseYaml }, { editYaml }] = await Promise.all([
        import('../../../system/documents/yaml.js'),
        import('./yaml-edit.js')
      ])
      return {
        isList: true,
        parse: text => parseYaml(text).value ?? {},
        edit: (text, { root: [root = ''], remove, entry }) =>
          editYaml(text, { root, remove: remove.map(path => Number(path[1])), entry })
      }
    }
    default: {
      const { parseJsonc } = await import('../../../upstreams/config/formats/jsonc.js')
      return {
        parse: text => parseJsonc(text).value,
        edit: (text, { root, remove, name, entry }) => editJsonc(text, { root, remove, add: { [name]: entry } })
      }
    }
  }
}

/** The value in plain objects, whatever objects a parser makes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Changes a value as its text is to be changed. */
function withChanges (value: unknown, { root, remove, name, entry }: ServerChanges, isList: boolean): unknown {
  const changed = value as Record<string, unknown>
  if (isList) changed[root[0] ?? ''] ??= []
  const list = at(changed, root)
  if (Array.isArray(list)) {
    const gone = new Set(remove.map(path => Number(path.at(-1))))
    const first = remove.length === 0 ? list.length : Math.min(...gone)
    list.splice(0, list.length, ...list.flatMap((item: unknown, index) =>
      index === first ? [entry] : gone.has(index) ? [] : [item]), ...(first >= list.length ? [entry] : []))
    return changed
  }
  for (const path of remove) {
    const parent = at(changed, path.slice(0, -1))
    if (isObject(parent)) delete parent[path.at(-1) ?? '']
  }
  let object = changed
  for (const part of root) object = (object[part] ??= {}) as Record<string, unknown>
  object[name] = entry
  return changed
}

function at (value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => isObject(inner) ? inner[name] : undefined, value)
}
