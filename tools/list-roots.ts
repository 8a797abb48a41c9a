import { Type } from '@sinclair/typebox'
import { tool } from '../protocol/definitions/tool.js'

export default tool({
  name: 'list_roots',
  title: 'List roots',
  description: 'List the folders that the client works in',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: Type.Object({}, { additionalProperties: false }),
  output: Type.Object({ roots: Type.Array(Type.Object({ uri: Type.String(), name: Type.Optional(Type.String()) })) }),
  text: ({ roots }) =>
    roots.length === 0
      ? 'The client has no roots'
      : roots.map(({ uri, name }) => (name === undefined ? uri : `${uri} (${name})`)).join('\n'),
  run: async (_input, call) => {
    const roots = await call.roots()
    return { roots: roots.map(({ uri, name }) => ({ uri, ...(name === undefined ? {} : { name }) })) }
  }
})
