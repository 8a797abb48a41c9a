import { docsPage } from '../places.js'
import { PREFIX } from './environment.js'

/** The text of `patchbay --help`. */
export const USAGE = `Usage: patchbay [--stdio] [--port N] [--host H] [--plugin FILE]...
                [--root DIR]... [--mcp-config FILE]... [--view NAME]
                [--data DIR | --ephemeral | --redis URL] [--config FILE]
                [--limit NAME=N]... [--log-level L] [--log-format F]
                [--reload] [--keep-serving]
       patchbay --check [OPTION]...
       patchbay views [NAME] [--json] [OPTION]...
       patchbay lint [SERVER] [OPTION]...
       patchbay clients [NAME] [OPTION]...
       patchbay key NAME [--scope SCOPE]... [--view NAME]

  --stdio         serve standard input and output; HTTP only if --port is given
  --port N        listen for HTTP and WebSocket on this port (8080)
  --host H        listen on this address (127.0.0.1)
  --plugin FILE   load a tool, resource, prompt or Fastify plugin (TypeScript or
                  JavaScript); a folder, a glob in quotes or the name of a
                  package will do, too; may be repeated
  --reload        load a plugin file anew when it changes, without a restart,
                  and take over changed files of --config and --mcp-config;
                  for development
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
  --config FILE   read options from a JSON file
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

  views NAME      print the tools of a view or an upstream server with their
                  names and their estimated tokens; without a name, print the
                  views and servers with what they have and cost. Lists of
                  servers are those that a gateway stored in the data folder;
                  other servers are started, read and stopped. --json prints
                  JSON; ends with 1 if a server could not be read
  lint SERVER     start one upstream server, or all without a name, read what
                  they list, stop them, and print what some clients would refuse
                  and is repaired, and what is left out; ends with 1 if
                  something is left out or could not be read, with 0 otherwise,
                  also if something was repaired
  clients NAME    print what to put into the configuration of a client, for
                  these options; without a name, print the names
  key NAME        print a new API key, and what to put into the config file so
                  that it is accepted; --scope says what for and may be
                  repeated (mcp), --view binds it to one view

Every option can also be set as an environment variable, for example
${PREFIX}PORT=9000 or ${PREFIX}PAGE_SIZE=50. The command line overrides the
environment, and the environment overrides the config file. All options:
${docsPage('configure.md')}
`
