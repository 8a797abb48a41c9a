/** The names in the files of a new package. */
export interface PackageFacts {
  /** The name of the package, with its scope. */
  readonly name: string
  /** The name of its file and folder: that of the package without its scope. */
  readonly file: string
  /** The name of its tool. */
  readonly tool: string
  /** The version of this package. */
  readonly version: string
  /** The source from which npm installs `mcp-patchbay`: a range of versions or a `file:` path. */
  readonly source: string
}

/**
 * The files of a package with one tool, by their names. The tool is not in a folder: `--plugin FOLDER` serves the files
 * of the folder itself.
 */
export const packageFiles = (facts: PackageFacts): Record<string, string> => ({
  [`${facts.file}.ts`]: toolFile(facts),
  [`${facts.file}.test.ts`]: testFile(facts),
  'package.json': manifest(facts),
  'tsconfig.json': TSCONFIG,
  'README.md': readme(facts),
  '.gitignore': 'node_modules/\ndist/\n*.tgz\n'
})

const toolFile = ({ tool }: PackageFacts): string => `import { tool, ToolError, Type } from 'mcp-patchbay'

export default tool({
  name: '${tool}',
  description: 'Counts the words of a text.',
  annotations: { readOnlyHint: true },
  input: Type.Object({
    text: Type.String({ description: 'The text', maxLength: 100_000 })
  }, { additionalProperties: false }),
  output: Type.Object({ words: Type.Integer() }),
  text: ({ words }) => \`Words: \${words}\`,
  run: ({ text }) => {
    const words = text.match(/\\S+/g) ?? []
    if (words.length === 0) throw new ToolError('The text has no words.')
    return { words: words.length }
  }
})
`

const testFile = ({ file, tool }: PackageFacts): string => `import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { build, createClient, type Client } from 'mcp-patchbay'
import definition from './${file}.js'

/** A client of a gateway that has this tool alone. There is no port and no process. */
async function connect (t: TestContext): Promise<Client> {
  const app = await build({ tools: false, http: false })
  t.after(() => app.close())
  app.mcp.tools.add(definition)
  return await createClient(app)
}

test('counts the words of a text', async t => {
  const client = await connect(t)
  const { text, output } = await client.call(definition, { text: 'one two  three' })
  assert.equal(output.words, 3)
  assert.equal(text, 'Words: 3')
})

test('a text without words is an error', async t => {
  const client = await connect(t)
  await assert.rejects(client.call(definition, { text: ' ' }), { name: 'ToolError', message: 'The text has no words.' })
})

test('arguments that do not fit the schema never reach the tool', async t => {
  const client = await connect(t)
  await assert.rejects(client.call('${tool}', { text: 5 }), /text must be string/)
})
`

const manifest = ({ name, file, version, source }: PackageFacts): string => `${JSON.stringify({
  name,
  version: '0.1.0',
  description: 'A tool for Patchbay, the gateway for the Model Context Protocol.',
  type: 'module',
  keywords: ['mcp', 'mcp-patchbay'],
  engines: { node: '>=20.19' },
  exports: {
    '.': { types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` },
    './package.json': './package.json'
  },
  files: ['dist', '!dist/*.test.*'],
  scripts: {
    build: 'tsc',
    test: `tsc && node --test dist/${file}.test.js`,
    prepack: 'tsc'
  },
  // The gateway that loads the package brings it.
  peerDependencies: { 'mcp-patchbay': `>=${version}` },
  peerDependenciesMeta: { 'mcp-patchbay': { optional: true } },
  devDependencies: { '@types/node': '^20.19.0', 'mcp-patchbay': source, typescript: '^5.9.0' }
}, null, 2)}\n`

const TSCONFIG = `${JSON.stringify({
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    declaration: true,
    rootDir: '.',
    outDir: 'dist',
    skipLibCheck: true
  },
  include: ['*.ts']
}, null, 2)}\n`

const readme = ({ name, file, tool }: PackageFacts): string => `# ${name}

A tool for [MCP](https://modelcontextprotocol.io) clients, served by Patchbay.

| tool | what it does |
|---|---|
| \`${tool}\` | Counts the words of a text. |

## Use it

\`\`\`sh
npm install ${name}
patchbay --plugin ${name}
\`\`\`

## Change it

\`\`\`sh
npm install
npm test                          # compiles it and runs ${file}.test.ts
patchbay --plugin . --reload      # serves it, and each change when it is saved
npm pack                          # makes the package
\`\`\`

\`${file}.ts\` has the tool. Another file beside it with a tool, resource or prompt as its default export is served from this
folder, too; the package serves what \`exports\` of \`package.json\` names, which may export a list of definitions.
`
