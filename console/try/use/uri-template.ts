/**
 * Expands RFC 6570 templates as the gateway matches them (protocol/definitions/uri-template.ts, which the page cannot
 * import); the values are texts, those of an exploded variable joined by commas.
 */

interface Operator { prefix: string, separator: string, named: boolean, reserved: boolean }
interface Variable { name: string, explode: boolean, max: number }

const OPERATORS: Record<string, Operator> = {
  '': { prefix: '', separator: ',', named: false, reserved: false },
  '+': { prefix: '', separator: ',', named: false, reserved: true },
  '#': { prefix: '#', separator: ',', named: false, reserved: true },
  '.': { prefix: '.', separator: '.', named: false, reserved: false },
  '/': { prefix: '/', separator: '/', named: false, reserved: false },
  ';': { prefix: ';', separator: ';', named: true, reserved: false },
  '?': { prefix: '?', separator: '&', named: true, reserved: false },
  '&': { prefix: '&', separator: '&', named: true, reserved: false }
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]+)\}/g

interface TemplateVariable { name: string, required: boolean }

/** The variables of a template, each once. Those of an expression with an operator such as `?` may be left out. */
export function variablesOf (template: string): TemplateVariable[] {
  const found = new Map<string, TemplateVariable>()
  for (const [, symbol = '', list = ''] of template.matchAll(EXPRESSION)) {
    for (const { name } of parse(list)) {
      if (!found.has(name)) found.set(name, { name, required: symbol === '' || symbol === '+' })
    }
  }
  return [...found.values()]
}

/** The URI of these values; a variable without a value is left out. */
export function expand (template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(EXPRESSION, (_whole, symbol: string, list: string) => {
    const operator = OPERATORS[symbol] as Operator
    const parts = parse(list).flatMap(variable => partsOf(variable, values.get(variable.name) ?? '', operator))
    return parts.length === 0 ? '' : operator.prefix + parts.join(operator.separator)
  })
}

function partsOf ({ name, explode, max }: Variable, value: string, { named, reserved }: Operator): string[] {
  if (value === '') return []
  const cut = max === Infinity ? value : [...value].slice(0, max).join('')
  const encode = reserved ? encodeReserved : encodeAll
  const texts = explode ? cut.split(',').map(encode) : [encode(cut)]
  return named ? texts.map(text => `${name}=${text}`) : texts
}

function parse (list: string): Variable[] {
  return list.split(',').map(spec => {
    const [, name = spec, explode, max] = /^([A-Za-z0-9_.]+?)(?:(\*)|:(\d{1,4}))?$/.exec(spec) ?? []
    return { name, explode: explode !== undefined, max: max === undefined ? Infinity : Number(max) }
  })
}

const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\uFFFD')

/** RFC 3986 leaves these out of what `encodeURIComponent` encodes. */
const encodeAll = (text: string): string =>
  encodeURIComponent(wellFormed(text)).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )

/** Reserved characters stay, and so does what is encoded already. */
const encodeReserved = (text: string): string =>
  encodeURI(wellFormed(text))
    .replace(/%25([0-9A-Fa-f]{2})/g, '%$1')
    .replace(/%5B/g, '[')
    .replace(/%5D/g, ']')
