import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mounted } from '../../stores/disk/mount.js'
import { exporter, home, type Home } from './home.js'

/** Files of clients, and where they are, in each format. */
const FILES: Array<[client: string, name: string, text: string]> = [
  ['cursor', 'mcp.json', '{ "mcpServers": { "one": { "command": "one" } } }\n'],
  ['codex', 'config.toml', '[mcp_servers.one]\ncommand = "one"\n'],
  ['continue', 'config.yaml', 'name: a\nmcpServers:\n  - name: one\n    command: one\n']
]

/** Fills a disk until nothing more can be written to it; gives how to make room again. */
function fill (disk: string): void {
  for (let size = 4_096; size > 0; size = Math.floor(size / 2)) {
    for (let count = 0; count < 64; count++) {
      try {
        writeFileSync(join(disk, 'filler'), Buffer.alloc(size), { flag: 'a' })
      } catch {
        break
      }
    }
  }
}

const SERVED = { '.config/patchbay/patchbay.json': '{"mcpServers":{"one":{"command":"one"}}}' }

for (const [client, name, text] of FILES) {
  t.test(`on a full disk, export and undo of ${name} leave every byte as it was, and leave nothing behind`, async t => {
    const disk = await mounted(t, 'size=64k')
    if (disk === undefined) return
    const file = join(disk, name)
    const at = await home(t, SERVED)
    const { export: run, undo } = exporter(at)
    const made = join(disk, `new-${name}`)
    fill(disk)
    await t.rejects(run(client, { file: made }), /cannot be written/)
    t.same(readdirSync(disk), ['filler'], 'no mark of a file that was not made')
    writeFileSync(join(disk, 'filler'), '')
    writeFileSync(file, text)
    fill(disk)
    await t.rejects(run(client, { file }), /cannot be written, and is as it was: /)
    t.equal(readFileSync(file, 'utf8'), text)
    t.same(readdirSync(disk).sort(), ['filler', name].sort())
    writeFileSync(join(disk, 'filler'), '')
    await run(client, { file })
    const exported = readFileSync(file, 'utf8')
    t.match(exported, 'patchbay')
    fill(disk)
    await t.rejects(undo(client, file), /cannot be written, and is as it was: /)
    t.equal(readFileSync(file, 'utf8'), exported)
    writeFileSync(join(disk, 'filler'), '')
    t.match(await undo(client, file), 'byte for byte')
    t.equal(readFileSync(file, 'utf8'), text)
  })
}

/** A home folder whose config file is on another disk. */
const onDisk = async (t: Parameters<typeof home>[0], disk: string): Promise<{ at: Home, config: string }> => {
  const servers = { one: { command: 'one', env: { API_KEY: 'very-secret-1' } }, two: { command: 'two', env: { TOKEN: 'very-secret-2' } } }
  const at = await home(t, { '.cursor/mcp.json': JSON.stringify({ mcpServers: servers }) })
  return { at, config: join(disk, 'patchbay.json') }
}

t.test('on a full disk, an import with files of secrets writes neither the config file nor a secret', async t => {
  const disk = await mounted(t, 'size=64k')
  if (disk === undefined) return
  const { at, config } = await onDisk(t, disk)
  fill(disk)
  await t.rejects(at.import({ write: true, secrets: 'files', config }))
  t.notOk(existsSync(config))
  t.same(existsSync(join(disk, 'secrets')) ? readdirSync(join(disk, 'secrets')) : [], [])
  writeFileSync(join(disk, 'filler'), '')
  await at.import({ write: true, secrets: 'files', config })
  t.same(readdirSync(join(disk, 'secrets')).sort(), ['API_KEY', 'TOKEN'])
})
