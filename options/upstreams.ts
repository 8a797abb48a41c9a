import { Type, type Static } from '@sinclair/typebox'
import { ToolOverrides } from '../protocol/definitions/overrides/override.js'
import { Patience } from '../protocol/definitions/patience.js'
import { TaskUse } from '../protocol/definitions/task-use.js'
import { ResultOptions } from '../protocol/definitions/result-options.js'
import { versions } from '../protocol/revisions/table.js'

const Value = Type.Unsafe<string | number | boolean>({
  type: ['string', 'number', 'boolean'],
  'x-expected': 'must be a string'
})
const Values = (description: string) =>
  Type.Optional(
    Type.Record(Type.String(), Value, { 'x-expected': 'must be an object with a string for each name', description })
  )
const Names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { 'x-expected': 'must be a list of strings', description }))
const Path = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, 'x-expected': 'must be a path', description }))
const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const Time = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2 ** 31 - 1,
      'x-expected': 'must be a whole number of milliseconds',
      description
    })
  )
const Choice = <const T extends string>(words: readonly T[], description: string) =>
  Type.Optional(
    Type.Unsafe<T>({ type: 'string', enum: words, 'x-expected': `must be one of ${words.join(', ')}`, description })
  )

const SCHEMA_FORMS = ['safe', 'as-is'] as const
const PIN_MODES = ['off', 'report', 'hold'] as const

const HTTP_METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace'] as const

/** The operations of an API that become tools. */
const Operations = Type.Object(
  {
    include: Names('Patterns for operationIds such as `issues/*`, or for a method and a path such as `GET /repos/**`; all without it'),
    exclude: Names('The same, for operations that do not become tools'),
    tags: Names('The tags of the document whose operations become tools; all without it'),
    methods: Type.Optional(
      Type.Array(Type.Unsafe<(typeof HTTP_METHODS)[number]>({ type: 'string', enum: HTTP_METHODS }), {
        'x-expected': `must be a list of ${HTTP_METHODS.join(', ')}`,
        description: 'The HTTP methods whose operations become tools; without it `get` and `head`, which only read'
      })
    ),
    outputSchema: Type.Optional(
      Type.Boolean({
        description: 'Lists tools with the schemas that the document has for answers; clients may refuse an answer that does not fit'
      })
    )
  },
  {
    additionalProperties: false,
    'x-expected': 'must be an object with include, exclude, tags, methods or outputSchema',
    description: 'Which operations of an OpenAPI document become tools'
  }
)

/** How the gateway gets tokens for an API by itself. */
const ApiCredentials = Type.Object(
  {
    tokenUrl: Type.String({ minLength: 1, description: 'The URL of the token endpoint' }),
    clientId: Type.String({ minLength: 1, description: 'The id of the client' }),
    clientSecret: Type.String({ minLength: 1, description: 'Its secret' }),
    scopes: Names('The scopes to ask for')
  },
  {
    additionalProperties: false,
    'x-expected': 'must be an object with tokenUrl, clientId, clientSecret and scopes',
    description: 'How the gateway gets tokens for an API by itself (OAuth client credentials)'
  }
)

/**
 * One server of `mcpServers`, in the form that most clients use. Other spellings of these fields are understood, too.
 */
