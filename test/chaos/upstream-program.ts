import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

// A shell starts in a millisecond, so that a thousand starts take no hour.
const SCRIPT = String.raw`
folder=$1
[ -n "$2" ] && { sleep 100000 & echo $! >>"$folder/pids"; }
echo $$ >>"$folder/pids"
answer () { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=${'$'}{line#*\"id\":}; id=${'$'}{id%%,*}
  case $line in
    *'"method":"initialize"'*)
      version=${'$'}{line#*\"protocolVersion\":\"}
      answer "{\"protocolVersion\":\"${'$'}{version%%\"*}\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"shell\",\"version\":\"1\"}}" ;;
    *'"method":"tools/list"'*)
      answer '{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"exit","inputSchema":{"type":"object"}},{"name":"half","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      key=${'$'}{line#*\"key\":\"}; key=${'$'}{key%%\"*}
      echo "$key" >>"$folder/calls"
      case $line in
        *'"name":"exit"'*) exit 7 ;;
        *'"name":"half"'*) printf '{"jsonrpc":"2.0","id":%s,"resu' "$id"; exit 7 ;;
        *) answer "{\"content\":[{\"type\":\"text\",\"text\":\"$key $$\"}]}" ;;
      esac ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id" ;;
  esac
done
`

/**
 * Writes the program of a server; gives its entry for the configuration. It writes its process ids and the keys of its
 * calls to files in the folder.
 */
export function shellServer (folder: string, withGrandchild: boolean): { command: string, args: string[] } {
  const file = join(folder, 'server.sh')
  writeFileSync(file, SCRIPT)
  return { command: 'sh', args: [file, folder, ...(withGrandchild ? ['grandchild'] : [])] }
}
