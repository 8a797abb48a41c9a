/** The part of the help that all commands share which ask a server. */
export const SERVERS = `The server is the gateway of this machine, by the options of patchbay serve, or
  --url URL       a server over HTTP (of every revision, also HTTP+SSE), or
                  WebSocket with ws: and wss:
  -- COMMAND ARGS a program that is spoken to over standard input and output
  --view NAME     a view of the gateway of this machine
  --config FILE, --host H, --port N
                  where that gateway is, if not in the usual place
  --key FILE      a file with an API key; PATCHBAY_KEY is used for this machine
  --header TEXT   a header as "Name: value"; as @FILE those of a file, because
                  others can see arguments; may be repeated
  --revision V    speak this version of the protocol
  --timeout S     give up after so many seconds
  --log-level L   the mildest messages of the server that are shown on standard
                  error: debug to emergency, or silent (info)
  --format F      json or text; without it, text on a terminal, JSON in a pipe`
