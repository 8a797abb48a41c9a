import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGES, ROOT } from './catalogue.js'

const manifest = JSON.stringify({
  private: true,
  type: 'module',
  dependencies: {
    '@modelcontextprotocol/fastify': '2.0.1',
    '@modelcontextprotocol/node': '2.1.2',
    '@modelcontextprotocol/sdk': '1.32.2',
    '@modelcontextprotocol/server': '2.4.0',
    echarts: '6.1.0',
    fastify: '5.12.8',
    'fastify-mcp': '3.0.0',
    fastmcp: '4.20.16',
    'mcp-proxy': '6.7.19',
    minisearch: '7.2.0',
    supergateway: '4.0.0',
    zod: '4.2.0'
  }
}, null, 2)

/** Installs the peers and the charting library, which the product never needs. Says why it could not. */
export function install (say: (line: string) => void): string | undefined {
  mkdirSync(PACKAGES, { recursive: true })
  // They import packages, and find them where they are.
  cpSync(join(ROOT, 'bench/peers'), PACKAGES, { recursive: true })
  const done = join(PACKAGES, 'installed.json')
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return undefined
  say(`installing the peers into ${PACKAGES}`)
  writeFileSync(join(PACKAGES, 'package.json'), manifest)
  const npm = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: PACKAGES,
    encoding: 'utf8'
  })
  if (npm.status !== 0) return npm.stderr?.trim() || String(npm.error)
  writeFileSync(done, manifest)
  return undefined
}
