import { docsPage } from '../places.js'
import { PREFIX } from './environment.js'

/** The text of `patchbay --help`: it fits a screen. */
export const USAGE = `Usage: patchbay [COMMAND] [OPTION]...

Serves MCP on http://127.0.0.1:8080/mcp; with --stdio, the program that starts
it. patchbay COMMAND --help says more about a command, with an example.

Serve    serve       the same without a command; its help has every option
         check       print what would be served, or every mistake
         doctor      try everything out, servers too, and say what to do
Servers  import      take over the servers that the clients here have
         add, remove, list
                     the servers in the config file
         lint        what some clients would refuse of what servers list
         views       the views and servers, their tools and tokens
         pins        accept what servers offer, and see what changed since
         login       sign in to a server that wants it; logout undoes it
Ask      tools, call, read, prompt, watch
                     the tools, resources and prompts of any server
         completion  let a shell complete commands, tools and arguments
Clients  export      one entry for Patchbay in place of a client's servers
         clients     what to put into the configuration of a client
         key         a new API key
         rules       which rule decides about a call, and why
         approvals   the calls that wait for you, and your answers
Tools    new         a package with a tool of your own and its test
Other    help, version

Every option is a flag, an environment variable or a field of the config file:
${docsPage('configure.md')}
`

/** The text of `patchbay serve --help`. */
export const SERVE_HELP = `Usage: patchbay [serve] [--stdio] [--port N] [--host H] [--plugin FILE]...
                [--root DIR]... [--mcp-config FILE]... [--view NAME]
                [--data DIR | --ephemeral | --redis URL] [--config FILE]
                [--limit NAME=N]... [--log-level L] [--log-format F]
                [--reload] [--keep-serving]

  --stdio         serve standard input and output; HTTP only if --port is given
  --port N        listen for HTTP and WebSocket on this port (8080)
  --host H        listen on this address (127.0.0.1)
  --plugin FILE   load a tool, resource, prompt or Fastify plugin (TypeScript or
                  JavaScript); a folder, a glob in quotes or the name of a
                  package will do, too; may be repeated
  --reload        load a plugin file anew when it changes, without a restart,
                  and take over all that changed in the files of --config and
                  --mcp-config; for development. Servers in the config file are
                  always taken over
  --root DIR      serve the files of a folder, read-only, as resources; may be
                  repeated
  --mcp-config FILE
                  serve the MCP servers in the configuration file of a client,
                  such as .mcp.json or claude_desktop_config.json; may be
                  repeated
  --view NAME     with --stdio: show the client this view alone, one of option
                  views or an upstream server
  --data DIR      keep notes, the counter, sessions and event streams in this
                  folder
  --ephemeral     keep them in memory, until the process ends
  --redis URL     keep them in Redis or Valkey, together with other gateways
                  that serve the same clients; set a URL with a password as
                  ${PREFIX}REDIS, because others can see arguments
  --config FILE   read options from a JSON file, in place of the one of the
                  user, patchbay.json in the folder of settings
  --limit NAME=N  set one of the limits; may be repeated
  --log-level L   fatal, error, warn, info, debug, trace or silent; logs go to
                  standard error (info)
  --log-format F  pretty or json; auto is pretty on a terminal and JSON
                  elsewhere (auto)
  --keep-serving  with --stdio and --port: go on serving HTTP when standard
                  input ends
  --check         load config, keys and plugins, print what would be served or
                  every mistake, and end
  --help          show this text; "patchbay help" does the same
  --version       show the version

For example: patchbay --stdio --mcp-config .mcp.json

Every option can also be set as an environment variable, for example
${PREFIX}PORT=9000 or ${PREFIX}PAGE_SIZE=50. The command line overrides the
environment, and the environment overrides the config file. All options:
${docsPage('configure.md')}
`
