import { Type } from '@sinclair/typebox'

/** Options about what is served where, under which name, and what is logged. */
export const serve = {
  stdio: Type.Boolean({ default: false, description: 'Serve MCP on standard input and output' }),
  http: Type.Boolean({ default: true, description: 'Serve HTTP and WebSocket' }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8080,
    description: 'The port for HTTP and WebSocket; 0 picks a free one'
  }),
  host: Type.String({ minLength: 1, default: '127.0.0.1', description: 'The address to listen on' }),
  tls: Type.Optional(
    Type.Object(
      { key: Type.String({ minLength: 1 }), cert: Type.String({ minLength: 1 }) },
      {
        additionalProperties: false,
        examples: [{ key: 'key.pem', cert: 'cert.pem' }],
        description:
          'The files of the private key and of the certificate (PEM), to serve HTTPS and WebSocket over TLS: {"key":"key.pem","cert":"cert.pem"}'
      }
    )
  ),
  prefix: Type.String({
    pattern: '^(/[^/]+)*$',
    'x-expected': 'must begin with / and not end with one',
    default: '',
    description: 'The path before every route, for example /ai'
  }),
  metrics: Type.Optional(
    Type.Boolean({
      description:
        'Measure calls and more, and serve that to Prometheus at `/metrics`. Without this option it is done where `host` is a loopback address; embedded: only with `true`'
    })
  ),
  console: Type.Optional(
    Type.Boolean({
      description:
        'Serve a page for people at `/console`. Without this option it is served where `host` is a loopback address; embedded: only with `true`'
    })
  ),
  rest: Type.Boolean({
    default: false,
    description:
      'Serve tools and resources as plain HTTP below `/api`, with an OpenAPI document of them: [Tools as plain HTTP](rest.md)'
  }),
  keepServing: Type.Boolean({
    default: false,
    description:
      'With `stdio` and `http`: keep serving HTTP and WebSocket when standard input ends or standard output breaks'
  }),
  name: Type.String({
    minLength: 1,
    default: 'mcp-patchbay',
    description: 'The name of the server in `serverInfo` and `/health`'
  }),
  instructions: Type.Optional(Type.String({ description: 'Guidance for models, sent to every client' })),
  logLevel: Type.Unsafe<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    type: 'string',
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    description: 'The lowest level of log messages that are written to standard error'
  }),
  logFormat: Type.Unsafe<'auto' | 'pretty' | 'json'>({
    type: 'string',
    enum: ['auto', 'pretty', 'json'],
    default: 'auto',
    description:
      'The format of log lines: `pretty` for people, `json` for programs; `auto` is `pretty` on a terminal and `json` elsewhere'
  }),
  audit: Type.Boolean({
    default: true,
    description: 'Log one line for each call: caller, method, target and outcome, never arguments'
  }),
  traces: Type.Optional(
    Type.Boolean({
      description:
        'Make an OpenTelemetry span of each call, with the SDK that you bring ([Traces](observe.md#traces)). When absent: if an SDK is registered when the gateway starts'
    })
  )
}