export const Server = Type.Object(
  {
    command: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The program that is started and spoken to over standard input and output'
      })
    ),
    args: Type.Optional(
      Type.Array(Value, { 'x-expected': 'must be a list of strings', description: 'The arguments of the program' })
    ),
    env: Values('Environment variables of the program, besides a few of the gateway such as PATH and HOME'),
    envFile: Path('A file with more environment variables, one NAME=value on each line; `env` overrides it'),
    cwd: Path('The working directory of the program; without it the folder of the file that names the server'),
    type: Type.Optional(
      Type.String({
        examples: ['stdio', 'http', 'sse', 'websocket'],
        description: 'How the server is reached. Without it, a `url` is tried as Streamable HTTP, then as HTTP+SSE'
      })
    ),
    url: Type.Optional(Type.String({ minLength: 1, description: 'The URL of a server that runs already' })),
    headers: Values('HTTP headers for the server, such as Authorization'),
    openapi: Type.Optional(
      Type.String({
        minLength: 1,
        'x-expected': 'must be a path or a URL',
        description: 'The OpenAPI document of an HTTP API, whose operations become tools: a path, or a URL'
      })
    ),
    operations: Type.Optional(Operations),
    credentials: Type.Optional(ApiCredentials),
    oauth: Type.Optional(
      Type.Object(
        {
          clientId: Type.Optional(
            Type.String({
              minLength: 1,
              description:
                'The id of a client that is registered at its authorization server, or the https URL of its metadata document'
            })
          ),
          clientSecret: Type.Optional(Type.String({ minLength: 1, description: 'The secret of that client' })),
          scopes: Names('The scopes to ask for, in place of those that the server names'),
          callbackPort: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 65_535,
              'x-expected': 'must be a port',
              description: 'The port of 127.0.0.1 that the browser is sent back to; any free one without it'
            })
          ),
          redirectUri: Type.Optional(
            Type.String({
              pattern: '^https?://[^?#\\\\\\s]+/sign-in/callback$',
              'x-expected': 'must be the URL at which browsers reach /sign-in/callback of this gateway',
              description:
                'Where browsers of callers on other machines are sent back to: the public URL of `/sign-in/callback` of this gateway'
            })
          ),
          grant: Type.Optional(
            Type.Union([Type.Literal('authorization_code'), Type.Literal('client_credentials')], {
              description:
                'Who is signed in: a person, with `patchbay login`, or with `client_credentials` the client itself'
            })
          ),
          issuer: Type.Optional(
            Type.String({
              minLength: 1,
              description:
                'The only authorization server that this client is for; required for `client_credentials`'
            })
          )
        },
        {
          'x-expected': 'must be an object with clientId, clientSecret, scopes, callbackPort, redirectUri, grant or issuer',
          description: 'How a person signs in with `patchbay login`, where the server does not say all of it'
        }
      )
    ),
    auth: Choice(
      ['shared', 'caller'],
      'Who is signed in: one person for all callers, or each caller with a sign-in of its own'
    ),
    disabled: Flag('Do not use this server'),
    timeout: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 2 ** 31 - 1,
        'x-expected': 'must be a number of milliseconds',
        description:
          'How long a call may run without progress, in milliseconds; a number below 1000 is taken as seconds'
      })
    ),
    startTimeout: Time('How long the server may take to start, in milliseconds'),
    includeTools: Names('The tools that are served, as names or globs; all without it'),
    excludeTools: Names('The tools that are not served, as names or globs'),
    override: ToolOverrides('Changes how its tools look, by the names that the server has for them'),
    prefix: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{0,32}$',
        'x-expected': 'must be up to 32 letters, digits, _ and -',
        description: 'What is put before the names of its tools and prompts, in place of the name of the server and __'
      })
    ),
    start: Choice(['eager', 'lazy'], 'Whether the server is started with the gateway or at the first call'),
    idle: Time('After how many milliseconds without a call the server is stopped'),
    isolate: Choice(
      ['none', 'principal', 'session'],
      'Which callers share one process or connection: all, those with the same identity, or those of one session'
    ),
    schemas: Choice(SCHEMA_FORMS, 'How its tools, prompts and resources are listed, in place of the option `schemas`'),
    pins: Choice(PIN_MODES, 'How what it offers is held to what was accepted, in place of the option `pins`'),
    revision: Choice(versions, 'The version of MCP that the server is spoken to in; without it, that is found out'),
    results: Type.Optional(ResultOptions),
    patience: Type.Optional(Patience),
    task: Type.Optional(TaskUse),
    scopes: Names('The scopes that a caller needs for everything the server offers'),
    roots: Names('The folders that a server of an older revision gets when it asks for roots'),
    elicitation: Flag('Whether the server may ask callers for input'),
    sampling: Flag('Whether the server may ask the models of callers')
  },
  { additionalProperties: true }
)

export type Server = Static<typeof Server>

/** Other MCP servers behind the gateway. */
export const upstreams = {
  mcpServers: Type.Record(Type.String(), Server, {
    default: {},
    examples: [{ files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] } }],
    description:
      'Other MCP servers that this gateway serves, by name, in the form that clients use: `command`, `args`, `env`, or `url`, `headers`; [Upstream servers](upstreams.md) has all fields'
  }),
  mcpConfig: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'Configuration files of MCP clients whose servers are served, too'
  }),
  schemas: Type.Unsafe<(typeof SCHEMA_FORMS)[number]>({
    type: 'string',
    enum: SCHEMA_FORMS,
    default: 'safe',
    'x-expected': `must be one of ${SCHEMA_FORMS.join(', ')}`,
    description:
      'How what upstream servers offer is listed: `safe` repairs what some clients refuse, `as-is` changes nothing. A server may have its own'
  }),
  pins: Type.Unsafe<(typeof PIN_MODES)[number]>({
    type: 'string',
    enum: PIN_MODES,
    default: 'off',
    'x-expected': `must be one of ${PIN_MODES.join(', ')}`,
    description:
      'How upstream servers are held to what was accepted of them: `report` says what changed, `hold` keeps changes from clients; [Pins](pins.md). A server may have its own'
  }),
  upstreamProxies: Type.Boolean({
    default: false,
    description:
      'Pass HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, which may have passwords, to the upstream servers that are started'
  })

}
