import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'

const Command = Type.Object({
  program: Type.Optional(Type.String({ minLength: 1 })),
  args: Type.Optional(Type.Array(Type.String())),
  maxArgs: Type.Optional(Type.Integer({ minimum: 0 })),
  folder: Type.Optional(Type.String({ minLength: 1 })),
  timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000 }))
}, { additionalProperties: false })

/** Options about the things that clients can use: plugins and built-in tools. */
export const content = {
  plugins: Type.Array(Type.Unsafe<string | FastifyPluginAsync>({}), {
    default: [],
    description:
      'Fastify plugins, or files that export a tool, resource, prompt or plugin; folders, globs and packages of them, too'
  }),
  reload: Type.Boolean({
    default: false,
    description: 'Reload plugin files that changed while the gateway runs; for development'
  }),
  tools: Type.Optional(
    Type.Boolean({
      description:
        'Serve the built-in tools, resources and prompts. Without it they are served unless upstream servers are configured; an embedded gateway serves them only if this is true'
    })
  ),
  routes: Type.Optional(
    Type.Object(
      {
        include: Type.Optional(Type.Array(Type.String({ pattern: '^([A-Z]+ )?[/*]' }))),
        headers: Type.Optional(Type.Array(Type.String({ pattern: '^[A-Za-z0-9-]+$' })))
      },
      {
        additionalProperties: false,
        examples: [{ include: ['/api/*', 'GET /status'], headers: ['authorization'] }],
        description:
          'Embedded: the routes of the application that become tools, by globs of their paths, and the headers of callers that these get ([Routes as tools](routes.md)): {"include":["/api/*"],"headers":["authorization"]}'
      }
    )
  ),
  roots: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'Folders whose files are served, read-only, as resources'
  }),
  commands: Type.Record(Type.String({ pattern: '^[A-Za-z0-9._+-]{1,64}$' }), Command, {
    additionalProperties: false,
    default: {},
    examples: [{ date: {}, ls: { args: ['-l', '[a-z]+'] } }],
    description: 'The programs that execute_command may run, by name'
  }),
  clipboard: Type.Object(
    { remote: Type.Boolean() },
    {
      additionalProperties: false,
      default: { remote: false },
      examples: [{ remote: true }],
      description: 'With `remote` true, the clipboard tools are served even where other machines can reach the gateway'
    }
  ),
  allowForwarded: Type.Boolean({
    default: false,
    description: 'Serve the clipboard tools and execute_command also to requests that came through a proxy'
  }),
  searchUrl: Type.String({
    pattern: '^https?://',
    'x-expected': 'must be an http or https URL',
    default: 'https://html.duckduckgo.com/html/',
    description: 'The address that web_search sends its queries to'
  })
}
