/**
 * Messages of a size, as text, by what they are made of: `fill` is what stands in params. All but the first are
 * compared with the first.
 */
const request = (fill: string, id = '7'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"x":${fill}}}`
const repeat = (part: string, size: number): string => part.repeat(Math.max(1, Math.floor(size / part.length)))
const list = (part: string, size: number): string => `[${repeat(`${part},`, size)}${part}]`
const members = (size: number, value: string): string =>
  `{${Array.from({ length: Math.floor(size / (11 + value.length)) }, (_, index) => `"${String(index).padStart(7, '0')}":${value}`).join(',')}}`

export const SHAPES: Record<string, (size: number) => string> = {
  'one string': size => request(`"${'x'.repeat(size)}"`),
  'a string of escapes': size => request(`"${repeat('\\n', size)}"`),
  'a string of escaped characters': size => request(`"${repeat('\\u00e9', size)}"`),
  'a string of escaped quotes': size => request(`"${repeat('\\"', size)}"`),
  'a string with one character that is not Latin': size => request(`"中${'x'.repeat(size)}"`),
  numbers: size => request(list('1', size)),
  'long numbers': size => request(list('1.234567890123456e-7', size)),
  'a number of one digit after the other': size => request('9'.repeat(size)),
  'empty lists': size => request(list('[]', size)),
  'empty objects': size => request(list('{}', size)),
  'empty strings': size => request(list('""', size)),
  'short strings': size => request(list('"ab"', size)),
  'true, false and null': size => request(list('true,false,null', size)),
  'objects of one member': size => request(list('{"a":1}', size)),
  members: size => request(members(size, '1')),
  'members that are objects': size => request(members(size, '{}')),
  'one member again and again': size => request(`{${repeat('"a":1,', size)}"a":1}`),
  'nested lists': size => request('['.repeat(size / 2) + ']'.repeat(size / 2)),
  'nested objects': size => request(`${repeat('{"a":', (size / 6) * 5)}1${'}'.repeat(Math.floor(size / 6))}`),
  'lists that never end': size => request('['.repeat(size)),
  'as many values as are allowed, and a string': size =>
    request(`[${'{},'.repeat(99_000)}"${'x'.repeat(Math.max(1, size - 297_000))}"]`),
  'a long id': size => request('1', `"${'i'.repeat(size)}"`),
  'a long method': size => `{"jsonrpc":"2.0","id":7,"method":"${'m'.repeat(size)}"}`,
  'a long name of a tool': size =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"${'n'.repeat(size)}"}}`,
  'a long URI': size =>
    `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"note:///${'u'.repeat(size)}"}}`,
  'a long cursor': size => `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"${'c'.repeat(size)}"}}`,
  'a long progress token': size =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"progressToken":"${'p'.repeat(size)}"}}}`,
  'a long argument that is none': size =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"calculate","arguments":{"${'a'.repeat(size)}":1}}}`,
  'a batch of numbers': size => `[${repeat('1,', size)}1]`,
  'a batch of messages': size => `[${repeat(`${request('1')},`, size)}${request('1')}]`,
  'no JSON': size => 'x'.repeat(size),
  'only blanks, and a number': size => `${' '.repeat(size)}1`,
  'a response nobody waits for': size => `{"jsonrpc":"2.0","id":7,"result":{"x":${list('{}', size)}}}`,
  'a handshake with much of its client': size =>
    `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1","description":"${'x'.repeat(size)}"}}}`
}

type Send = (method: string, params?: object) => string
const padded = (index: number): string => String(index).padStart(6, '0')

/** Small requests that are sent again and again in one session; each is one or several messages. */
export const SMALL: Record<string, (index: number, send: Send) => string[]> = {
  ping: (_index, send) => [send('ping', { x: 'x'.repeat(40) })],
  'an unknown method': (index, send) => [send(`nothing/${padded(index)}`)],
  'a log level': (index, send) => [send('logging/setLevel', { level: index % 2 === 0 ? 'error' : 'debug' })],
  'a subscription, and its end': (index, send) =>
    ['subscribe', 'unsubscribe'].map(verb => send(`resources/${verb}`, { uri: `note:///${padded(index)}` })),
  'an unknown resource': (index, send) => [send('resources/read', { uri: `note:///${padded(index)}` })],
  'a cancellation of nothing': index => [
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${index}}}`
  ],
  'progress of nothing': index => [
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${index},"progress":1}}`
  ],
  'a list with a progress token': (index, send) => [
    send('resources/templates/list', { _meta: { progressToken: index } })
  ],
  'a completion': (_index, send) => [
    send('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greeting' },
      argument: { name: 'style', value: 'f' }
    })
  ],
  'a tool that is not there': (index, send) => [send('tools/call', { name: `t${padded(index)}` })],
  'an answer nobody waits for': index => [`{"jsonrpc":"2.0","id":${index + 1_000_000},"result":{}}`]
}
