import { tool, Type } from 'mcp-patchbay'

// Inside the checkout, files of tools/ import the package by its name and are typed as outside of it.
tool({
  name: 'own_name',
  description: 'Typed.',
  input: Type.Object({ n: Type.Number() }),
  run: ({ n }) => n.toFixed(2)
})

// @ts-expect-error n is a number
tool({ name: 'own_name', description: 'Typed.', input: Type.Object({ n: Type.Number() }), run: ({ n }) => n.trim() })
